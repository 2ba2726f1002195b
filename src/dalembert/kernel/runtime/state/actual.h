/* Work that depends on the actual constraint force f = Aᵀλ: C(f, λ) and f are solved together, as in
   motion/state/reactions.py.

   Along the directions of the constraints (multipliers.h), f is x and the constraints answer C: x = x₀ + answer ·
   C(f, λ), x₀ of the ideal force. Newton's method from there; one step where C is linear in f and λ. */
#ifndef DA_ACTUAL_H
#define DA_ACTUAL_H

DA_PIECE int da_actual_work(const double *q, const double *v, double t, const double *mass, const double *Q,
                            const double *A, const double *ideal, da_context *ctx, double *C)
{
    double start[DA_N], x[DA_N], miss[DA_N], forces[DA_N], force[DA_N], l[DA_MM], W[DA_N * DA_N];
    double by_force[DA_N * DA_N], by_multipliers[DA_N * DA_MM], slope[DA_N];
    DA_LOCAL(da_directions, d);
    int exchange[DA_N], i, j, k, n;
    const int status = da_directions_of(mass, A, ctx->kept, ctx->order, &d);
    if (status) return status;
    n = d.rank;
    for (k = 0; k < n; k++) {
        x[k] = start[k] = da_dot(d.read + DA_N * k, ideal, DA_N);
        for (forces[k] = 0.0, i = 0; i < DA_N; i++)
            forces[k] += fabs(d.read[DA_N * k + i]) * (fabs(Q[i]) + fabs(ideal[i]));
    }
    for (int pass = 0; pass < DA_ACTUAL_PASSES; pass++) {
        double worst = 0.0, size = 0.0, largest = 0.0;
        for (i = 0; i < DA_N; i++)
            for (force[i] = 0.0, k = 0; k < n; k++) force[i] += d.force[DA_N * k + i] * x[k];
        for (j = 0; j < DA_M; j++) l[j] = da_dot(d.multipliers + DA_N * j, x, n);
        da_work_of_actual(q, v, t, ctx->p, ideal, force, l, C, by_force, by_multipliers);
        if (!da_all_finite(C, DA_N)) return DA_UNDEFINED;
        for (k = 0; k < n; k++) {
            double terms = forces[k] + fabs(x[k]);
            for (i = 0; i < DA_N; i++) terms += fabs(d.answer[DA_N * k + i] * C[i]);
            miss[k] = start[k] + da_dot(d.answer + DA_N * k, C, DA_N) - x[k];
            worst = da_max(worst, fabs(miss[k]));
            size = da_max(size, terms);
        }
        if (worst <= DA_ACTUAL_SETTLED * size) {
            for (j = 0; j < DA_M; j++) ctx->multipliers[j] = l[j];
            return DA_DONE;
        }
        for (k = 0; k < n; k++) {
            for (i = 0; i < DA_N; i++) {
                slope[i] = 0.0;
                for (j = 0; j < DA_N; j++) slope[i] += by_force[i + DA_N * j] * d.force[DA_N * k + j];
                for (j = 0; j < DA_M; j++) slope[i] += by_multipliers[i + DA_N * j] * d.multipliers[DA_N * j + k];
            }
            for (i = 0; i < n; i++) {
                const double coupling = da_dot(d.answer + DA_N * i, slope, DA_N);
                largest = da_max(largest, fabs(coupling));
                W[n * i + k] = (double)(i == k) - coupling;
            }
        }
        if (da_lu(W, n, exchange)) return DA_SINGULAR_FORCE;
        for (k = 0; k < n; k++)
            if (!(fabs(W[n * k + k]) > DA_ACTUAL_SINGULAR * (1.0 + largest))) return DA_SINGULAR_FORCE;
        da_lu_solve(W, n, exchange, miss);
        for (k = 0; k < n; k++) x[k] += miss[k];
    }
    return DA_NO_FORCE;
}

#endif
