/* Back onto the constraints after an accepted step: φ = 0, then φ̇ = 0 and ψ = 0, by the least change in the metric
   of M. */
#ifndef DA_PROJECT_H
#define DA_PROJECT_H

/* One Newton step for the dense case: the least change of x, in the metric of M, that removes the residual r with
   rows J. */
DA_COLD int da_least_change(const double *mass, const double *J, const double *r, int count, const double *natural,
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
    DA_LOCAL(da_proximal, s);
    if (da_proximal_factor(column, rank, order, &s)) return 1;
    da_proximal_solve(&s, column, e, step);
    da_backward(DA_N, L, step);
    return 0;
}

/* The largest residual relative to the length of its gradient, its natural one where that is longer, times the size
   of the state, which is `least` at least. */
DA_COLD double da_miss(const double *r, const double *J, int count, const double *plain, const double *x,
                       const double *other, double least)
{
    double size = least, worst = 0.0; /* as size_of in motion/state/project.py */
    for (int i = 0; i < DA_N; i++) size = da_max(size, da_max(fabs(x[i]), 1e-3 * fabs(other[i])));
    for (int j = 0; j < count; j++) {
        const double length = da_max(sqrt(da_dot(J + DA_N * j, J + DA_N * j, DA_N)), plain[j]) * size;
        const double miss = fabs(r[j]) / (length > 0.0 ? length : 1.0);
        if (!(miss <= worst)) worst = miss;
    }
    return worst;
}

/* Newton on q (what = 0) or on q̇ (what = 1) by dense algebra. Stops at rounding, or when the residual no longer
   falls. What is left of a velocity that a blow stops is rounding of that velocity, and no size. */
DA_FN int da_return(int what, double *q, double *v, double t, da_context *ctx)
{
    double step[DA_N], best = 1e300, least = DA_PROJECT_LEAST_SIZE;
    double *x = what ? v : q;
    double before[DA_N];
    for (int i = 0; i < DA_N; i++) {
        before[i] = x[i];
        least = da_max(least, fabs(x[i]));
        step[i] = 0.0;
    }
    for (int pass = 0; pass < 12; pass++) {
        double r[DA_MM], J[DA_MM * DA_N], M[DA_N * DA_N], Q[DA_N], A[DA_MM * DA_N], b[DA_MM];
        double natural[DA_MM], plain[DA_MM];
        const int count = what ? DA_VELOCITY_ROWS : DA_POSITION_ROWS;
        if (what)
            da_velocity(q, v, t, ctx->p, r, J);
        else
            da_position(q, v, t, ctx->p, r, J);
        da_natural_lengths(ctx, natural, plain);
        const double miss = da_miss(r, J, count, plain, x, what ? q : v, least);
        if (!da_finite(miss)) return DA_UNDEFINED;
        if (!(miss < best)) {
            /* The last change did not help: rounding has been reached. */
            for (int i = 0; i < DA_N; i++) x[i] = before[i];
            break;
        }
        if (miss <= DA_PROJECT_ROUNDING) break;
        da_dynamics(q, v, t, ctx->p, M, Q, A, b);
        if (da_least_change(M, J, r, count, natural, step)) return DA_NO_PROJECTION;
        best = miss;
        for (int i = 0; i < DA_N; i++) {
            before[i] = x[i];
            x[i] -= step[i];
        }
        /* (φ̇, ψ) is linear in q̇: one step is exact. */
        if (DA_LINEAR_RATES && what && miss < 1e-6) break;
    }
    return DA_DONE;
}

/* The same on factors of all constraints together, kept while they serve: the change then lies along the constraints
   of other levels. Returns nonzero where it comes to nothing. */
DA_FN int da_return_factored(int what, double *q, double *v, double t, const da_context *ctx, da_factors *f)
{
    double r[DA_UNKNOWNS], change[DA_UNKNOWNS], before[DA_N], best = 1e300;
    double *x = what ? v : q;
    const double *other = what ? q : v;
    for (int i = 0; i < DA_UNKNOWNS; i++) r[i] = 0.0;
    for (int i = 0; i < DA_N; i++) before[i] = x[i];
    for (int pass = 0; pass < 12; pass++) {
        double size = DA_PROJECT_LEAST_SIZE, miss = 0.0;
        if (what)
            da_velocity_gap(q, v, t, ctx->p, r + DA_N);
        else
            da_position_gap(q, v, t, ctx->p, r + DA_N);
        for (int i = 0; i < DA_N; i++) size = da_max(size, da_max(fabs(x[i]), 1e-3 * fabs(other[i])));
        for (int k = 0; k < DA_FAST_ROWS; k++) {
            const double own = fabs(r[DA_N + k]) / (f->length[k] * size);
            if (!(own <= miss)) miss = own;
        }
        if (!da_finite(miss)) return 1;
        if (!(miss < best)) {
            /* The last change did not help: rounding has been reached. */
            for (int i = 0; i < DA_N; i++) x[i] = before[i];
            return !(best < 1e-6);
        }
        if (miss <= DA_PROJECT_ROUNDING) return 0;
        if (pass && miss > 1e-2 * best && !da_factors_at(q, v, t, ctx, f)) return 1;
        da_factored_solve(q, v, t, ctx, f, r, change);
        best = miss;
        for (int i = 0; i < DA_N; i++) {
            before[i] = x[i];
            x[i] -= change[i];
        }
        /* (φ̇, ψ) is linear in q̇, and the factors belong to a state this near: one step is exact. */
        if (DA_LINEAR_RATES && what && miss < 1e-8) return 0;
    }
    return 0;
}

DA_PIECE int da_project(double *y, double t, da_context *ctx)
{
    int status = DA_DONE;
    if (!DA_VELOCITY_ROWS) return status;
    double *q = y, *v = y + DA_N, before[2 * DA_N];
    DA_LOCAL(da_factors, f);
    for (int i = 0; i < 2 * DA_N; i++) before[i] = y[i];
    if (ctx->fast && ctx->independent && !ctx->fading && da_factors_at(q, v, t, ctx, &f) &&
        !(DA_POSITION_ROWS && da_return_factored(0, q, v, t, ctx, &f)) && !da_return_factored(1, q, v, t, ctx, &f))
        return DA_DONE;
    for (int i = 0; i < 2 * DA_N; i++) y[i] = before[i];
    if (DA_POSITION_ROWS) status = da_return(0, q, v, t, ctx);
    if (!status) status = da_return(1, q, v, t, ctx);
    return status;
}

#endif
