/* Events: passages of functions g(q, q̇, t) through zero, found on the dense output. The same method as motion/integrate/events.py, name by
   name, with the reasons there. Needs DA_NG, the number of functions, and da_events(q, v, t, c, s, g, scale), with
   multipliers of the constraints and their sizes before g where the functions use them. */
#ifndef DA_EVENTS_H
#define DA_EVENTS_H

#define DA_RECORD (3 + DA_NY) /* which, t, direction, y */

/* What the caller asks for and gets: as the structure in kernel/events.py. */
typedef struct {
    const int *direction; /* of each function: which passages count, 0 both */
    const int *terminal;  /* of each function: the number of passages that ends the run, 0 none */
    const int *from_zero; /* of each function: whether falling away from zero right at the start counts */
    double *record;       /* room for so many rows of DA_RECORD */
    long room;
    long count; /* of passages, also of those that did not fit */
    int ended;  /* the function that ended the run, -1 none */
    const int *places; /* of each kink, see kinks.h: its side among the parameters */
    int stuck;  /* the kink that no side is right of, or at which a constraint has a corner, -1 none */
} da_requests;

#if DA_NG
#define DA_PIECES 8
#define DA_MOST_PIECES 128
#define DA_FORETOLD 0.1
#define DA_SHIFT 0.118
#define DA_NOISE (32.0 * 2.220446049250313e-16)
#define DA_START_NOISE 1e-12
#define DA_FAR 1e3
#define DA_ALOOF 4.0
#define DA_FLAT 1e-8
#define DA_UNKNOWN 2
#define DA_OF_USER (DA_NG - DA_KINKS) /* the functions from here on are kinks of the model: see kinks.h */
#define DA_MOST_FOUND (DA_NG * (3 * DA_MOST_PIECES + 3)) /* in one step: each sample can show three at most */

/* An accepted step. */
typedef struct {
    const da_step *step;
    int project;
    double t_new;
    const double *y_new;
    const double *sizes;
    double far; /* from zero, relative to the size of its terms: the constraints cannot matter */
    double share; /* of the step, from its start to t_new */
    int to_kink;  /* it ends at a kink: none is looked for any more */
    da_context *ctx;
} da_span;

/* What is known of the functions between steps. */
typedef struct {
    double sizes[DA_NE];
    double g[DA_NG];
    int signs[DA_NG];
    int sign[DA_NG], waiting[DA_NG], left[DA_NG], leaving[DA_NG];
    double t; /* of the last passage, and its state */
    double y[DA_NW];
#if DA_KINKS
    int fell[DA_NG];        /* in the last step, from where it had been zero since the start */
    int kink, slipped, way; /* the kink that the last step passes; whether it fell so; to which side of zero */
    double x;               /* the share of the step at which it is passed */
#endif
} da_watch;

/* Samples of one step: shares x of it, g there, below which level it counts as zero, signs. */
typedef struct {
    int pieces;
    double x[DA_MOST_PIECES + 1], g[DA_MOST_PIECES + 1][DA_NG], level[DA_MOST_PIECES + 1][DA_NG];
    int signs[DA_MOST_PIECES + 1][DA_NG];
} da_samples;

/* Passages found in one step, in order of time. What comes after one that ends the run need not be found, except kinks before
   which it may lie: these are looked for in all of the step. */
typedef struct {
    int count;
    double until;
    double x[DA_MOST_FOUND];
    int which[DA_MOST_FOUND], direction[DA_MOST_FOUND];
} da_passages;

/* Levels from scales, in place, and signs. */
DA_FN void da_signs(const double *g, double noise, double *level, int *signs)
{
    for (int i = 0; i < DA_NG; i++) {
        level[i] = da_finite(level[i]) ? noise * level[i] : 0.0;
        signs[i] = !da_finite(g[i]) ? DA_UNKNOWN : fabs(g[i]) <= level[i] ? 0 : g[i] > 0.0 ? 1 : -1;
    }
}

/* All functions at a state, as they are written, and the size of their terms. */
DA_FN void da_functions_as_written(const double *y, double t, const double *sizes, da_context *ctx, double *g, double *scale)
{
#if DA_EVENT_MULTIPLIERS
    double l[DA_M], l_size[DA_M];
    da_multipliers_at(y, y + DA_N, t, ctx, l, l_size);
    da_events(y, y + DA_N, t, ctx->p, sizes, l, l_size, g, scale);
#else
    da_events(y, y + DA_N, t, ctx->p, sizes, g, scale);
#endif
}

/* The same, kinks counted from the side where the motion is. */
DA_FN void da_functions_at(const double *y, double t, const double *sizes, da_context *ctx, double *g, double *scale)
{
    da_functions_as_written(y, t, sizes, ctx, g, scale);
#if DA_KINKS
    for (int i = 0; i < DA_KINKS; i++) {
        double *own = g + DA_OF_USER + i;
        *own = ctx->side[i] ? ctx->side[i] * *own : -fabs(*own);
    }
#endif
}

DA_FN double da_time_at(const da_span *s, double x) { return x == 1.0 ? s->t_new : s->step->t + x * s->share * s->step->h; }

/* Rounding of the time, as a share of the step. */
DA_FN double da_resolution(const da_span *s)
{
    return 2.220446049250313e-16 * da_max(1.0, fabs(s->t_new) / (s->share * s->step->h));
}

/* The state at a share of the step, on the constraints. Nonzero where there is none. */
DA_FN int da_state_at(const da_span *s, double x, double *out)
{
    const double *end = x == 0.0 ? s->step->y : x == 1.0 ? s->y_new : 0;
    for (int j = 0; end && j < DA_NY; j++) out[j] = end[j];
    if (end) return 0;
    da_interpolate(s->step, x * s->share, out);
    return s->project ? da_project(out, da_time_at(s, x), s->ctx) : 0;
}

DA_PIECE void da_look(const da_span *s, double x, double *g, double *level, int *signs)
{
    double y[DA_NW];
    int far = s->project && x > 0.0 && x < 1.0;
    if (far) {
        da_interpolate(s->step, x * s->share, y);
        da_functions_at(y, da_time_at(s, x), s->sizes, s->ctx, g, level);
        for (int i = 0; i < DA_NG; i++) far = far && fabs(g[i]) > s->far * level[i];
    }
    if (far) {
        da_signs(g, DA_NOISE, level, signs);
        return;
    }
    if (da_state_at(s, x, y)) {
        for (int i = 0; i < DA_NG; i++) {
            g[i] = 0.0 / 0.0;
            level[i] = 0.0;
            signs[i] = DA_UNKNOWN;
        }
        return;
    }
    da_functions_at(y, da_time_at(s, x), s->sizes, s->ctx, g, level);
    da_signs(g, DA_NOISE, level, signs);
}

/* One function at a share of the step. */
DA_FN double da_value_at(const da_span *s, int which, double x, int *sign)
{
    double g[DA_NG], level[DA_NG];
    int signs[DA_NG];
    da_look(s, x, g, level, signs);
    if (sign) *sign = signs[which];
    return g[which];
}

/* Where g, of opposite signs at a and b, has just become zero or of the given sign, that at b: Chandrupatla's method. */
DA_PIECE double da_root(const da_span *s, int which, double a, double b, int sign)
{
    const double resolution = da_resolution(s);
    double x1 = b, x2 = a, x3, f1 = da_value_at(s, which, b, 0), f2 = da_value_at(s, which, a, 0), f3, part = 0.5;
    for (int pass = 0; pass < 120; pass++) {
        const double x = x1 + part * (x2 - x1), f = da_value_at(s, which, x, 0);
        if ((f > 0.0) == (f1 > 0.0)) {
            x3 = x1;
            f3 = f1;
        } else {
            x3 = x2;
            f3 = f2;
            x2 = x1;
            f2 = f1;
        }
        x1 = x;
        f1 = f;
        if (f1 == 0.0) return x1;
        const double least = resolution / fabs(x2 - x1);
        if (least > 0.5) break;
        part = 0.5;
        if (f3 != f2 && f3 != f1) {
            const double xi = (x1 - x2) / (x3 - x2), phi = (f1 - f2) / (f3 - f2);
            if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
                part = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2);
        }
        part = da_min(da_max(part, least), 1.0 - least);
    }
    return (f1 > 0.0) == (sign > 0) ? x1 : x2;
}

/* Where g, of a sign at a, has become zero, as it is at b: by halving. */
DA_PIECE double da_arrival(const da_span *s, int which, double a, double b, int sign)
{
    const double resolution = da_resolution(s);
    while (b - a > resolution) {
        const double x = (a + b) / 2.0;
        int here;
        if (!(a < x && x < b)) break;
        da_value_at(s, which, x, &here);
        if (here == sign)
            a = x;
        else
            b = x;
    }
    return b;
}

/* The sign of a function that began at zero: it has left where that is seen in the same way. */
DA_FN int da_away(double g, double level)
{
    return !da_finite(g) ? DA_UNKNOWN : fabs(g) <= level * (DA_START_NOISE / DA_NOISE) ? 0 : g > 0.0 ? 1 : -1;
}

/* Where g, zero since the start at a, has fallen below it, as it is at b: by halving. */
DA_PIECE double da_departure(const da_span *s, int which, double a, double b)
{
    const double resolution = da_resolution(s);
    double g[DA_NG], level[DA_NG];
    int signs[DA_NG];
    while (b - a > resolution) {
        const double x = (a + b) / 2.0;
        if (!(a < x && x < b)) break;
        da_look(s, x, g, level, signs);
        if (da_away(g[which], level[which]) == -1)
            b = x;
        else
            a = x;
    }
    return b;
}

/* Where sign·g, which has its least value between a and b, is negative; -1 where it is nowhere: Brent's minimisation. */
DA_PIECE double da_beyond(const da_span *s, int which, double a, double x, double b, double fx, int sign)
{
    double w = x, v = x, fw = fx, fv = fx, step = 0.0, before = 0.0;
    for (int pass = 0; pass < 60; pass++) {
        const double middle = (a + b) / 2.0;
        int golden = 1, here;
        if (fabs(x - middle) <= 2.0 * DA_FLAT - (b - a) / 2.0) return -1.0;
        if (fabs(before) > DA_FLAT) {
            const double r = (x - w) * (fx - fv);
            double q = (x - v) * (fx - fw), p = (x - v) * q - (x - w) * r;
            q = 2.0 * (q - r);
            if (q > 0.0) p = -p;
            q = fabs(q);
            if (fabs(p) < fabs(q * before / 2.0) && p > q * (a - x) && p < q * (b - x)) {
                before = step;
                step = p / q;
                golden = 0;
                if (x + step - a < 2.0 * DA_FLAT || b - (x + step) < 2.0 * DA_FLAT) step = copysign(DA_FLAT, middle - x);
            }
        }
        if (golden) {
            before = (x >= middle ? a : b) - x;
            step = 0.3819660112501051 * before;
        }
        const double u = x + (fabs(step) >= DA_FLAT ? step : copysign(DA_FLAT, step));
        const double fu = sign * da_value_at(s, which, u, &here);
        if (here == -sign) return u;
        if (fu <= fx) {
            if (u < x)
                b = x;
            else
                a = x;
            v = w;
            fv = fw;
            w = x;
            fw = fx;
            x = u;
            fx = fu;
        } else {
            if (u < x)
                a = u;
            else
                b = u;
            if (fu <= fw || w == x) {
                v = w;
                fv = fw;
                w = u;
                fw = fu;
            } else if (fu <= fv || v == x || v == w) {
                v = u;
                fv = fu;
            }
        }
    }
    return -1.0;
}

/* Keep a passage in its place, if its direction counts. */
DA_FN void da_found(da_passages *found, const da_watch *watch, const da_requests *io, int which, double x, int direction)
{
    int i = found->count;
    if (i == DA_MOST_FOUND || io->direction[which] == -direction) return;
    if (which < DA_OF_USER && watch->left[which] == 1 && x < found->until) found->until = x;
    for (; i > 0 && (found->x[i - 1] > x || (found->x[i - 1] == x && found->which[i - 1] > which)); i--) {
        found->x[i] = found->x[i - 1];
        found->which[i] = found->which[i - 1];
        found->direction[i] = found->direction[i - 1];
    }
    found->x[i] = x;
    found->which[i] = which;
    found->direction[i] = direction;
    found->count++;
}

/* Whether cubics through the even samples foretell the odd ones. */
DA_FN int da_resolved(const da_samples *a)
{
    for (int i = 1; i < a->pieces; i += 2) {
        int start = i < 3 ? 0 : i - 3;
        if (start > a->pieces - 6) start = a->pieces - 6;
        const double u = (i + DA_SHIFT - start) / 2.0;
        const double l0 = (u - 1.0) * (u - 2.0) * (u - 3.0) / -6.0, l1 = u * (u - 2.0) * (u - 3.0) / 2.0;
        const double l2 = u * (u - 1.0) * (u - 3.0) / -2.0, l3 = u * (u - 1.0) * (u - 2.0) / 6.0;
        for (int k = 0; k < DA_NG; k++) {
            double least = a->g[i][k], most = least, nearest = fabs(least);
            for (int j = start; j <= start + 6; j += 2) {
                least = da_min(least, a->g[j][k]);
                most = da_max(most, a->g[j][k]);
                nearest = da_min(nearest, fabs(a->g[j][k]));
            }
            if (nearest >= DA_ALOOF * (most - least)) continue;
            const double foretold = l0 * a->g[start][k] + l1 * a->g[start + 2][k] + l2 * a->g[start + 4][k] +
                                    l3 * a->g[start + 6][k];
            /* Written so that a function without a value somewhere is left as it is. */
            if (fabs(foretold - a->g[i][k]) > DA_FORETOLD * (most - least) + 4.0 * a->level[i][k]) return 0;
        }
    }
    return 1;
}

/* Samples fine enough to show what g does; the first is known from the step before. */
DA_FN void da_sample(const da_span *s, da_samples *a)
{
    for (a->pieces = DA_PIECES;; a->pieces *= 2) {
        a->x[0] = 0.0;
        for (int i = 1; i <= a->pieces; i++) {
            a->x[i] = (i + (i % 2 ? DA_SHIFT : 0.0)) / a->pieces;
            da_look(s, a->x[i], a->g[i], a->level[i], a->signs[i]);
        }
        if (a->pieces == DA_MOST_PIECES || da_resolved(a)) return;
    }
}

#if DA_KINKS
/* A kink whose function was zero until a, and is `away` at b. It may have left to one side and come back. */
DA_PIECE void da_leaves(const da_span *s, da_watch *watch, const da_requests *io, int which, double a, double b, int away,
                        da_passages *found)
{
    const double early = a + (b - a) / 64.0;
    double g[DA_NG], level[DA_NG];
    int signs[DA_NG];
    da_look(s, early, g, level, signs);
    const int first = da_away(g[which], level[which]);
    watch->sign[which] = away == DA_UNKNOWN ? 0 : away;
    watch->leaving[which] = 0;
    if (first == -1 || (first != 1 && away == -1)) {
        da_found(found, watch, io, which, b, -1);
        watch->fell[which] = 1;
    } else if (first == 1 && away == -1) {
        da_found(found, watch, io, which, da_root(s, which, early, b, -1), -1);
    }
}
#endif

/* Passages that the signs at the samples show. */
DA_FN void da_changes(const da_span *s, da_watch *watch, const da_requests *io, int which, const da_samples *a,
                      da_passages *found)
{
    const double *x = a->x;
    for (int i = 1; i <= a->pieces; i++) {
        const int now = a->signs[i][which], was = watch->sign[which];
        if (which < DA_OF_USER && x[i > 1 ? i - 2 : 0] > found->until) return; /* it may be found one sample late */
        if (watch->leaving[which]) {
            const int away = da_away(a->g[i][which], a->level[i][which]);
            if (away == 0) continue;
#if DA_KINKS
            if (which >= DA_OF_USER) {
                da_leaves(s, watch, io, which, x[i - 1], x[i], away, found);
                continue;
            }
#endif
            watch->leaving[which] = 0;
            if (away == -1) {
                da_found(found, watch, io, which, da_departure(s, which, x[i - 1], x[i]), -1);
                watch->sign[which] = -1;
                continue;
            }
        }
        if (now == DA_UNKNOWN) {
            watch->sign[which] = watch->waiting[which] = 0;
        } else if (watch->waiting[which]) {
            watch->waiting[which] = 0;
            if (now == -was) {
                da_found(found, watch, io, which, i == 1 ? 0.0 : da_root(s, which, x[i - 2], x[i], now), now);
                watch->sign[which] = now;
            } else if (now == 0) {
                da_found(found, watch, io, which, i == 1 ? 0.0 : da_arrival(s, which, x[i - 2], x[i - 1], was), -was);
                watch->sign[which] = 0;
            }
        } else if (was == 0) {
            if (now != 0) {
                /* It leaves zero, which is no passage; it may have left to the other side and come back. */
                const double early = x[i - 1] + (x[i] - x[i - 1]) / 64.0;
                int before = 0;
                if (a->signs[i - 1][which] == 0) da_value_at(s, which, early, &before);
                if (before == -now) da_found(found, watch, io, which, da_root(s, which, early, x[i], now), now);
                watch->sign[which] = now;
            }
        } else if (now == 0) {
            watch->waiting[which] = 1;
        } else if (now == -was) {
            da_found(found, watch, io, which, da_root(s, which, x[i - 1], x[i], now), now);
            watch->sign[which] = now;
        }
    }
}

/* Pairs of passages between samples of one sign, where g turns back in between. */
DA_FN void da_turns(const da_span *s, const da_watch *watch, const da_requests *io, int which, const da_samples *a,
                    da_passages *found)
{
    const int last = a->pieces;
    for (int i = 0; i <= last; i++) {
        const int sign = a->signs[i][which], from = i > 0 ? i - 1 : 0, to = i < last ? i + 1 : last;
        double middle = a->x[i], value = sign * a->g[i][which];
        if (which < DA_OF_USER && a->x[from] > found->until) return;
        if ((sign != 1 && sign != -1) || a->signs[from][which] != sign || a->signs[to][which] != sign) continue;
        if (i > 0 && value > sign * a->g[from][which]) continue;
        if (i < last && value >= sign * a->g[to][which]) continue;
        /* A function that is constant but for rounding, say: it is the least of its neighbours here. Three of them, because
           between two at an end it may fall and rise again. */
        const int first = from < last - 2 ? from : last - 2;
        double most = value;
        for (int k = first; k < first + 3; k++) most = da_max(most, sign * a->g[k][which]);
        if (value > DA_ALOOF * (most - value)) continue;
        if (i == 0 || i == last) {
            /* At the ends of the step, the slope says whether it turns inside. */
            middle = i == 0 ? a->x[1] / 1024.0 : 1.0 - (1.0 - a->x[last - 1]) / 1024.0;
            const double near = sign * da_value_at(s, which, middle, 0);
            if (!(near < value)) continue;
            value = near;
        }
        const double beyond = da_beyond(s, which, a->x[from], middle, a->x[to], value, sign);
        if (beyond < 0.0) continue;
        da_found(found, watch, io, which, da_root(s, which, a->x[from], beyond, -sign), -sign);
        da_found(found, watch, io, which, da_root(s, which, beyond, a->x[to], sign), sign);
    }
}

/* Write a passage down; nonzero where it ends the run. */
DA_FN int da_record(da_watch *watch, da_requests *io, int which, int direction)
{
    if (io->count < io->room) {
        double *row = io->record + io->count * DA_RECORD;
        row[0] = which;
        row[1] = watch->t;
        row[2] = direction;
        for (int j = 0; j < DA_NY; j++) row[3 + j] = watch->y[j];
    }
    io->count++;
    if (watch->left[which] == 0 || --watch->left[which] > 0 || io->ended >= 0) return 0;
    io->ended = which;
    return 1;
}

DA_FN void da_watch_start(da_watch *watch, da_requests *io, double t, const double *y, double rtol, const double *atol,
                          da_context *ctx)
{
    double level[DA_NG];
    io->count = 0;
    io->ended = -1;
    for (int j = 0; j < DA_NE; j++) watch->sizes[j] = atol[j] / rtol;
    da_functions_at(y, t, watch->sizes, ctx, watch->g, level);
    da_signs(watch->g, DA_START_NOISE, level, watch->signs);
    for (int i = 0; i < DA_NG; i++) {
        watch->sign[i] = watch->signs[i] == DA_UNKNOWN ? 0 : watch->signs[i];
        watch->waiting[i] = 0;
        watch->left[i] = io->terminal[i];
        watch->leaving[i] = (io->from_zero[i] || i >= DA_OF_USER) && watch->signs[i] == 0;
    }
}

#if DA_KINKS
/* Go on from a state at which sides of kinks have changed; what is known of the events stays. */
DA_FN void da_watch_turned(da_watch *watch, double t, const double *y, da_context *ctx)
{
    double level[DA_NG];
    da_functions_at(y, t, watch->sizes, ctx, watch->g, level);
    da_signs(watch->g, DA_NOISE, level, watch->signs);
    for (int i = DA_OF_USER; i < DA_NG; i++) {
        watch->signs[i] = da_away(watch->g[i], level[i]);
        watch->sign[i] = watch->signs[i] == DA_UNKNOWN ? 0 : watch->signs[i];
        watch->waiting[i] = 0;
        watch->leaving[i] = watch->signs[i] == 0;
    }
}
#endif

/* Look through an accepted step. DA_ENDED: a passage in it ends the run, DA_TURN: it passes a kink, and nothing else is noted
   then; its time and state are in watch. */
enum { DA_NOTHING, DA_ENDED, DA_TURN };
DA_PIECE int da_watch_step(da_watch *watch, da_requests *io, const da_span *s)
{
    da_samples samples;
    da_passages found;
    found.count = 0;
    found.until = 1.0;
#if DA_KINKS
    da_watch before = *watch;
    for (int i = DA_OF_USER; i < DA_NG; i++) watch->fell[i] = 0;
#endif
    for (int i = 0; i < DA_NG; i++) {
        samples.g[0][i] = watch->g[i];
        samples.signs[0][i] = watch->signs[i];
    }
    da_sample(s, &samples);
    for (int i = 0; i < DA_NG; i++) {
        da_changes(s, watch, io, i, &samples, &found);
        da_turns(s, watch, io, i, &samples, &found);
        watch->g[i] = samples.g[samples.pieces][i];
        watch->signs[i] = samples.signs[samples.pieces][i];
    }
#if DA_KINKS
    for (int i = 0; i < found.count && !s->to_kink; i++) {
        const int which = found.which[i];
        if (which < DA_OF_USER) continue;
        before.slipped = watch->fell[which];
        *watch = before;
        watch->kink = which - DA_OF_USER;
        watch->x = found.x[i];
        watch->t = da_time_at(s, watch->x);
        da_state_at(s, watch->x, watch->y);
        watch->way = -s->ctx->side[watch->kink];
        if (!watch->way) {
            double g[DA_NG], scale[DA_NG];
            da_functions_as_written(watch->y, watch->t, watch->sizes, s->ctx, g, scale);
            watch->way = g[which] > 0.0 ? 1 : -1;
        }
        return DA_TURN;
    }
#endif
    for (int i = 0; i < found.count; i++) {
        if (found.which[i] >= DA_OF_USER) continue;
        watch->t = da_time_at(s, found.x[i]);
        da_state_at(s, found.x[i], watch->y);
        if (da_record(watch, io, found.which[i], found.direction[i])) return DA_ENDED;
    }
    return DA_NOTHING;
}

/* At the end of a motion, a function that has just become zero has arrived there. */
DA_FN void da_watch_finish(da_watch *watch, da_requests *io, double t, const double *y)
{
    watch->t = t;
    for (int j = 0; j < DA_NY; j++) watch->y[j] = y[j];
    for (int i = 0; i < DA_OF_USER; i++)
        if (watch->waiting[i] && io->direction[i] != watch->sign[i]) da_record(watch, io, i, -watch->sign[i]);
}
#endif

#endif
