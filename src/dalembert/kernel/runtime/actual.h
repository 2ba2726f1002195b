/* Work that depends on the actual constraint force f = Aᵀλ: C(f) and f are solved together.

   With C given, the constraints answer C by (K − 1) C, K = M N (NᵀMN)⁻¹ Nᵀ, A N = 0; so f = ideal + (K − 1) C(f), solved by
   Newton's method from the ideal force, as in motion/evaluation.py. The force itself is the unknown, not λ: it is unique where
   constraints are redundant, and K exists where M is singular. */
#ifndef DA_ACTUAL_H
#define DA_ACTUAL_H

#define DA_ACTUAL_ITERATIONS 50

DA_PIECE int da_actual_work(const double *q, const double *v, double t, const double *mass, const double *A,
                            const double *ideal, da_context *ctx, double *C)
{
    double M[DA_N][DA_N], L[DA_N][DA_N], H[DA_N][DA_N], K[DA_N][DA_N], u[DA_N][DA_N], column[DA_MM][DA_N], length[DA_MM];
    double scale[DA_N], force[DA_N], miss[DA_N], slope[DA_N * DA_N], W[DA_N * DA_N];
    int exchange[DA_N], order[DA_MM], rank = ctx->kept, i, j, k;
    for (j = 0; j < DA_M; j++) order[j] = ctx->order[j];
    da_scaled_mass(mass, scale, M);
    for (j = 0; j < DA_M; j++)
        for (i = 0; i < DA_N; i++) column[j][i] = A[i + DA_N * j] / scale[i];
    da_unit(column, DA_M, 0, length);
    da_orthogonalise(column, DA_M, 0, u, &rank, order);
    da_complete(u, rank);
    const int free = DA_N - rank;
    double image[DA_N][DA_N]; /* M N, by columns */
    for (k = 0; k < free; k++)
        for (i = 0; i < DA_N; i++) image[k][i] = da_dot(M[i], u[rank + k], DA_N);
    for (i = 0; i < free; i++)
        for (j = 0; j < free; j++) H[i][j] = da_dot(u[rank + i], image[j], DA_N);
    if (!da_cholesky(free, H, L, 1e-12)) return DA_UNDETERMINED;
    for (j = 0; j < DA_N; j++) {
        double x[DA_N];
        for (k = 0; k < free; k++) x[k] = u[rank + k][j];
        da_forward(free, L, x);
        da_backward(free, L, x);
        for (i = 0; i < DA_N; i++) {
            K[i][j] = -(double)(i == j);
            for (k = 0; k < free; k++) K[i][j] += image[k][i] * x[k] * scale[i] / scale[j];
        }
    }
    /* K now stands for K − 1. */
    for (i = 0; i < DA_N; i++) force[i] = ideal[i];
    for (int pass = 0; pass < DA_ACTUAL_ITERATIONS; pass++) {
        double worst = 0.0, size = 0.0, work = 0.0;
        da_work(q, v, t, ctx->p, ideal, force, C, slope);
        if (!da_all_finite(C, DA_N)) return DA_UNDEFINED;
        for (i = 0; i < DA_N; i++) {
            miss[i] = ideal[i] + da_dot(K[i], C, DA_N) - force[i];
            worst = da_max(worst, fabs(miss[i]));
            size = da_max(size, fabs(force[i]));
            work = da_max(work, fabs(C[i]));
        }
        if (worst <= 1e-13 * (1.0 + size + work)) return DA_DONE;
        for (i = 0; i < DA_N; i++)
            for (j = 0; j < DA_N; j++)
                W[DA_N * i + j] = (double)(i == j) - da_dot(K[i], slope + DA_N * j, DA_N);
        if (da_lu(W, DA_N, exchange)) return DA_NO_FORCE;
        da_lu_solve(W, DA_N, exchange, miss);
        for (i = 0; i < DA_N; i++) force[i] += miss[i];
    }
    return DA_NO_FORCE;
}

#endif
