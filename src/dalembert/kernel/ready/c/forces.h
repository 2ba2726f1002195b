/* All that a motion has at its output points besides its states, in one call: the functions of the model there, and the
 * fundamental equation. */
#ifndef DA_READY_FORCES_H
#define DA_READY_FORCES_H

typedef struct {
    const da_program *points; /* (q, v, t, p) -> M, Q, A, b, C, E, the inertial part of Q, φ, and (φ̇, ψ) */
    long count, n, m;
    const double *q, *v, *t, *p; /* (count, n), rows `stride` apart, twice; (count) */
    long stride;
    double *base;                /* what `points` gives; see da_many */
    double *found;               /* as da_solve_points has it; behind it, the impressed forces (count, n) */
    long *rank;
    unsigned char *dependent;
    double *registers, *w;       /* room */
    const da_curved *curved;     /* constraints nonlinear in q̈, NULL: none */
    double *near;                /* then: accelerations near those wanted, (count, n), which take their place */
    const unsigned char *acting; /* (count, m), of contacts: rows of A and b that act; NULL: all do */
    const double *held;          /* then: C (count, n), in the place of that of the model */
    double *closed;              /* and room for A with all its rows, (count, m, n) */
} da_all_points;

/* Rows that do not act become zero, and C what contacts make it. */
static void da_hold(const da_all_points *of, double *A, double *b, double *C)
{
    const long n = of->n, rows = of->count * of->m;
    for (long i = 0; i < rows * n; i++) of->closed[i] = A[i];
    for (long k = 0; k < rows; k++) {
        if (of->acting[k]) continue;
        b[k] = 0.0;
        for (long i = 0; i < n; i++) A[n * k + i] = 0.0;
    }
    for (long i = 0; i < of->count * n; i++) C[i] = of->held[i];
}

/* How many points must be solved by other means, see da_solve_points; −1 where the model has no value somewhere. */
DA_READY long da_forces(const da_all_points *of)
{
    const long n = of->n, m = of->m, count = of->count;
    const double *in[4] = {of->q, of->v, of->t, of->p};
    const long stride[4] = {of->stride, of->stride, 1, 0};
    if (da_many(of->points, count, in, stride, of->base, of->registers)) return -1;
    double *M = of->base, *Q = M + count * n * n, *A = Q + count * n, *b = A + count * m * n, *C = b + count * m;
    const da_states states = {count, n, m, of->stride, of->q, of->v, of->t, of->p};
    if (of->curved && da_follow(of->curved, &states, M, Q, A, b, of->near)) return count;
    if (of->acting) da_hold(of, A, b, C);
    const double *inertial = C + count * n + count;
    double *impressed = of->found + count * (4 * n + 2 * m);
    for (long i = 0; i < count * n; i++) impressed[i] = Q[i] - inertial[i];
    return da_solve_points(count, n, m, M, Q, A, b, C, of->found, of->rank, of->dependent, of->w);
}

#endif
