/* One integration as a value: what is asked of it, where it is, and the step at hand. The stages of a step (step.h,
   inside.h, turn.h) work on it one after the other. The steps of explicit methods are functions of their own
   (DA_PIECE): copied into the loop, they would fight with it for registers, and the penny took a tenth longer. */
#ifndef DA_RUN_H
#define DA_RUN_H

/* Whole groups of four numbers, see DA_NW. k has DA_SLOPES rows, the first of which is the slope at the last accepted
   state y, dense DA_DENSE. ctx: what is known where the run is; before: the same before the step at hand, in case the
   interpolant, which may be needed, has no value. */
#define DA_RUN_EVERY(ARRAY, PART)                  \
    ARRAY(double, y, DA_NW)                        \
    ARRAY(double, ynew, DA_NW)                     \
    ARRAY(double, kept, DA_NW)                     \
    ARRAY(double, fnew, DA_NW)                     \
    ARRAY(double, k, DA_SLOPES *DA_NW)             \
    ARRAY(double, dense, DA_DENSE *DA_NW)          \
    ARRAY(double, atol, DA_NE)                     \
    ARRAY(double, constants, DA_NC)                \
    PART(da_context, ctx)                          \
    PART(da_context, before)                       \
    PART(da_singular, singular)                    \
    PART(da_own, own)
#if DA_WITH_EVENTS
#define DA_RUN_EVENTS(ARRAY, PART) PART(da_watch, watch)
#else
#define DA_RUN_EVENTS(ARRAY, PART)
#endif
#if DA_WITH_KINKS
#define DA_RUN_KINKS(ARRAY, PART) PART(da_sides, sides) PART(da_anchor, anchor)
#else
#define DA_RUN_KINKS(ARRAY, PART)
#endif
#define DA_RUN_ARRAYS(ARRAY, PART) DA_RUN_EVERY(ARRAY, PART) DA_RUN_EVENTS(ARRAY, PART) DA_RUN_KINKS(ARRAY, PART)

typedef struct {
    /* First of all, so that what is worked on in whole groups of numbers stands at their beginning. */
    DA_RUN_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)

    /* What is asked for: see da_integrate. */
    const double *times;
    long count;
    double t0, end, rtol;
    int method, project;
    double *out, *branch;
    da_requests *events;
    const da_pace *pace;

    /* Where it is: the time of y, the next output, the part of the pace, the rank there, and what is known besides. */
    double t;
    long next, part;
    int status, rank;
    da_stiffness stiffness;
#if DA_WITH_EVENTS
    int ended; /* by an event */
#endif
#if DA_WITH_KINKS
    int restart; /* the equations have changed */
#endif

    /* How long steps are: the next one, the last ones, whether the last trial was rejected; the longest so far, and
       where it was last asked whether it gets on. */
    double h, last_step, last_norm, longest, mark;
    int rejected;
    double edge; /* where the last step began that led over a corner of the constraints */

    /* So many times the step was taken again for what lies inside, and how long steps with outputs inside may be, once
       one had to be shortened for them. */
    int shortened;
    double bound;

    /* The step at hand, of size `step` by the method `taken`, to tnew and ynew with the slope fnew. kept: ynew before
       its return to the constraints, to which the interpolant belongs. */
    int taken;
    int series; /* it is that of a Taylor series */
    int last;   /* it is the last one */
    int due;    /* outputs or events lie in it */
    int turned; /* it has ended at a kink */
    double step, norm, grow, free, tnew; /* free: grow, had no trial been rejected */
} da_run;
DA_STRUCTURE(da_run, DA_RUN_ARRAYS)

/* What a stage of a step says: on to the next stage; the step is taken again; the run is over. */
enum { DA_GO_ON, DA_STEP_AGAIN, DA_OVER };

DA_FN int da_watching(const da_run *r) { return DA_NG && r->events; }

DA_FN int da_order_of(const da_run *r) { return da_control(r->method); }

/* The step is taken again, of size h. */
DA_FN int da_again(da_run *r, double h)
{
    r->h = h;
    r->rejected = 1;
    r->ctx.rejected++;
    return DA_STEP_AGAIN;
}

/* The run is over at the end of the step at hand. */
DA_FN int da_over(da_run *r)
{
    r->t = r->tnew;
    for (int j = 0; j < DA_NY; j++) r->y[j] = r->ynew[j];
    return DA_OVER;
}

/* No step is shorter: its end would hardly be another time. */
DA_FN double da_least_step(const da_run *r)
{
    return 10.0 * 2.220446049250313e-16 * da_max(fabs(r->t), fabs(r->end) * 1e-3);
}

/* The first step from here. It is a guess, and next to none where a state almost vanishes: its error will say whether
   the shortest step is too long. */
DA_FN double da_guessed_step(da_run *r, double span)
{
    const double guess = da_first_step(r->t, r->y, r->k, span, r->rtol, r->atol, da_order_of(r) - 1, &r->ctx);
    return da_max(guess, da_least_step(r));
}

/* The same, but that a series says itself how far it reaches. */
DA_FN double da_size_from_here(da_run *r, double span)
{
    return r->method == DA_METHOD_TAYLOR ? 0.0 : da_guessed_step(r, span);
}

/* What the context of a run knows before its first state. */
DA_FN void da_begin_context(const double *p, double *constants, const double *branch, da_context *ctx)
{
    da_context_clear(ctx);
    da_constants(p, constants);
    ctx->p = constants;
    ctx->fast = 1;
    ctx->independent = DA_FAST_ROWS + DA_NONLINEAR == DA_M;
    da_start_branch(branch, ctx);
}

#if DA_WITH_KINKS
DA_FN void da_begin_sides(da_run *r, const double *p)
{
    for (int j = 0; j < DA_NE; j++) r->watch.sizes[j] = r->atol[j] / r->rtol;
    for (int j = 0; j < DA_NP; j++) r->sides.values[j] = p[j];
    r->sides.sizes = r->watch.sizes;
    r->sides.constants = r->constants;
    r->sides.again = 0;
    r->restart = 0;
    r->ctx.side = r->sides.now;
    da_sides_start(&r->sides, r->events, r->t, r->y, &r->ctx);
}

DA_FN void da_anchor_here(da_run *r, int turned)
{
    da_drop_anchor(&r->anchor, r->t, r->y, &r->ctx, &r->watch, &r->singular, r->next, r->events->count, r->rank);
    r->anchor.turned = turned;
}
#endif

/* The first state: on the constraints, its slope, and the first output. */
DA_PIECE void da_begin(da_run *r, const double *y0, const double *p, const double *first_atol)
{
    const da_stiffness calm = {0};
    int j;
    for (j = 0; j < DA_NW; j++) r->y[j] = r->ynew[j] = r->fnew[j] = 0.0;
    for (j = 0; j < DA_SLOPES * DA_NW; j++) r->k[j] = 0.0;
    for (j = 0; j < DA_NY; j++) r->y[j] = y0[j];
    for (j = 0; j < DA_NE; j++) r->atol[j] = first_atol[j];
    r->t = r->mark = r->t0;
    r->next = r->part = 0;
    r->rejected = r->series = 0;
    r->edge = -INFINITY;
    r->last_step = r->longest = 0.0;
    r->last_norm = 1.0;
    r->shortened = 0;
    r->bound = INFINITY;
    r->stiffness = calm;
    r->singular.seen = 0;
    r->singular.count = 0;
    da_own_begin(&r->own, r->rtol);
    da_begin_context(p, r->constants, r->branch, &r->ctx);
    if (r->pace && r->pace->fastest) r->pace->fastest[0] = 0.0;
#if DA_WITH_KINKS
    if (DA_KINKS) da_begin_sides(r, p);
#endif
    r->status = r->project ? da_project(r->y, r->t, &r->ctx) : DA_DONE;
    if (!da_has_method(r->method)) r->status = DA_NO_METHOD;
    if (!r->status) r->status = da_settle(r->t, r->y, r->k, &r->ctx);
    r->rank = r->ctx.rank;
    if (!r->status) {
        for (j = 0; j < DA_NY; j++) r->out[j] = r->y[j];
        r->next = 1;
        da_watch_singular(r->t, r->y, r->k, 0, &r->singular, &r->ctx);
    }
#if DA_WITH_EVENTS
    r->ended = 0;
    if (DA_NG && r->events && !r->status) da_watch_start(&r->watch, r->events, r->t, r->y, r->rtol, r->atol, &r->ctx);
#endif
#if DA_WITH_KINKS
    if (DA_KINKS && !r->status) da_anchor_here(r, 0);
#endif
    r->h = !r->status && r->count > 1 ? da_size_from_here(r, r->end - r->t0) : 0.0;
}

#endif
