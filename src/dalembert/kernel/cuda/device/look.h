/* What is seen on the way, where it is wanted (DA_LOOK 1): samples at given times, their extremes and means, and the
   passages of events. Without it a thread keeps nothing that a step does not need. */
#if !DA_LOOK
#define DA_LOOK_PARAMETERS
#define DA_LOOK_LOCALS
#define DA_LOOK_LOAD
#define DA_LOOK_BEGIN
#define DA_LOOK_BEFORE
#define DA_LOOK_INSIDE
#define DA_ARRIVAL tn
#define DA_LOOK_END
#else

/* A step as its interpolant knows it. */
typedef struct {
    double t, h, y[DA_NE], k[DA_SLOPES][DA_NE], f[DA_DENSE][DA_NE];
} da_inside;

/* The state at the share x of the step, on the constraints. */
DA_PIECE int da_state_at(double x, da_inside *s, const double *c, double *q, double *v)
{
    double y[DA_NE];
    da_method_at(x, s->y, s->h, s->k, s->f, y);
    for (int j = 0; j < DA_N; j++) {
        q[j] = y[j];
        v[j] = y[DA_N + j];
    }
#if DA_VELOCITY_ROWS
    return da_project(q, v, s->t + x * s->h, c, 0.0, 0.0, 0, 0);
#else
    (void)c;
    return DA_DONE;
#endif
}

/* Where samples go, rows × count each; NULL: they are not wanted. reduced: of each the least, the largest, the mean
   over time, by trapezoids between samples, and the root of the mean square. */
typedef struct {
    const double *times;
    int n_times;
    const int *chosen;
    int n_chosen;
    double *samples, *reduced, *event_time, *event_last;
    int *event_count, *ended_by;
    long long count, member;
    double low[DA_OBSERVED], high[DA_OBSERVED], area[DA_OBSERVED], square[DA_OBSERVED], before[DA_OBSERVED];
    double since, until;
    int next, seen[DA_AT_LEAST_1(DA_NG)];
    double side[DA_AT_LEAST_1(DA_NG)], first[DA_AT_LEAST_1(DA_NG)], latest[DA_AT_LEAST_1(DA_NG)];
    int ender;
} da_look;

/* kept: at one of the times; otherwise where an event ended the motion, which counts for reductions only. */
DA_PIECE void da_sample(da_look *l, const double *q, const double *v, double t, const double *c, int kept)
{
    double o[DA_OBSERVED];
    const int more = l->next > 0;
    const double half = more ? 0.5 * (t - l->until) : 0.0;
    da_observe(q, v, t, c, o);
    for (int k = 0; k < l->n_chosen; k++) {
        const double value = o[l->chosen[k]];
        if (l->samples && kept) l->samples[((long long)l->next * l->n_chosen + k) * l->count + l->member] = value;
        const double last = more ? l->before[k] : value;
        l->low[k] = more && !(value < l->low[k]) ? l->low[k] : value;
        l->high[k] = more && !(value > l->high[k]) ? l->high[k] : value;
        l->area[k] = (more ? l->area[k] : 0.0) + half * (last + value);
        l->square[k] = (more ? l->square[k] : 0.0) + half * (last * last + value * value);
        l->before[k] = value;
    }
    if (!more) l->since = t;
    l->until = t;
    l->next += kept;
}

DA_PIECE void da_look_begin(da_look *l, const double *q, const double *v, double t, const double *c)
{
    while (l->next < l->n_times && l->times[l->next] <= t) da_sample(l, q, v, t, c, 1);
#if DA_NG
    double g[DA_NG];
    da_event_functions(q, v, t, c, g);
    for (int e = 0; e < DA_NG; e++) {
        l->side[e] = g[e];
        l->first[e] = 0.0;
    }
#endif
}

#if DA_NG
/* Where event e is zero between the shares a and b of the step, where it has the values ga and gb of other signs:
   Illinois. The state there in q and v. */
DA_PIECE double da_passage(int e, double a, double ga, double b, double gb, da_inside *s, const double *c, double *q,
                           double *v)
{
    double g[DA_NG], x = b;
    for (int pass = 0; pass < 60 && b - a > 4.0 * DA_EPS; pass++) {
        x = b - gb * (b - a) / (gb - ga);
        if (!(x > a && x < b)) x = 0.5 * (a + b);
        da_state_at(x, s, c, q, v);
        da_event_functions(q, v, s->t + x * s->h, c, g);
        if (g[e] == 0.0) return x;
        if ((g[e] > 0.0) == (gb > 0.0)) {
            b = x;
            gb = g[e];
            ga *= 0.5;
        } else {
            a = x;
            ga = g[e];
            gb *= 0.5;
        }
    }
    da_state_at(b, s, c, q, v);
    return b;
}

/* The passages in the step; the share where one of them ends the motion, with its state in q and v, or 2. */
DA_PIECE double da_watch(da_look *l, da_inside *s, const double *c, double *q, double *v)
{
    double qx[DA_N], vx[DA_N], g[DA_NG], at[DA_NG], end = 2.0;
    for (int piece = 1; piece <= DA_EVENT_PIECES && end > 1.0; piece++) {
        const double a = (piece - 1.0) / DA_EVENT_PIECES, b = (double)piece / DA_EVENT_PIECES;
        da_state_at(b, s, c, qx, vx);
        da_event_functions(qx, vx, s->t + b * s->h, c, g);
        for (int e = 0; e < DA_NG; e++) {
            const double before = l->side[e];
            at[e] = 3.0;
            if (g[e] == 0.0 || before == 0.0 || (g[e] > 0.0) == (before > 0.0)) continue;
            if (da_event_direction[e] && (g[e] > 0.0) != (da_event_direction[e] > 0)) continue;
            const double x = at[e] = da_passage(e, a, before, b, g[e], s, c, qx, vx);
            if (da_event_terminal[e] && l->seen[e] + 1 >= da_event_terminal[e] && x < end) {
                end = x;
                l->ender = e;
                for (int j = 0; j < DA_N; j++) {
                    q[j] = qx[j];
                    v[j] = vx[j];
                }
            }
        }
        for (int e = 0; e < DA_NG; e++) {
            if (g[e] != 0.0) l->side[e] = g[e];
            if (at[e] > 2.0 || at[e] > end) continue; /* none, or after the end of the motion */
            l->latest[e] = s->t + at[e] * s->h;
            if (l->seen[e]++ == 0) l->first[e] = l->latest[e];
        }
    }
    return end;
}
#endif

/* As `da_judge_inside` in runtime/run/inside.h: the share of the step that is taken instead, because states inside it
   are not as good as its end; 1 where they are. */
DA_PIECE double da_judge_inside(da_inside *s, const double *kept, double rtol, const double *atol, int shortened,
                                const double *c)
{
    double d[DA_NE], sum = 0.0;
    if (shortened == DA_INSIDE_AGAIN) return 1.0;
    if (da_method_doubt(s->t, s->y, s->h, s->k, d, c)) return 0.2;
    for (int j = 0; j < DA_NE; j++) {
        const double e = d[j] * da_inverse(atol[DA_AT(j)] + rtol * da_max(fabs(s->y[j]), fabs(kept[j])));
        sum += e * e;
    }
    const double error = sqrt(sum / DA_NE) / DA_INSIDE_TOLERANCES;
    return error <= 1.0 ? 1.0 : da_max(0.9 * pow(error, -1.0 / DA_FALLS), 0.2); /* 0.2 where it has no value */
}

/* What lies inside an accepted step to (tn, qn, vn); kept: its end before the return to the constraints. Where an event
   ends the motion, *tn, qn and vn become those of the event. *shortened: how often the step was taken again for what
   lies inside; *share: that of it which is taken instead, if it is to be again (DA_SHORTER). */
DA_PIECE int da_look_inside(da_look *l, da_inside *s, const double *kept, const double *fnew, double *tn, double *qn,
                            double *vn, const double *c, double rtol, const double *atol, int *shortened, double *share)
{
    double q[DA_N], v[DA_N];
    int status = DA_DONE;
    const double full = *tn;
    if (da_method_dense(s->t, s->y, s->h, s->k, kept, fnew, s->f, c)) return DA_UNDEFINED;
    if (l->next < l->n_times && l->times[l->next] < full) {
        *share = da_judge_inside(s, kept, rtol, atol, *shortened, c);
        *shortened = *share < 1.0 ? *shortened + 1 : 0;
        if (*share < 1.0) return DA_SHORTER;
    }
#if DA_NG
    const double end = da_watch(l, s, c, qn, vn);
    if (end <= 1.0) {
        *tn = s->t + end * s->h;
        status = DA_EVENT;
    }
#endif
    while (l->next < l->n_times && l->times[l->next] <= *tn) {
        const double t = l->times[l->next];
        if (t == full && !status) {
            da_sample(l, qn, vn, t, c, 1);
            continue;
        }
        const int failed = da_state_at((t - s->t) / s->h, s, c, q, v);
        if (failed) return failed;
        da_sample(l, q, v, t, c, 1);
    }
    if (status && l->next && *tn > l->until) da_sample(l, qn, vn, *tn, c, 0);
    return status;
}

DA_PIECE void da_look_end(const da_look *l)
{
    /* Without a sample the room for these is left as it is. */
    for (int k = 0; l->next && l->reduced && k < l->n_chosen; k++) {
        const double span = l->until - l->since, value = l->before[k];
        double *at = l->reduced + k * l->count + l->member;
        const long long row = l->n_chosen * l->count;
        at[0] = l->low[k];
        at[row] = l->high[k];
        at[2 * row] = span > 0.0 ? l->area[k] / span : value;
        at[3 * row] = span > 0.0 ? sqrt(l->square[k] / span) : fabs(value);
    }
    for (int e = 0; l->event_count && e < DA_NG; e++) {
        l->event_count[e * l->count + l->member] = l->seen[e];
        if (!l->seen[e]) continue;
        l->event_time[e * l->count + l->member] = l->first[e];
        l->event_last[e * l->count + l->member] = l->latest[e];
    }
    if (l->ended_by) l->ended_by[l->member] = l->ender;
}

#if DA_VELOCITY_ROWS
#define DA_COPY_PAST(to, from) to = from;
#else
#define DA_COPY_PAST(to, from) (void)to, (void)from;
#endif
#define DA_LOOK_PARAMETERS                                                                                           \
    , const double *DA_RESTRICT times, int n_times, const int *DA_RESTRICT chosen, int n_chosen,                     \
        double *DA_RESTRICT samples, double *DA_RESTRICT reduced, double *DA_RESTRICT event_time,                    \
        double *DA_RESTRICT event_last, int *DA_RESTRICT event_count, int *DA_RESTRICT ended_by
#define DA_LOOK_LOCALS                                                                                               \
    da_look look = {times, n_times, chosen, n_chosen, samples, reduced, event_time, event_last, event_count,         \
                    ended_by, count};                                                                                \
    da_inside inside;                                                                                                \
    double kept[DA_NE], fnew[DA_NE], ql[DA_N], vl[DA_N];                                                             \
    da_past before;                                                                                                  \
    int due = 0, shortened = 0;
#define DA_LOOK_LOAD                                                                                                 \
    look.member = member;                                                                                            \
    look.next = 0;                                                                                                   \
    look.ender = -1;                                                                                                 \
    shortened = 0;                                                                                                   \
    for (int e = 0; e < DA_NG; e++) look.seen[e] = 0;
#define DA_LOOK_BEGIN \
    da_look_begin(&look, q0, v0, t, c);
#define DA_LOOK_BEFORE                                                                                               \
    due = at_work && !status && (DA_NG || (look.next < n_times && times[look.next] <= tn));                          \
    if (due) {                                                                                                       \
        DA_COPY_PAST(before, past)                                                                                   \
        inside.t = t;                                                                                                \
        inside.h = step;                                                                                             \
        DA_UNROLL                                                                                                    \
        for (int j = 0; j < DA_N; j++) {                                                                             \
            inside.y[j] = q[j];                                                                                      \
            inside.y[DA_N + j] = v[j];                                                                               \
            kept[j] = qn[j];                                                                                         \
            kept[DA_N + j] = vn[j];                                                                                  \
        }                                                                                                            \
        da_slopes(v, step, k, inside.k);                                                                             \
    }
#define DA_LOOK_INSIDE                                                                                               \
    double tx = tn;                                                                                                  \
    if (due && !status) {                                                                                            \
        DA_UNROLL                                                                                                    \
        for (int j = 0; j < DA_N; j++) {                                                                             \
            ql[j] = qn[j];                                                                                           \
            vl[j] = fnew[j] = vn[j];                                                                                 \
            fnew[DA_N + j] = k[0][j];                                                                                \
        }                                                                                                            \
        double less = 1.0;                                                                                           \
        status = da_look_inside(&look, &inside, kept, fnew, &tx, ql, vl, c, rtol, atol, &shortened, &less);          \
        if (status == DA_SHORTER) { /* back to where it began */                                                     \
            status = DA_DONE;                                                                                        \
            tx = t;                                                                                                  \
            grow = less;                                                                                             \
            rejected = 1;                                                                                            \
            rejections++;                                                                                            \
            steps--;                                                                                                 \
            DA_COPY_PAST(past, before)                                                                               \
            DA_UNROLL                                                                                                \
            for (int j = 0; j < DA_N; j++) {                                                                         \
                ql[j] = q[j];                                                                                        \
                vl[j] = v[j];                                                                                        \
                k[0][j] = inside.k[0][DA_N + j];                                                                     \
            }                                                                                                        \
        }                                                                                                            \
        DA_UNROLL                                                                                                    \
        for (int j = 0; j < DA_N; j++) {                                                                             \
            qn[j] = ql[j];                                                                                           \
            vn[j] = vl[j];                                                                                           \
        }                                                                                                            \
    }
#define DA_ARRIVAL tx
#define DA_LOOK_END da_look_end(&look);
#endif
