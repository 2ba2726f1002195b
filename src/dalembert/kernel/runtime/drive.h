/* The integration: adaptive steps, return to the constraints, output at the times asked for. */
#ifndef DA_DRIVE_H
#define DA_DRIVE_H

/* What da_integrate reports, by index. */
enum {
    DA_REPORT_POINTS,
    DA_REPORT_TIME,
    DA_REPORT_STEPS,
    DA_REPORT_REJECTED,
    DA_REPORT_EVALUATIONS,
    DA_REPORT_ROBUST,
    DA_REPORT_TROUBLE,
    DA_REPORT_RANK,
    DA_REPORT_STIFF_SINCE,
    DA_REPORT_STIFF_STEPS,
    DA_REPORT_CHANGES,
    DA_REPORT_SINGULAR = DA_REPORT_CHANGES + 1 + 3 * DA_EVENTS,
    DA_REPORT_STATE = DA_REPORT_SINGULAR + 1 + 2 * DA_EVENTS, /* where the run ended, DA_NY entries */
    DA_REPORT_SIZE = DA_REPORT_STATE + DA_NY
};

/* At an accepted state where straight-line code serves, with the squared lengths of the rows that it gave. */
DA_FN void da_settled(const double *q, const double *v, double t, const double *size, da_context *ctx)
{
#if DA_STRAIGHT
    da_note_growth(q, v, t, size, ctx);
#else
    (void)q, (void)v, (void)t, (void)size;
#endif
    /* A trial state may need the robust path: it takes the constraints in this order. */
    for (int k = 0; k < DA_M; k++) ctx->order[k] = k;
    ctx->rank = ctx->kept = DA_M;
}

/* The slope at an accepted state, where rank, redundancy and contradictions are decided. */
DA_FN int da_settle(double t, const double *y, double *dy, da_context *ctx)
{
    const double *q = y, *v = y + DA_N;
    ctx->evaluations++;
    if (ctx->fading) ctx->fading--;
    for (int i = 0; i < DA_N; i++) dy[i] = v[i];
#if DA_STRAIGHT
    double pivot[1], size[DA_AT_LEAST_1(DA_FAST_ROWS)];
    if (ctx->fast || DA_WATCHED) {
        da_fast(q, v, t, ctx->p, dy + DA_N, dy + 2 * DA_N, pivot, size);
        ctx->nearness = sqrt(da_max(pivot[0], 0.0));
        const int straight = ctx->fast && ctx->independent && !da_fades(size, ctx);
        int good = straight && pivot[0] > DA_PIVOT && da_all_finite(dy, DA_NY);
#if DA_LARGE
        if (!good && straight && pivot[0] > DA_NO_RANK) good = !da_weak(q, v, t, ctx, dy + DA_N, dy + 2 * DA_N);
#endif
        if (good) {
            da_settled(q, v, t, size, ctx);
            return DA_DONE;
        }
    }
#endif
    const int status = da_robust(q, v, t, 1, ctx, dy + DA_N, dy + 2 * DA_N);
    /* Straight-line code was made for an independent set of constraints; more of them act now. */
    if (!status && ctx->kept > DA_FAST_ROWS + DA_NONLINEAR) ctx->fast = 0;
    return status;
}

#if DA_NONLINEAR
DA_FN void da_start_branch(const double *branch, da_context *ctx)
{
    for (int i = 0; branch && i < DA_N; i++) {
        ctx->followed.z[i] = branch[i];
        ctx->free.z[i] = branch[DA_N + i];
    }
}

DA_FN void da_note_branch(const da_context *ctx, double *branch, long point)
{
    for (int i = 0; branch && i < DA_N; i++) {
        branch[2 * DA_N * point + i] = ctx->followed.z[i];
        branch[2 * DA_N * point + DA_N + i] = ctx->free.z[i];
    }
}
#else
DA_FN void da_start_branch(const double *branch, da_context *ctx) { (void)branch, (void)ctx; }
DA_FN void da_note_branch(const da_context *ctx, double *branch, long point) { (void)ctx, (void)branch, (void)point; }
#endif

/* A first step size from the sizes of the solution and of its first two derivatives. */
DA_PIECE double da_first_step(double t, const double *y, const double *f, double span, double rtol, const double *atol, int order,
                              da_context *ctx)
{
    double y1[DA_NY], f1[DA_NY], d0 = 0.0, d1 = 0.0, d2 = 0.0, h0, h1;
    int j;
    for (j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * fabs(y[j]);
        d0 += (y[j] / scale) * (y[j] / scale);
        d1 += (f[j] / scale) * (f[j] / scale);
    }
    d0 = sqrt(d0 / DA_NE);
    d1 = sqrt(d1 / DA_NE);
    h0 = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1;
    h0 = da_min(h0, span);
    for (j = 0; j < DA_NY; j++) y1[j] = y[j] + h0 * f[j];
    if (da_rhs_checked(t + h0, y1, f1, ctx)) return h0 * 1e-3;
    for (j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * fabs(y[j]);
        d2 += ((f1[j] - f[j]) / scale) * ((f1[j] - f[j]) / scale);
    }
    d2 = sqrt(d2 / DA_NE) / h0;
    h1 = d1 <= 1e-15 && d2 <= 1e-15 ? da_max(1e-6, h0 * 1e-3) : pow(0.01 / da_max(d1, d2), 1.0 / (order + 1));
    return da_min(da_min(100.0 * h0, h1), span);
}

/* How much longer the next step may be. Explicit methods: a little of the error before, and some distance from the tolerance,
   halve the steps that are rejected (PI control: Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.2). The constants need
   the fewest evaluations for equal true errors over the problems in benchmarks/. */
DA_FN double da_growth(int method, int order, double norm, double last_norm)
{
    if (method == DA_METHOD_STIFF) return 0.9 * pow(norm, -1.0 / order);
    return 0.8 * exp((0.75 * 0.03 - 1.0 / order) * log(norm) + 0.03 * log(last_norm));
}

/* Integrate from (t0, y0) through `times` (increasing, the first one t0). out: count × DA_NY. atol: DA_NE.
   progress, where it is not NULL, is set to the time reached; *stop, where it is not zero, ends the run after so many steps.
   events, where it is not NULL (it must not be where the model has kinks): see events.h; where one ends the run, its time belongs
   to the last row of out, whatever `times` says. branch, for constraints nonlinear in the accelerations: count × 2 × DA_N, the
   accelerations followed with and without C near each output time; the first ones are given. pace, where it is not NULL: see
   pace.h. */
DA_API int da_integrate(const double *y0, double t0, const double *p, const double *times, long count, double rtol,
                        const double *first_atol, int method, int project, double *out, double *report,
                        volatile double *progress, const volatile int *stop, da_requests *events, double *branch,
                        const da_pace *pace)
{
    double y[DA_NW] = {0.0}, ynew[DA_NW], k[16][DA_NW] = {{0.0}}, dense[7][DA_NW], point[DA_NW];
    double constants[DA_AT_LEAST_1(DA_NC)], atol[DA_NE];
    da_context ctx = {0};
    da_stiffness stiffness = {0};
    da_singular singular;
    singular.seen = 0;
    singular.count = 0;
    const int order = method == DA_METHOD_STIFF ? 4 : method == DA_METHOD_TAYLOR ? 8 : method;
    const double end = times[count - 1], span = end - t0;
    const long window = method == DA_METHOD_STIFF ? DA_STALL_STEPS_STIFF : DA_STALL_STEPS;
    double t = t0, h, norm, mark = t0, last_step = 0.0, last_norm = 1.0, longest = 0.0;
    long next = 0, part = 0, i;
    int j, status, rejected = 0, rank, series = 0; /* the step is that of a Taylor series */
    const int watching = DA_NG && events;
#if DA_NG
    da_watch watch;
    int ended = 0;
#endif
#if DA_KINKS
    da_sides sides;
    da_anchor anchor;
    int restart = 0; /* the equations have changed */
#endif
#if DA_STIFF
    da_radau slope;
    slope.h = 0.0;
    slope.slope.known = 0;
#endif
#if DA_TAYLOR
    da_taylor taylor;
    da_taylor_begin(&taylor, rtol);
#endif
    da_constants(p, constants);
    ctx.p = constants;
    ctx.fast = 1;
    ctx.independent = DA_FAST_ROWS + DA_NONLINEAR == DA_M;
    da_start_branch(branch, &ctx);
    for (j = 0; j < DA_NY; j++) y[j] = y0[j];
    for (j = 0; j < DA_NE; j++) atol[j] = first_atol[j];
    if (pace && pace->fastest) pace->fastest[0] = 0.0;
#if DA_KINKS
    for (j = 0; j < DA_NE; j++) watch.sizes[j] = atol[j] / rtol;
    for (j = 0; j < DA_NP; j++) sides.values[j] = p[j];
    sides.sizes = watch.sizes;
    sides.constants = constants;
    sides.again = 0;
    ctx.side = sides.now;
    da_sides_start(&sides, events, t, y, &ctx);
#endif
    status = project ? da_project(y, t, &ctx) : DA_DONE;
    if ((!DA_STIFF && method == DA_METHOD_STIFF) || (!DA_TAYLOR && method == DA_METHOD_TAYLOR)) status = DA_NO_METHOD;
    if (!status) status = da_settle(t, y, k[0], &ctx);
    rank = ctx.rank;
    if (!status) {
        for (j = 0; j < DA_NY; j++) out[j] = y[j];
        next = 1;
        da_watch_singular(t, y, k[0], 0, &singular, &ctx);
    }
#if DA_NG
    if (watching && !status) da_watch_start(&watch, events, t, y, rtol, atol, &ctx);
#endif
#if DA_KINKS
    if (!status) da_drop_anchor(&anchor, t, y, &ctx, &watch, &singular, next, events->count, rank);
    anchor.turned = 0;
#endif
    h = !status && count > 1 && method != DA_METHOD_TAYLOR ? da_first_step(t, y, k[0], span, rtol, atol, order - 1, &ctx) : 0.0;
    while (!status && next < count) {
#if DA_KINKS
        if (restart) {
            restart = rejected = 0;
            last_step = 0.0;
            last_norm = 1.0;
            h = method == DA_METHOD_TAYLOR ? 0.0 : da_first_step(t, y, k[0], end - t, rtol, atol, order - 1, &ctx);
#if DA_STIFF
            slope.h = 0.0;
            slope.slope.known = 0;
#endif
#if DA_TAYLOR
            taylor.started = taylor.made = 0;
#endif
        }
#endif
#if DA_TAYLOR
        if (method == DA_METHOD_TAYLOR && !rejected) {
            const double allowed = da_taylor_expand(&taylor, t, y, k[0], last_step, span, rtol, atol, &ctx);
            series = allowed > 0.0;
            if (series)
                h = allowed;
            else if (h == 0.0) /* no series here, from the start: DOP853 */
                h = da_first_step(t, y, k[0], span, rtol, atol, order - 1, &ctx);
        }
#endif
        if (pace && pace->count) h = da_min(h, da_longest(pace, t, &part));
        const double least = 10.0 * 2.220446049250313e-16 * da_max(fabs(t), fabs(end) * 1e-3);
        if (h < least) {
            status = DA_STEP_TOO_SMALL;
#if DA_KINKS
            if (anchor.turned && t - anchor.t < DA_ZENO * least) {
                events->stuck = anchor.watch.kink;
                status = DA_CHATTERS;
            }
#endif
            break;
        }
        const int taken = method == DA_METHOD_TAYLOR && !series ? DA_METHOD_DOP853 : method;
        const int last = t + h >= end;
        const double step = last ? end - t : h;
        int failed;
        if (method == DA_METHOD_DOPRI5)
            failed = da_dopri5_step(t, y, step, k, ynew, rtol, atol, &norm, &ctx);
#if DA_STIFF
        else if (method == DA_METHOD_STIFF)
            failed = da_radau_step(t, y, step, k, ynew, rtol, atol, &norm, dense, &slope, &ctx);
#endif
#if DA_TAYLOR
        else if (series) {
            da_taylor_at(&taylor, step, ynew);
            norm = failed = 0; /* judged by its slope, below */
        }
#endif
        else
            failed = da_dop853_step(t, y, step, k, ynew, rtol, atol, &norm, &ctx);
        if (failed || norm >= 1.0) {
            h = step * (failed ? 0.2 : da_max(0.2, 0.9 * pow(norm, -1.0 / order)));
            rejected = 1;
            ctx.rejected++;
            continue;
        }
        double grow = norm == 0.0 ? 10.0 : da_min(10.0, da_max(0.2, da_growth(method, order, norm, last_norm)));
        /* Stiff motions turn steep suddenly: two steps show that the error grows before it is too large (Gustafsson's
           predictive controller: Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.8). */
        if (method == DA_METHOD_STIFF && last_step > 0.0 && norm > 0.0)
            grow = da_min(grow, da_max(0.2, 0.9 * step / last_step * pow(last_norm / (norm * norm), 1.0 / order)));
        last_step = step;
        last_norm = da_max(norm, method == DA_METHOD_STIFF ? 1e-2 : 1e-4);
        if (rejected) grow = da_min(grow, 1.0);
        rejected = 0;
        double tnew = last ? end : t + step;
        int turned = 0; /* the step has ended at a kink */
        const int due = watching || times[next] <= tnew;
        da_context before; /* in case the interpolant, which may be needed, has no value */
        if (due) before = ctx;
        ctx.steps++;
        double kept[DA_NW], fnew[DA_NW]; /* the interpolant belongs to the state before projection */
        for (j = 0; due && j < DA_NW; j++) kept[j] = ynew[j];
        if (project) status = da_project(ynew, tnew, &ctx);
#if DA_TAYLOR
        if (series) {
            status = da_taylor_settle(&taylor, status, step, tnew, ynew, fnew, rtol, atol, &ctx);
            if (status == DA_TAYLOR_AGAIN) {
                status = DA_DONE;
                h = 0.5 * step;
                rejected = 1;
                ctx.rejected++;
                ctx.steps--;
                continue;
            }
            grow = 1.0;
        } else
#endif
        if (!status) status = da_settle(tnew, ynew, fnew, &ctx);
        if (status) {
            t = tnew;
            for (j = 0; j < DA_NY; j++) y[j] = ynew[j];
            break;
        }
        if (due) {
            if (taken == DA_METHOD_DOP853 && (watching || times[next] < tnew)) {
                for (j = 0; j < DA_NY; j++) k[12][j] = fnew[j];
                if (da_dop853_dense(t, y, step, k, kept, dense, &ctx)) {
                    /* As where a stage of the step itself has no value: it was too long. */
                    da_return_to(&before, &ctx);
                    ctx.rejected++;
                    h = 0.2 * step;
                    rejected = 1;
                    continue;
                }
            }
            double reach = tnew;
            const da_step inside = {
                taken, t, step, y, k, dense,
#if DA_TAYLOR
                &taylor,
#endif
            };
#if DA_NG
            const da_span here = {&inside, project, tnew, ynew, watch.sizes, DA_FAR * rtol, 1.0, 0, &ctx};
            int seen = watching ? da_watch_step(&watch, events, &here) : DA_NOTHING;
#if DA_KINKS
            if (seen == DA_TURN) {
                da_return_to(&before, &ctx);
                if (watch.slipped) {
                    /* It was at zero, and the motion has left it on the other side: from there again. */
                    t = anchor.t;
                    for (j = 0; j < DA_NY; j++) y[j] = anchor.y[j];
                    if (pace && pace->fastest && pace->fastest[1] > t) pace->fastest[0] = 0.0;
                    if (!da_sides_left(&sides, events, &watch)) {
                        events->stuck = watch.kink;
                        status = DA_CHATTERS;
                        break;
                    }
                    da_return_to(&anchor.ctx, &ctx);
                    ctx.rejected++;
                    watch = anchor.watch;
                    singular = anchor.singular;
                    next = anchor.next;
                    events->count = anchor.count;
                    rank = anchor.rank;
                    status = da_settle(t, y, k[0], &ctx);
                    da_watch_turned(&watch, t, y, &ctx);
                    restart = 1;
                    continue;
                }
                if (!series && watch.x > DA_NEAR && watch.x < 1.0 - DA_NEAR && sides.again < DA_AGAIN) {
                    sides.again++;
                    ctx.rejected++;
                    h = watch.x * step;
                    rejected = 1;
                    continue;
                }
                ctx.steps++;
                turned = 1;
                /* What is left may be too short for a step. */
                tnew = reach = end - watch.t < 20.0 * 2.220446049250313e-16 * fabs(end) ? end : watch.t;
                for (j = 0; j < DA_NY; j++) ynew[j] = watch.y[j];
                const da_span part = {&inside, project, tnew, ynew, watch.sizes, DA_FAR * rtol, watch.x, 1, &ctx};
                seen = watch.x > 0.0 ? da_watch_step(&watch, events, &part) : DA_NOTHING;
            }
            sides.again = 0;
#endif
            ended = seen == DA_ENDED;
            if (ended) reach = watch.t;
#endif
            while (next < count && times[next] <= reach && !status) {
                double *row = out + next * DA_NY;
                if (times[next] == tnew) {
                    for (j = 0; j < DA_NY; j++) row[j] = ynew[j];
                } else {
                    const double x = (times[next] - t) / step;
                    da_interpolate(&inside, x, point);
                    if (project) status = da_project(point, times[next], &ctx);
                    for (j = 0; j < DA_NY; j++) row[j] = point[j];
                }
                da_note_branch(&ctx, branch, next);
                if (!status) next++;
            }
        }
#if DA_NG
        if (ended) {
            if (times[next - 1] != watch.t) next++;
            t = watch.t;
            da_note_branch(&ctx, branch, next - 1);
            for (j = 0; j < DA_NY; j++) y[j] = out[(next - 1) * DA_NY + j] = watch.y[j];
            break;
        }
#endif
#if DA_KINKS
        if (turned && !status) {
            for (j = 0; j < DA_NW; j++) kept[j] = ynew[j];
            da_sides_passed(&sides, events, &watch, tnew, ynew, &ctx);
            status = project ? da_project(ynew, tnew, &ctx) : DA_DONE;
            if (!status && da_corner(kept, ynew, rtol)) {
                events->stuck = watch.kink;
                status = DA_CORNER;
            }
            if (!status) status = da_settle(tnew, ynew, fnew, &ctx);
            if (!status) da_watch_turned(&watch, tnew, ynew, &ctx);
        }
#endif
        if (status) {
            t = tnew;
            for (j = 0; j < DA_NY; j++) y[j] = ynew[j];
            break;
        }
        if (!turned && (taken == DA_METHOD_DOP853 || taken == DA_METHOD_DOPRI5))
            da_watch_stiffness(method, t, y, step, k, ynew, fnew, rtol, atol, &stiffness, ctx.steps);
#if DA_TAYLOR
        if (series) da_taylor_watch(&taylor, t, tnew - t, &singular, &ctx);
#endif
        da_watch_singular(tnew, ynew, fnew, last && !turned, &singular, &ctx);
        if (ctx.rank != rank) {
            if (ctx.changes < DA_EVENTS) {
                ctx.change_time[ctx.changes] = tnew;
                ctx.change_rank[ctx.changes][0] = rank;
                ctx.change_rank[ctx.changes][1] = ctx.rank;
            }
            ctx.changes++;
            rank = ctx.rank;
        }
        for (j = 0; j < DA_NY; j++) {
            y[j] = ynew[j];
            k[0][j] = fnew[j];
        }
        if (pace && pace->share > 0.0) da_grow(pace->share, y, atol);
        t = tnew;
        if (pace && pace->fastest) da_keep_fastest(pace, t, y);
        h = step * grow;
        longest = da_max(longest, step);
#if DA_STIFF
        slope.slope.known = 0;
#endif
#if DA_KINKS
        if (turned) {
            da_drop_anchor(&anchor, t, y, &ctx, &watch, &singular, next, events->count, rank);
            restart = anchor.turned = 1;
        }
#endif
        if (ctx.steps % window == 0) {
            /* As stalled() in motion/integrate/trajectory.py. */
            const double covered = t - mark;
            const int collapsed =
                covered < DA_STALL_COLLAPSE * longest * (double)window || covered < DA_STALL_HOPELESS * span;
            if (covered < DA_STALL_SHARE * span && collapsed) status = DA_STALLED;
            mark = t;
        }
        if (da_is_looked_at(pace, ctx.steps, stiffness.steps, t - t0, end - t)) break;
        if (progress && (ctx.steps & 63) == 0) {
            *progress = t;
            if (*stop && ctx.steps >= *stop) break;
        }
    }
#if DA_NG
    if (watching && !status && !ended && next == count) da_watch_finish(&watch, events, t, y);
#endif
    report[DA_REPORT_POINTS] = (double)next;
    report[DA_REPORT_TIME] = t;
    report[DA_REPORT_STEPS] = (double)ctx.steps;
    report[DA_REPORT_REJECTED] = (double)ctx.rejected;
    report[DA_REPORT_EVALUATIONS] = (double)ctx.evaluations;
    report[DA_REPORT_ROBUST] = (double)ctx.robust;
    report[DA_REPORT_TROUBLE] = (double)ctx.trouble;
    report[DA_REPORT_RANK] = (double)ctx.rank;
    report[DA_REPORT_STIFF_SINCE] = stiffness.since;
    report[DA_REPORT_STIFF_STEPS] = stiffness.hits == DA_STIFF_HITS ? (double)stiffness.steps : 0.0;
    report[DA_REPORT_CHANGES] = (double)ctx.changes;
    for (j = 0; j < DA_NY; j++) report[DA_REPORT_STATE + j] = y[j];
    for (i = 0; i < DA_EVENTS && i < ctx.changes; i++) {
        report[DA_REPORT_CHANGES + 1 + 3 * i] = ctx.change_time[i];
        report[DA_REPORT_CHANGES + 2 + 3 * i] = ctx.change_rank[i][0];
        report[DA_REPORT_CHANGES + 3 + 3 * i] = ctx.change_rank[i][1];
    }
    report[DA_REPORT_SINGULAR] = (double)singular.count;
    for (i = 0; i < DA_EVENTS && i < singular.count; i++) {
        report[DA_REPORT_SINGULAR + 1 + 2 * i] = singular.when[i];
        report[DA_REPORT_SINGULAR + 2 + 2 * i] = singular.pivot[i];
    }
    return status;
}

/* How many instructions the straight-line functions have: a kernel from disk is judged by it as if it had just been made. */
DA_API long da_instructions(void) { return DA_INSTRUCTIONS; }

/* The slopes at one state, as the integration sees them. way 0: as at an accepted state; 1: the same without the straight-line
   code; 2: as at a trial state that falls off it. */
DA_API int da_slope_of(const double *y, double t, const double *p, int way, const double *branch, double *dy)
{
    double constants[DA_AT_LEAST_1(DA_NC)];
    da_context ctx = {0};
    da_constants(p, constants);
    ctx.p = constants;
    ctx.fast = way != 1;
    ctx.independent = DA_FAST_ROWS + DA_NONLINEAR == DA_M;
    da_start_branch(branch, &ctx);
    const int status = da_settle(t, y, dy, &ctx);
    if (status || way != 2) return status;
    ctx.fast = 0;
    return da_rhs_checked(t, y, dy, &ctx);
}

#endif
