/* The integration: adaptive steps, return to the constraints, output at the times asked for. */
#ifndef DA_INTEGRATE_H
#define DA_INTEGRATE_H

/* Integrate from (t0, y0) through `times` (increasing, the first one t0). out: count × DA_NY. atol: DA_NE.
   progress, where it is not NULL, is set to the time reached; *stop, where it is not zero, ends the run after so many
   steps. events, where it is not NULL (it must not be where the model has kinks): see events/sample.h; where one ends
   the run, its time belongs to the last row of out, whatever `times` says. branch, for constraints nonlinear in the
   accelerations: count × 2 × DA_N, the accelerations followed with and without C near each output time; the first ones
   are given. pace, where it is not NULL: see pace.h. */
DA_API int da_integrate(const double *y0, double t0, const double *p, const double *times, long count, double rtol,
                        const double *atol, int method, int project, double *out, double *report,
                        volatile double *progress, const volatile int *stop, da_requests *events, double *branch,
                        const da_pace *pace)
{
    DA_LOCAL(da_run, run);
    run.times = times;
    run.count = count;
    run.t0 = t0;
    run.end = times[count - 1];
    run.rtol = rtol;
    run.method = method;
    run.project = project;
    run.out = out;
    run.branch = branch;
    run.events = events;
    run.pace = pace;
    da_begin(&run, y0, p, atol);
    while (!run.status && run.next < run.count) {
        int verdict = da_choose(&run);
        if (verdict == DA_GO_ON) verdict = da_attempt(&run);
        if (verdict == DA_GO_ON) verdict = da_arrive(&run);
        if (verdict == DA_GO_ON) verdict = da_look_inside(&run);
        if (verdict == DA_GO_ON) verdict = da_advance(&run);
        if (verdict == DA_OVER) break;
        if (verdict == DA_GO_ON && progress && (run.ctx.steps & 63) == 0) {
            *progress = run.t;
            if (*stop && run.ctx.steps >= *stop) break;
        }
    }
#if DA_WITH_EVENTS
    if (DA_NG && run.events && !run.status && !run.ended && run.next == run.count)
        da_watch_finish(&run.watch, run.events, run.t, run.y);
#endif
    da_write_report(&run, report);
    return run.status;
}

/* How many instructions the straight-line functions have: a kernel from disk is judged by it as if it had just been
   made. */
DA_API long da_instructions(void) { return DA_INSTRUCTIONS; }

#ifndef DA_GENERIC
/* Instructions of its parts, by which the work of methods is compared before one is chosen: an evaluation, a return to
   the constraints; of series, order 0, each higher one, and the pairs whose products all orders sum. */
DA_API void da_effort(double *parts)
{
    const double found[] = {DA_EFFORT_FAST, DA_EFFORT_RETURN, DA_EFFORT_START, DA_EFFORT_ORDER, DA_EFFORT_PAIRS};
    for (int k = 0; k < 5; k++) parts[k] = found[k];
}
#endif

/* The slopes at one state, as the integration sees them. way 0: as at an accepted state; 1: the same without the
   straight-line code; 2: as at a trial state that falls off it. */
DA_API int da_slope_of(const double *y, double t, const double *p, int way, const double *branch, double *dy)
{
    double constants[DA_AT_LEAST_1(DA_NC)];
    DA_LOCAL(da_context, ctx);
    da_begin_context(p, constants, branch, &ctx);
    ctx.fast = way != 1;
    const int status = da_settle(t, y, dy, &ctx);
    if (status || way != 2) return status;
    ctx.fast = 0;
    return da_rhs_checked(t, y, dy, &ctx);
}

#endif
