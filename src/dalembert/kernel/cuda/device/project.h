/* Back onto the constraints after an accepted step, as runtime/state/project.h does it on factors; and whether the
   configuration is one where that serves. */
#if DA_VELOCITY_ROWS
#define DA_UNKNOWNS (DA_N + DA_ROWS)
/* Rounding of this precision for what the limits say of double. */
#define DA_COARSER (DA_EPS / 2.220446049250313e-16)
/* (φ̇, ψ) is linear in q̇: from here one step is exact. The root of rounding. */
#define DA_ONE_STEP (DA_SINGLE ? 3e-4 : 1e-8)

/* What is known of the constraints: the longest their gradients have been, and how near the last accepted state was to
   a singular configuration (the root of the smallest pivot), and how that changed with time. */
typedef struct {
    double longest[DA_AT_LEAST_1(DA_POSITION_ROWS)];
    double nearness, rate;
} da_past;

/* Newton on q (what = 0) or on q̇ (what = 1); a status where it comes to nothing, or, where asked, has led over a corner
   of the constraints: as da_leads_over in runtime/run/edge.h. */
DA_FN int da_return(int what, double *q, double *v, double t, const double *c, double *F, double *length, int asked,
                    double rtol, const double *atol)
{
    double r[DA_UNKNOWNS], change[DA_UNKNOWNS], before[DA_N], best = 1e30;
    double *x = what ? v : q;
    const double *other = what ? q : v;
    DA_UNROLL
    for (int i = 0; i < DA_UNKNOWNS; i++) r[i] = 0.0;
    DA_UNROLL
    for (int i = 0; i < DA_N; i++) before[i] = x[i];
    DA_ROLL
    for (int pass = 0; pass < 12; pass++) {
        double size = DA_PROJECT_LEAST_SIZE, miss = 0.0;
        if (what)
            da_velocity_gap(q, v, t, c, r + DA_N);
        else
            da_position_gap(q, v, t, c, r + DA_N);
        DA_UNROLL
        for (int i = 0; i < DA_N; i++) size = da_max(size, da_max(fabs(x[i]), 1e-3 * fabs(other[i])));
        DA_UNROLL
        for (int k = 0; k < DA_ROWS; k++) {
            const double own = fabs(r[DA_N + k]) * da_inverse(length[k] * size);
            if (!(own <= miss)) miss = own;
        }
        if (!da_finite(miss)) return DA_NO_PROJECTION;
        if (!(miss < best)) {
            /* The last change did not help: rounding has been reached. */
            DA_UNROLL
            for (int i = 0; i < DA_N; i++) x[i] = before[i];
            return best < 1e-6 * DA_COARSER ? DA_DONE : DA_NO_PROJECTION;
        }
        if (miss <= DA_PROJECT_ROUNDING * DA_COARSER) return DA_DONE;
#if DA_POSITION_ROWS || !DA_LINEAR_RATES
        if (pass && miss > 1e-2 * best) {
            double pivot[1];
            da_factor(q, v, t, c, 0.0, F, pivot, length);
            if (!(pivot[0] > DA_LEAST_PIVOT)) return DA_NO_PROJECTION;
        }
#endif
        da_backsolve(c, F, r, change);
        if (what && asked && !pass) { /* the first change is next to all of it */
            const double least = da_max(DA_EDGE_LEAST, 1e3 * DA_EPS);
            const double share = da_max(least, da_min(DA_EDGE_TOLERANCES * rtol, DA_EDGE_MOST));
            double speed = 0.0;
            int over = 0;
            DA_UNROLL
            for (int i = 0; i < DA_N; i++) speed = da_max(speed, fabs(v[i]));
            DA_UNROLL
            for (int i = 0; i < DA_N; i++)
                over |= fabs(change[i]) > share * speed + DA_EDGE_TOLERANCES * atol[DA_AT(DA_N + i)];
            if (over) return DA_NEEDS_CPU;
        }
        best = miss;
        DA_UNROLL
        for (int i = 0; i < DA_N; i++) {
            before[i] = x[i];
            x[i] -= change[i];
        }
        if (DA_LINEAR_RATES && what && miss < DA_ONE_STEP) return DA_DONE;
    }
    return DA_DONE;
}

/* Whether a motion that came here by a step of size h may be near a singular configuration, or have passed one: only
   the dense algebra of the CPU tells what follows then. Such are configurations where constraints depend on each other,
   and those where a gradient vanishes (runtime/state/fading.h). s, the root of the smallest pivot or the share that is
   left of a gradient, falls towards zero like a straight line there. */
DA_FN int da_is_singular(double pivot, const double *length, double h, da_past *past)
{
    double s = sqrt(da_max(pivot, 0.0));
    int singular = !(pivot > DA_LEAST_PIVOT);
    DA_UNROLL
    for (int k = 0; k < DA_POSITION_ROWS; k++) {
        const double own = length[da_position_places[k]];
        past->longest[k] = da_max(past->longest[k], own);
        singular |= !(own > 1e-2 * past->longest[k]);
        s = da_min(s, da_over(own, past->longest[k]));
    }
#if DA_ROWS > 1 || DA_POSITION_ROWS
    if (h > 0.0) {
        singular |= past->nearness < DA_SINGULAR_NEAR && past->nearness + 2.0 * past->rate * h < 0.3 * past->nearness;
        past->rate = da_over(s - past->nearness, h);
    }
    past->nearness = s;
#else
    (void)h, (void)s;
#endif
    return singular;
}

/* h: of the step that led here; 0: none, or a state inside a step, which is not watched. */
DA_FN int da_project(double *q, double *v, double t, const double *c, double h, double rtol, const double *atol,
                     da_past *past)
{
    double F[DA_FACTORS], length[DA_ROWS], pivot[1];
    da_factor(q, v, t, c, 0.0, F, pivot, length);
    if (past && da_is_singular(pivot[0], length, h, past)) return DA_NEEDS_CPU;
#if DA_POSITION_ROWS
    if (da_return(0, q, v, t, c, F, length, 0, rtol, atol)) return DA_NO_PROJECTION;
#endif
    return da_return(1, q, v, t, c, F, length, past && h > 0.0, rtol, atol);
}
#else
typedef struct {
    int none;
} da_past;
#endif
