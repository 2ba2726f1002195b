/* The integration: adaptive steps, return to the constraints, output at the times asked for. */
#ifndef DA_DRIVE_H
#define DA_DRIVE_H

#define DA_FADED 1e-4 /* in squared length */

enum { DA_METHOD_DOP853 = 8, DA_METHOD_DOPRI5 = 5, DA_METHOD_STIFF = 4, DA_METHOD_TAYLOR = 9 };

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
    DA_REPORT_CHANGES,
    DA_REPORT_STATE = DA_REPORT_CHANGES + 1 + 3 * DA_EVENTS, /* where the run ended, DA_NY entries */
    DA_REPORT_SIZE = DA_REPORT_STATE + DA_NY
};

/* A gradient that fades against its own past: its rounding would be blown up. */
DA_FN int da_fades(const double *size, da_context *ctx)
{
    for (int k = 0; k < DA_FAST_ROWS; k++) {
        if (size[k] > ctx->longest[k])
            ctx->longest[k] = size[k];
        else if (size[k] < DA_FADED * ctx->longest[k])
            return 1;
    }
    return 0;
}

/* At an accepted state where straight-line code serves. */
DA_FN int da_settle_good(const double *size, da_context *ctx)
{
    if (da_fades(size, ctx)) return DA_HANDOVER;
    /* A trial state may need the robust path: it takes the constraints in this order. */
    for (int k = 0; k < DA_M; k++) ctx->order[k] = k;
    ctx->rank = DA_M;
    return DA_DONE;
}

/* The slope at an accepted state, where rank, redundancy and contradictions are decided. */
DA_FN int da_settle(double t, const double *y, double *dy, da_context *ctx)
{
    const double *q = y, *v = y + DA_N;
    double margin[1], size[DA_AT_LEAST_1(DA_FAST_ROWS)];
    ctx->evaluations++;
    for (int i = 0; i < DA_N; i++) dy[i] = v[i];
    if (ctx->fast) {
        da_fast(q, v, t, ctx->p, dy + DA_N, dy + 2 * DA_N, margin, size);
        if (ctx->independent && margin[0] > 0.0 && da_all_finite(dy, DA_NY)) return da_settle_good(size, ctx);
        if (da_fades(size, ctx)) return DA_HANDOVER;
    }
    const int status = da_robust(q, v, t, 1, ctx, dy + DA_N, dy + 2 * DA_N);
    /* Straight-line code was made for an independent set of constraints; more of them act now. */
    if (!status && ctx->rank > DA_FAST_ROWS) ctx->fast = 0;
    return status;
}

/* A first step size from the sizes of the solution and of its first two derivatives. */
DA_FN double da_first_step(double t, const double *y, const double *f, double span, double rtol, const double *atol, int order,
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
    if (da_rhs(t + h0, y1, f1, ctx)) return h0 * 1e-3;
    for (j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * fabs(y[j]);
        d2 += ((f1[j] - f[j]) / scale) * ((f1[j] - f[j]) / scale);
    }
    d2 = sqrt(d2 / DA_NE) / h0;
    h1 = d1 <= 1e-15 && d2 <= 1e-15 ? da_max(1e-6, h0 * 1e-3) : pow(0.01 / da_max(d1, d2), 1.0 / (order + 1));
    return da_min(da_min(100.0 * h0, h1), span);
}

/* Integrate from (t0, y0) through `times` (increasing, the first one t0). out: count × DA_NY. atol: DA_NE.
   progress, where it is not NULL, is set to the time reached; *stop nonzero ends the run. */
DA_API int da_integrate(const double *y0, double t0, const double *p, const double *times, long count, double rtol,
                        const double *atol, int method, int project, double *out, double *report,
                        volatile double *progress, const volatile int *stop)
{
    double y[DA_NY], ynew[DA_NY], k[16][DA_NY], dense[7][DA_NY], point[DA_NY];
    double constants[DA_AT_LEAST_1(DA_NC)];
    da_context ctx = {0};
    const int order = method == DA_METHOD_STIFF ? 4 : method == DA_METHOD_TAYLOR ? 8 : method;
    const double end = times[count - 1], span = end - t0;
    /* Stiff motions pass through short layers (relaxation oscillations) that need many steps and end. */
    const long window = method == DA_METHOD_STIFF ? 20000 : 1000;
    double t = t0, h, norm, mark = t0, last_step = 0.0, last_norm = 1.0, longest = 0.0;
    long next = 0, i;
    int j, status, rejected = 0, rank, series = 0; /* the step is that of a Taylor series */
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
    ctx.independent = DA_FAST_ROWS == DA_M;
    for (j = 0; j < DA_NY; j++) y[j] = y0[j];
    status = project ? da_project(y, t, &ctx) : DA_DONE;
    if ((!DA_STIFF && method == DA_METHOD_STIFF) || (!DA_TAYLOR && method == DA_METHOD_TAYLOR)) status = DA_NO_METHOD;
    if (!status) status = da_settle(t, y, k[0], &ctx);
    rank = ctx.rank;
    if (!status) {
        for (j = 0; j < DA_NY; j++) out[j] = y[j];
        next = 1;
    }
    h = !status && count > 1 && method != DA_METHOD_TAYLOR ? da_first_step(t, y, k[0], span, rtol, atol, order - 1, &ctx) : 0.0;
    while (!status && next < count) {
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
        const double least = 10.0 * 2.220446049250313e-16 * da_max(fabs(t), fabs(end) * 1e-3);
        if (h < least) {
            status = DA_STEP_TOO_SMALL;
            break;
        }
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
        double grow = norm == 0.0 ? 10.0 : da_min(10.0, da_max(0.2, 0.9 * pow(norm, -1.0 / order)));
        /* Stiff motions turn steep suddenly: two steps show that the error grows before it is too large (Gustafsson's
           predictive controller: Hairer, Wanner, Solving Ordinary Differential Equations II, section IV.8). */
        if (method == DA_METHOD_STIFF && last_step > 0.0 && norm > 0.0)
            grow = da_min(grow, da_max(0.2, 0.9 * step / last_step * pow(last_norm / (norm * norm), 1.0 / order)));
        last_step = step;
        last_norm = da_max(norm, 1e-2);
        if (rejected) grow = da_min(grow, 1.0);
        rejected = 0;
        ctx.steps++;
        const double tnew = last ? end : t + step;
        const int due = times[next] <= tnew;
        double kept[DA_NY], fnew[DA_NY]; /* the interpolant belongs to the state before projection */
        for (j = 0; due && j < DA_NY; j++) kept[j] = ynew[j];
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
            if (method == DA_METHOD_DOP853 || (method == DA_METHOD_TAYLOR && !series)) {
                for (j = 0; j < DA_NY; j++) k[12][j] = fnew[j];
                if (da_dop853_dense(t, y, step, k, kept, dense, &ctx)) {
                    status = DA_UNDEFINED;
                    break;
                }
            }
            while (next < count && times[next] <= tnew && !status) {
                double *row = out + next * DA_NY;
                if (times[next] == tnew) {
                    for (j = 0; j < DA_NY; j++) row[j] = ynew[j];
                } else {
                    const double x = (times[next] - t) / step;
                    if (method == DA_METHOD_DOPRI5)
                        da_dopri5_at(x, y, step, k, point);
#if DA_STIFF
                    else if (method == DA_METHOD_STIFF)
                        da_radau_at(x, y, dense, point);
#endif
#if DA_TAYLOR
                    else if (series)
                        da_taylor_at(&taylor, times[next] - t, point);
#endif
                    else
                        da_dop853_at(x, y, dense, point);
                    if (project) status = da_project(point, times[next], &ctx);
                    for (j = 0; j < DA_NY; j++) row[j] = point[j];
                }
                if (!status) next++;
            }
        }
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
        t = tnew;
        h = step * grow;
        longest = da_max(longest, step);
#if DA_STIFF
        slope.slope.known = 0;
#endif
        if (ctx.steps % window == 0) {
            /* As stalled() in motion/trajectory.py. */
            const double covered = t - mark;
            const int collapsed = covered < 1e-4 * longest * (double)window || covered < 1e-9 * span;
            if (covered < 1e-5 * span && collapsed) status = DA_STALLED;
            mark = t;
        }
        if (progress && (ctx.steps & 63) == 0) {
            *progress = t;
            if (*stop) break;
        }
    }
    report[DA_REPORT_POINTS] = (double)next;
    report[DA_REPORT_TIME] = t;
    report[DA_REPORT_STEPS] = (double)ctx.steps;
    report[DA_REPORT_REJECTED] = (double)ctx.rejected;
    report[DA_REPORT_EVALUATIONS] = (double)ctx.evaluations;
    report[DA_REPORT_ROBUST] = (double)ctx.robust;
    report[DA_REPORT_TROUBLE] = (double)ctx.trouble;
    report[DA_REPORT_RANK] = (double)ctx.rank;
    report[DA_REPORT_CHANGES] = (double)ctx.changes;
    for (j = 0; j < DA_NY; j++) report[DA_REPORT_STATE + j] = y[j];
    for (i = 0; i < DA_EVENTS && i < ctx.changes; i++) {
        report[DA_REPORT_CHANGES + 1 + 3 * i] = ctx.change_time[i];
        report[DA_REPORT_CHANGES + 2 + 3 * i] = ctx.change_rank[i][0];
        report[DA_REPORT_CHANGES + 3 + 3 * i] = ctx.change_rank[i][1];
    }
    return status;
}

/* The slopes at one state, as the integration sees them. way 0: as at an accepted state; 1: the same without the straight-line
   code; 2: as at a trial state that falls off it. */
DA_API int da_slope_of(const double *y, double t, const double *p, int way, double *dy)
{
    double constants[DA_AT_LEAST_1(DA_NC)];
    da_context ctx = {0};
    da_constants(p, constants);
    ctx.p = constants;
    ctx.fast = way != 1;
    ctx.independent = DA_FAST_ROWS == DA_M;
    const int status = da_settle(t, y, dy, &ctx);
    if (status || way != 2) return status;
    ctx.fast = 0;
    return da_rhs(t, y, dy, &ctx);
}

#endif
