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

/* As `da_judge_inside` in runtime/run/inside.h: lanes take the step again where states inside it are not as good as its
   end. Returns those whose outputs may be written. */
DA_FN da_mask da_judge_inside(const da_members *all, da_group *g, da_try *s, da_interpolant *inside, da_mask due)
{
    da_context ctx = {g->c, DA_NONE};
    da_lane d[DA_NW], sum = DA_R(0.0);
    da_method_doubt(g->t, inside->y, s->step, inside->k, d, &ctx);
    for (int j = 0; j < DA_NE; j++) {
        const da_lane size = da_lane_max(da_lane_fabs(inside->y[j]), da_lane_fabs(s->kept[j]));
        const da_lane e = d[j] / (g->atol[j] + all->rtol * size);
        sum += e * e;
    }
    const da_lane error = da_lane_sqrt(sum / (double)DA_NE) / (double)DA_INSIDE_TOLERANCES;
    const da_mask valued = ~ctx.failed & da_lane_finite(error);
    const da_mask coarse = due & ~(valued & da_most(error, DA_R(1.0))) & DA_BELOW(g->shortened, DA_INSIDE_AGAIN);
    const da_lane share = 0.9 * da_lane_exp(da_lane_log(error) / -(double)DA_FALLS);
    s->grow = da_select(coarse, da_select(valued, da_lane_max(share, DA_R(0.2)), DA_R(0.2)), s->grow);
    g->shortened = da_select(coarse, g->shortened + 1.0, da_select(due, DA_R(0.0), g->shortened));
    s->accepted &= ~coarse;
    da_know_again(g, s, coarse);
    return due & ~coarse;
}

#define DA_INSIDE_BEGIN                                 \
    da_interpolant inside;                              \
    failed |= due & da_interpolate_step(g, s, &inside); \
    due = da_judge_inside(all, g, s, &inside, due & ~failed);

/* At the shares x of the steps. */
DA_FN void da_inside(const da_group *g, const da_try *s, da_interpolant *inside, da_lane x, da_lane *y)
{
    (void)g;
    da_method_at(x, inside->y, s->step, inside->k, inside->f, y);
}

#endif
