/* A large system at one state, as the runtime of steps asks for it: accelerations, powers, the way back to the
   constraints. As motion/large/state.py and solver.py, name by name. */
#ifndef DA_LARGE_STATE_H
#define DA_LARGE_STATE_H

#define DA_LARGE_PASSES 12
/* A step of projection below this share of the state is followed by one of about its square. */
#define DA_LARGE_NEAR 1e-9

/* all: how many quantities the program has. */
DA_FN void da_put_state(double *w, long all, const double *q, const double *v, double t)
{
    const long n = da_now->coordinates;
    memcpy(w, q, sizeof(double) * (size_t)n);
    memcpy(w + all, v, sizeof(double) * (size_t)n);
    w[2 * all] = t;
}

/* Whether constraints are independent here; what was found is good then. */
DA_FN int da_plainly(const da_way *way, const double *q, const double *v, double t)
{
    double *w = way->plain_w;
    da_put_state(w, da_now->quantities, q, v, t);
    way->plain.run(w, way->plain.table);
    for (long k = 0; k < way->pivot_count; k++) {
        const double made_of = w[way->pivots[2 * k]] * w[way->pivots[2 * k + 1]];
        if (!(made_of > 0.0 && made_of < 1.0 / DA_SINGULAR_PIVOT)) return 0;
    }
    return 1;
}

DA_FN int da_by_multipliers(const da_way *way, const double *q, const double *v, double t)
{
    double *w = way->condensed_w;
    da_put_state(w, da_now->quantities, q, v, t);
    for (long k = 0; k < way->cleared_count; k++) w[way->cleared[k]] = 0.0;
    way->forward.run(w, way->forward.table);
    for (long k = 0; k < da_now->on_rates_count; k++) way->natural[da_now->on_rates[k]] = 0.0;
    if (da_multipliers_solve(way->multipliers, w, way->natural, way->missed) < 0) return 0;
    way->back.run(w, way->back.table);
    return 1;
}

/* All quantities, and the multipliers with their signs turned behind them; NULL where there are none. */
DA_FN const double *da_solved(int what, const double *q, const double *v, double t)
{
    da_way *way = &da_now->way[what];
    way->apart = !(way->plain.run && da_plainly(way, q, v, t));
    if (!way->apart) return way->plain_w + way->plain_unknowns;
    if (!way->forward.run) {
        da_now->lacking = 1;
        return NULL;
    }
    return da_by_multipliers(way, q, v, t) ? way->condensed_w + way->condensed_unknowns : NULL;
}

/* The root of the smallest share that the others leave of a constraint, at the last state solved. */
DA_FN double da_last_nearness(void)
{
    const da_way *way = &da_now->way[DA_ACCELERATIONS];
    double least = 1.0;
    if (way->apart)
        for (long k = 0; k < way->multipliers->m; k++) {
            if (da_now->independent[way->multipliers->order[k]]) least = da_min(way->multipliers->D[k], least);
        }
    else
        for (long k = 0; k < way->watched_count; k++) {
            const double made_of = way->plain_w[way->pivots[2 * k]] * way->plain_w[way->pivots[2 * k + 1]];
            if (da_now->independent[way->rows[k]]) least = da_min(1.0 / made_of, least);
        }
    return sqrt(da_max(least, 0.0));
}

DA_FN double da_nearness_of(const double *q, const double *v, double t, const da_context *ctx)
{
    (void)ctx;
    return da_solved(DA_ACCELERATIONS, q, v, t) ? da_last_nearness() : 0.0;
}

/* d/dt of (q, q̇, work of impressed and ideal forces, 0). */
DA_PIECE int da_rhs(double t, const double *DA_RESTRICT y, double *DA_RESTRICT dy, da_context *ctx)
{
    const double *q = y, *v = y + DA_N, *found = da_solved(DA_ACCELERATIONS, q, v, t);
    ctx->evaluations++;
    if (!found) {
        ctx->trouble = DA_UNDEFINED;
        return 1;
    }
    for (int i = 0; i < DA_N; i++) {
        dy[i] = v[i];
        dy[DA_N + i] = found[i];
    }
    for (int i = 2 * DA_N; i < DA_NY; i++) dy[i] = 0.0;
    if (da_now->works) {
        const double *w = da_now->sums_w, *turned = found + da_now->quantities;
        da_put_state(da_now->sums_w, da_now->sums_quantities, q, v, t);
        da_now->sums.run(da_now->sums_w, da_now->sums.table);
        dy[2 * DA_N] = w[da_now->power];
        for (long k = 0; k < da_now->force_count; k++) dy[2 * DA_N] += w[da_now->forces[k]] * v[da_now->pushed[k]];
        for (long k = 0; k < da_now->constraints; k++) dy[2 * DA_N + 1] -= turned[k] * w[da_now->reach[k]];
    }
    return 0;
}

DA_FN int da_rhs_checked(double t, const double *DA_RESTRICT y, double *DA_RESTRICT dy, da_context *ctx)
{
    if (da_rhs(t, y, dy, ctx)) return 1;
    if (da_all_finite(dy, DA_NY)) return 0;
    ctx->trouble = DA_UNDEFINED;
    return 1;
}

/* The slope at an accepted state, where contradictions are seen and singular configurations are watched for. */
DA_FN int da_settle(double t, const double *y, double *dy, da_context *ctx)
{
    if (da_rhs_checked(t, y, dy, ctx)) return DA_UNDEFINED;
    const da_way *way = &da_now->way[DA_ACCELERATIONS];
    if (da_now->watched) ctx->nearness = da_last_nearness();
    if (way->apart && *way->missed > DA_DRIFT_TOLERANCE) {
        ctx->rank = (int)da_multipliers_rank(way->multipliers, DA_LEAST_EIGENVALUE);
        if (ctx->rank < da_now->constraints) return DA_INCONSISTENT;
    }
    ctx->rank = (int)da_now->constraints;
    return DA_DONE;
}

/* The size of x, at least a thousandth of the other. */
DA_FN double da_size_beside(const double *x, const double *other)
{
    double size = DA_PROJECT_LEAST_SIZE;
    for (int i = 0; i < DA_N; i++) size = da_max(size, da_max(fabs(x[i]), 1e-3 * fabs(other[i])));
    return size;
}

/* One step of Newton's method; the largest change, or less than zero. */
DA_FN double da_moved(int what, const double *q, const double *v, double t, double *x)
{
    const double *change = da_solved(what, q, v, t);
    double largest = 0.0;
    if (!change || !da_all_finite(change, DA_N)) return -1.0;
    for (int i = 0; i < DA_N; i++) {
        largest = da_max(fabs(change[i]), largest);
        x[i] += change[i];
    }
    return largest;
}

/* The nearest state on the constraints, in the metric of the masses. Rates of positions are linear in the velocities;
   other constraints on them may not be. */
DA_PIECE int da_project(double *y, double t, da_context *ctx)
{
    double *q = y, *v = y + DA_N, moved = 0.0;
    (void)ctx;
    if (!da_now->constraints) return DA_DONE;
    const double size = da_size_beside(q, v);
    int pass = 0;
    do moved = da_moved(DA_POSITIONS, q, v, t, q);
    while (++pass < DA_LARGE_PASSES && moved > DA_LARGE_NEAR * size);
    if (moved < 0.0 || moved > DA_LARGE_NEAR * size) return DA_NO_PROJECTION;
    const int passes = da_now->on_rates_count ? DA_LARGE_PASSES : 1;
    for (pass = 0; pass < passes; pass++) {
        moved = da_moved(DA_VELOCITIES, q, v, t, v);
        if (moved < 0.0) return DA_NO_PROJECTION;
        if (moved <= DA_LARGE_NEAR * da_size_beside(v, q)) break;
    }
    return DA_DONE;
}

/* What a large system has none of. */
DA_FN void da_constants(const double *p, double *constants) { (void)p, (void)constants; }
DA_FN void da_start_branch(const double *branch, da_context *ctx) { (void)branch, (void)ctx; }
DA_FN void da_note_branch(const da_context *ctx, double *branch, long point) { (void)ctx, (void)branch, (void)point; }

#endif
