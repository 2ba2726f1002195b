/* The fundamental equation at many points, where M is regular and the constraints are independent: the formulas of
 * mechanics/solve/fundamental.py with reflections in the place of singular values. */
#ifndef DA_READY_SOLVE_POINTS_H
#define DA_READY_SOLVE_POINTS_H

/* Squared pivots of M (scaled to a unit diagonal) and distances of a constraint direction (of length one) from those
 * before it that are below these are left to singular values: what is regular shows more, what is singular less. */
#define DA_MASS_PIVOT 1e-6
#define DA_ROW_PIVOT 1e-5

/* The data of the points of a block: for each lane, where its own begin. */
typedef struct {
    const double *M[DA_WIDE], *Q[DA_WIDE], *A[DA_WIDE], *b[DA_WIDE], *C[DA_WIDE];
} da_point_data;

typedef struct {
    double *acceleration[DA_WIDE];
    int all; /* whether the others are wanted, too */
    double *unconstrained[DA_WIDE], *ideal[DA_WIDE], *nonideal[DA_WIDE], *multipliers[DA_WIDE];
    double *residual[DA_WIDE];
} da_solution;

/* Vectors that the solution of a block works with. */
static long da_solve_room(long n, long m) { return n * n + 2 * m * n + 8 * n + 7 * m; }

/* Which rows are not zero, in `row`; their number, or −1 where the points differ in that. */
static long da_acting(long n, long rows, const da_point_data *of, long *row)
{
    long m = 0;
    for (long k = 0; k < rows; k++) {
        int count = 0;
        for (int l = 0; l < DA_WIDE; l++) {
            int acts = 0;
            for (long i = 0; i < n; i++) acts |= of->A[l][n * k + i] != 0.0;
            count += acts;
        }
        if (count != 0 && count != DA_WIDE) return -1;
        if (count) row[m++] = k;
    }
    return m;
}

/* A block of points, the first `lanes` of which are stored. rank[l] is −1 where a point must be solved by other means.
 * Returns 1, with nothing done, where different rows are zero at different points. */
DA_APART int da_solve_block(long n, long rows, const da_point_data *of, const da_solution *to, int lanes, long *rank,
                            da_v *w, long *row)
{
    da_v *L = w, *columns = L + n * n, *D = columns + n * rows, *y = D + n * rows, *c = y + n, *z = c + n;
    da_v *z_ni = z + n, *s = z_ni + n, *part = s + n, *over = part + n, *sum = over + n, *length = sum + n;
    da_v *below = length + rows, *e = below + rows, *g = e + rows, *along = g + rows, *factor = along + rows;
    da_v *inverse = factor + rows;
    const da_v zero = {0.0};
    int good[DA_WIDE];
    const long m = da_acting(n, rows, of, row);
    if (m < 0) return 1;
    for (int l = 0; l < DA_WIDE; l++) good[l] = m <= n;
    const long used = m <= n ? m : 0;

    for (long i = 0; i < n; i++) {
        s[i] = da_divisor(da_roots(da_size(da_load(of->M, n * i + i))));
        part[i] = 1.0 / s[i];
    }
    for (long i = 0; i < n; i++)
        for (long j = 0; j <= i; j++) L[n * i + j] = da_load(of->M, n * i + j) * (part[i] * part[j]);
    da_lower_factor(n, L, over, DA_MASS_PIVOT, good);
    for (long i = 0; i < n; i++) {
        for (long j = 0; j <= i; j++) L[n * i + j] *= s[i];
        over[i] *= part[i];
    }
    int works = 0;
    for (long i = 0; i < n; i++) {
        y[i] = da_load(of->Q, i);
        c[i] = da_load(of->C, i);
        z[i] = zero;
        for (int l = 0; l < DA_WIDE; l++) works |= c[i][l] != 0.0;
    }
    da_lower(n, L, over, y);
    if (works) da_lower(n, L, over, c);
    for (long i = 0; i < n; i++) z_ni[i] = c[i];
    for (long k = 0; k < used; k++) {
        da_v *column = columns + n * k, *d = D + n * k;
        for (long i = 0; i < n; i++) column[i] = da_load(of->A, n * row[k] + i);
        da_lower(n, L, over, column);
        length[k] = da_roots(da_inner(n, column, column));
        below[k] = 1.0 / da_divisor(length[k]);
        e[k] = (da_load(of->b, row[k]) - da_inner(n, column, y)) * below[k];
        for (long i = 0; i < n; i++) d[i] = column[i] * below[k];
        da_into(n, k, D, factor, d);
        da_v left = da_roots(da_inner(n - k, d + k, d + k));
        for (int l = 0; l < DA_WIDE; l++) {
            if (left[l] > DA_ROW_PIVOT) continue;
            good[l] = 0;
            left[l] = 1.0;
        }
        da_reflect(n, k, d, left, factor + k, inverse + k);
        g[k] = e[k];
    }
    if (used) {
        da_upper_transposed(n, used, D, inverse, g);
        for (long k = 0; k < used; k++) z[k] = g[k];
        da_out_of(n, used, D, factor, z);
        /* One step of refinement: it wins back digits that small pivots lose. */
        for (long k = 0; k < used; k++) along[k] = e[k] - da_inner(n, columns + n * k, z) * below[k];
        da_upper_transposed(n, used, D, inverse, along);
        for (long i = 0; i < n; i++) {
            if (i < used) g[i] += along[i];
            z[i] = i < used ? g[i] : zero;
        }
        da_out_of(n, used, D, factor, z);
        if (works) {
            da_into(n, used, D, factor, z_ni);
            for (long k = 0; k < used; k++) {
                g[k] -= z_ni[k];
                z_ni[k] = zero;
            }
            da_out_of(n, used, D, factor, z_ni);
        }
    }
    for (int l = 0; l < lanes; l++) rank[l] = good[l] ? m : -1;
    for (long i = 0; i < n; i++) sum[i] = y[i] + z[i] + z_ni[i];
    da_lower_transposed(n, L, over, sum);
    for (long i = 0; i < n; i++) da_store(to->acceleration, i, sum[i], lanes);
    if (!to->all) return 0;

    const da_v reach = da_roots(da_inner(n, y, y)) + da_roots(da_inner(n, z, z)) + da_roots(da_inner(n, z_ni, z_ni));
    da_lower_transposed(n, L, over, y);
    for (long i = 0; i < n; i++) {
        da_store(to->unconstrained, i, y[i], lanes);
        da_store(to->ideal, i, da_inner(i + 1, L + n * i, z), lanes);
        da_store(to->nonideal, i, da_inner(i + 1, L + n * i, z_ni), lanes);
    }
    da_upper(n, used, D, inverse, g);
    for (long k = 0; k < rows; k++) da_store(to->multipliers, k, zero, lanes);
    for (long k = 0; k < used; k++) da_store(to->multipliers, row[k], g[k] * below[k], lanes);
    for (long k = 0, next = 0; k < rows; k++) {
        const int acts = next < used && row[next] == k; /* a row of zeros counts with length 1, as in `fundamental` */
        const da_v b = da_load(of->b, k);
        da_v size = da_size(b) + 1e-4 * reach * (acts ? length[next] : zero + 1.0), miss = -b;
        for (long i = 0; acts && i < n; i++) {
            const da_v entry = da_load(of->A, n * k + i);
            size += da_size(entry) * (da_size(sum[i]) + da_size(y[i]));
            miss += entry * sum[i];
        }
        next += acts;
        da_store(to->residual, k, da_size(miss) / da_divisor(size), lanes);
    }
    return 0;
}

/* Where the points first, first + step, … of arrays begin. */
static da_point_data da_dynamics_at(long n, long m, const double *M, const double *Q, const double *A, const double *b,
                                  const double *C, long first, long step, long last)
{
    da_point_data of;
    for (int l = 0; l < DA_WIDE; l++) {
        const long k = first + l * step < last ? first + l * step : last;
        of.M[l] = M + n * n * k;
        of.Q[l] = Q + n * k;
        of.A[l] = A + m * n * k;
        of.b[l] = b + m * k;
        of.C[l] = C + n * k;
    }
    return of;
}

typedef struct {
    long count, n, m;
    const double *M, *Q, *A, *b, *C;
    double *found;
    long *rank;
    da_v *w;
} da_points;

static int da_solve_some(const da_points *of, long first, long step, int lanes)
{
    const long n = of->n, m = of->m, count = of->count;
    const da_point_data given = da_dynamics_at(n, m, of->M, of->Q, of->A, of->b, of->C, first, step, count - 1);
    double *second = of->found + 4 * count * n;
    da_solution to;
    to.all = 1;
    for (int l = 0; l < lanes; l++) {
        double *at = of->found + n * (first + l);
        to.acceleration[l] = at;
        to.unconstrained[l] = at + count * n;
        to.ideal[l] = at + 2 * count * n;
        to.nonideal[l] = at + 3 * count * n;
        to.multipliers[l] = second + m * (first + l);
        to.residual[l] = second + m * (count + first + l);
    }
    return da_solve_block(n, m, &given, &to, lanes, of->rank + first, of->w, (long *)(of->w + da_solve_room(n, m)));
}

/* M (count, n, n), Q and C (count, n), A (count, m, n), b (count, m); then the results, one after the other in `found`:
 * acceleration, unconstrained, ideal, nonideal (count, n), multipliers and residual (count, m). rank[k] is −1 where
 * point k must be solved by other means; returns how many such there are. w: room for da_solve_room vectors and m
 * indices. */
DA_READY long da_solve_points(long count, long n, long m, const double *M, const double *Q, const double *A,
                              const double *b, const double *C, double *found, long *rank, double *w)
{
    const da_points of = {count, n, m, M, Q, A, b, C, found, rank, (da_v *)w};
    long missed = 0;
    for (long first = 0; first < count; first += DA_WIDE) {
        const int lanes = count - first < DA_WIDE ? (int)(count - first) : DA_WIDE;
        /* Where other rows vanish at other points, each point fills all lanes. */
        if (da_solve_some(&of, first, 1, lanes))
            for (int l = 0; l < lanes; l++) da_solve_some(&of, first + l, 0, 1);
    }
    for (long k = 0; k < count; k++) missed += rank[k] < 0;
    return missed;
}

#endif
