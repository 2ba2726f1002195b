/* How long steps are: as runtime/run/control.h, in all lanes at once. */
#ifndef DA_LANE_CONTROL_H
#define DA_LANE_CONTROL_H

/* One number for each component, relative to its tolerance at the state (q, v), squared and summed. */
DA_LANE da_lane da_size_of(const da_lane *of_q, const da_lane *of_v, const da_lane *q, const da_lane *v, double rtol,
                           const da_lane *atol)
{
    da_lane sum = DA_R(0.0);
    for (int j = 0; j < DA_N; j++) {
        const da_lane one = of_q[j] / (atol[j] + rtol * da_lane_fabs(q[j]));
        const da_lane two = of_v[j] / (atol[DA_N + j] + rtol * da_lane_fabs(v[j]));
        sum += one * one;
        sum += two * two;
    }
    return sum;
}

/* A first step size from the sizes of the solution and of its first two derivatives. */
DA_PIECE void da_first_steps(const da_lane *t, const da_lane *q, const da_lane *v, const da_lane *a,
                             const da_lane *span, double rtol, const da_lane *atol, const da_lane *c, da_lane *h)
{
    da_lane q1[DA_N], v1[DA_N], a1[DA_N], dq[DA_N], dv[DA_N];
    da_mask failed = DA_NONE;
    const da_lane d0 = da_lane_sqrt(da_size_of(q, v, q, v, rtol, atol) / (double)DA_NE);
    const da_lane d1 = da_lane_sqrt(da_size_of(v, a, q, v, rtol, atol) / (double)DA_NE);
    const da_mask small = DA_BELOW(d0, 1e-5) | DA_BELOW(d1, 1e-5);
    const da_lane h0 = da_lane_min(da_select(small, DA_R(1e-6), 0.01 * d0 / d1), *span);
    for (int j = 0; j < DA_N; j++) {
        q1[j] = q[j] + h0 * v[j];
        v1[j] = v[j] + h0 * a[j];
    }
    const da_lane then = *t + h0;
    da_accelerate_apart(q1, v1, &then, c, a1, &failed);
    for (int j = 0; j < DA_N; j++) {
        dq[j] = v1[j] - v[j];
        dv[j] = a1[j] - a[j];
    }
    const da_lane d2 = da_lane_sqrt(da_size_of(dq, dv, q, v, rtol, atol) / (double)DA_NE) / h0;
    const da_lane h1 = da_select(~(DA_ABOVE(d1, 1e-15) | DA_ABOVE(d2, 1e-15)), da_lane_max(DA_R(1e-6), h0 * 1e-3),
                                 da_lane_exp(da_lane_log(0.01 / da_lane_max(d1, d2)) / (double)DA_FALLS));
    *h = da_select(da_lane_finite(d2), da_lane_min(da_lane_min(100.0 * h0, h1), *span), h0 * 1e-3);
}

/* The logarithm of 1e-4, as small as the error of a step counts for the next one. */
#define DA_LOG_LEAST (-9.210340371976182)

/* How much longer than the last step the next may be, or a rejected one when it is taken again; from the logarithms of
   the norm of its error and of that of the one before. Where that has no value, a fifth. */
DA_LANE da_lane da_growth(da_mask accepted, da_lane norm, da_lane last)
{
    const da_lane rate = da_select(accepted, (0.75 * 0.03 - 1.0 / DA_FALLS) * norm + 0.03 * last, norm / -DA_FALLS);
    const da_lane grown = da_select(accepted, DA_R(0.8), DA_R(0.9)) * da_lane_exp(rate);
    return da_lane_min(da_lane_max(grown, DA_R(0.2)), DA_R(10.0));
}

#endif
