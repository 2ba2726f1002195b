/* What lies inside an accepted step: events, kinks, outputs. */
#ifndef DA_INSIDE_H
#define DA_INSIDE_H

/* Whether states inside the step are as good as its end; if not, it is taken again, shorter. Steps are then kept short
   for the outputs that follow, as long as error control would let them be longer. */
DA_FN int da_judge_inside(da_run *r)
{
    double d[DA_NW], sum = 0.0;
    DA_BY_COMPONENT(double worst = 0.0;)
    if (r->shortened == DA_INSIDE_AGAIN || r->step <= DA_UNDEFINED_STEPS * da_least_step(r)) {
        r->shortened = 0;
        return DA_GO_ON;
    }
    const int failed = da_doubt_by(r->taken, r->t, r->y, r->step, DA_ROWS(r->k, DA_NW), d, &r->ctx);
    if (failed < 0) return DA_GO_ON;
    for (int j = 0; j < DA_NE && !failed; j++) {
        const double e = d[j] / (r->atol[j] + r->rtol * da_max(fabs(r->y[j]), fabs(r->kept[j])));
        sum += e * e;
        DA_BY_COMPONENT(worst = da_max(worst, fabs(e));)
    }
    double error = sqrt(sum / DA_NE);
    DA_BY_COMPONENT(if (worst > DA_WORST * error) error = worst / DA_WORST;)
    error /= DA_INSIDE_TOLERANCES;
    const double share = failed ? 0.2 : da_min(10.0, da_max(0.2, 0.9 * pow(error, -1.0 / da_order_of(r))));
    if (failed || !(error <= 1.0)) {
        r->shortened++;
        r->bound = da_max(share, 0.2) * r->step; /* 0.2 where the error has no value */
        da_return_to(&r->before, &r->ctx);
        return da_again(r, r->bound);
    }
    r->shortened = 0;
    if (r->bound < INFINITY) r->bound = share < r->free ? share * r->step : INFINITY;
    return DA_GO_ON;
}

/* Output times up to `reach` in the step. */
DA_FN void da_write_outputs(da_run *r, const da_step *inside, double reach)
{
    double point[DA_NW];
    while (r->next < r->count && r->times[r->next] <= reach && !r->status) {
        const double t = r->times[r->next];
        double *row = r->out + r->next * DA_NY;
        if (t == r->tnew) {
            for (int j = 0; j < DA_NY; j++) row[j] = r->ynew[j];
        } else {
            da_interpolate(inside, (t - r->t) / r->step, point);
            if (r->project) r->status = da_project(point, t, &r->ctx);
            for (int j = 0; j < DA_NY; j++) row[j] = point[j];
        }
        da_note_branch(&r->ctx, r->branch, r->next);
        if (!r->status) r->next++;
    }
}

#if DA_WITH_EVENTS
/* An event ends the run: its time and state are the last output. */
DA_FN int da_end_at_event(da_run *r)
{
    if (r->times[r->next - 1] != r->watch.t) r->next++;
    r->t = r->watch.t;
    da_note_branch(&r->ctx, r->branch, r->next - 1);
    for (int j = 0; j < DA_NY; j++) r->y[j] = r->out[(r->next - 1) * DA_NY + j] = r->watch.y[j];
    return DA_OVER;
}

/* The events in the step, up to its first kink where it has any. */
DA_FN int da_watch_inside(da_run *r, const da_step *inside)
{
    if (!da_watching(r)) return DA_GO_ON;
    const double far = DA_EVENT_FAR * r->rtol;
    const da_span here = {inside, r->project, r->tnew, r->ynew, r->watch.sizes, far, 1.0, 0, &r->ctx};
    int seen = da_watch_step(&r->watch, r->events, &here);
#if DA_WITH_KINKS
    if (seen == DA_TURN) {
        const int verdict = da_turn(r);
        if (verdict != DA_GO_ON) return verdict;
        const double x = r->watch.x;
        const da_span part = {inside, r->project, r->tnew, r->ynew, r->watch.sizes, far, x, 1, &r->ctx};
        seen = x > 0.0 ? da_watch_step(&r->watch, r->events, &part) : DA_NOTHING;
    }
    r->sides.again = 0;
#endif
    r->ended = seen == DA_ENDED;
    return DA_GO_ON;
}
#endif

/* Events, kinks and outputs between the last state and the new one. */
DA_FN int da_look_inside(da_run *r)
{
    if (!r->due) return DA_GO_ON;
    if ((da_watching(r) || r->times[r->next] < r->tnew) &&
        da_dense_by(r->taken, r->t, r->y, r->step, DA_ROWS(r->k, DA_NW), r->kept, r->fnew, DA_ROWS(r->dense, DA_NW),
                    &r->ctx)) {
        /* As where a stage of the step itself has no value: it was too long. */
        da_return_to(&r->before, &r->ctx);
        return da_again(r, 0.2 * r->step);
    }
    if (r->times[r->next] < r->tnew && da_judge_inside(r) != DA_GO_ON) return DA_STEP_AGAIN;
    const da_step inside = {r->taken, r->t, r->step, r->y, r->k, r->dense, &r->own};
#if DA_WITH_EVENTS
    const int verdict = da_watch_inside(r, &inside);
    if (verdict != DA_GO_ON) return verdict;
    da_write_outputs(r, &inside, r->ended ? r->watch.t : r->tnew);
#if DA_WITH_SWITCHED
    if (r->ended && !r->status && da_bounce(r)) return r->status ? da_over(r) : DA_GO_ON;
#endif
    if (r->ended) return da_end_at_event(r);
#else
    da_write_outputs(r, &inside, r->tnew);
#endif
#if DA_WITH_KINKS
    if (r->turned && !r->status) da_cross(r);
#endif
    return r->status ? da_over(r) : DA_GO_ON;
}

#endif
