/* The members at hand, one in each lane of each group, and the step that all of them are taking, each of its own
   length. DA_GROUPS of them take their steps together: see da_step. */
#ifndef DA_GROUP_H
#define DA_GROUP_H

typedef struct {
    /* Nothing but lanes first, so that a member is one column of them. q, v, a: the state at t and its acceleration; c:
       what depends on parameters alone. h: how long the next step may be; last: of the last accepted one, the logarithm
       of its error, or its length where steps are series. longest, mark: the longest step so far, and where it was last
       asked whether the motion gets on. due: the next output time. */
    da_lane q[DA_N], v[DA_N], a[DA_N], atol[DA_NE], c[DA_AT_LEAST_1(DA_NC)];
    da_lane t, h, last, t0, end, longest, mark, due;
    DA_METHOD_KEEPS
    da_past past;
    da_lane shortened; /* so many times the step was taken again for what lies inside */
    da_mask rejected;  /* the last step */
    da_mask failed;   /* already at the start */
    da_lane steps, rejections;
    da_lane look_at; /* the number of steps at which something is to be asked of outside */
    da_mask active;  /* lanes that have a member */
    long member[DA_LANES], next[DA_LANES], part[DA_LANES];
} da_group;

#define DA_COLUMNS ((int)(offsetof(da_group, active) / sizeof(da_lane)))

/* To qn, vn with the acceleration an; kept: the same before its return to the constraints, to which the interpolant
   belongs. k: accelerations at the stages, from the second on. norm: of its error; good: no pivot was too
   small; failed: it is left to the other way; due: an output time lies in it; before: what was known at its start, kept
   where the step may be taken again after the arrival. */
typedef struct {
    da_lane step, tn, qn[DA_N], vn[DA_N], an[DA_N], kept[DA_NE], grow, norm;
    da_past before;
    da_mask good, accepted, failed, due;
    DA_METHOD_MAKES
} da_try;

/* What was known before the step, in lanes that take it again. */
DA_FN void da_know_again(da_group *g, const da_try *s, da_mask again)
{
    for (int k = 0; k < DA_POSITION_ROWS; k++)
        g->past.longest[k] = da_select(again, s->before.longest[k], g->past.longest[k]);
    g->past.nearness = da_select(again, s->before.nearness, g->past.nearness);
    g->past.rate = da_select(again, s->before.rate, g->past.rate);
}

/* Member `slot` of one group to a lane of another. */
DA_FN void da_move(da_group *to, int lane, const da_group *from, int slot)
{
    for (int k = 0; k < DA_COLUMNS; k++)
        memcpy((double *)to + k * DA_LANES + lane, (const double *)from + k * DA_LANES + slot, sizeof(double));
    to->member[lane] = from->member[slot];
    to->next[lane] = from->next[slot];
    to->part[lane] = from->part[slot];
}

DA_FN const double *da_times_of(const da_members *all, long k) { return all->times + k * all->apart; }

/* A row of output, DA_ROW numbers: the state in one lane, where any are wanted. The work of forces is not kept here. */
DA_FN void da_write_row(const da_members *all, long member, long point, const da_lane *q, const da_lane *v, int lane)
{
    if (!all->out) return;
    double *row = all->out + (member * all->points + point) * DA_ROW;
    for (int j = 0; j < DA_N; j++) {
        row[j] = q[j][lane];
        row[DA_N + j] = v[j][lane];
    }
    for (int j = DA_NE; j < DA_ROW; j++) row[j] = NAN;
}

/* What became of the member in a lane. */
DA_FN void da_finish(const da_members *all, const da_group *g, int lane, int status)
{
    const long k = g->member[lane];
    double *head = all->head + k * DA_MEMBER_HEAD, *last = all->last + k * DA_ROW;
    all->status[k] = status;
    for (int j = 0; j < DA_MEMBER_HEAD; j++) head[j] = 0.0;
    head[DA_REPORT_POINTS] = (double)g->next[lane];
    head[DA_REPORT_TIME] = g->t[lane];
    head[DA_REPORT_STEPS] = g->steps[lane];
    head[DA_REPORT_REJECTED] = g->rejections[lane];
    head[DA_REPORT_RANK] = DA_M;
    for (int j = 0; j < DA_N; j++) {
        last[j] = g->q[j][lane];
        last[DA_N + j] = g->v[j][lane];
    }
    for (int j = DA_NE; j < DA_ROW; j++) last[j] = NAN;
}

DA_FN void da_begin_method(const da_members *all, da_group *g);

/* DA_LANES members from `first` on, at their starts: on the constraints, with accelerations and a first step. Where
   there are fewer, the last one fills what is left. */
DA_PIECE void da_prepare(const da_members *all, long first, da_group *g)
{
    double constants[DA_AT_LEAST_1(DA_NC)];
    memset(g, 0, sizeof *g);
    for (int i = 0; i < DA_LANES; i++) {
        const long k = first + i < all->count ? first + i : all->count - 1;
        const double *times = da_times_of(all, k), *y = all->y0 + k * DA_ROW;
        da_constants(all->p + k * DA_NP, constants);
        for (int j = 0; j < DA_NC; j++) g->c[j][i] = constants[j];
        for (int j = 0; j < DA_N; j++) {
            g->q[j][i] = y[j];
            g->v[j][i] = y[DA_N + j];
        }
        for (int j = 0; j < DA_NE; j++) g->atol[j][i] = all->atol[k * DA_NE + j];
        g->t[i] = g->t0[i] = g->mark[i] = times[0];
        g->end[i] = times[all->points - 1];
        g->due[i] = times[1];
        g->member[i] = k;
        g->next[i] = 1;
    }
    g->past.nearness = DA_R(1.0);
    if (all->project) da_project_apart(g->q, g->v, &g->t, g->c, &g->past, &g->failed);
    da_accelerate_apart(g->q, g->v, &g->t, g->c, g->a, &g->failed);
    da_begin_method(all, g);
}

#endif
