/* Events: passages of functions g(q, q̇, t) through zero, found on the dense output. The same method as
   motion/integrate/events, name by name, with the reasons there. Here the functions themselves, at a state and at
   samples of a step. Needs DA_NG, the number of functions, and da_events(q, v, t, c, s, g, scale), with multipliers
   of the constraints and their sizes before g where the functions use them. */
#ifndef DA_SAMPLE_H
#define DA_SAMPLE_H

#define DA_RECORD (3 + DA_NY) /* which, t, direction, y */

/* Gaps that may close and bounce on the way: see run/bounce.h. As the structure in kernel/events.py. */
typedef struct {
    const double *restitution; /* of each function that is an open gap; below zero of any other */
    const double *closed;      /* of each function, DA_NP: the parameters with that gap closed */
    double slowest;            /* slower ones, as a share of the fastest approach, … */
    double lowest;             /* … and lower ones, as a share of the places, are left to the caller */
    double approach;           /* the fastest so far */
} da_bounces;

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
    da_bounces *bounces; /* NULL: none */
} da_requests;

#if DA_WITH_EVENTS
#define DA_UNKNOWN 2
#define DA_OF_USER (DA_NG - DA_KINKS) /* the functions from here on are kinks of the model: see kinks.h */

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
#if DA_WITH_KINKS
/* In the last step, from where it had been zero since the start. */
#define DA_WATCH_KINKS(ARRAY) ARRAY(int, fell, DA_NG)
#else
#define DA_WATCH_KINKS(ARRAY)
#endif
#define DA_WATCH_ARRAYS(ARRAY, PART)                                                            \
    ARRAY(double, sizes, DA_NE)                                                                 \
    ARRAY(double, g, DA_NG)                                                                     \
    ARRAY(int, signs, DA_NG)                                                                    \
    ARRAY(int, sign, DA_NG)                                                                     \
    ARRAY(int, waiting, DA_NG)                                                                  \
    ARRAY(int, left, DA_NG)                                                                     \
    ARRAY(int, leaving, DA_NG)                                                                  \
    ARRAY(double, y, DA_NW)                                                                     \
    DA_WATCH_KINKS(ARRAY)
typedef struct {
    DA_WATCH_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
    double t; /* of the last passage, whose state is y */
#if DA_WITH_KINKS
    int kink, slipped, way; /* the kink that the last step passes; whether it fell so; to which side of zero */
    double x;               /* the share of the step at which it is passed */
#endif
} da_watch;
DA_STRUCTURE(da_watch, DA_WATCH_ARRAYS)

/* Samples of one step: shares x of it, g there, below which level it counts as zero, signs. */
#define DA_MOST_SAMPLES (DA_EVENT_MOST_PIECES + 1)
#define DA_SAMPLES_ARRAYS(ARRAY, PART)            \
    ARRAY(double, g, DA_MOST_SAMPLES *DA_NG)      \
    ARRAY(double, level, DA_MOST_SAMPLES *DA_NG)  \
    ARRAY(int, signs, DA_MOST_SAMPLES *DA_NG)
typedef struct {
    int pieces;
    double x[DA_MOST_SAMPLES];
    DA_SAMPLES_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER) /* of all functions at one sample, then at the next */
} da_samples;
DA_STRUCTURE(da_samples, DA_SAMPLES_ARRAYS)

/* Levels from scales, in place, and signs. */
DA_FN void da_signs(const double *g, double noise, double *level, int *signs)
{
    for (int i = 0; i < DA_NG; i++) {
        level[i] = da_finite(level[i]) ? noise * level[i] : 0.0;
        signs[i] = !da_finite(g[i]) ? DA_UNKNOWN : fabs(g[i]) <= level[i] ? 0 : g[i] > 0.0 ? 1 : -1;
    }
}

/* All functions at a state, as they are written, and the size of their terms. */
DA_FN void da_functions_as_written(const double *y, double t, const double *sizes, da_context *ctx, double *g,
                                   double *scale)
{
#if DA_WITH_EVENT_MULTIPLIERS
    if (DA_EVENT_MULTIPLIERS) {
        double l[DA_MM], l_size[DA_MM];
        da_multipliers_at(y, y + DA_N, t, ctx, l, l_size);
        da_events_of_multipliers(y, y + DA_N, t, ctx->p, sizes, l, l_size, g, scale);
        return;
    }
#endif
#if DA_WITH_PLAIN_EVENTS
    da_events(y, y + DA_N, t, ctx->p, sizes, g, scale);
#endif
}

/* The same, kinks counted from the side where the motion is. */
DA_FN void da_functions_at(const double *y, double t, const double *sizes, da_context *ctx, double *g, double *scale)
{
    da_functions_as_written(y, t, sizes, ctx, g, scale);
#if DA_WITH_KINKS
    for (int i = 0; i < DA_KINKS; i++) {
        double *own = g + DA_OF_USER + i;
        *own = ctx->side[i] ? ctx->side[i] * *own : -fabs(*own);
    }
#endif
}

DA_FN double da_time_at(const da_span *s, double x)
{
    return x == 1.0 ? s->t_new : s->step->t + x * s->share * s->step->h;
}

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
        da_signs(g, DA_EVENT_NOISE, level, signs);
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
    da_signs(g, DA_EVENT_NOISE, level, signs);
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

/* The sign of a function that began at zero: it has left where that is seen in the same way. */
DA_FN int da_away(double g, double level)
{
    if (!da_finite(g)) return DA_UNKNOWN;
    return fabs(g) <= level * (DA_EVENT_START_NOISE / DA_EVENT_NOISE) ? 0 : g > 0.0 ? 1 : -1;
}

/* Whether cubics through the even samples foretell the odd ones. */
DA_FN int da_resolved(const da_samples *a)
{
    for (int i = 1; i < a->pieces; i += 2) {
        int start = i < 3 ? 0 : i - 3;
        if (start > a->pieces - 6) start = a->pieces - 6;
        const double u = (i + DA_EVENT_SHIFT - start) / 2.0;
        const double l0 = (u - 1.0) * (u - 2.0) * (u - 3.0) / -6.0, l1 = u * (u - 2.0) * (u - 3.0) / 2.0;
        const double l2 = u * (u - 1.0) * (u - 3.0) / -2.0, l3 = u * (u - 1.0) * (u - 2.0) / 6.0;
        for (int k = 0; k < DA_NG; k++) {
            const double here = a->g[DA_NG * i + k], noise = 4.0 * a->level[DA_NG * i + k];
            double least = here, most = here, nearest = fabs(here), even[4];
            for (int j = 0; j < 4; j++) {
                even[j] = a->g[DA_NG * (start + 2 * j) + k];
                least = da_min(least, even[j]);
                most = da_max(most, even[j]);
                nearest = da_min(nearest, fabs(even[j]));
            }
            if (nearest >= DA_EVENT_ALOOF * (most - least)) continue;
            const double foretold = l0 * even[0] + l1 * even[1] + l2 * even[2] + l3 * even[3];
            /* Written so that a function without a value somewhere is left as it is. */
            if (fabs(foretold - here) > DA_EVENT_FORETOLD * (most - least) + noise) return 0;
        }
    }
    return 1;
}

/* Samples fine enough to show what g does; the first is known from the step before. */
DA_FN void da_sample(const da_span *s, da_samples *a)
{
    for (a->pieces = DA_EVENT_PIECES;; a->pieces *= 2) {
        a->x[0] = 0.0;
        for (int i = 1; i <= a->pieces; i++) {
            a->x[i] = (i + (i % 2 ? DA_EVENT_SHIFT : 0.0)) / a->pieces;
            const int at = DA_NG * i;
            da_look(s, a->x[i], a->g + at, a->level + at, a->signs + at);
        }
        if (a->pieces == DA_EVENT_MOST_PIECES || da_resolved(a)) return;
    }
}
#endif

#endif
