/* How long steps are. */
#ifndef DA_CONTROL_H
#define DA_CONTROL_H

/* A first step size from the sizes of the solution and of its first two derivatives. */
DA_PIECE double da_first_step(double t, const double *y, const double *f, double span, double rtol, const double *atol,
                              int order, da_context *ctx)
{
    double y1[DA_NY], f1[DA_NY], d0 = 0.0, d1 = 0.0, d2 = 0.0, h0, h1;
    int j;
    for (j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * fabs(y[j]);
        d0 += (y[j] / scale) * (y[j] / scale);
        d1 += (f[j] / scale) * (f[j] / scale);
    }
    d0 = sqrt(d0 / DA_NE);
    d1 = sqrt(d1 / DA_NE);
    h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h0 = da_min(h0, span);
    for (j = 0; j < DA_NY; j++) y1[j] = y[j] + h0 * f[j];
    if (da_rhs_checked(t + h0, y1, f1, ctx)) return h0 * 1e-3;
    for (j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * fabs(y[j]);
        d2 += ((f1[j] - f[j]) / scale) * ((f1[j] - f[j]) / scale);
    }
    d2 = sqrt(d2 / DA_NE) / h0;
    h1 = d1 <= 1e-15 && d2 <= 1e-15 ? da_max(1e-6, h0 * 1e-3) : pow(0.01 / da_max(d1, d2), 1.0 / (order + 1));
    return da_min(da_min(100.0 * h0, h1), span);
}

/* How much longer the next step may be. Explicit methods: a little of the error before, and some distance from the
   tolerance, halve the steps that are rejected (PI control: Hairer, Wanner, Solving Ordinary Differential Equations
   II, section IV.2). The constants need the fewest evaluations for equal true errors over the problems in
   benchmarks/. */
DA_FN double da_growth(int implicit, int order, double norm, double last_norm)
{
    if (implicit) return 0.9 * pow(norm, -1.0 / order);
    return 0.8 * exp((0.75 * 0.03 - 1.0 / order) * log(norm) + 0.03 * log(last_norm));
}

/* The same for an accepted step, whatever its error. */
DA_FN double da_next_size(int method, int order, double norm, double last_norm, double step, double last_step)
{
    const int implicit = da_is_implicit(method);
    double grow = norm == 0.0 ? 10.0 : da_min(10.0, da_max(0.2, da_growth(implicit, order, norm, last_norm)));
    /* Stiff motions turn steep suddenly: two steps show that the error grows before it is too large (Gustafsson's
       predictive controller: Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.8). */
    if (implicit && last_step > 0.0 && norm > 0.0)
        grow = da_min(grow, da_max(0.2, 0.9 * step / last_step * pow(last_norm / (norm * norm), 1.0 / order)));
    return grow;
}

/* Whether a run whose last `window` steps covered so much time will not come to its end; as stalled() in
   motion/integrate/trajectory.py. */
DA_FN int da_is_stalled(double covered, double longest, double span, long window)
{
    const int collapsed = covered < DA_STALL_COLLAPSE * longest * (double)window || covered < DA_STALL_HOPELESS * span;
    return covered < DA_STALL_SHARE * span && collapsed;
}

#endif
