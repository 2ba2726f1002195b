/* Taylor series in lanes: as runtime/steps/taylor.h, order by order for all groups.

   Needs da_taylor_start, da_taylor_order, da_taylor_ahead and their sums, made for the system. */
#ifndef DA_LANE_TAYLOR_H
#define DA_LANE_TAYLOR_H

#define DA_TAYLOR_DROP 0.2 /* a step may be shorter than the last one by this factor */

/* The order for a tolerance is 1 − share · ln rtol; with 0.9 as in runtime/steps/taylor.h. */
DA_API long da_series_order(double rtol, double share)
{
    const long order = (long)ceil(1.0 - share * log(rtol));
    return order < 4 ? 4 : order > DA_TAYLOR_MOST ? DA_TAYLOR_MOST : order;
}

/* About how long a step of this order takes, in nanoseconds: what was measured on six models. */
DA_API double da_series_effort(long order)
{
    const double p = (double)order;
    return 100.0 + DA_EFFORT_START + 0.5 * DA_EFFORT_ORDER * p + 0.1 * DA_EFFORT_PAIRS * p * p;
}

/* Order 0 at states, and where it does not serve. */
DA_LANE da_mask da_taylor_at(const da_lane *q, const da_lane *v, da_lane t, const da_lane *c, da_lane *a,
                             da_lane *factor, da_lane *kept)
{
    da_lane pivot[1], size[DA_AT_LEAST_1(DA_ROWS)], sum = DA_R(0.0);
    da_taylor_unknowns u;
    da_taylor_start(q, v, t, c, a, pivot, size, factor, kept, &u);
    for (int j = 0; j < DA_N; j++) sum += (q[j] - q[j]) + (v[j] - v[j]) + (a[j] - a[j]);
    return ~da_equal(sum, DA_R(0.0)) | ~DA_ABOVE(pivot[0], DA_LEAST_PIVOT);
}

DA_FN void da_begin_method(const da_members *all, da_group *g)
{
    (void)all;
    g->failed |= da_taylor_at(g->q, g->v, g->t, g->c, g->a, g->factor, g->kept);
}

/* The root mean square of coefficient k in units of the tolerance, squared. */
DA_LANE da_lane da_taylor_norm(const da_try *s, int k, const da_lane *scale)
{
    da_lane sum = DA_R(0.0);
    for (int j = 0; j < DA_NE; j++) sum += (s->x[k][j] * scale[j]) * (s->x[k][j] * scale[j]);
    return sum / (double)DA_NE;
}

/* The step that a series allows; below zero where it is of no use. */
DA_LANE da_lane da_taylor_reach(const da_members *all, const da_group *g, const da_try *s, int p)
{
    da_lane scale[DA_NE];
    for (int j = 0; j < DA_NE; j++) {
        const da_lane y = s->x[0][j], f = s->x[1][j];
        scale[j] = 1.0 / (g->atol[j] + all->rtol * da_lane_max(da_lane_fabs(y), da_lane_fabs(g->last * f)));
    }
    const da_lane a = da_taylor_norm(s, p - 1, scale), b = da_taylor_norm(s, p, scale), least = DA_R(1e-300);
    const da_lane most = da_select(DA_ABOVE(g->last, 0.0), 10.0 * g->last, (g->end - g->t0) / 16.0);
    const da_lane to_a = da_lane_log(da_lane_max(least, a)) / (double)(p - 1);
    const da_lane to_b = da_lane_log(da_lane_max(least, b)) / (double)p;
    const da_lane h = da_lane_exp(-0.5 * da_lane_max(to_a, to_b));
    const da_mask bad = ~(da_lane_finite(a) & da_lane_finite(b)) | da_less(h, DA_TAYLOR_DROP * g->last);
    return da_select(bad, DA_R(-1.0), da_lane_min(h, most));
}

/* The series of all members up to order p, and how far they reach. */
DA_PIECE void da_expand(const da_members *all, da_group *g, da_try *s, int p)
{
    da_expansion e[DA_GROUPS];
    double over[DA_TAYLOR_MOST + 2];
    for (int k = 1; k <= p; k++) over[k] = 1.0 / k;
    for (int b = 0; b < DA_GROUPS; b++) {
        for (int j = 0; j < DA_N; j++) {
            s[b].x[0][j] = g[b].q[j];
            s[b].x[0][DA_N + j] = s[b].x[1][j] = g[b].v[j];
            s[b].x[1][DA_N + j] = g[b].a[j];
        }
        for (int l = 0; l < DA_TAYLOR_LAST; l++) e[b].last[l] = DA_R(0.0);
        da_taylor_ahead(g[b].c, g[b].factor, g[b].kept, s[b].x[1], e[b].of_ahead[1], e[b].last_ahead);
    }
    for (int k = 1; k < p; k++) {
        const da_lane t = DA_R(k == 1 ? 1.0 : 0.0), order = DA_R((double)k);
        for (int b = 0; b < DA_GROUPS; b++) {
            da_taylor_sums(e + b, k);
            da_taylor_sums_ahead(e + b, k + 1);
            da_taylor_order(s[b].x[k], s[b].x[k] + DA_N, t, g[b].c, order, DA_R(over[k]), DA_R(over[k + 1]),
                            g[b].factor, g[b].kept, e[b].sum, s[b].x[k + 1], e[b].of[k], e[b].sum_ahead,
                            e[b].of_ahead[k + 1], e[b].last_ahead, e[b].last, &e[b].u);
        }
    }
    for (int b = 0; b < DA_GROUPS; b++)
        g[b].h = da_select(g[b].rejected, g[b].h, da_taylor_reach(all, g + b, s + b, p));
}

DA_LANE void da_propose(const da_members *all, da_group *g, da_try *s)
{
    if (!s->order)
        for (int b = 0; b < DA_GROUPS; b++)
            s[b].order = (int)(all->order ? all->order : da_series_order(all->rtol, 0.9));
    da_expand(all, g, s, s->order);
}

/* Along the polynomials, h after their centres. */
DA_LANE void da_taylor_polynomial(const da_try *s, int p, da_lane h, da_lane *q, da_lane *v)
{
    for (int j = 0; j < DA_N; j++) {
        q[j] = s->x[p][j];
        v[j] = s->x[p][DA_N + j];
    }
    for (int k = p - 1; k >= 0; k--)
        for (int j = 0; j < DA_N; j++) {
            q[j] = q[j] * h + s->x[k][j];
            v[j] = v[j] * h + s->x[k][DA_N + j];
        }
}

/* The same with the slopes of the velocities, and of the coordinates, which are the velocities but for the last
   order. */
DA_LANE void da_step(const da_group *g, da_try *s, double rtol)
{
    const int p = s->order;
    (void)g;
    (void)rtol;
    for (int b = 0; b < DA_GROUPS; b++) {
        const da_lane h = s[b].step;
        da_lane q[DA_N], v[DA_N], slope[DA_N], power = DA_R(1.0);
        for (int j = 0; j < DA_N; j++) {
            q[j] = s[b].x[p][j];
            v[j] = s[b].x[p][DA_N + j];
            slope[j] = DA_R(0.0);
        }
        for (int k = p - 1; k >= 0; k--) {
            power *= h;
            for (int j = 0; j < DA_N; j++) {
                q[j] = q[j] * h + s[b].x[k][j];
                slope[j] = slope[j] * h + v[j];
                v[j] = v[j] * h + s[b].x[k][DA_N + j];
            }
        }
        for (int j = 0; j < DA_N; j++) {
            s[b].qn[j] = q[j];
            s[b].vn[j] = v[j];
            s[b].slope[j] = v[j] - power * s[b].x[p][DA_N + j];
            s[b].slope[DA_N + j] = slope[j];
        }
    }
}

/* The slopes at their ends will judge the steps. */
DA_LANE void da_accept(da_group *g, da_try *s) { s->before = g->past; }

/* The slopes of the polynomials at the ends of steps against the model's: the term of order p + 1 contributes (p + 1)/h
   times the error of the step. In units of the tolerance. */
DA_LANE da_lane da_taylor_defect(const da_members *all, const da_group *g, const da_try *s)
{
    const int p = s->order;
    const da_lane h = s->step;
    da_lane sum = DA_R(0.0);
    for (int i = 0; i < 2; i++) {
        const da_lane *y = i ? s->vn : s->qn, *f = i ? s->an : s->vn;
        for (int j = 0; j < DA_N; j++) {
            const da_lane larger = da_lane_max(da_lane_fabs(y[j]), da_lane_fabs(s->x[0][i * DA_N + j]));
            const da_lane scale = g->atol[i * DA_N + j] + all->rtol * larger;
            const da_lane e = h * (s->slope[i * DA_N + j] - f[j]) / (scale * (double)(p + 1));
            sum += e * e;
        }
    }
    return da_lane_sqrt(sum / (double)DA_NE);
}

/* Order 0 at the new states, and whether the steps may be accepted. Half the step divides the defect by 2^p; where it
   does not, it is rounding. */
DA_LANE void da_settle(const da_members *all, da_group *g, da_try *s)
{
    s->failed |= s->accepted & da_taylor_at(s->qn, s->vn, s->tn, g->c, s->an, s->factor, s->kept0);
    const da_lane defect = da_taylor_defect(all, g, s), one = DA_R(1.0);
    const da_mask first = da_equal(g->defect, DA_R(0.0));
    const da_mask again = ~da_most(defect, one) & (first | da_less(defect, 0.25 * g->defect));
    s->failed &= ~again | ~g->active | ~da_lane_finite(defect);
    s->accepted &= ~again;
    g->defect = da_select(again, defect, DA_R(0.0));
    s->grow = da_select(again, DA_R(0.5), one);
    const da_mask accepted = s->accepted & ~s->failed;
    g->last = da_select(accepted, s->step, g->last);
    for (int j = 0; j < DA_TAYLOR_FACTOR; j++) g->factor[j] = da_select(accepted, s->factor[j], g->factor[j]);
    for (int j = 0; j < DA_TAYLOR_KEPT; j++) g->kept[j] = da_select(accepted, s->kept0[j], g->kept[j]);
    da_know_again(g, s, ~accepted);
}

#define DA_INSIDE_BEGIN const int inside = s->order;

/* At the shares x of the steps. */
DA_FN void da_inside(const da_group *g, const da_try *s, const int *order, da_lane x, da_lane *y)
{
    (void)g;
    da_taylor_polynomial(s, *order, x * s->step, y, y + DA_N);
}

#endif
