/* Large systems, whose M and A are mostly zeros: the saddle matrix [M Aᵀ; A 0], scaled, by factors L D Lᵀ of one
 * pattern for all points, a block of points at once. Each constraint comes after all its coordinates, so that pivots
 * need no exchange: those of coordinates are positive, those of constraints negative, and a small one tells of
 * dependence. */
#ifndef DA_READY_SPARSE_H
#define DA_READY_SPARSE_H

/* As DA_MASS_PIVOT; and for constraints the square of DA_ROW_PIVOT, since these pivots are squares of distances. */
#define DA_SPARSE_PIVOT 1e-10

typedef struct {
    long n, m, entries, fill;
    const long *start, *index;        /* the upper triangle of the permuted matrix by columns */
    const long *at, *row, *column;    /* of each entry: where it is in M or A, and its unknowns; row ≥ n: constraint */
    const long *parent, *first;       /* elimination tree, and where the columns of L begin */
    const long *place;                /* of each unknown in the permuted order */
    const long *masses, *mass_i, *mass_j; /* [0]: how many entries M has, and their indices */
    const long *row_start, *row_column;   /* those of A by rows */
} da_pattern;

typedef struct {
    da_v *L, *D, *inverse, *y, *values, *part, *below, *length, *rest, *x;
    long *index, *count, *flag, *stack;
} da_sparse_room;

static da_sparse_room da_sparse_rooms(const da_pattern *P, double *w)
{
    const long size = P->n + P->m;
    da_sparse_room r;
    da_v *at = (da_v *)w;
    r.L = at;
    r.D = r.L + P->fill;
    r.inverse = r.D + size;
    r.y = r.inverse + size;
    r.values = r.y + size;
    r.part = r.values + P->entries;
    r.below = r.part + P->n;
    r.length = r.below + P->m;
    r.rest = r.length + P->m;
    r.x = r.rest + size;
    r.index = (long *)(r.x + size);
    r.count = r.index + P->fill;
    r.flag = r.count + size;
    r.stack = r.flag + size;
    return r;
}

/* Scales: coordinates by the root of their own mass, rows to length one. */
static void da_sparse_scale(const da_pattern *P, const double *const *M, const double *const *A, da_sparse_room *r)
{
    const da_v zero = {0.0};
    for (long i = 0; i < P->n; i++) r->part[i] = 1.0 / da_divisor(da_roots(da_size(da_load(M, P->n * i + i))));
    for (long k = 0; k < P->m; k++) {
        da_v sum = zero;
        for (long e = P->row_start[k]; e < P->row_start[k + 1]; e++) {
            const long j = P->row_column[e];
            const da_v entry = da_load(A, P->n * k + j) * r->part[j];
            sum += entry * entry;
        }
        r->length[k] = da_roots(sum);
        r->below[k] = 1.0 / da_divisor(r->length[k]);
    }
}

/* The factors; unit: with the unit matrix in the place of M. good[l] becomes 0 where a pivot is too small. */
DA_APART void da_sparse_factor(const da_pattern *P, const double *const *M, const double *const *A, int unit,
                               da_sparse_room *r, int *good)
{
    const long size = P->n + P->m;
    const da_v zero = {0.0};
    for (long e = 0; e < P->entries; e++) {
        const long i = P->row[e], j = P->column[e];
        if (i >= P->n) {
            r->values[e] = da_load(A, P->at[e]) * (r->below[i - P->n] * r->part[j]);
        } else {
            r->values[e] = unit ? zero + (i == j ? 1.0 : 0.0) : da_load(M, P->at[e]) * (r->part[i] * r->part[j]);
        }
    }
    for (long k = 0; k < size; k++) r->y[k] = zero;
    for (long k = 0; k < size; k++) {
        long top = size;
        r->flag[k] = k;
        r->count[k] = 0;
        for (long e = P->start[k]; e < P->start[k + 1]; e++) {
            long i = P->index[e], depth = 0;
            r->y[i] += r->values[e];
            for (; r->flag[i] != k; i = P->parent[i]) {
                r->stack[depth++] = i;
                r->flag[i] = k;
            }
            while (depth > 0) r->stack[--top] = r->stack[--depth];
        }
        da_v pivot = r->y[k];
        r->y[k] = zero;
        for (; top < size; top++) {
            const long i = r->stack[top];
            const da_v y = r->y[i];
            r->y[i] = zero;
            const long end = P->first[i] + r->count[i];
            for (long p = P->first[i]; p < end; p++) r->y[r->index[p]] -= r->L[p] * y;
            const da_v l = y * r->inverse[i];
            pivot -= l * y;
            r->index[end] = k;
            r->L[end] = l;
            r->count[i]++;
        }
        for (int l = 0; l < DA_WIDE; l++) {
            const double least = P->place[size + k] < P->n ? DA_MASS_PIVOT : DA_SPARSE_PIVOT;
            const double signed_pivot = P->place[size + k] < P->n ? pivot[l] : -pivot[l];
            if (signed_pivot > least) continue;
            good[l] = 0;
            pivot[l] = 1.0;
        }
        r->D[k] = pivot;
        r->inverse[k] = 1.0 / pivot;
    }
}

static void da_sparse_back(const da_pattern *P, const da_sparse_room *r, da_v *x)
{
    const long size = P->n + P->m;
    for (long j = 0; j < size; j++)
        for (long p = P->first[j]; p < P->first[j] + r->count[j]; p++) x[r->index[p]] -= r->L[p] * x[j];
    for (long j = size - 1; j >= 0; j--) {
        x[j] *= r->inverse[j];
        for (long p = P->first[j]; p < P->first[j] + r->count[j]; p++) x[j] -= r->L[p] * x[r->index[p]];
    }
}

/* right (n + m, unknowns in their own order) := the solution, refined once. */
DA_APART void da_sparse_solve(const da_pattern *P, const da_sparse_room *r, da_v *right)
{
    const long size = P->n + P->m;
    for (long k = 0; k < size; k++) r->x[P->place[k]] = right[k];
    da_sparse_back(P, r, r->x);
    for (long k = 0; k < size; k++) r->rest[P->place[k]] = right[k];
    for (long k = 0; k < size; k++)
        for (long e = P->start[k]; e < P->start[k + 1]; e++) {
            const long i = P->index[e];
            r->rest[i] -= r->values[e] * r->x[k];
            if (i != k) r->rest[k] -= r->values[e] * r->x[i];
        }
    da_sparse_back(P, r, r->rest);
    for (long k = 0; k < size; k++) right[k] = r->x[P->place[k]] + r->rest[P->place[k]];
}

/* As da_solve_points, for large systems whose rows are independent. alone: the pattern of M by itself. w, other: room
 * for the factors of both; more: for 6 n + 3 m vectors. */
DA_READY long da_sparse_points(long count, const da_pattern *P, const da_pattern *alone, const double *M,
                               const double *Q, const double *A, const double *b, const double *C, double *found,
                               long *rank, double *w, double *other, double *more)
{
    const long n = P->n, m = P->m;
    da_sparse_room both = da_sparse_rooms(P, w), masses = da_sparse_rooms(alone, other);
    const da_v zero = {0.0};
    long missed = 0;
    for (long first = 0; first < count; first += DA_WIDE) {
        const int lanes = count - first < DA_WIDE ? (int)(count - first) : DA_WIDE;
        const da_point_data of = da_dynamics_at(n, m, M, Q, A, b, C, first, 1, count - 1);
        int good[DA_WIDE] = {1, 1, 1, 1};
        da_v *one = (da_v *)more, *two = one + n + m, *free = two + n + m, *ideal = free + n, *nonideal = ideal + n;
        da_v *sizes = nonideal + n, y = zero, z = zero, z_ni = zero;
        da_sparse_scale(P, of.M, of.A, &both);
        da_sparse_scale(alone, of.M, of.A, &masses);
        da_sparse_factor(P, of.M, of.A, 0, &both, good);
        da_sparse_factor(alone, of.M, of.A, 0, &masses, good);
        int works = 0;
        for (long i = 0; i < n; i++) {
            const da_v c = da_load(of.C, i);
            one[i] = free[i] = da_load(of.Q, i) * both.part[i];
            two[i] = c * both.part[i];
            for (int l = 0; l < DA_WIDE; l++) works |= c[l] != 0.0;
        }
        for (long k = 0; k < m; k++) {
            one[n + k] = da_load(of.b, k) * both.below[k];
            two[n + k] = zero;
        }
        da_sparse_solve(P, &both, one);
        if (works) da_sparse_solve(P, &both, two);
        da_sparse_solve(alone, &masses, free);
        for (long i = 0; i < n; i++) {
            one[i] *= both.part[i];
            two[i] *= both.part[i];
            free[i] *= both.part[i];
            ideal[i] = zero;
            nonideal[i] = works ? da_load(of.C, i) : zero;
        }
        for (long k = 0; k < m; k++) {
            one[n + k] *= -both.below[k];
            two[n + k] *= -both.below[k];
            for (long e = P->row_start[k]; e < P->row_start[k + 1]; e++) {
                const long j = P->row_column[e];
                const da_v entry = da_load(of.A, n * k + j);
                ideal[j] += entry * one[n + k];
                nonideal[j] += entry * two[n + k];
            }
        }
        for (long i = 0; i < n; i++) {
            y += free[i] * da_load(of.Q, i);
            z += ideal[i] * (one[i] - free[i]);
            z_ni += nonideal[i] * two[i];
            one[i] += two[i];
        }
        const da_v reach = da_roots(da_size(y)) + da_roots(da_size(z)) + da_roots(da_size(z_ni));
        for (long k = 0; k < m; k++) {
            const da_v right = da_load(of.b, k);
            da_v miss = -right, size = da_size(right) + 1e-4 * reach * both.length[k];
            for (long e = P->row_start[k]; e < P->row_start[k + 1]; e++) {
                const long j = P->row_column[e];
                const da_v entry = da_load(of.A, n * k + j);
                miss += entry * one[j];
                size += da_size(entry) * (da_size(one[j]) + da_size(free[j]));
            }
            sizes[k] = da_size(miss) / da_divisor(size);
        }
        for (int l = 0; l < lanes; l++) {
            double *to = found + n * (first + l), *second = found + 4 * count * n + m * (first + l);
            for (long i = 0; i < n; i++) {
                to[i] = one[i][l];
                to[count * n + i] = free[i][l];
                to[2 * count * n + i] = ideal[i][l];
                to[3 * count * n + i] = nonideal[i][l];
            }
            for (long k = 0; k < m; k++) {
                second[k] = one[n + k][l] + two[n + k][l];
                second[count * m + k] = sizes[k][l];
            }
            rank[first + l] = good[l] ? m : -1;
            missed += !good[l];
        }
    }
    return missed;
}

/* For the certificate: the largest part of `forces` forces (forces, count, n) along the null space, and how far an
 * acceleration is from the minimum of G whose equations it misses by rest (count, n) and miss (count, m). */
DA_READY long da_sparse_check(long count, const da_pattern *P, const double *M, const double *A, long forces,
                              const double *force, const double *rest, const double *miss, double *along,
                              double *distance, double *w, double *more)
{
    const long n = P->n, m = P->m;
    da_sparse_room r = da_sparse_rooms(P, w);
    const da_v zero = {0.0};
    long missed = 0;
    for (long first = 0; first < count; first += DA_WIDE) {
        const int lanes = count - first < DA_WIDE ? (int)(count - first) : DA_WIDE;
        const da_point_data of = da_dynamics_at(n, m, M, rest, A, miss, rest, first, 1, count - 1);
        int good[DA_WIDE] = {1, 1, 1, 1};
        da_v *x = (da_v *)more, most = zero, sum = zero;
        da_sparse_scale(P, of.M, of.A, &r);
        da_sparse_factor(P, of.M, of.A, 1, &r, good);
        for (long f = 0; f < forces; f++) {
            for (long i = 0; i < n; i++)
                for (int l = 0; l < DA_WIDE; l++) {
                    const long k = first + l < count ? first + l : count - 1;
                    x[i][l] = force[n * (count * f + k) + i] * r.part[i][l];
                }
            for (long k = 0; k < m; k++) x[n + k] = zero;
            da_sparse_solve(P, &r, x);
            for (long i = 0; i < n; i++) most = da_larger(da_size(x[i]), most);
        }
        da_sparse_factor(P, of.M, of.A, 0, &r, good);
        for (long i = 0; i < n; i++) x[i] = da_load(of.Q, i) * r.part[i];
        for (long k = 0; k < m; k++) x[n + k] = da_load(of.b, k) * r.below[k];
        da_sparse_solve(P, &r, x);
        for (long e = 0; e < P->masses[0]; e++) {
            const long i = P->mass_i[e], j = P->mass_j[e];
            sum += x[i] * x[j] * (da_load(of.M, n * i + j) * (r.part[i] * r.part[j]));
        }
        sum = da_roots(da_larger(sum, zero));
        for (int l = 0; l < lanes; l++) {
            along[first + l] = good[l] ? most[l] : -1.0;
            distance[first + l] = sum[l];
            missed += !good[l];
        }
    }
    return missed;
}

#endif
