/* What one integration carries along. Nothing is global: any number may run at once. */
#ifndef DA_CONTEXT_H
#define DA_CONTEXT_H

/* The length of a state in loops over all of it: whole groups of four, which compilers turn into vector instructions.
   What is added stays zero. */
#define DA_NW ((DA_NY + 3) / 4 * 4)

/* See stiffness.h. */
typedef struct {
    double since; /* the time of the first of the steps that showed it */
    int hits, calm;
    long steps; /* so many were stiff, judged by samples */
} da_stiffness;

/* A solution of constraints nonlinear in the accelerations, and the constraints that are independent there. */
#define DA_BRANCH_ARRAYS(ARRAY, PART) ARRAY(double, z, DA_N) ARRAY(int, order, DA_M)
typedef struct {
    int rank;
    DA_BRANCH_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
} da_branch;
DA_STRUCTURE(da_branch, DA_BRANCH_ARRAYS)
DA_CLEARED(da_branch, DA_BRANCH_ARRAYS)

/* order: the constraints that make up the rank, for the robust path. longest: lengths of the rows of A so far; natural:
   the same in the metric of M, zero but for position constraints. seen: the largest squared lengths that straight-line
   code has given; square: the same of position constraints only. */
#define DA_CONTEXT_EVERY(ARRAY, PART)                                                                        \
    ARRAY(int, order, DA_M)                                                                                  \
    ARRAY(double, longest, DA_M)                                                                             \
    ARRAY(double, natural, DA_M)                                                                             \
    ARRAY(double, seen, DA_FAST_ROWS)                                                                        \
    ARRAY(double, square, DA_FAST_ROWS)
/* At the last accepted state: the motion's own branch, and the one without the forces C. */
#if DA_WITH_NONLINEAR
#define DA_CONTEXT_BRANCHES(ARRAY, PART) PART(da_branch, followed) PART(da_branch, free)
#else
#define DA_CONTEXT_BRANCHES(ARRAY, PART)
#endif
/* Of the last solution: see actual.h. */
#if DA_WITH_ACTUAL
#define DA_CONTEXT_MULTIPLIERS(ARRAY, PART) ARRAY(double, multipliers, DA_M)
#else
#define DA_CONTEXT_MULTIPLIERS(ARRAY, PART)
#endif
#define DA_CONTEXT_ARRAYS(ARRAY, PART) \
    DA_CONTEXT_EVERY(ARRAY, PART) DA_CONTEXT_BRANCHES(ARRAY, PART) DA_CONTEXT_MULTIPLIERS(ARRAY, PART)

typedef struct {
    const double *p; /* parameters, and what depends on them alone: see da_constants */
    int fast;        /* straight-line code may be used */
    int independent; /* straight-line code covers all constraints: none is redundant */
    int rank;        /* at the last accepted state */
    int kept;        /* so many of `order` at trial states: the rank, and rows whose gradient has vanished for now */
    int fading;      /* nonzero: a gradient fades near here, and projections take the robust path */
    DA_CONTEXT_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
#if DA_WITH_KINKS
    const int *side; /* of each kink: where the motion is, see kinks.h */
#endif
    double nearness; /* to a singular configuration: see singular.h */
    int trouble;     /* why the right-hand side had no value, last time */
    long evaluations, robust, steps, rejected;
    long changes;    /* of rank */
    double change_time[DA_KEPT_CHANGES];
    int change_rank[DA_KEPT_CHANGES][2];
} da_context;
DA_STRUCTURE(da_context, DA_CONTEXT_ARRAYS)
DA_CLEARED(da_context, DA_CONTEXT_ARRAYS)

/* Back to what was known before a step, where it is not accepted after all; the work it took stays counted. */
DA_FN void da_return_to(const da_context *before, da_context *ctx)
{
    const long evaluations = ctx->evaluations, robust = ctx->robust, rejected = ctx->rejected;
    const int trouble = ctx->trouble;
    da_context_copy(ctx, before);
    ctx->evaluations = evaluations;
    ctx->robust = robust;
    ctx->rejected = rejected;
    ctx->trouble = trouble;
}

#endif
