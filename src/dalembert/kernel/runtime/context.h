/* What one integration carries along. Nothing is global: any number may run at once. */
#ifndef DA_CONTEXT_H
#define DA_CONTEXT_H

/* The length of a state in loops over all of it: whole groups of four, which compilers turn into vector instructions. What is
   added stays zero. */
#define DA_NW ((DA_NY + 3) / 4 * 4)
#define DA_EVENTS 64 /* changes of rank that are kept; more are counted */

typedef struct {
    const double *p; /* parameters, and what depends on them alone: see da_constants */
    int fast;        /* straight-line code may be used */
    int independent; /* straight-line code covers all constraints: none is redundant */
    int rank;        /* at the last accepted state */
    int order[DA_AT_LEAST_1(DA_M)]; /* the constraints that make up the rank, for the robust path */
    double longest[DA_AT_LEAST_1(DA_FAST_ROWS)]; /* squared lengths of the rows of A so far, in the metric of M */
    int trouble;     /* why the right-hand side had no value, last time */
    long evaluations, robust, steps, rejected;
    long changes;    /* of rank */
    double change_time[DA_EVENTS];
    int change_rank[DA_EVENTS][2];
} da_context;

#endif
