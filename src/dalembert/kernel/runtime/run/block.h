/* One integration whose arguments and results stand in one block of numbers: a motion that is computed again and again
   is laid out once, and copied for each run. Python passes one address instead of sixteen arguments. */
#ifndef DA_BLOCK_H
#define DA_BLOCK_H

/* The beginning of a block: as the structure in kernel/block.py. Places are counted in numbers from there. Results: the
   report, the states at the output times, the fastest state, and passages of events. No rows nonlinear in q̈. */
typedef struct {
    long y0, p, times, atol, out, report, starts, bounds, weights, fastest;
    long requests, bounces, record; /* of events: da_requests, da_bounces, room for rows; 0: none */
    long count, parts; /* output times, and parts of the pace */
    double t0, rtol, share, look, reached;
    int method, project, stop;
} da_block;

/* What is asked about events, whose places are those of this block; NULL where nothing is. */
DA_FN da_requests *da_requests_in(const da_block *b, double *numbers)
{
    if (!b->requests) return NULL;
    da_requests *asked = (da_requests *)(void *)(numbers + b->requests);
    asked->record = numbers + b->record;
    asked->bounces = b->bounces ? (da_bounces *)(void *)(numbers + b->bounces) : NULL;
    return asked;
}

/* 0 where the run came to its end; otherwise it is to be asked for with all its arguments. */
DA_API int da_integrate_block(double *numbers)
{
    da_block *b = (da_block *)(void *)numbers;
    da_requests *events = da_requests_in(b, numbers);
    const da_pace pace = {numbers + b->starts, numbers + b->bounds,  b->parts, b->share, b->look,
                          numbers + b->weights, numbers + b->fastest};
    const int status = da_integrate(numbers + b->y0, b->t0, numbers + b->p, numbers + b->times, b->count, b->rtol,
                                    numbers + b->atol, b->method, b->project, numbers + b->out, numbers + b->report,
                                    &b->reached, &b->stop, events, NULL, &pace);
    if (events && (events->ended >= 0 || events->count > events->room)) return 1;
    return status || numbers[b->report + DA_REPORT_POINTS] != (double)b->count;
}

#endif
