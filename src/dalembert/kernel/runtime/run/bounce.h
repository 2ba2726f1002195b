/* A gap that closes alone, without friction, and bounces: the run goes on after it, without asking its caller.

   The blow is the reflection of the velocity at the constraint that closes: with v₀ the nearest velocity, in the metric
   of M, at which nothing approaches, v⁺ = v⁻ + (1 + e)(v₀ − v⁻), whatever the law of restitution. A bounce that is
   slow, or beside which something else touches, ends the run as other events do: the caller decides what follows. */
#ifndef DA_BOUNCE_H
#define DA_BOUNCE_H

#if DA_WITH_SWITCHED
/* The velocity at which the gap of function `which` would neither close nor open; nonzero where there is none. speed:
   at which it closes, along its normal in the coordinates. */
DA_FN int da_stopped(da_run *r, int which, double *v, double *speed)
{
    double q[DA_N], constants[DA_AT_LEAST_1(DA_NC)], rate[DA_MM], J[DA_MM * DA_N];
    const double *open = r->ctx.p;
    int k = 0;
    for (int j = 0; j < DA_N; j++) q[j] = r->watch.y[j];
    for (int j = 0; j < DA_N; j++) v[j] = r->watch.y[DA_N + j];
    da_constants(r->events->bounces->closed + (long)which * DA_NP, constants);
    da_velocity(q, v, r->watch.t, constants, rate, J);
    for (int i = 1; i < DA_VELOCITY_ROWS; i++) /* all others hold */
        if (fabs(rate[i]) > fabs(rate[k])) k = i;
    *speed = fabs(rate[k]) / sqrt(da_dot(J + DA_N * k, J + DA_N * k, DA_N));
    r->ctx.p = constants;
    const int failed = da_return(1, q, v, r->watch.t, &r->ctx);
    r->ctx.p = open;
    return failed || !da_finite(*speed);
}

/* Whether all other gaps are open, by more than the least share of their terms. */
DA_FN int da_closes_alone(da_run *r, int which)
{
    double g[DA_AT_LEAST_1(DA_NG)], scale[DA_AT_LEAST_1(DA_NG)];
    da_functions_at(r->watch.y, r->watch.t, r->watch.sizes, &r->ctx, g, scale);
    for (int i = 0; i < DA_NG; i++)
        if (i != which && r->events->bounces->restitution[i] >= 0.0 && !(g[i] > DA_BOUNCE_APART * scale[i])) return 0;
    return 1;
}

/* Whether a bounce is so fast that nobody need decide whether it is one. */
DA_FN int da_is_clear_bounce(const da_run *r, double speed, double e)
{
    da_bounces *asked = r->events->bounces;
    double place = 0.0, rate = 0.0;
    for (int j = 0; j < DA_N; j++) place = da_max(place, da_max(fabs(r->watch.y[j]), r->watch.sizes[j]));
    for (int j = 0; j < DA_N; j++) rate = da_max(rate, fabs(r->k[DA_N + j]));
    asked->approach = da_max(asked->approach, speed);
    return e * speed > asked->slowest * asked->approach && e * speed * e * speed > 2.0 * asked->lowest * place * rate;
}

/* A step after which the gap is seen to be open: one over the whole flight would see nothing of it. The whole step
   where it is too short for the gap to be seen. */
DA_FN double da_step_into_the_open(da_run *r, int which, double whole)
{
    double y[DA_NW], g[DA_AT_LEAST_1(DA_NG)], scale[DA_AT_LEAST_1(DA_NG)], h = whole;
    for (int j = 0; j < DA_NW; j++) y[j] = r->ynew[j];
    for (int halved = 0; halved < 60; halved++, h *= 0.5) {
        for (int j = 0; j < DA_N; j++) {
            const double v = r->ynew[DA_N + j], a = r->fnew[DA_N + j];
            y[j] = r->ynew[j] + h * (v + 0.5 * h * a);
            y[DA_N + j] = v + h * a;
        }
        da_functions_at(y, r->tnew + h, r->watch.sizes, &r->ctx, g, scale);
        if (g[which] > DA_EVENT_START_NOISE * scale[which]) return h;
    }
    return whole;
}

/* Beyond the event that would end the run, where it is such a bounce; zero where it is none. The state after it follows
   that before it in the record of passages. */
DA_PIECE int da_bounce(da_run *r)
{
    const int which = r->events->ended;
    const da_bounces *asked = r->events->bounces;
    if (!asked || DA_KINKS || r->series || !(asked->restitution[which] > 0.0)) return 0;
    const double e = asked->restitution[which];
    double v[DA_N], speed;
    if (!da_closes_alone(r, which) || da_stopped(r, which, v, &speed) || !da_is_clear_bounce(r, speed, e)) return 0;
    da_return_to(&r->before, &r->ctx);
    r->ctx.steps++;
    r->ended = 0;
    r->turned = 1;
    r->tnew = r->watch.t;
    r->singular.seen = 0; /* no polynomial leads over a jump */
    for (int j = 0; j < DA_NY; j++) r->ynew[j] = r->watch.y[j];
    for (int j = 0; j < DA_N; j++) r->ynew[DA_N + j] += (1.0 + e) * (v[j] - r->watch.y[DA_N + j]);
    da_passed_by(&r->watch, r->events, which, r->ynew);
    r->status = da_settle(r->tnew, r->ynew, r->fnew, &r->ctx);
    if (r->status) return 1;
    da_watch_from(&r->watch, r->events, r->tnew, r->ynew, &r->ctx);
    da_own_forget(&r->own);
    r->grow = da_min(r->grow, da_step_into_the_open(r, which, r->step * r->grow) / r->step);
    return 1;
}
#endif

#endif
