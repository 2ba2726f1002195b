/* A step of an explicit method in all lanes, and what lies inside it. */
#ifndef DA_LANE_EXPLICIT_H
#define DA_LANE_EXPLICIT_H

DA_FN void da_begin_method(const da_members *all, da_group *g)
{
    const da_lane span = g->end - g->t0;
    da_first_steps(&g->t, g->q, g->v, g->a, &span, all->rtol, g->atol, g->c, &g->h);
}

/* Steps say nothing of their length before they are taken. */
DA_LANE void da_propose(const da_members *all, da_group *g, da_try *s) { (void)all, (void)g, (void)s; }

/* Where steps are accepted, and how long the next ones may be. */
DA_LANE void da_accept(da_group *g, da_try *s)
{
    const da_mask accepted = DA_BELOW(s->norm, 1.0);
    const da_lane size = da_lane_log(da_lane_max(DA_R(1e-300), s->norm)), grow = da_growth(accepted, size, g->last);
    s->grow = da_select(g->rejected & accepted, da_lane_min(grow, DA_R(1.0)), grow);
    g->last = da_select(accepted, da_lane_max(size, DA_R(DA_LOG_LEAST)), g->last);
    s->accepted &= accepted;
    s->failed |= accepted & ~s->good;
}

/* The accelerations at the new states. */
DA_LANE void da_settle(const da_members *all, da_group *g, da_try *s)
{
    da_lane margin[1], sum = DA_R(0.0);
    (void)all;
    da_acceleration(s->qn, s->vn, s->tn, g->c, s->an, margin);
    for (int j = 0; j < DA_N; j++) sum += s->an[j] - s->an[j];
    s->failed |= s->accepted & (~da_equal(sum, DA_R(0.0)) | ~DA_ABOVE(margin[0], 0.0));
}

/* The slopes of (q, q̇) that the interpolant takes. */
DA_FN void da_slopes(const da_group *g, const da_try *s, da_lane full[DA_SLOPES][DA_NW])
{
    for (int i = 0; i < DA_KEPT; i++)
        for (int j = 0; j < DA_N; j++) {
            da_lane sum = DA_R(0.0);
            for (int l = 0; l < i; l++) sum += da_once[i][l] * (l ? s->k[l][j] : g->a[j]);
            full[i][j] = g->v[j] + s->step * sum;
            full[i][DA_N + j] = i ? s->k[i][j] : g->a[j];
        }
}

typedef struct {
    const da_lane *c;
    da_mask failed;
} da_context;

DA_FN int da_rhs_checked(da_lane t, const da_lane *y, da_lane *dy, da_context *ctx)
{
    for (int j = 0; j < DA_N; j++) dy[j] = y[DA_N + j];
    da_accelerate_apart(y, y + DA_N, &t, ctx->c, dy + DA_N, &ctx->failed);
    return 0;
}

#endif
