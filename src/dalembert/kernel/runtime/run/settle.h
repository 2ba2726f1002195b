/* The slope at an accepted state: where rank, redundancy and contradictions of the constraints are decided. */
#ifndef DA_SETTLE_H
#define DA_SETTLE_H

/* At an accepted state where straight-line code serves, with the squared lengths of the rows that it gave. */
DA_FN void da_settled(const double *q, const double *v, double t, const double *size, da_context *ctx)
{
#if DA_WITH_STRAIGHT
    if (DA_STRAIGHT) da_note_growth(q, v, t, size, ctx);
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
#if DA_WITH_STRAIGHT
    double pivot[1], size[DA_AT_LEAST_1(DA_FAST_ROWS)];
    if (DA_STRAIGHT && (ctx->fast || DA_WATCHED)) {
        da_fast(q, v, t, ctx->p, dy + DA_N, dy + 2 * DA_N, pivot, size);
        ctx->nearness = sqrt(da_max(pivot[0], 0.0));
        const int straight = ctx->fast && ctx->independent && !da_fades(size, ctx);
        int good = straight && pivot[0] > DA_PIVOT && da_all_finite(dy, DA_NY);
#if DA_WITH_LARGE
        if (DA_LARGE && !good && straight && pivot[0] > DA_NO_RANK)
            good = !da_weak(q, v, t, ctx, dy + DA_N, dy + 2 * DA_N);
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

#if DA_WITH_NONLINEAR
DA_FN void da_start_branch(const double *branch, da_context *ctx)
{
    for (int i = 0; DA_NONLINEAR && branch && i < DA_N; i++) {
        ctx->followed.z[i] = branch[i];
        ctx->free.z[i] = branch[DA_N + i];
    }
}

DA_FN void da_note_branch(const da_context *ctx, double *branch, long point)
{
    for (int i = 0; DA_NONLINEAR && branch && i < DA_N; i++) {
        branch[2 * DA_N * point + i] = ctx->followed.z[i];
        branch[2 * DA_N * point + DA_N + i] = ctx->free.z[i];
    }
}
#else
DA_FN void da_start_branch(const double *branch, da_context *ctx) { (void)branch, (void)ctx; }
DA_FN void da_note_branch(const da_context *ctx, double *branch, long point) { (void)ctx, (void)branch, (void)point; }
#endif

#endif
