/* Kinks of the model: which side of each the motion is on, and how it changes sides. The same method as
   motion/integrate/kinks.py, name by name, with the reasons there. The sides are parameters; the functions whose
   zeros are kinks are the last of the event functions. */
#ifndef DA_KINKS_H
#define DA_KINKS_H

#if DA_WITH_KINKS
/* now: of each kink, -1, 0 or 1. tried: since the last passage, bit 0 for side -1, bit 1 for 0, bit 2 for 1. values:
   the parameters, sides among them. */
#define DA_SIDES_ARRAYS(ARRAY, PART) ARRAY(int, now, DA_KINKS) ARRAY(int, tried, DA_KINKS) ARRAY(double, values, DA_NP)
typedef struct {
    DA_SIDES_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
    int rounds;
    int again;           /* so many times the step was shortened to end at a kink */
    const double *sizes;
    double *constants;
} da_sides;
DA_STRUCTURE(da_sides, DA_SIDES_ARRAYS)

/* Where sides changed last, and all that must be as it was there if another one is taken. */
#define DA_ANCHOR_ARRAYS(ARRAY, PART) \
    ARRAY(double, y, DA_NW) PART(da_context, ctx) PART(da_watch, watch) PART(da_singular, singular)
typedef struct {
    DA_ANCHOR_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
    double t;
    long next, count;
    int rank;
    int turned; /* a kink is passed there; otherwise it is the start */
} da_anchor;
DA_STRUCTURE(da_anchor, DA_ANCHOR_ARRAYS)

DA_FN void da_take_sides(da_sides *s, const da_requests *io)
{
    for (int k = 0; k < DA_KINKS; k++) s->values[io->places[k]] = s->now[k];
    da_constants(s->values, s->constants);
}

/* The functions of the kinks as they are written, and below which level they count as zero. */
DA_FN void da_kinks_at(const da_sides *s, double t, const double *y, da_context *ctx, double *g, double *level)
{
    double all[DA_NG], scale[DA_NG];
    da_functions_as_written(y, t, s->sizes, ctx, all, scale);
    for (int k = 0; k < DA_KINKS; k++) {
        g[k] = all[DA_OF_USER + k];
        const double size = scale[DA_OF_USER + k];
        level[k] = da_finite(size) ? DA_EVENT_START_NOISE * size : 0.0;
    }
}

/* Functions that are not at zero say themselves on which side they are; some depend on the sides of others. */
DA_FN void da_sides_agree(da_sides *s, const da_requests *io, double t, const double *y, int but, da_context *ctx)
{
    double g[DA_KINKS], level[DA_KINKS];
    s->rounds = 0;
    for (int k = 0; k < DA_KINKS; k++) s->tried[k] = 0;
    for (int pass = 0; pass < DA_KINKS; pass++) {
        int changed = 0;
        da_kinks_at(s, t, y, ctx, g, level);
        for (int k = 0; k < DA_KINKS; k++) {
            const int side = k == but || !(fabs(g[k]) > level[k]) ? s->now[k] : g[k] > 0.0 ? 1 : -1;
            changed = changed || side != s->now[k];
            s->now[k] = side;
        }
        if (!changed) return;
        da_take_sides(s, io);
    }
}

/* What is exactly at zero is taken as it stands at first. */
DA_PIECE void da_sides_start(da_sides *s, const da_requests *io, double t, const double *y, da_context *ctx)
{
    double g[DA_KINKS], level[DA_KINKS];
    for (int k = 0; k < DA_KINKS; k++) s->now[k] = 0;
    da_take_sides(s, io);
    da_kinks_at(s, t, y, ctx, g, level);
    for (int k = 0; k < DA_KINKS; k++) s->now[k] = (g[k] > 0.0) - (g[k] < 0.0);
    da_take_sides(s, io);
    da_sides_agree(s, io, t, y, -1, ctx);
}

/* Take the other side of the kink that the last step passes; those that depend on it follow. */
DA_PIECE void da_sides_passed(da_sides *s, const da_requests *io, const da_watch *watch, double t, const double *y,
                              da_context *ctx)
{
    const int k = watch->kink;
    s->now[k] = s->now[k] ? -s->now[k] : watch->way;
    da_take_sides(s, io);
    da_sides_agree(s, io, t, y, k, ctx);
}

/* Take a side that was not tried yet where a function began at zero. Zero: there is none. */
DA_PIECE int da_sides_left(da_sides *s, const da_requests *io, const da_watch *watch)
{
    const int k = watch->kink, side = s->now[k];
    const int next = side ? -side : watch->way;
    int others = -1;
    for (int i = DA_OF_USER; i < DA_NG; i++) others += watch->leaving[i];
    s->tried[k] |= 1 << (side + 1);
    if (s->tried[k] & 1 << (next + 1)) {
        if (++s->rounds > others) return 0;
        s->tried[k] = 1 << (side + 1);
    }
    s->now[k] = next;
    da_take_sides(s, io);
    return 1;
}

/* Whether the constraints ask for another velocity than the motion has: y with the sides of before, now with those of
   after. */
DA_FN int da_corner(const double *y, const double *now, double rtol)
{
    double size = 0.0, jump = 0.0;
    for (int i = DA_N; i < 2 * DA_N; i++) {
        size = da_max(size, fabs(y[i]));
        jump = da_max(jump, fabs(now[i] - y[i]));
    }
    return jump > da_max(DA_KINK_CORNER, 1e3 * rtol) * size;
}

DA_FN void da_drop_anchor(da_anchor *anchor, double t, const double *y, const da_context *ctx, const da_watch *watch,
                          const da_singular *singular, long next, long count, int rank)
{
    anchor->t = t;
    for (int j = 0; j < DA_NY; j++) anchor->y[j] = y[j];
    da_context_copy(&anchor->ctx, ctx);
    da_watch_copy(&anchor->watch, watch);
    da_singular_copy(&anchor->singular, singular);
    anchor->next = next;
    anchor->count = count;
    anchor->rank = rank;
}
#endif

#endif
