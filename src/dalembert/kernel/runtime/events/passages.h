/* The passages of a step, in order: what the samples show, and what is kept of it from step to step. */
#ifndef DA_PASSAGES_H
#define DA_PASSAGES_H

#if DA_WITH_EVENTS
#define DA_MOST_FOUND (DA_NG * (3 * DA_EVENT_MOST_PIECES + 3)) /* in one step: each sample can show three at most */

/* Passages found in one step, in order of time. What comes after one that ends the run need not be found, except
   kinks before which it may lie: these are looked for in all of the step. */
#define DA_PASSAGES_ARRAYS(ARRAY, PART) \
    ARRAY(double, x, DA_MOST_FOUND)     \
    ARRAY(int, which, DA_MOST_FOUND)    \
    ARRAY(int, direction, DA_MOST_FOUND)
typedef struct {
    int count;
    double until;
    DA_PASSAGES_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
} da_passages;
DA_STRUCTURE(da_passages, DA_PASSAGES_ARRAYS)

/* Keep a passage in its place, if its direction counts. */
DA_FN void da_found(da_passages *found, const da_watch *watch, const da_requests *io, int which, double x,
                    int direction)
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

#if DA_WITH_KINKS
/* A kink whose function was zero until a, and is `away` at b. It may have left to one side and come back. */
DA_PIECE void da_leaves(const da_span *s, da_watch *watch, const da_requests *io, int which, double a, double b,
                        int away, da_passages *found)
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
        const int now = a->signs[DA_NG * i + which], was = watch->sign[which];
        if (which < DA_OF_USER && x[i > 1 ? i - 2 : 0] > found->until) return; /* it may be found one sample late */
        if (watch->leaving[which]) {
            const int away = da_away(a->g[DA_NG * i + which], a->level[DA_NG * i + which]);
            if (away == 0) continue;
#if DA_WITH_KINKS
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
                if (a->signs[DA_NG * (i - 1) + which] == 0) da_value_at(s, which, early, &before);
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
        const int from = i > 0 ? i - 1 : 0, to = i < last ? i + 1 : last, sign = a->signs[DA_NG * i + which];
        const int at_from = DA_NG * from + which, at_to = DA_NG * to + which;
        double middle = a->x[i], value = sign * a->g[DA_NG * i + which];
        if (which < DA_OF_USER && a->x[from] > found->until) return;
        if ((sign != 1 && sign != -1) || a->signs[at_from] != sign || a->signs[at_to] != sign) continue;
        if (i > 0 && value > sign * a->g[at_from]) continue;
        if (i < last && value >= sign * a->g[at_to]) continue;
        /* A function that is constant but for rounding, say: it is the least of its neighbours here. Three of them,
           because between two at an end it may fall and rise again. */
        const int first = from < last - 2 ? from : last - 2;
        double most = value;
        for (int k = first; k < first + 3; k++) most = da_max(most, sign * a->g[DA_NG * k + which]);
        if (value > DA_EVENT_ALOOF * (most - value)) continue;
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

/* What is known of the functions where a motion, or a part of it, starts. */
DA_FN void da_watch_from(da_watch *watch, const da_requests *io, double t, const double *y, da_context *ctx)
{
    double level[DA_NG];
    da_functions_at(y, t, watch->sizes, ctx, watch->g, level);
    da_signs(watch->g, DA_EVENT_START_NOISE, level, watch->signs);
    for (int i = 0; i < DA_NG; i++) {
        watch->sign[i] = watch->signs[i] == DA_UNKNOWN ? 0 : watch->signs[i];
        watch->waiting[i] = 0;
        watch->leaving[i] = (io->from_zero[i] || i >= DA_OF_USER) && watch->signs[i] == 0;
    }
}

DA_FN void da_watch_start(da_watch *watch, da_requests *io, double t, const double *y, double rtol, const double *atol,
                          da_context *ctx)
{
    io->count = 0;
    io->ended = -1;
    for (int i = 0; i < DA_NG; i++) watch->left[i] = io->terminal[i];
    for (int j = 0; j < DA_NE; j++) watch->sizes[j] = atol[j] / rtol;
    da_watch_from(watch, io, t, y, ctx);
}

#if DA_WITH_SWITCHED
/* The passage that has just ended the run does not end it: the motion goes on from y. */
DA_FN void da_passed_by(da_watch *watch, da_requests *io, int which, const double *y)
{
    for (int j = 0; j < DA_NY; j++) watch->y[j] = y[j];
    watch->left[which] = 0; /* it is one of many */
    io->ended = -1;
    da_record(watch, io, which, 1);
    watch->left[which] = io->terminal[which];
}
#endif

#if DA_WITH_KINKS
/* Go on from a state at which sides of kinks have changed; what is known of the events stays. */
DA_FN void da_watch_turned(da_watch *watch, double t, const double *y, da_context *ctx)
{
    double level[DA_NG];
    da_functions_at(y, t, watch->sizes, ctx, watch->g, level);
    da_signs(watch->g, DA_EVENT_NOISE, level, watch->signs);
    for (int i = DA_OF_USER; i < DA_NG; i++) {
        watch->signs[i] = da_away(watch->g[i], level[i]);
        watch->sign[i] = watch->signs[i] == DA_UNKNOWN ? 0 : watch->signs[i];
        watch->waiting[i] = 0;
        watch->leaving[i] = watch->signs[i] == 0;
    }
}
#endif

/* Look through an accepted step. DA_ENDED: a passage in it ends the run, DA_TURN: it passes a kink, and nothing else
   is noted then; its time and state are in watch. */
enum { DA_NOTHING, DA_ENDED, DA_TURN };
DA_PIECE int da_watch_step(da_watch *watch, da_requests *io, const da_span *s)
{
    DA_LOCAL(da_samples, samples);
    DA_LOCAL(da_passages, found);
    found.count = 0;
    found.until = 1.0;
#if DA_WITH_KINKS
    DA_LOCAL(da_watch, before);
    if (DA_KINKS) da_watch_copy(&before, watch);
    for (int i = DA_OF_USER; i < DA_NG; i++) watch->fell[i] = 0;
#endif
    for (int i = 0; i < DA_NG; i++) {
        samples.g[i] = watch->g[i];
        samples.signs[i] = watch->signs[i];
    }
    da_sample(s, &samples);
    for (int i = 0; i < DA_NG; i++) {
        da_changes(s, watch, io, i, &samples, &found);
        da_turns(s, watch, io, i, &samples, &found);
        watch->g[i] = samples.g[DA_NG * samples.pieces + i];
        watch->signs[i] = samples.signs[DA_NG * samples.pieces + i];
    }
#if DA_WITH_KINKS
    for (int i = 0; i < found.count && !s->to_kink; i++) {
        const int which = found.which[i];
        if (which < DA_OF_USER) continue;
        before.slipped = watch->fell[which];
        da_watch_copy(watch, &before);
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
