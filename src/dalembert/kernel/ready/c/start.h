/* Whether a state may be started from as it is: on the constraints to rounding, none of them without a gradient. */
#ifndef DA_READY_START_H
#define DA_READY_START_H

typedef struct {
    const da_program *points;     /* as in forces.h */
    long n, m, positions, rates;  /* coordinates, constraints, rows of φ and of (φ̇, ψ) */
    const long *row;              /* the rows of A that belong to (φ̇, ψ); those of φ come first */
    const double *q, *v, *p;
    double t, beside;             /* gradients are compared with those at a state beside this one, by so much */
    double rounding, least, small, consistent;
    double *states;               /* room for two, 2n numbers each, and two times */
    double *base, *found;         /* what `points` gives at both, and the solution at the first: see da_solve_points */
    double *registers, *w;
} da_start;

static double da_largest_size(long n, const double *x)
{
    double most = 0.0;
    for (long i = 0; i < n; i++) most = da_most(most, da_or_infinite(fabs(x[i])));
    return most;
}

static double da_row_length(long n, const double *row)
{
    double sum = 0.0;
    for (long i = 0; i < n; i++) sum += row[i] * row[i];
    return sqrt(sum);
}

/* Whether the rows of A (m, n), compared with those beside, have gradients, and φ and (φ̇, ψ) are rounding. The sizes
 * are those of `relative_residual` and `without_gradient`. */
static int da_is_on_constraints(const da_start *of, const double *A, const double *phi, const double *rate)
{
    const long n = of->n, m = of->m;
    const double q = da_largest_size(n, of->q), v = da_largest_size(n, of->v);
    const double place = da_most(da_most(q, 1e-3 * v), of->least), speed = da_most(da_most(v, 1e-3 * q), of->least);
    for (long k = 0; k < m; k++) {
        const double here = da_row_length(n, A + n * k), near = da_row_length(n, A + n * (m + k));
        if (!(here > 0.0 && here >= of->small * near)) return 0;
    }
    for (long k = 0; k < of->rates; k++) {
        const double length = da_row_length(n, A + n * of->row[k]);
        if (k < of->positions && !(fabs(phi[k]) <= of->rounding * length * place)) return 0;
        if (!(fabs(rate[k]) <= of->rounding * length * speed)) return 0;
    }
    return 1;
}

/* 1 where nothing is to be said or done; then the solution is in `found`. */
DA_READY long da_plain_start(const da_start *of)
{
    const long n = of->n, m = of->m;
    double *y = of->states, *t = y + 4 * n;
    for (long i = 0; i < 2 * n; i++) {
        y[i] = i < n ? of->q[i] : of->v[i - n];
        y[2 * n + i] = y[i] + of->beside * da_most(1.0, fabs(y[i]));
    }
    t[0] = t[1] = of->t;
    const double *in[4] = {y, y + n, t, of->p};
    const long stride[4] = {2 * n, 2 * n, 1, 0};
    if (da_many(of->points, 2, in, stride, of->base, of->registers)) return 0;
    const double *M = of->base, *Q = M + 2 * n * n, *A = Q + 2 * n, *b = A + 2 * m * n, *C = b + 2 * m, *E = C + 2 * n;
    const double *phi = E + 2 + 2 * n, *rate = phi + 2 * of->positions;
    if (!(fabs(E[0]) < INFINITY) || !da_is_on_constraints(of, A, phi, rate)) return 0;
    long rank = 0;
    unsigned char *dependent = (unsigned char *)of->states; /* which has done its work, and room for more */
    if (m > 8 * 4 * n) return 0;
    if (da_solve_points(1, n, m, M, Q, A, b, C, of->found, &rank, dependent, of->w) || rank < m) return 0;
    if (of->found[n] != of->found[n]) return 0; /* M is singular */
    for (long k = 0; k < m; k++)
        if (!(of->found[4 * n + m + k] <= of->consistent)) return 0;
    return 1;
}

#endif
