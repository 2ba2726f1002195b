/* Back onto the constraints after accepted steps, as runtime/state/project.h does it on factors; and whether the
   configurations are ones where that serves, as cuda/device/project.h. */
#ifndef DA_LANE_PROJECT_H
#define DA_LANE_PROJECT_H

/* What is known of the constraints: the longest their gradients have been, and how near the last accepted state was to
   a singular configuration (the root of the smallest pivot), and how that changed with time. */
typedef struct {
    da_lane longest[DA_AT_LEAST_1(DA_POSITION_ROWS)];
    da_lane nearness, rate;
} da_past;

#if DA_VELOCITY_ROWS
/* Newton on q (what = 0) or on q̇ (what = 1), in each lane until its own residual is small; the lanes in which it comes
   to nothing. */
DA_LANE da_mask da_return(int what, da_lane *q, da_lane *v, da_lane t, const da_lane *c, da_lane *F, da_lane *length)
{
    da_lane r[DA_ROWS], change[DA_N], before[DA_N], best = DA_R(1e300);
    da_lane *x = what ? v : q;
    const da_lane *other = what ? q : v;
    da_mask going = DA_EVERY, failed = DA_NONE;
    for (int i = 0; i < DA_N; i++) before[i] = x[i];
    for (int pass = 0; pass < 12; pass++) {
        da_lane size = DA_R(DA_PROJECT_LEAST_SIZE), miss = DA_R(0.0);
        if (what)
            da_velocity_gap(q, v, t, c, r);
        else
            da_position_gap(q, v, t, c, r);
        for (int i = 0; i < DA_N; i++)
            size = da_lane_max(size, da_lane_max(da_lane_fabs(x[i]), 1e-3 * da_lane_fabs(other[i])));
        for (int k = 0; k < DA_ROWS; k++) {
            const da_lane own = da_lane_fabs(r[k]) / (length[k] * size);
            miss = da_select(da_most(own, miss), miss, own);
        }
        failed |= going & ~da_lane_finite(miss);
        /* Where the last change did not help, rounding has been reached. */
        const da_mask worse = going & ~da_less(miss, best);
        for (int i = 0; i < DA_N; i++) x[i] = da_select(worse, before[i], x[i]);
        failed |= worse & ~DA_BELOW(best, 1e-6);
        going &= ~worse & DA_ABOVE(miss, DA_PROJECT_ROUNDING);
        if (!da_any(going)) break;
#if DA_POSITION_ROWS || !DA_LINEAR_RATES
        const da_mask anew = going & da_less(1e-2 * best, miss);
        if (pass && da_any(anew)) {
            da_lane other_F[DA_FACTORS], pivot[1], other_length[DA_ROWS];
            da_factor(q, v, t, c, DA_R(0.0), other_F, pivot, other_length);
            for (int i = 0; i < DA_FACTORS; i++) F[i] = da_select(anew, other_F[i], F[i]);
            for (int k = 0; k < DA_ROWS; k++) length[k] = da_select(anew, other_length[k], length[k]);
            failed |= anew & ~DA_ABOVE(pivot[0], DA_LEAST_PIVOT);
            going &= ~failed;
        }
#endif
        da_backsolve(c, F, r, change);
        best = da_select(going, miss, best);
        for (int i = 0; i < DA_N; i++) {
            before[i] = da_select(going, x[i], before[i]);
            x[i] = da_select(going, x[i] - change[i], x[i]);
        }
        /* (φ̇, ψ) is linear in q̇, and the factors belong to a state this near: one step is exact. */
        if (DA_LINEAR_RATES && what) going &= ~DA_BELOW(miss, 1e-8);
        if (!da_any(going)) break;
    }
    return failed;
}

/* Whether motions that came here by steps of size h may be near a singular configuration, or have passed one: only
   dense algebra tells what follows then. s, the root of the smallest pivot or the share that is left of a gradient,
   falls towards zero like a straight line there. Where a step was not accepted, nothing is learnt from it. */
DA_LANE da_mask da_is_singular(da_lane pivot, const da_lane *length, da_lane h, da_mask accepted, da_past *past)
{
    da_lane s = da_lane_sqrt(da_lane_max(pivot, DA_R(0.0)));
    da_mask singular = ~DA_ABOVE(pivot, DA_LEAST_PIVOT);
    for (int k = 0; k < DA_POSITION_ROWS; k++) {
        const da_lane own = length[da_position_places[k]], longest = da_lane_max(past->longest[k], own);
        past->longest[k] = da_select(accepted, longest, past->longest[k]);
        singular |= ~da_less(1e-2 * longest, own);
        s = da_lane_min(s, own / longest);
    }
#if DA_ROWS > 1 || DA_POSITION_ROWS
    const da_mask moved = DA_ABOVE(h, 0.0);
    singular |= moved & DA_BELOW(past->nearness, DA_SINGULAR_NEAR) &
                da_less(past->nearness + 2.0 * past->rate * h, 0.3 * past->nearness);
    past->rate = da_select(accepted & moved, (s - past->nearness) / h, past->rate);
    past->nearness = da_select(accepted, s, past->nearness);
#else
    (void)h, (void)s;
#endif
    return singular;
}

/* Returns the lanes that the other way must take. past: NULL for states inside steps, which are not watched. h: of the
   steps that led here; 0: none. */
DA_LANE da_mask da_project(da_lane *q, da_lane *v, da_lane t, const da_lane *c, da_lane h, da_mask accepted,
                           da_past *past)
{
    da_lane F[DA_FACTORS], length[DA_ROWS], pivot[1];
    da_mask failed = DA_NONE;
    da_factor(q, v, t, c, DA_R(0.0), F, pivot, length);
    if (past) failed = da_is_singular(pivot[0], length, h, accepted, past);
#if DA_POSITION_ROWS
    failed |= da_return(0, q, v, t, c, F, length);
#endif
    return failed | da_return(1, q, v, t, c, F, length);
}
#else
DA_LANE da_mask da_project(da_lane *q, da_lane *v, da_lane t, const da_lane *c, da_lane h, da_mask accepted,
                           da_past *past)
{
    (void)q, (void)v, (void)t, (void)c, (void)h, (void)accepted, (void)past;
    return DA_NONE;
}
#endif

/* The same for starts and for states inside steps, which are few: one copy is enough. */
DA_PIECE void da_project_apart(da_lane *q, da_lane *v, const da_lane *t, const da_lane *c, da_past *past,
                               da_mask *failed)
{
    *failed |= da_project(q, v, *t, c, DA_R(0.0), DA_EVERY, past);
}

/* Accelerations there. Returns where they have no value, or pivots are too small for straight-line code. */
DA_PIECE void da_accelerate_apart(const da_lane *q, const da_lane *v, const da_lane *t, const da_lane *c, da_lane *a,
                                  da_mask *failed)
{
    da_lane margin[1], sum = DA_R(0.0);
    da_acceleration(q, v, *t, c, a, margin);
    for (int j = 0; j < DA_N; j++) sum += (q[j] - q[j]) + (v[j] - v[j]) + (a[j] - a[j]);
    *failed |= ~da_equal(sum, DA_R(0.0)) | ~DA_ABOVE(margin[0], 0.0);
}

#endif
