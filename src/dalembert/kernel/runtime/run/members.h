/* Members of an ensemble, one after the other: one model and one method, other states and parameters. Python calls
   this once for some hundred of them, and other threads run meanwhile. */
#ifndef DA_MEMBERS_H
#define DA_MEMBERS_H

#if DA_WITH_EVENTS
/* What the events of member k come to. */
DA_FN void da_count_events(const da_members *all, long k)
{
    const da_requests *io = all->events;
    const long kept = io->count < io->room ? io->count : io->room;
    all->passages[k] = io->count;
    all->ended[k] = io->ended;
    all->stuck[k] = io->stuck;
    for (long row = 0; row < kept; row++) {
        const double *passage = io->record + row * DA_RECORD;
        const long at = k * DA_NG + (long)passage[0];
        if (all->counts[at] == 0.0) all->first[at] = passage[1];
        all->counts[at] += 1.0;
        all->latest[at] = passage[1];
    }
}
#endif

/* How many members were run: fewer than all where it was cancelled. */
DA_API long da_integrate_members(const da_members *all)
{
    volatile double reached = 0.0;
    long k;
    for (k = 0; k < all->count && !*all->cancel; k++) {
        const double *times = all->times + k * all->apart;
        *all->current = k;
        if (all->events) {
            all->events->count = 0;
            all->events->ended = all->events->stuck = -1;
        }
        all->status[k] = da_integrate(all->y0 + k * DA_NY, times[0], all->p + k * DA_NP, times, all->points, all->rtol,
                                      all->atol + k * DA_NE, all->method, all->project,
                                      all->out + k * all->points * DA_NY, all->report, &reached, all->stop + k,
                                      all->events, NULL, all->pace + k * all->paced);
        for (int j = 0; j < DA_MEMBER_HEAD; j++) all->head[k * DA_MEMBER_HEAD + j] = all->report[j];
        for (int j = 0; j < DA_NY; j++) all->last[k * DA_NY + j] = all->report[DA_REPORT_STATE + j];
#if DA_WITH_EVENTS
        if (DA_NG && all->events) da_count_events(all, k);
#endif
    }
    return k;
}

#endif
