/* What a run tells of itself, by index: as REPORT in kernel/kernel.py. */
#ifndef DA_REPORT_H
#define DA_REPORT_H

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
    DA_REPORT_SINGULAR = DA_REPORT_CHANGES + 1 + 3 * DA_KEPT_CHANGES,
    DA_REPORT_STATE = DA_REPORT_SINGULAR + 1 + 2 * DA_KEPT_CHANGES /* where the run ended, DA_NY entries */
};
#define DA_REPORT_SIZE (DA_REPORT_STATE + DA_NY)

DA_FN void da_write_report(const da_run *r, double *report)
{
    const da_context *ctx = &r->ctx;
    long i;
    report[DA_REPORT_POINTS] = (double)r->next;
    report[DA_REPORT_TIME] = r->t;
    report[DA_REPORT_STEPS] = (double)ctx->steps;
    report[DA_REPORT_REJECTED] = (double)ctx->rejected;
    report[DA_REPORT_EVALUATIONS] = (double)ctx->evaluations;
    report[DA_REPORT_ROBUST] = (double)ctx->robust;
    report[DA_REPORT_TROUBLE] = (double)ctx->trouble;
    report[DA_REPORT_RANK] = (double)ctx->rank;
    report[DA_REPORT_STIFF_SINCE] = r->stiffness.since;
    report[DA_REPORT_STIFF_STEPS] = r->stiffness.hits == DA_STIFF_HITS ? (double)r->stiffness.steps : 0.0;
    report[DA_REPORT_CHANGES] = (double)ctx->changes;
    for (i = 0; i < DA_NY; i++) report[DA_REPORT_STATE + i] = r->y[i];
    for (i = 0; i < DA_KEPT_CHANGES && i < ctx->changes; i++) {
        report[DA_REPORT_CHANGES + 1 + 3 * i] = ctx->change_time[i];
        report[DA_REPORT_CHANGES + 2 + 3 * i] = ctx->change_rank[i][0];
        report[DA_REPORT_CHANGES + 3 + 3 * i] = ctx->change_rank[i][1];
    }
    report[DA_REPORT_SINGULAR] = (double)r->singular.count;
    for (i = 0; i < DA_KEPT_CHANGES && i < r->singular.count; i++) {
        report[DA_REPORT_SINGULAR + 1 + 2 * i] = r->singular.when[i];
        report[DA_REPORT_SINGULAR + 2 + 2 * i] = r->singular.pivot[i];
    }
}

#endif
