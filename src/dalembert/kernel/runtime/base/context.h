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
typedef struct {
    double z[DA_N];
    int rank, order[DA_AT_LEAST_1(DA_M)];
} da_branch;

typedef struct {
    const double *p; /* parameters, and what depends on them alone: see da_constants */
    int fast;        /* straight-line code may be used */
    int independent; /* straight-line code covers all constraints: none is redundant */
    int rank;        /* at the last accepted state */
    int order[DA_AT_LEAST_1(DA_M)]; /* the constraints that make up the rank, for the robust path */
    int kept;        /* so many of them at trial states: the rank, and rows whose gradient has vanished for a moment */
    int fading;      /* nonzero: a gradient fades near here, and projections take the robust path */
    double longest[DA_AT_LEAST_1(DA_M)]; /* lengths of the rows of A so far */
    double natural[DA_AT_LEAST_1(DA_M)]; /* the same in the metric of M; zero but for position constraints */
    double seen[DA_AT_LEAST_1(DA_FAST_ROWS)];   /* the largest squared lengths that straight-line code has given */
    double square[DA_AT_LEAST_1(DA_FAST_ROWS)]; /* the same of position constraints only */
#if DA_NONLINEAR
    da_branch followed, free; /* at the last accepted state: the motion's own, and the one without the forces C */
#endif
#if DA_USES_ACTUAL
    double multipliers[DA_AT_LEAST_1(DA_M)]; /* of the last solution: see actual.h */
#endif
#if DA_KINKS
    const int *side; /* of each kink: where the motion is, see kinks.h */
#endif
    double nearness; /* to a singular configuration: see singular.h */
    int trouble;     /* why the right-hand side had no value, last time */
    long evaluations, robust, steps, rejected;
    long changes;    /* of rank */
    double change_time[DA_KEPT_CHANGES];
    int change_rank[DA_KEPT_CHANGES][2];
} da_context;

/* Back to what was known before a step, where it is not accepted after all; the work it took stays counted. */
DA_FN void da_return_to(const da_context *before, da_context *ctx)
{
    da_context back = *before;
    back.evaluations = ctx->evaluations;
    back.robust = ctx->robust;
    back.rejected = ctx->rejected;
    back.trouble = ctx->trouble;
    *ctx = back;
}

#endif
