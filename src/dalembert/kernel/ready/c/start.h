/* Whether a state may be started from as it is: on the constraints to rounding, none of them without a gradient. */
#ifndef DA_READY_START_H
#define DA_READY_START_H

typedef struct {
    long n, positions, rates;     /* coordinates, rows of φ and of (φ̇, ψ) */
    const long *row;              /* the rows of A that belong to (φ̇, ψ); those of φ come first */
    long m;
    const double *q, *v;
    const double *A, *beside;     /* at the state and at one beside it, (m, n) each */
    const double *phi, *rate;
    double rounding, least, small;
} da_start;

static double da_largest_size(long n, const double *x)
{
    double most = 0.0;
    for (long i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
    return most;
}

static double da_row_length(long n, const double *row)
{
    double sum = 0.0;
    for (long i = 0; i < n; i++) sum += row[i] * row[i];
    return sqrt(sum);
}

/* 1 where nothing is to be said or done. The sizes are those of `relative_residual` and `without_gradient`. */
DA_READY long da_is_plain_start(const da_start *of)
{
    const long n = of->n;
    const double q = da_largest_size(n, of->q), v = da_largest_size(n, of->v);
    const double place = fmax(fmax(q, 1e-3 * v), of->least), speed = fmax(fmax(v, 1e-3 * q), of->least);
    for (long k = 0; k < of->m; k++) {
        const double here = da_row_length(n, of->A + n * k), near = da_row_length(n, of->beside + n * k);
        if (!(here > 0.0 && here >= of->small * near)) return 0;
    }
    for (long k = 0; k < of->rates; k++) {
        const double length = da_row_length(n, of->A + n * of->row[k]);
        if (k < of->positions && !(fabs(of->phi[k]) <= of->rounding * length * place)) return 0;
        if (!(fabs(of->rate[k]) <= of->rounding * length * speed)) return 0;
    }
    return 1;
}

#endif
