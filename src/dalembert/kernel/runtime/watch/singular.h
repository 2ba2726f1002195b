/* Singular configurations passed on the way: instants at which the constraints are dependent. The smallest pivot of
   their system, relative to what it was made from, is the square of something that changes its sign there, too
   quickly for accepted states to show it; but its root s has the shape of a V through them. Where s is least among
   three, it is followed to its minimum on the polynomials of degree 5 through q, q̇ and q̈ at their ends. As
   motion/integrate/singular.py. */
#ifndef DA_SINGULAR_H
#define DA_SINGULAR_H

#define DA_SINGULAR_ARRAYS(ARRAY, PART) ARRAY(double, q, 3 * DA_N) ARRAY(double, v, 3 * DA_N) ARRAY(double, a, 3 * DA_N)
typedef struct {
    int seen; /* states held, at most 3, the newest last */
    double t[3], s[3];
    DA_SINGULAR_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
    long count; /* configurations passed */
    double when[DA_KEPT_CHANGES], pivot[DA_KEPT_CHANGES];
} da_singular;
DA_STRUCTURE(da_singular, DA_SINGULAR_ARRAYS)

#if DA_WITH_WATCHED
#if DA_WITH_STRAIGHT
DA_FN double da_nearness_of(const double *q, const double *v, double t, const da_context *ctx)
{
    double a[DA_N], power[3 + DA_HEATS], pivot[1], size[DA_FAST_ROWS];
    da_fast(q, v, t, ctx->p, a, power, pivot, size);
    return sqrt(da_max(pivot[0], 0.0));
}
#endif

DA_FN double da_nearness_at(double x, int from, const da_singular *w, const da_context *ctx)
{
    const double h = w->t[from + 1] - w->t[from];
    double q[DA_N], v[DA_N];
    const double *q0 = w->q + DA_N * from, *q1 = q0 + DA_N;
    for (int i = 0; i < DA_N; i++) {
        const double v0 = h * w->v[DA_N * from + i], v1 = h * w->v[DA_N * (from + 1) + i];
        const double a0 = h * h * w->a[DA_N * from + i], a1 = h * h * w->a[DA_N * (from + 1) + i];
        const double d0 = q1[i] - q0[i] - v0 - 0.5 * a0, d1 = v1 - v0 - a0, d2 = a1 - a0;
        const double c3 = 10.0 * d0 - 4.0 * d1 + 0.5 * d2, c4 = -15.0 * d0 + 7.0 * d1 - d2;
        const double c5 = 6.0 * d0 - 3.0 * d1 + 0.5 * d2;
        q[i] = q0[i] + x * (v0 + x * (0.5 * a0 + x * (c3 + x * (c4 + x * c5))));
        v[i] = (v0 + x * (a0 + x * (3.0 * c3 + x * (4.0 * c4 + x * 5.0 * c5)))) / h;
    }
    return da_nearness_of(q, v, w->t[from] + x * h, ctx);
}

/* The least s between two of the states; *share says where. A straight line through zero would have it at the first
   guess: where s is not small there, nothing is passed. Then by parabolas through s², which is smooth, or by the
   golden section where they make no progress. */
DA_FN double da_least_between(int from, const da_singular *w, const da_context *ctx, double *share)
{
    const double golden = 0.3819660112501051, first = w->s[from], last = w->s[from + 1];
    double low = 0.0, high = 1.0, at_low = first * first, at_high = last * last, moved = 1.0;
    double x = first / (first + last + 1e-300), s = da_nearness_at(x, from, w, ctx), here = s * s;
    *share = x;
    if (!(s < DA_SINGULAR_DIP * da_max(first, last))) return s;
    while (here > DA_SINGULAR_ROUNDING && high - low > DA_SINGULAR_TIME) {
        const double left = (x - low) * (here - at_high), right = (x - high) * (here - at_low);
        const double vertex = x - 0.5 * ((x - low) * left - (x - high) * right) / (left - right);
        double other = high - x > x - low ? x + golden * (high - x) : x - golden * (x - low);
        if (vertex > low && vertex < high && fabs(vertex - x) < 0.5 * moved) {
            if (fabs(vertex - x) < DA_SINGULAR_TIME) break;
            other = vertex;
        }
        moved = fabs(other - x);
        s = da_nearness_at(other, from, w, ctx);
        const double there = s * s;
        const int better = there < here;
        if ((other > x) == better) {
            low = better ? x : other;
            at_low = better ? here : there;
        } else {
            high = better ? x : other;
            at_high = better ? here : there;
        }
        if (better) {
            x = other;
            here = there;
        }
    }
    *share = x;
    return sqrt(here);
}

/* Looks between the states from `first` to `last` of those held, one of which is the nearest. */
DA_PIECE void da_look_between(int first, int last, da_singular *w, const da_context *ctx)
{
    double least = 1.0, when = 0.0, most = 0.0;
    for (int k = first; k <= last; k++) most = da_max(most, w->s[k]);
    if (most * most < DA_SINGULAR_ALWAYS) return;
    for (int from = first; from < last; from++) {
        double x;
        const double s = da_least_between(from, w, ctx, &x);
        if (s < least) {
            least = s;
            when = w->t[from] + x * (w->t[from + 1] - w->t[from]);
        }
    }
    if (!(least * least < DA_SINGULAR_PIVOT)) return;
    if (w->count < DA_KEPT_CHANGES) {
        w->when[w->count] = when;
        w->pivot[w->count] = least * least;
    }
    w->count++;
}
#endif

/* At an accepted state, s from there; at the end of the motion, `end` is set. */
DA_HOT void da_watch_singular(double t, const double *y, const double *dy, int end, da_singular *w,
                             const da_context *ctx)
{
#if DA_WITH_WATCHED
    if (!DA_WATCHED) return;
    if (w->seen == 3) {
        for (int k = 0; k < 2; k++) {
            w->t[k] = w->t[k + 1];
            w->s[k] = w->s[k + 1];
        }
        for (int i = 0; i < 2 * DA_N; i++) {
            w->q[i] = w->q[DA_N + i];
            w->v[i] = w->v[DA_N + i];
            w->a[i] = w->a[DA_N + i];
        }
        w->seen = 2;
    }
    const int k = w->seen++;
    w->t[k] = t;
    w->s[k] = ctx->nearness;
    for (int i = 0; i < DA_N; i++) {
        w->q[DA_N * k + i] = y[i];
        w->v[DA_N * k + i] = y[DA_N + i];
        w->a[DA_N * k + i] = dy[DA_N + i];
    }
    if (k == 2 && w->s[1] < DA_SINGULAR_NEAR && w->s[0] >= w->s[1] && w->s[1] < w->s[2]) da_look_between(0, 2, w, ctx);
    if (end && k > 0 && w->s[k] < DA_SINGULAR_NEAR && w->s[k] <= w->s[k - 1]) da_look_between(k - 1, k, w, ctx);
#else
    (void)t, (void)y, (void)dy, (void)end, (void)w, (void)ctx;
#endif
}

#endif
