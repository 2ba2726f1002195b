/* The stages of a step that every method has: its size, the step itself, the state it leads to, and going on from
   there. */
#ifndef DA_STEP_H
#define DA_STEP_H

#if DA_WITH_TAYLOR
/* Where a series serves, it says how far it reaches; elsewhere another method takes the step. */
DA_FN void da_propose(da_run *r)
{
    const double span = r->end - r->t0;
    const double allowed =
        da_taylor_expand(&r->own.taylor, r->t, r->y, r->k, r->last_step, span, r->rtol, r->atol, &r->ctx);
    r->series = allowed > 0.0;
    if (r->series)
        r->h = allowed;
    else if (r->h == 0.0) /* no series here, from the start */
        r->h = da_guessed_step(r, span);
}
#endif

#if DA_WITH_KINKS
/* After a kink: the equations have changed, and nothing is known of the steps that they allow. */
DA_FN void da_start_anew(da_run *r)
{
    r->restart = r->rejected = 0;
    r->last_step = 0.0;
    r->last_norm = 1.0;
    r->h = da_size_from_here(r, r->end - r->t);
    da_own_forget(&r->own);
}
#endif

/* How long the step is to be, and by which method. */
DA_FN int da_choose(da_run *r)
{
#if DA_WITH_KINKS
    if (DA_KINKS && r->restart) da_start_anew(r);
#endif
#if DA_WITH_TAYLOR
    if (r->method == DA_METHOD_TAYLOR && !r->rejected) da_propose(r);
#endif
    if (r->pace && r->pace->count) r->h = da_min(r->h, da_longest(r->pace, r->t, &r->part));
    const double least = da_least_step(r);
    if (r->h < least) {
        r->status = r->t - r->edge < DA_EDGE_NEAR * least ? DA_EDGE : DA_STEP_TOO_SMALL;
#if DA_WITH_KINKS
        if (DA_KINKS && r->anchor.turned && r->t - r->anchor.t < DA_KINK_ZENO * least) {
            r->events->stuck = r->anchor.watch.kink;
            r->status = DA_CHATTERS;
        }
#endif
        return DA_OVER;
    }
    r->taken = r->series ? r->method : da_instead(r->method);
    r->last = r->t + r->h >= r->end;
    r->step = r->last ? r->end - r->t : r->h;
    return DA_GO_ON;
}

/* The step, unless its error is too large. */
DA_FN int da_attempt(da_run *r)
{
    const int order = da_order_of(r);
    const int failed = da_step_by(r->taken, r->t, r->y, r->step, DA_ROWS(r->k, DA_NW), r->ynew, r->rtol, r->atol,
                                  &r->norm, DA_ROWS(r->dense, DA_NW), &r->own, &r->ctx);
    if (failed || r->norm >= 1.0)
        return da_again(r, r->step * (failed ? 0.2 : da_max(0.2, 0.9 * pow(r->norm, -1.0 / order))));
    r->grow = r->free = da_next_size(r->method, order, r->norm, r->last_norm, r->step, r->last_step);
    if (r->rejected) r->grow = da_min(r->grow, 1.0);
    r->rejected = 0;
    r->last_step = r->step;
    r->last_norm = da_max(r->norm, da_is_implicit(r->method) ? 1e-2 : 1e-4);
    return DA_GO_ON;
}

/* The new state, on the constraints, and its slope. */
DA_FN int da_arrive(da_run *r)
{
    r->tnew = r->last ? r->end : r->t + r->step;
    r->turned = 0;
    r->due = da_watching(r) || r->times[r->next] <= r->tnew;
    if (r->due) {
        da_context_copy(&r->before, &r->ctx);
        for (int j = 0; j < DA_NW; j++) r->kept[j] = r->ynew[j];
    }
    r->ctx.steps++;
#ifdef DA_OF_LARGE_SYSTEMS
    if (r->project) r->status = da_project(r->ynew, r->tnew, &r->ctx);
#else
    if (DA_VELOCITY_ROWS && r->project) {
        double v[DA_N];
        for (int i = 0; i < DA_N; i++) v[i] = r->ynew[DA_N + i];
        r->status = da_project(r->ynew, r->tnew, &r->ctx);
        if (!r->status && da_leads_over(r, v, r->ynew + DA_N)) {
            r->edge = r->t;
            r->ctx.steps--;
            return da_again(r, 0.2 * r->step);
        }
    }
#endif
#if DA_WITH_TAYLOR
    if (r->series) {
        r->status = da_taylor_settle(&r->own.taylor, r->status, r->step, r->tnew, r->ynew, r->fnew, r->rtol, r->atol,
                                     &r->ctx);
        if (r->status == DA_TAYLOR_AGAIN) {
            r->status = DA_DONE;
            r->ctx.steps--;
            return da_again(r, 0.5 * r->step);
        }
        r->grow = 1.0;
        return r->status ? da_over(r) : DA_GO_ON;
    }
#endif
    if (!r->status) r->status = da_settle(r->tnew, r->ynew, r->fnew, &r->ctx);
    if (r->status == DA_UNDEFINED && da_watching(r) && r->step > DA_UNDEFINED_STEPS * da_least_step(r)) {
        /* As where a stage has no value: it may have been too long, over a gap that closes before. */
        r->status = DA_DONE;
        da_return_to(&r->before, &r->ctx);
        return da_again(r, 0.2 * r->step);
    }
    return r->status ? da_over(r) : DA_GO_ON;
}

/* What is watched on the way: stiffness, singular configurations, changes of rank. */
DA_FN void da_watch_arrival(da_run *r)
{
    if (!r->turned && !r->series)
        da_watch_stiffness(r->taken, r->t, r->y, r->step, DA_ROWS(r->k, DA_NW), r->ynew, r->fnew, r->rtol, r->atol,
                           &r->stiffness, r->ctx.steps);
#if DA_WITH_TAYLOR
    if (r->series) da_taylor_watch(&r->own.taylor, r->t, r->tnew - r->t, &r->singular, &r->ctx);
#endif
    da_watch_singular(r->tnew, r->ynew, r->fnew, r->last && !r->turned, &r->singular, &r->ctx);
    if (r->ctx.rank == r->rank) return;
    if (r->ctx.changes < DA_KEPT_CHANGES) {
        r->ctx.change_time[r->ctx.changes] = r->tnew;
        r->ctx.change_rank[r->ctx.changes][0] = r->rank;
        r->ctx.change_rank[r->ctx.changes][1] = r->ctx.rank;
    }
    r->ctx.changes++;
    r->rank = r->ctx.rank;
}

/* On from the new state. */
DA_FN int da_advance(da_run *r)
{
    da_watch_arrival(r);
    for (int j = 0; j < DA_NW; j++) r->y[j] = r->ynew[j];
    for (int j = 0; j < DA_NW; j++) r->k[j] = r->fnew[j];
    r->t = r->tnew;
    if (r->pace && r->pace->share > 0.0) da_grow(r->pace->share, r->y, r->atol);
    if (r->pace && r->pace->fastest) da_keep_fastest(r->pace, r->t, r->y);
    r->h = r->step * r->grow;
    if (r->next < r->count && r->times[r->next] < r->t + r->h) r->h = da_min(r->h, r->bound);
    r->longest = da_max(r->longest, r->step);
    da_own_go_on(&r->own);
#if DA_WITH_KINKS
    if (DA_KINKS && r->turned) {
        da_anchor_here(r, 1);
        r->restart = 1;
    }
#endif
    const long window = da_is_implicit(r->method) ? DA_STALL_STEPS_STIFF : DA_STALL_STEPS;
    if (r->ctx.steps % window == 0) {
        if (da_is_stalled(r->t - r->mark, r->longest, r->end - r->t0, window)) r->status = DA_STALLED;
        r->mark = r->t;
    }
    return da_is_looked_at(r->pace, r->ctx.steps, r->stiffness.steps, r->t - r->t0, r->end - r->t) ? DA_OVER : DA_GO_ON;
}

#endif
