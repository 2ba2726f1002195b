/* How long steps are, and tolerances: as runtime/run/control.h and `tolerances` in motion/integrate/settings.py. */

/* A first step size from the sizes of the solution and of its first two derivatives. */
DA_PIECE double da_first_step(double t, const double *q, const double *v, const double *a, double span, double rtol,
                              const double *atol, const double *c)
{
    double q1[DA_N], v1[DA_N], a1[DA_N], margin[1], d0 = 0.0, d1 = 0.0, d2 = 0.0, h0, h1;
    for (int j = 0; j < DA_N; j++) {
        const double of_q = da_inverse(atol[DA_AT(j)] + rtol * fabs(q[j]));
        const double of_v = da_inverse(atol[DA_AT(DA_N + j)] + rtol * fabs(v[j]));
        d0 += (q[j] * of_q) * (q[j] * of_q) + (v[j] * of_v) * (v[j] * of_v);
        d1 += (v[j] * of_q) * (v[j] * of_q) + (a[j] * of_v) * (a[j] * of_v);
    }
    d0 = sqrt(d0 / DA_NE);
    d1 = sqrt(d1 / DA_NE);
    h0 = da_min(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, span);
    for (int j = 0; j < DA_N; j++) {
        q1[j] = q[j] + h0 * v[j];
        v1[j] = v[j] + h0 * a[j];
    }
    da_acceleration(q1, v1, t + h0, c, a1, margin);
    for (int j = 0; j < DA_N; j++) {
        const double of_q = da_inverse(atol[DA_AT(j)] + rtol * fabs(q[j]));
        const double of_v = da_inverse(atol[DA_AT(DA_N + j)] + rtol * fabs(v[j]));
        d2 += ((v1[j] - v[j]) * of_q) * ((v1[j] - v[j]) * of_q) + ((a1[j] - a[j]) * of_v) * ((a1[j] - a[j]) * of_v);
    }
    if (!da_finite(d2)) return h0 * 1e-3;
    d2 = sqrt(d2 / DA_NE) / h0;
    h1 = d1 <= 1e-15 && d2 <= 1e-15 ? da_max(1e-6, h0 * 1e-3) : pow(0.01 / da_max(d1, d2), 1.0 / DA_FALLS);
    return da_min(da_min(100.0 * h0, h1), span);
}

/* Absolute tolerances from the size that the motion will have, judged at its start; share: see da_grow. */
DA_PIECE void da_tolerances(const double *q, const double *v, const double *a, double span, double share, double *atol)
{
    double most_q = 0.0, most_v = 0.0;
    for (int j = 0; j < DA_N; j++) {
        const double reach = da_max(da_max(fabs(q[j]), fabs(v[j]) * span), fabs(a[j]) * span * span);
        const double speed = da_max(da_max(fabs(v[j]), fabs(a[j]) * span), reach / span);
        atol[DA_AT(j)] = reach;
        atol[DA_AT(DA_N + j)] = speed;
        most_q = da_max(most_q, reach);
        most_v = da_max(most_v, speed);
    }
    for (int j = 0; j < DA_NE; j++) {
        double most = j < DA_N ? most_q : most_v;
        if (!(most > 0.0)) most = 1.0;
        const double size = atol[DA_AT(j)] > 1e-12 * most ? atol[DA_AT(j)] : most;
        atol[DA_AT(j)] = share * da_max(da_min(size, 1.0), DA_LEAST_SIZE);
    }
}

/* Tolerances at a new state: they grow with the largest size, up to one unit, that a component has had. */
DA_FN void da_grow(double share, const double *q, const double *v, double *atol)
{
    DA_UNROLL
    for (int j = 0; j < DA_N; j++) {
        atol[DA_AT(j)] = da_max(atol[DA_AT(j)], share * da_min(fabs(q[j]), 1.0));
        atol[DA_AT(DA_N + j)] = da_max(atol[DA_AT(DA_N + j)], share * da_min(fabs(v[j]), 1.0));
    }
}

/* How much longer than the last step the next may be, or a rejected one when it is taken again; from the logarithms of
   the norm of its error and of that of the one before. Where that has no value, a fifth. */
DA_FN double da_factor_of(int accepted, double norm, double last)
{
    const double rate = accepted ? (0.75 * 0.03 - 1.0 / DA_FALLS) * norm + 0.03 * last : -1.0 / DA_FALLS * norm;
    return da_min(10.0, da_max((accepted ? 0.8 : 0.9) * exp(rate), 0.2));
}

#if DA_PACED
/* The longest step from t: as runtime/run/pace.h. */
DA_FN double da_longest(const double *starts, const double *bounds, int count, double t, int *at)
{
    double longest = 1e30;
    while (*at + 1 < count && starts[*at + 1] <= t) ++*at;
    for (int k = *at; k < count && starts[k] - t < longest; k++)
        longest = da_min(longest, da_max(starts[k] - t, bounds[k]));
    return longest;
}
#endif
