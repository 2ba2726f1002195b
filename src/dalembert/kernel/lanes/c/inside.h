/* States inside a step of an explicit method. */
#ifndef DA_LANE_INSIDE_H
#define DA_LANE_INSIDE_H

typedef struct {
    da_lane y[DA_NW], k[DA_SLOPES][DA_NW], f[DA_DENSE][DA_NW];
} da_interpolant;

/* Returns where a slope that it needs has no value. */
DA_FN da_mask da_interpolate_step(const da_group *g, const da_try *s, da_interpolant *inside)
{
    da_context ctx = {g->c, DA_NONE};
    da_lane slope[DA_NW];
    for (int j = 0; j < DA_N; j++) {
        inside->y[j] = g->q[j];
        inside->y[DA_N + j] = g->v[j];
        slope[j] = s->vn[j];
        slope[DA_N + j] = s->an[j];
    }
    da_slopes(g, s, inside->k);
    da_method_dense(g->t, inside->y, s->step, inside->k, s->kept, slope, inside->f, &ctx);
    return ctx.failed;
}

#define DA_INSIDE_BEGIN    \
    da_interpolant inside; \
    failed |= due & da_interpolate_step(g, s, &inside);

/* At the shares x of the steps. */
DA_FN void da_inside(const da_group *g, const da_try *s, da_interpolant *inside, da_lane x, da_lane *y)
{
    (void)g;
    da_method_at(x, inside->y, s->step, inside->k, inside->f, y);
}

#endif
