/* Back onto the constraints after an accepted step: φ = 0, then φ̇ = 0 and ψ = 0, by the least change in the metric of M. */
#ifndef DA_PROJECT_H
#define DA_PROJECT_H

#define DA_ROUNDING 4e-15 /* as ROUNDING in motion/project.py */

/* One Newton step for the dense case: the least change of x, in the metric of M, that removes the residual r with rows J. */
DA_FN int da_least_change(const double *mass, const double *J, const double *r, int count, const double *natural,
                          double *step)
{
    double L[DA_N][DA_N], column[DA_MM][DA_N], u[DA_N][DA_N], length[DA_MM], e[DA_MM];
    int order[DA_MM], rank = 0, i, j;
    if (da_metric(mass, J, count, L)) return 1;
    for (j = 0; j < count; j++) {
        for (i = 0; i < DA_N; i++) column[j][i] = J[i + DA_N * j];
        da_forward(DA_N, L, column[j]);
    }
    da_unit(column, count, natural, length);
    da_orthogonalise(column, count, 1, u, &rank, order);
    for (j = 0; j < count; j++) e[j] = r[j] / length[j];
    da_proximal s;
    if (da_proximal_factor(column, rank, order, &s)) return 1;
    da_proximal_solve(&s, column, e, step);
    da_backward(DA_N, L, step);
    return 0;
}

/* The largest residual relative to the length of its gradient, its natural one where that is longer, times the size of the state. */
DA_FN double da_miss(const double *r, const double *J, int count, const double *plain, const double *x, const double *other)
{
    double size = 1e-8, worst = 0.0; /* as size_of in motion/project.py */
    for (int i = 0; i < DA_N; i++) size = da_max(size, da_max(fabs(x[i]), 1e-3 * fabs(other[i])));
    for (int j = 0; j < count; j++) {
        const double length = da_max(sqrt(da_dot(J + DA_N * j, J + DA_N * j, DA_N)), plain[j]) * size;
        const double miss = fabs(r[j]) / (length > 0.0 ? length : 1.0);
        if (!(miss <= worst)) worst = miss;
    }
    return worst;
}

/* Newton on q (what = 0) or on q̇ (what = 1). Stops at rounding, or when the residual no longer falls. */
DA_FN int da_return(int what, double *q, double *v, double t, da_context *ctx)
{
    double step[DA_N] = {0.0}, miss[1], margin[1], best = 1e300;
    double *x = what ? v : q;
    double before[DA_N];
    for (int i = 0; i < DA_N; i++) before[i] = x[i];
    for (int pass = 0; pass < 12; pass++) {
        int straight = ctx->fast && ctx->independent && !ctx->fading;
        if (straight) {
            if (what)
                da_velocity_step(q, v, t, ctx->p, step, miss, margin);
            else
                da_position_step(q, v, t, ctx->p, step, miss, margin);
            straight = margin[0] > 0.0 && da_all_finite(step, DA_N);
        }
        if (!straight) {
            double r[DA_MM], J[DA_MM * DA_N], M[DA_N * DA_N], Q[DA_N], A[DA_MM * DA_N], b[DA_MM];
            double natural[DA_MM], plain[DA_MM];
            const int count = what ? DA_VELOCITY_ROWS : DA_POSITION_ROWS;
            if (what)
                da_velocity(q, v, t, ctx->p, r, J);
            else
                da_position(q, v, t, ctx->p, r, J);
            da_natural_lengths(ctx, natural, plain);
            miss[0] = da_miss(r, J, count, plain, x, what ? q : v);
            if (!da_finite(miss[0])) return DA_UNDEFINED;
            if (miss[0] > DA_ROUNDING) {
                da_dynamics(q, v, t, ctx->p, M, Q, A, b);
                if (da_least_change(M, J, r, count, natural, step)) return DA_NO_PROJECTION;
            }
        }
        if (!(miss[0] < best)) {
            /* The last change did not help: rounding has been reached. */
            for (int i = 0; i < DA_N; i++) x[i] = before[i];
            break;
        }
        if (miss[0] <= DA_ROUNDING) break;
        best = miss[0];
        for (int i = 0; i < DA_N; i++) {
            before[i] = x[i];
            x[i] -= step[i];
        }
#if DA_LINEAR_RATES
        /* (φ̇, ψ) is linear in q̇: one step is exact. */
        if (what && miss[0] < 1e-6) break;
#endif
    }
    return DA_DONE;
}

DA_FN int da_project(double *y, double t, da_context *ctx)
{
    int status = DA_DONE;
#if DA_POSITION_ROWS
    status = da_return(0, y, y + DA_N, t, ctx);
#endif
#if DA_VELOCITY_ROWS
    if (!status) status = da_return(1, y, y + DA_N, t, ctx);
#endif
    return status;
}

#endif
