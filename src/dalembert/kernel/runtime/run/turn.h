/* A step that passes a kink: it is taken again to end there, or goes back to where the side was chosen; then the motion
   goes on by the equations of the other side. */
#ifndef DA_TURN_H
#define DA_TURN_H

#if DA_WITH_KINKS
/* The function was at zero, and the motion has left it on the other side: from there again, with that side. */
DA_FN int da_slip(da_run *r)
{
    r->t = r->anchor.t;
    for (int j = 0; j < DA_NY; j++) r->y[j] = r->anchor.y[j];
    if (r->pace && r->pace->fastest && r->pace->fastest[1] > r->t) r->pace->fastest[0] = 0.0;
    if (!da_sides_left(&r->sides, r->events, &r->watch)) {
        r->events->stuck = r->watch.kink;
        r->status = DA_CHATTERS;
        return DA_OVER;
    }
    da_return_to(&r->anchor.ctx, &r->ctx);
    r->ctx.rejected++;
    da_watch_copy(&r->watch, &r->anchor.watch);
    da_singular_copy(&r->singular, &r->anchor.singular);
    r->next = r->anchor.next;
    r->events->count = r->anchor.count;
    r->rank = r->anchor.rank;
    r->status = da_settle(r->t, r->y, r->k, &r->ctx);
    da_watch_turned(&r->watch, r->t, r->y, &r->ctx);
    r->restart = 1;
    return DA_STEP_AGAIN;
}

/* The first kink in the step, which da_watch_step has found, is where it ends. */
DA_FN int da_turn(da_run *r)
{
    da_return_to(&r->before, &r->ctx);
    if (r->watch.slipped) return da_slip(r);
    const double x = r->watch.x;
    if (!r->series && x > DA_KINK_NEAR && x < 1.0 - DA_KINK_NEAR && r->sides.again < DA_KINK_AGAIN) {
        r->sides.again++;
        return da_again(r, x * r->step);
    }
    r->ctx.steps++;
    r->turned = 1;
    /* What is left may be too short for a step. */
    r->tnew = r->end - r->watch.t < 20.0 * 2.220446049250313e-16 * fabs(r->end) ? r->end : r->watch.t;
    for (int j = 0; j < DA_NY; j++) r->ynew[j] = r->watch.y[j];
    return DA_GO_ON;
}

/* Over to the other side. */
DA_FN void da_cross(da_run *r)
{
    for (int j = 0; j < DA_NW; j++) r->kept[j] = r->ynew[j];
    da_sides_passed(&r->sides, r->events, &r->watch, r->tnew, r->ynew, &r->ctx);
    r->status = r->project ? da_project(r->ynew, r->tnew, &r->ctx) : DA_DONE;
    if (!r->status && da_corner(r->kept, r->ynew, r->rtol)) {
        r->events->stuck = r->watch.kink;
        r->status = DA_CORNER;
        for (int j = 0; j < DA_NY; j++) r->ynew[j] = r->kept[j]; /* it ended on this side */
    }
    if (!r->status) r->status = da_settle(r->tnew, r->ynew, r->fnew, &r->ctx);
    if (!r->status) da_watch_turned(&r->watch, r->tnew, r->ynew, &r->ctx);
}
#endif

#endif
