/* Members of an ensemble in lanes, each by steps of its own: where one has come to its end, its lane takes the next.
   The counterpart of runtime/run/members.h; what is asked and answered is the same, but that members which need more
   than straight-line code are left to that (DA_LEFT). */
#ifndef DA_LANE_MEMBERS_H
#define DA_LANE_MEMBERS_H

/* Every so many steps of a member it is asked whether it is to stop, as in run/integrate.h. */
#define DA_STOP_STEPS 64
/* And every so many of those, whether it gets on. */
#define DA_STALL_WINDOW 1024

/* Output times inside the steps that were accepted. Returns where a state inside has none that serves. */
DA_PIECE da_mask da_write_inside(const da_members *all, da_group *g, da_try *s, da_mask accepted)
{
    da_mask failed = DA_NONE, due = accepted & da_less(g->due, s->tn);
    if (!da_any(due)) return failed;
    DA_INSIDE_BEGIN
    while (da_any(due)) {
        da_lane y[DA_NE];
        da_inside(g, s, &inside, da_select(due, (g->due - g->t) / s->step, DA_R(0.0)), y);
        da_mask off = DA_NONE;
        if (all->project) da_project_apart(y, y + DA_N, &g->due, g->c, NULL, &off);
        failed |= due & off;
        for (int i = 0; i < DA_LANES; i++) {
            if (!due[i]) continue;
            da_write_row(all, g->member[i], g->next[i], y, y + DA_N, i);
            g->next[i]++;
            g->due[i] = da_times_of(all, g->member[i])[g->next[i]];
        }
        due &= da_less(g->due, s->tn) & ~failed;
    }
    return failed;
}

/* Rows whose time is that of the new state itself. */
DA_PIECE void da_write_ends(const da_members *all, da_group *g, const da_try *s, da_mask accepted)
{
    for (int i = 0; i < DA_LANES; i++) {
        if (!accepted[i] || !(g->due[i] <= s->tn[i])) continue;
        da_write_row(all, g->member[i], g->next[i], s->qn, s->vn, i);
        g->next[i]++;
        g->due[i] = g->next[i] < all->points ? da_times_of(all, g->member[i])[g->next[i]] : INFINITY;
    }
}

/* The step number at which something is asked of the member in a lane next. */
DA_FN long da_next_look(const da_members *all, long member, long steps)
{
    const long look = (long)fabs(all->pace[member * all->paced].look);
    const long stop = (steps / DA_STOP_STEPS + 1) * DA_STOP_STEPS;
    return look > steps && look < stop ? look : stop;
}

/* What is asked now and then: 1 where a run ends here, 2 where it is left to the other way, which looks at
   stiffness. */
DA_PIECE int da_look_at(const da_members *all, da_group *g, int i)
{
    const long member = g->member[i], steps = (long)g->steps[i];
    const double look = all->pace[member * all->paced].look, covered = g->t[i] - g->t0[i], left = g->end[i] - g->t[i];
    const int stop = all->stop[member];
    g->look_at[i] = (double)da_next_look(all, member, steps);
    if (steps % DA_STOP_STEPS == 0 && stop && steps >= stop) return 1;
    if ((double)steps == look && left * (double)steps > look * covered) return 2;
    if (steps >= DA_MOST_STEPS) return 2;
    if (steps % DA_STALL_WINDOW == 0) {
        const double way = g->t[i] - g->mark[i], span = g->end[i] - g->t0[i];
        g->mark[i] = g->t[i];
        if (way < DA_STALL_SHARE * span) return 2;
    }
    return 0;
}

/* The next member that can begin, into a lane; 0 where there is none. */
DA_PIECE int da_refill(const da_members *all, da_group *g, int lane, da_group *ready, long *begun)
{
    while (*begun < all->count && !*all->cancel) {
        const int slot = (int)(*begun % DA_LANES);
        if (slot == 0) da_prepare(all, *begun, ready);
        ++*begun;
        da_move(g, lane, ready, slot);
        g->look_at[lane] = (double)da_next_look(all, g->member[lane], 0);
        da_write_row(all, g->member[lane], 0, g->q, g->v, lane);
        if (!g->failed[lane]) return 1;
        da_finish(all, g, lane, DA_LEFT);
    }
    return 0;
}

DA_FN void da_tell_oldest(const da_members *all, const da_group *g)
{
    long oldest = -1;
    for (int b = 0; b < DA_GROUPS; b++)
        for (int i = 0; i < DA_LANES; i++)
            if (g[b].active[i] && (oldest < 0 || g[b].member[i] < oldest)) oldest = g[b].member[i];
    *all->current = oldest;
}

/* How long the steps are to be. */
DA_LANE void da_choose(const da_members *all, da_group *g, da_try *s)
{
    if (all->pace->count || all->paced)
        for (int i = 0; i < DA_LANES; i++) {
            const da_pace *pace = all->pace + g->member[i] * all->paced;
            if (g->active[i] && pace->count) g->h[i] = da_min(g->h[i], da_longest(pace, g->t[i], &g->part[i]));
        }
    const da_lane reach = da_lane_max(da_lane_fabs(g->t), da_lane_fabs(g->end) * 1e-3);
    const da_mask last = da_most(g->end, g->t + g->h);
    s->failed = ~da_most(10.0 * 2.220446049250313e-16 * reach, g->h);
    s->step = da_select(last, g->end - g->t, g->h);
    s->tn = da_select(last, g->end, g->t + s->step);
    s->accepted = g->active;
}

/* Lanes that have stepped over a corner of the constraints: as da_leads_over in runtime/run/edge.h. The other way says
   what it is. */
DA_LANE da_mask da_leads_over(const da_group *g, const da_try *s, double rtol)
{
    const double share = da_max(DA_EDGE_LEAST, da_min(DA_EDGE_TOLERANCES * rtol, DA_EDGE_MOST));
    da_lane size = DA_R(0.0);
    da_mask over = DA_NONE;
    for (int j = 0; j < DA_N; j++)
        size = da_lane_max(size, da_lane_max(da_lane_fabs(s->kept[DA_N + j]), da_lane_fabs(g->v[j])));
    for (int j = 0; j < DA_N; j++)
        over |= da_less(share * size + DA_EDGE_TOLERANCES * g->atol[DA_N + j],
                        da_lane_fabs(s->vn[j] - s->kept[DA_N + j]));
    return over;
}

/* The new states, on the constraints. */
DA_LANE void da_arrive(const da_members *all, da_group *g, da_try *s)
{
    s->due = s->accepted & da_most(g->due, s->tn);
    if (da_any(s->due)) s->before = g->past;
    for (int j = 0; j < DA_N; j++) {
        s->kept[j] = s->qn[j];
        s->kept[DA_N + j] = s->vn[j];
    }
    if (!DA_VELOCITY_ROWS || !all->project) return;
    s->failed |= s->accepted & da_project(s->qn, s->vn, s->tn, g->c, s->step, s->accepted, &g->past);
    s->failed |= s->accepted & da_leads_over(g, s, all->rtol);
}

/* On from there. */
DA_LANE void da_advance(const da_members *all, da_group *g, da_try *s)
{
    const double share = all->pace->share;
    if (da_any(s->due)) s->failed |= da_write_inside(all, g, s, s->accepted & ~s->failed);
    s->accepted &= ~s->failed;
    const da_mask accepted = s->accepted;
    if (da_any(s->due)) da_write_ends(all, g, s, accepted);
    for (int j = 0; j < DA_N; j++) {
        g->q[j] = da_select(accepted, s->qn[j], g->q[j]);
        g->v[j] = da_select(accepted, s->vn[j], g->v[j]);
        g->a[j] = da_select(accepted, s->an[j], g->a[j]);
    }
    g->t = da_select(accepted, s->tn, g->t);
    if (share > 0.0)
        for (int j = 0; j < DA_N; j++) {
            const da_lane of_q = share * da_lane_min(da_lane_fabs(g->q[j]), DA_R(1.0));
            const da_lane of_v = share * da_lane_min(da_lane_fabs(g->v[j]), DA_R(1.0));
            g->atol[j] = da_lane_max(g->atol[j], of_q);
            g->atol[DA_N + j] = da_lane_max(g->atol[DA_N + j], of_v);
        }
    g->steps += da_select(accepted, DA_R(1.0), DA_R(0.0));
    g->rejections += da_select(g->active & ~accepted, DA_R(1.0), DA_R(0.0));
    g->h = s->step * s->grow;
    g->rejected = ~accepted;
}

/* Members that have come to their end, or stop here, give their lanes to others. */
DA_LANE int da_go_on(const da_members *all, da_group *g, da_try *s, da_group *ready, long *begun)
{
    const da_mask over = g->active & (~da_less(g->t, g->end) | s->failed);
    const da_mask looked_at = s->accepted & da_equal(g->steps, g->look_at);
    if (!da_any(over | looked_at)) return 0;
    for (int i = 0; i < DA_LANES; i++) {
        int ends = over[i] != 0, left = s->failed[i] != 0;
        if (!ends && looked_at[i]) {
            const int answer = da_look_at(all, g, i);
            ends = answer != 0;
            left = answer == 2;
        }
        if (!ends) continue;
        da_finish(all, g, i, left ? DA_LEFT : DA_DONE);
        g->active[i] = -(long long)da_refill(all, g, i, ready, begun);
    }
    return 1;
}

#define DA_EACH_GROUP for (int b = 0; b < DA_GROUPS; b++)

/* How many members were run: fewer than all where it was cancelled. */
DA_API long da_integrate_members(const da_members *all)
{
    da_group g[DA_GROUPS], ready;
    da_try s[DA_GROUPS];
    long begun = 0;
    int going = 0;
    memset(g, 0, sizeof g);
    memset(s, 0, sizeof s);
    DA_EACH_GROUP
    for (int i = 0; i < DA_LANES; i++) {
        g[b].active[i] = -(long long)da_refill(all, g + b, i, &ready, &begun);
        going |= g[b].active[i] != 0;
    }
    da_tell_oldest(all, g);
    while (going) {
        int changed = 0;
        da_propose(all, g, s);
        DA_EACH_GROUP da_choose(all, g + b, s + b);
        da_step(g, s, all->rtol);
        DA_EACH_GROUP da_accept(g + b, s + b);
        DA_EACH_GROUP da_arrive(all, g + b, s + b);
        DA_EACH_GROUP da_settle(all, g + b, s + b);
        DA_EACH_GROUP da_advance(all, g + b, s + b);
        DA_EACH_GROUP changed |= da_go_on(all, g + b, s + b, &ready, &begun);
        if (!changed) continue;
        going = 0;
        DA_EACH_GROUP going |= da_any(g[b].active);
        da_tell_oldest(all, g);
    }
    return begun;
}

DA_API long da_lanes(void) { return DA_LANES * DA_GROUPS; }
DA_API long da_instructions(void) { return DA_INSTRUCTIONS; }

#endif
