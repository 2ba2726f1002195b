/* Factors of the equations with their multipliers, kept as numbers: for returns to the constraints, and, in large
   systems, for states next to singular configurations, where a proximal iteration on sparse factors takes the place
   of dense algebra. */
#ifndef DA_WEAK_H
#define DA_WEAK_H

/* Below the first, two constraints include an angle below 1e-3, and the proximal weights begin to matter. Below the
   second, rounding alone can make such a pivot, so that the rank must be found by dense algebra. */
#define DA_PIVOT 1e-6
#define DA_NO_RANK 1e-12
#define DA_UNKNOWNS (DA_N + DA_FAST_ROWS)

#define DA_FACTORS_ARRAYS(ARRAY, PART) ARRAY(double, F, DA_FACTORS) ARRAY(double, length, DA_FAST_ROWS)
typedef struct {
    DA_FACTORS_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
    int weak; /* made with the proximal weight */
} da_factors;
DA_STRUCTURE(da_factors, DA_FACTORS_ARRAYS)

/* The factors at a state; 0 where they are of no use. */
DA_FN int da_factors_at(const double *q, const double *v, double t, const da_context *ctx, da_factors *f)
{
    double pivot[1];
    da_factor(q, v, t, ctx->p, 0.0, f->F, pivot, f->length);
    f->weak = !(pivot[0] > DA_PIVOT);
    if (f->weak && !DA_LARGE) return 0;
    if (f->weak) da_factor(q, v, t, ctx->p, DA_PROXIMAL, f->F, pivot, f->length);
    return da_all_finite(f->F, DA_FACTORS);
}

/* x = (a, −λ) with [M Aᵀ; A 0] x = right: at once, or where factors carry the proximal weight by passes that take it
   out again. */
DA_FN void da_factored_solve(const double *q, const double *v, double t, const da_context *ctx, const da_factors *f,
                             const double *right, double *x)
{
#if DA_WITH_LARGE
    if (DA_LARGE && f->weak) {
        double rest[DA_UNKNOWNS], change[DA_UNKNOWNS], most = 0.0;
        for (int i = 0; i < DA_UNKNOWNS; i++) x[i] = 0.0;
        for (int k = 0; k < DA_FAST_ROWS; k++) most = da_max(most, fabs(right[DA_N + k]) / f->length[k]);
        for (int pass = 0; pass < DA_PROXIMAL_PASSES; pass++) {
            double left = 0.0;
            da_rest(q, v, t, ctx->p, x, right, rest);
            for (int k = 0; k < DA_FAST_ROWS; k++) left = da_max(left, fabs(rest[DA_N + k]) / f->length[k]);
            if (pass && left <= 1e-16 * most) return;
            da_backsolve(ctx->p, f->F, rest, change);
            for (int i = 0; i < DA_UNKNOWNS; i++) x[i] += change[i];
        }
        return;
    }
#endif
    (void)q;
    (void)v;
    (void)t;
    (void)ctx;
    da_backsolve(ctx->p, f->F, right, x);
}

#if DA_WITH_LARGE
/* Acceleration and powers at a state with weak pivots. Returns 0 where they have a value. */
DA_FN int da_weak(const double *q, const double *v, double t, da_context *ctx, double *a, double *power)
{
    double right[DA_UNKNOWNS], x[DA_UNKNOWNS], rest[DA_UNKNOWNS], F[DA_N], explicit_power[1];
    DA_LOCAL(da_factors, f);
    ctx->robust++;
    if (!da_factors_at(q, v, t, ctx, &f)) return 1;
    da_right(q, v, t, ctx->p, right);
    da_factored_solve(q, v, t, ctx, &f, right, x);
    for (int k = DA_N; k < DA_UNKNOWNS; k++) x[k] = right[k] = 0.0;
    da_rest(q, v, t, ctx->p, x, right, rest); /* Q − M a: the ideal force, turned round */
    da_energetics(q, v, t, ctx->p, F, explicit_power);
    power[0] = explicit_power[0];
    power[1] = power[2] = 0.0;
    for (int i = 0; i < DA_N; i++) {
        a[i] = x[i];
        power[0] += v[i] * F[i];
        power[1] -= v[i] * rest[i];
        rest[i] = -rest[i];
    }
    if (DA_HAS_WORK) {
        da_work(q, v, t, ctx->p, rest, right); /* C; the rows of the constraints stay zero */
        da_factored_solve(q, v, t, ctx, &f, right, x);
        for (int k = DA_N; k < DA_UNKNOWNS; k++) x[k] = 0.0;
        for (int i = 0; i < DA_N; i++) {
            a[i] += x[i];
            right[i] = 0.0;
        }
        da_rest(q, v, t, ctx->p, x, right, rest);
        for (int i = 0; i < DA_N; i++) power[2] -= v[i] * rest[i];
    }
#if DA_WITH_HEATS
    if (DA_HEATS) da_heat(q, v, t, ctx->p, power + 3);
#endif
    return !da_all_finite(a, DA_N);
}
#endif

#endif
