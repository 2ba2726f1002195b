/* The multipliers of a large system whose constraints may depend on each other: S λ = r with S = A M⁻¹ Aᵀ, sparse,
 * symmetric and without negative eigenvalues, whatever the rank of A.
 *
 * Rows are scaled to length one (their natural length, where a gradient fades). S + ε I is factored, L D Lᵀ, in an
 * order of little fill, and x += (S + ε I)⁻¹ (r − S x) repeated until nothing is left but rounding. Along a direction
 * of eigenvalue s each pass takes ε/(s + ε) off what is missing; a direction in which rows depend on each other has
 * s = 0 and r = 0, and gets nothing. So the limit is the shortest λ. Where r is not in the range of S, it does not
 * converge. */
#ifndef DA_READY_MULTIPLIERS_H
#define DA_READY_MULTIPLIERS_H

/* Terms of a row count with this share of the largest of all rows at least. */
#define DA_SMALL_ROW 1e-6

typedef struct {
    long m, entries, fill, passes;
    double epsilon, rounding;
    const long *start, *index, *at; /* of S the upper triangle by columns, in the order of elimination: rows, places */
    const long *first;              /* where the columns of L begin */
    const long *row_start, *row;    /* of each row of L the columns, in an order in which they can be made */
    const long *order, *right;      /* the constraint in each place of the order; the places of right-hand sides */
    long unknowns;                  /* the place of the first multiplier, with its sign turned */
    double *S, *L, *D, *y, *x, *r, *step, *scale, *size;
    long *rows, *count;
} da_multipliers;

/* Which columns each row of L has, from the pattern of S: those from which the tree of elimination leads to it. count
 * (m): the entries of each column; row_start (m + 1); row: NULL, or room for all of them, in an order in which the row
 * can be made. parent, flag, stack: room (m). Gives the number of entries. */
DA_READY long da_multipliers_rows(long m, const long *start, const long *index, long *parent, long *count, long *flag,
                                  long *stack, long *row_start, long *row)
{
    long fill = 0;
    for (long k = 0; k < m; k++) {
        long top = m;
        parent[k] = -1;
        count[k] = 0;
        flag[k] = k;
        row_start[k] = fill;
        for (long e = start[k]; e < start[k + 1]; e++) {
            long depth = 0;
            for (long i = index[e]; flag[i] != k; i = parent[i]) {
                if (parent[i] < 0) parent[i] = k;
                count[i]++;
                flag[i] = k;
                stack[depth++] = i;
            }
            while (depth > 0) stack[--top] = stack[--depth];
        }
        for (; top < m; top++, fill++)
            if (row) row[fill] = stack[top];
    }
    row_start[m] = fill;
    return fill;
}

/* S + shift I = L D Lᵀ; how many pivots are negative: so many eigenvalues of S are below −shift. */
static long da_multipliers_factor(const da_multipliers *P, double shift)
{
    const long m = P->m;
    long negative = 0;
    double *restrict y = P->y, *restrict L = P->L;
    long *restrict rows = P->rows, *restrict count = P->count;
    for (long k = 0; k < m; k++) {
        y[k] = 0.0;
        count[k] = P->first[k];
    }
    for (long k = 0; k < m; k++) {
        for (long e = P->start[k]; e < P->start[k + 1]; e++) y[P->index[e]] += P->S[e];
        double pivot = y[k] + shift;
        y[k] = 0.0;
        for (long j = P->row_start[k]; j < P->row_start[k + 1]; j++) {
            const long i = P->row[j], end = count[i];
            const double of = y[i], l = of / P->D[i];
            y[i] = 0.0;
            for (long p = P->first[i]; p < end; p++) y[rows[p]] -= L[p] * of;
            pivot -= l * of;
            rows[end] = k;
            L[end] = l;
            count[i] = end + 1;
        }
        if (pivot < 0.0) negative++;
        P->D[k] = pivot != 0.0 ? pivot : 1e-300;
    }
    return negative;
}

static void da_multipliers_back(const da_multipliers *P, double *x)
{
    for (long k = 0; k < P->m; k++)
        for (long p = P->first[k]; p < P->first[k + 1]; p++) x[P->rows[p]] -= P->L[p] * x[k];
    for (long k = P->m - 1; k >= 0; k--) {
        x[k] /= P->D[k];
        for (long p = P->first[k]; p < P->first[k + 1]; p++) x[k] -= P->L[p] * x[P->rows[p]];
    }
}

/* r − S x into `step`; its largest relative to the sizes of its terms, which `size` has, small ones counted with a
 * share of the largest. */
static double da_multipliers_left(const da_multipliers *P)
{
    double largest = 0.0, most = 0.0;
    for (long k = 0; k < P->m; k++) {
        P->step[k] = P->r[k];
        P->size[k] = fabs(P->r[k]);
    }
    for (long k = 0; k < P->m; k++)
        for (long e = P->start[k]; e < P->start[k + 1]; e++) {
            const long i = P->index[e];
            P->step[k] -= P->S[e] * P->x[i];
            P->size[k] += fabs(P->S[e] * P->x[i]);
            if (i == k) continue;
            P->step[i] -= P->S[e] * P->x[k];
            P->size[i] += fabs(P->S[e] * P->x[k]);
        }
    for (long k = 0; k < P->m; k++) {
        most = da_max(most, P->size[k]);
        if (P->step[k] != P->step[k]) return INFINITY;
    }
    if (!(most > 0.0)) return 0.0;
    for (long k = 0; k < P->m; k++) {
        P->size[k] = da_max(P->size[k], DA_SMALL_ROW * most);
        largest = da_max(largest, fabs(P->step[k]) / P->size[k]);
    }
    return largest;
}

/* Reads −S and r off the numbers w of a program, and writes −λ. natural (m): the largest length squared that each row
 * has had, which grows here. missed: the largest of r − S λ in the end, relative to the largest of r. Gives the passes
 * taken; −1 where something is not finite. */
DA_READY long da_multipliers_solve(const da_multipliers *P, double *w, double *natural, double *missed)
{
    const long m = P->m;
    double left = 0.0, before = INFINITY, most = 0.0;
    for (long k = 0; k < m; k++) {
        const long row = P->order[k], last = P->start[k + 1] - 1; /* where the diagonal stands, if anything does */
        P->scale[k] = last >= P->start[k] && P->index[last] == k ? -w[P->at[last]] : 0.0;
        if (P->scale[k] > natural[row]) natural[row] = P->scale[k]; /* not where it has no value */
        P->scale[k] = natural[row] > 0.0 ? 1.0 / sqrt(natural[row]) : 1.0;
        P->r[k] = P->right[row] < 0 ? 0.0 : P->scale[k] * w[P->right[row]];
        P->x[k] = 0.0;
        P->step[k] = P->r[k];
        if (P->r[k] != P->r[k]) return -1;
        if (P->r[k] != 0.0) left = 1.0; /* all of it, as nothing is found yet */
    }
    for (long k = 0; k < m; k++)
        for (long e = P->start[k]; e < P->start[k + 1]; e++)
            P->S[e] = -w[P->at[e]] * P->scale[k] * P->scale[P->index[e]];
    da_multipliers_factor(P, P->epsilon);
    long pass = 0;
    for (; pass < P->passes && left > P->rounding; pass++) {
        /* Near rounding, what no longer falls is rounding. */
        if (left > 0.5 * before && left < 1e4 * P->rounding) break;
        if (!(left < INFINITY)) return -1;
        before = left;
        da_multipliers_back(P, P->step);
        for (long k = 0; k < m; k++) P->x[k] += P->step[k];
        left = da_multipliers_left(P);
    }
    *missed = 0.0;
    for (long k = 0; k < m; k++) most = da_max(most, fabs(P->r[k]));
    for (long k = 0; k < m; k++) {
        if (most > 0.0) *missed = da_max(*missed, fabs(P->step[k]) / most);
        w[P->unknowns + P->order[k]] = -P->scale[k] * P->x[k];
    }
    return left < INFINITY ? pass : -1;
}

/* The rank of the constraints at the state that was solved last: eigenvalues of S below `least` count as zero. */
DA_READY long da_multipliers_rank(const da_multipliers *P, double least)
{
    return P->m - da_multipliers_factor(P, -least);
}

#endif
