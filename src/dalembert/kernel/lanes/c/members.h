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
    da_mask failed = (da_mask){0};
    da_mask due = accepted & (g->due < s->tn);
    if (!da_any(due)) return failed;
    DA_INSIDE_BEGIN
    while (da_any(due)) {
        da_lane y[DA_NE];
        da_inside(g, s, &inside, da_select(due, (g->due - g->t) / s->step, DA_R(0.0)), y);
        da_mask off = (da_mask){0};
        if (all->project) da_project_apart(y, y + DA_N, &g->due, g->c, NULL, &off);
        failed |= due & off;
        for (int i = 0; i < DA_LANES; i++) {
            if (!due[i]) continue;
            da_write_row(all, g->member[i], g->next[i], y, y + DA_N, i);
            g->next[i]++;
            g->due[i] = da_times_of(all, g->member[i])[g->next[i]];
        }
        due &= (g->due < s->tn) & ~failed;
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

/* What is asked now and then: 1 where a run ends here, 2 where it is left to the other way, which looks at stiffness. */
DA_PIECE int da_look_at(const da_members *all, da_group *g, int i)
{
    const long member = g->member[i], steps = (long)g->steps[i];
    const double look = all->pace[member * all->paced].look, covered = g->t[i] - g->t0[i], left = g->end[i] - g->t[i];
    const int stop = all->stop[member];
    g->look_at[i] = da_next_look(all, member, steps);
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
        g->look_at[lane] = da_next_look(all, g->member[lane], 0);
        da_write_row(all, g->member[lane], 0, g->q, g->v, lane);
        if (!g->failed[lane]) return 1;
        da_finish(all, g, lane, DA_LEFT);
    }
    return 0;
}

DA_FN void da_tell_oldest(const da_members *all, const da_group *g, da_mask active)
{
    long oldest = -1;
    for (int i = 0; i < DA_LANES; i++)
        if (active[i] && (oldest < 0 || g->member[i] < oldest)) oldest = g->member[i];
    *all->current = oldest;
}

/* How many members were run: fewer than all where it was cancelled. */
DA_API long da_integrate_members(const da_members *all)
{
    da_group g, ready;
    da_try s;
    da_mask active = (da_mask){0};
    long begun = 0;
    const double share = all->pace->share;
    memset(&g, 0, sizeof g);
    memset(&s, 0, sizeof s);
    for (int i = 0; i < DA_LANES; i++) active[i] = -(long long)da_refill(all, &g, i, &ready, &begun);
    da_tell_oldest(all, &g, active);
    while (da_any(active)) {
        da_mask failed, accepted, over = (da_mask){0};
        da_propose(all, &g);
        if (all->pace->count || all->paced)
            for (int i = 0; i < DA_LANES; i++) {
                const da_pace *pace = all->pace + g.member[i] * all->paced;
                if (active[i] && pace->count) g.h[i] = da_min(g.h[i], da_longest(pace, g.t[i], &g.part[i]));
            }
        failed = ~(g.h >= 10.0 * 2.220446049250313e-16 * da_lane_max(da_lane_fabs(g.t), da_lane_fabs(g.end) * 1e-3));
        const da_mask last = g.t + g.h >= g.end;
        s.step = da_select(last, g.end - g.t, g.h);
        s.tn = da_select(last, g.end, g.t + s.step);
        accepted = active & da_attempt(all, &g, &s, &failed);
        if (da_any(accepted)) {
            const da_mask due = accepted & (g.due <= s.tn);
            const da_past before = g.past;
            for (int j = 0; j < DA_N; j++) {
                s.kept[j] = s.qn[j];
                s.kept[DA_N + j] = s.vn[j];
            }
            da_mask unfit = (da_mask){0};
            if (all->project) unfit = da_project(s.qn, s.vn, s.tn, g.c, s.step, accepted, &g.past);
            unfit |= da_settle(&g, &s);
            accepted = da_judge(all, &g, &s, accepted);
            if (DA_JUDGES) da_keep_past(&g.past, &before, accepted);
            failed |= accepted & unfit;
            if (da_any(due)) failed |= da_write_inside(all, &g, &s, accepted & ~failed);
            accepted &= ~failed;
            if (da_any(due)) da_write_ends(all, &g, &s, accepted);
            for (int j = 0; j < DA_N; j++) {
                g.q[j] = da_select(accepted, s.qn[j], g.q[j]);
                g.v[j] = da_select(accepted, s.vn[j], g.v[j]);
                g.a[j] = da_select(accepted, s.an[j], g.a[j]);
            }
            g.t = da_select(accepted, s.tn, g.t);
            if (share > 0.0)
                for (int j = 0; j < DA_N; j++) {
                    const da_lane of_q = share * da_lane_min(da_lane_fabs(g.q[j]), DA_R(1.0));
                    const da_lane of_v = share * da_lane_min(da_lane_fabs(g.v[j]), DA_R(1.0));
                    g.atol[j] = da_lane_max(g.atol[j], of_q);
                    g.atol[DA_N + j] = da_lane_max(g.atol[DA_N + j], of_v);
                }
            g.steps -= accepted;
            over = active & ~(g.t < g.end);
            const da_mask looked_at = accepted & ~over & (g.steps == g.look_at);
            if (da_any(looked_at))
                for (int i = 0; i < DA_LANES; i++) {
                    const int answer = looked_at[i] ? da_look_at(all, &g, i) : 0;
                    if (answer == 1) over[i] = -1;
                    if (answer == 2) failed[i] = -1;
                }
        }
        g.h = s.step * s.grow;
        g.rejected = ~accepted;
        g.rejections -= active & ~accepted;
        over |= active & failed;
        if (da_any(over)) {
            for (int i = 0; i < DA_LANES; i++) {
                if (!over[i]) continue;
                da_finish(all, &g, i, failed[i] ? DA_LEFT : DA_DONE);
                active[i] = -(long long)da_refill(all, &g, i, &ready, &begun);
            }
            da_tell_oldest(all, &g, active);
        }
    }
    return begun;
}

DA_API long da_lanes(void) { return DA_LANES; }
DA_API long da_instructions(void) { return DA_INSTRUCTIONS; }

#endif
