/* The fundamental equation at many points: the formulas of mechanics/solve/fundamental.py with reflections in the place
 * of singular values, where these say the same. */
#ifndef DA_READY_SOLVE_POINTS_H
#define DA_READY_SOLVE_POINTS_H

/* Squared pivots of M (scaled to a unit diagonal) and distances of a constraint direction (of length one) from those
 * before it that are below these are left to singular values: what is regular shows more, what is singular less. */
#define DA_MASS_PIVOT 1e-6
#define DA_ROW_PIVOT 1e-5
/* Below these, rounding is all that is left of a mass, or of a direction that the others have; and of what a dependent
 * constraint says beyond them, relative to its terms. */
#define DA_NO_MASS 1e-13
#define DA_NO_ROW 1e-11
#define DA_NO_CONTRADICTION 1e-12
/* Squared pivots of the directions of all constraints, from which the smallest multipliers follow. */
#define DA_LOAD_PIVOT 1e-4

/* The data of the points of a block: for each lane, where its own begin. */
typedef struct {
    const double *M[DA_WIDE], *Q[DA_WIDE], *A[DA_WIDE], *b[DA_WIDE], *C[DA_WIDE];
} da_point_data;

typedef struct {
    double *acceleration[DA_WIDE];
    int all; /* whether the others are wanted, too */
    double *unconstrained[DA_WIDE], *ideal[DA_WIDE], *nonideal[DA_WIDE], *multipliers[DA_WIDE];
    double *residual[DA_WIDE];
    unsigned char *dependent[DA_WIDE];
} da_solution;

/* Vectors that the solution of a block works with; and with those of da_solve_massless. */
static long da_block_room(long n, long m) { return 2 * n * n + 2 * m * n + 9 * n + 8 * m; }
static long da_solve_room(long n, long m) { return da_block_room(n, m) + 2 * n * n + n; }

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

/* The smallest multipliers λ' with R λ' = g, where R (rank, m) has a column for each constraint: of those that depend
 * on others (index −1) they stand at the end of D, the last one first. g is used up, λ' goes to `loads`. */
DA_APART void da_smallest_loads(long n, long rows, long m, long rank, const da_v *D, const long *index, da_v *G,
                                da_v *over, da_v *g, da_v *loads, int *good)
{
    const da_v zero = {0.0};
    for (long i = 0; i < rank * rank; i++) G[i] = zero;
    for (long k = 0, late = 0; k < m; k++) {
        const da_v *r = index[k] < 0 ? D + n * (rows - 1 - late++) : D + n * index[k];
        const long top = index[k] < 0 ? rank : index[k] + 1;
        for (long i = 0; i < top; i++)
            for (long j = 0; j <= i; j++) G[rank * i + j] += r[i] * r[j];
    }
    da_lower_factor(rank, G, over, DA_LOAD_PIVOT, good);
    da_lower(rank, G, over, g);
    da_lower_transposed(rank, G, over, g);
    for (long k = 0, late = 0; k < m; k++) {
        const da_v *r = index[k] < 0 ? D + n * (rows - 1 - late++) : D + n * index[k];
        loads[k] = da_inner(index[k] < 0 ? rank : index[k] + 1, r, g);
    }
}

/* A block of points, the first `lanes` of which are stored. rank[l] is −1 where a point must be solved by other means.
 * Returns 1, with nothing done, where different rows are zero at different points. row: room for 2 · rows indices. */
DA_APART int da_solve_block(long n, long rows, const da_point_data *of, const da_solution *to, int lanes, long *rank,
                            da_v *w, long *row)
{
    da_v *L = w, *columns = L + n * n, *D = columns + n * rows, *y = D + n * rows, *c = y + n, *z = c + n;
    da_v *z_ni = z + n, *s = z_ni + n, *part = s + n, *over = part + n, *sum = over + n, *length = sum + n;
    da_v *below = length + rows, *e = below + rows, *g = e + rows, *along = g + rows, *factor = along + rows;
    da_v *inverse = factor + rows, *loads = inverse + rows, *G = loads + rows, *G_over = G + n * n;
    long *index = row + rows; /* of each constraint among the independent ones, −1 for others */
    const da_v zero = {0.0};
    int good[DA_WIDE];
    const long m = da_acting(n, rows, of, row);
    if (m < 0) return 1;
    for (int l = 0; l < DA_WIDE; l++) good[l] = 1;

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
    long used = 0, late = 0;
    for (long k = 0; k < m; k++) {
        da_v *column = columns + n * k, *d = D + n * used, left = zero;
        for (long i = 0; i < n; i++) column[i] = da_load(of->A, n * row[k] + i);
        da_lower(n, L, over, column);
        length[k] = da_roots(da_inner(n, column, column));
        below[k] = 1.0 / da_divisor(length[k]);
        e[k] = (da_load(of->b, row[k]) - da_inner(n, column, y)) * below[k];
        /* Behind those that are independent there is room for as many as are left. */
        for (long i = 0; i < n; i++) d[i] = column[i] * below[k];
        da_into(n, used, D, factor, d);
        if (used < n) left = da_roots(da_inner(n - used, d + used, d + used));
        int nothing = 0;
        for (int l = 0; l < DA_WIDE; l++) nothing += left[l] <= DA_NO_ROW;
        index[k] = -1;
        if (nothing == DA_WIDE || used == n) {
            da_v *end = D + n * (rows - 1 - late++);
            for (long i = 0; i < n; i++) end[i] = i < used ? d[i] : zero;
            continue;
        }
        for (int l = 0; l < DA_WIDE; l++) {
            if (left[l] > DA_ROW_PIVOT) continue;
            good[l] = 0;
            left[l] = 1.0;
        }
        da_reflect(n, used, d, left, factor + used, inverse + used);
        g[used] = e[k];
        index[k] = used++;
    }
    if (used) {
        da_upper_transposed(n, used, D, inverse, g);
        for (long k = 0; k < used; k++) z[k] = g[k];
        da_out_of(n, used, D, factor, z);
        /* One step of refinement: it wins back digits that small pivots lose. */
        for (long k = 0; k < m; k++)
            if (index[k] >= 0) along[index[k]] = e[k] - da_inner(n, columns + n * k, z) * below[k];
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
    const da_v size_y = da_roots(da_inner(n, y, y)), size_z = da_roots(da_inner(n, z, z));
    for (long k = 0; late && k < m; k++) {
        if (index[k] >= 0) continue;
        const da_v miss = da_size(e[k] - da_inner(n, columns + n * k, z) * below[k]);
        const da_v most = DA_NO_CONTRADICTION * (da_size(e[k]) + size_y + size_z);
        for (int l = 0; l < DA_WIDE; l++) good[l] &= miss[l] <= most[l];
    }
    if (late && to->all) da_smallest_loads(n, rows, m, used, D, index, G, G_over, g, loads, good);
    for (int l = 0; l < lanes; l++) rank[l] = good[l] ? used : -1;
    for (long i = 0; i < n; i++) sum[i] = y[i] + z[i] + z_ni[i];
    da_lower_transposed(n, L, over, sum);
    for (long i = 0; i < n; i++) da_store(to->acceleration, i, sum[i], lanes);
    if (!to->all) return 0;

    const da_v reach = size_y + size_z + da_roots(da_inner(n, z_ni, z_ni));
    da_lower_transposed(n, L, over, y);
    for (long i = 0; i < n; i++) {
        da_store(to->unconstrained, i, y[i], lanes);
        da_store(to->ideal, i, da_inner(i + 1, L + n * i, z), lanes);
        da_store(to->nonideal, i, da_inner(i + 1, L + n * i, z_ni), lanes);
    }
    if (!late) da_upper(n, used, D, inverse, g);
    for (long k = 0; k < rows; k++) da_store(to->multipliers, k, zero, lanes);
    for (long k = 0; k < m; k++) da_store(to->multipliers, row[k], (late ? loads[k] : g[k]) * below[k], lanes);
    for (long k = 0, next = 0; k < rows; k++) {
        const int acts = next < m && row[next] == k; /* a row of zeros counts with length 1, as in `fundamental` */
        const da_v b = da_load(of->b, k);
        da_v size = da_size(b) + 1e-4 * reach * (acts ? length[next] : zero + 1.0), miss = -b;
        for (long i = 0; acts && i < n; i++) {
            const da_v entry = da_load(of->A, n * k + i);
            size += da_size(entry) * (da_size(sum[i]) + da_size(y[i]));
            miss += entry * sum[i];
        }
        for (int l = 0; l < lanes; l++) to->dependent[l][k] = (unsigned char)!(acts && index[next] >= 0);
        next += acts;
        da_store(to->residual, k, da_size(miss) / da_divisor(size), lanes);
    }
    return 0;
}

static void da_exchange(double *a, double *b)
{
    const double kept = *a;
    *a = *b;
    *b = kept;
}

/* Whether a mass matrix (n, n) is singular beyond doubt. The largest pivot comes first: small ones would magnify the
 * rounding of those after them until it looks like mass. w: room for n² numbers. */
static int da_is_massless(long n, const double *M, double *w)
{
    for (long i = 0; i < n; i++)
        for (long j = 0; j < n; j++) {
            const double own = fabs(M[n * i + i]), other = fabs(M[n * j + j]);
            w[n * i + j] = M[n * i + j] / sqrt((own > 0.0 ? own : 1.0) * (other > 0.0 ? other : 1.0));
        }
    for (long last = n - 1; last >= 0; last--) {
        long best = 0;
        double least = 0.0;
        for (long i = 0; i <= last; i++) {
            if (w[n * i + i] > w[n * best + best]) best = i;
            if (w[n * i + i] < least) least = w[n * i + i];
        }
        const double pivot = w[n * best + best];
        if (!(pivot > DA_NO_MASS)) return least > -DA_NO_MASS;
        for (long j = 0; j <= last; j++) da_exchange(w + n * best + j, w + n * last + j);
        for (long i = 0; i <= last; i++) da_exchange(w + n * i + best, w + n * i + last);
        for (long i = 0; i < last; i++)
            for (long j = 0; j < last; j++) w[n * i + j] -= w[n * i + last] * w[n * last + j] / pivot;
    }
    return 0;
}

/* The same for lanes of rank −1 whose M is singular, where no constraint depends on others: M + c AᵀA and Q + c Aᵀb
 * with c > 0 have the same accelerations, forces and multipliers. Without constraints there are none then. */
DA_APART void da_solve_massless(long n, long m, const da_point_data *of, const da_solution *to, int lanes, long *rank,
                                da_v *w, long *row)
{
    da_point_data other = *of;
    double *room = (double *)(w + da_block_room(n, m)), *spare = room + DA_WIDE * (n * n + n);
    long found[DA_WIDE];
    int some = 0;
    for (int l = 0; l < lanes; l++) some |= rank[l] < 0;
    if (!some) return;
    for (int l = 0; l < DA_WIDE; l++) {
        if (l < lanes && rank[l] >= 0) continue;
        if (l < lanes && !da_is_massless(n, of->M[l], spare)) continue; /* left as it is, to other means */
        const double *A = of->A[l], *b = of->b[l];
        double *M = room + l * (n * n + n), *Q = M + n * n, trace = 0.0, all = 0.0;
        for (long i = 0; i < n; i++) trace += of->M[l][n * i + i];
        for (long i = 0; i < m * n; i++) all += A[i] * A[i];
        const double c = all > 0.0 ? trace / all : 0.0;
        for (long i = 0; i < n; i++) {
            Q[i] = of->Q[l][i];
            for (long k = 0; k < m; k++) Q[i] += c * A[n * k + i] * b[k];
            for (long j = 0; j < n; j++) {
                M[n * i + j] = of->M[l][n * i + j];
                for (long k = 0; k < m; k++) M[n * i + j] += c * A[n * k + i] * A[n * k + j];
            }
        }
        other.M[l] = M;
        other.Q[l] = Q;
    }
    if (da_solve_block(n, m, &other, to, lanes, found, w, row)) return;
    for (int l = 0; l < lanes; l++) {
        if (rank[l] < 0 && to->all)
            for (long i = 0; i < n; i++) to->unconstrained[l][i] = NAN;
        if (rank[l] < 0) rank[l] = found[l] == m ? m : -1;
    }
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
    unsigned char *dependent;
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
        to.dependent[l] = of->dependent + m * (first + l);
    }
    long *row = (long *)(of->w + da_solve_room(n, m));
    if (da_solve_block(n, m, &given, &to, lanes, of->rank + first, of->w, row)) return 1;
    da_solve_massless(n, m, &given, &to, lanes, of->rank + first, of->w, row);
    return 0;
}

/* M (count, n, n), Q and C (count, n), A (count, m, n), b (count, m); then the results, one after the other in `found`:
 * acceleration, unconstrained (NaN where M is singular), ideal, nonideal (count, n), multipliers and residual (count,
 * m). dependent (count, m): rows that are combinations of those before them. rank[k] is −1 where point k must be solved
 * by other means; returns how many such there are. w: room for da_solve_room vectors and 2 m indices. */
DA_READY long da_solve_points(long count, long n, long m, const double *M, const double *Q, const double *A,
                              const double *b, const double *C, double *found, long *rank, unsigned char *dependent,
                              double *w)
{
    const da_points of = {count, n, m, M, Q, A, b, C, found, rank, dependent, (da_v *)w};
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
