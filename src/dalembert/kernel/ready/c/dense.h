/* Small dense matrices of any size, those of a block of points at once: each number is a vector with one lane for each
 * point. Cholesky factors, and Householder reflections. */
#ifndef DA_READY_DENSE_H
#define DA_READY_DENSE_H

/* As many as fit into a vector register of most machines: wider ones, which a compiler would have to take apart, are
 * three times slower. */
#define DA_WIDE 4
/* Vectors are handed to functions that are put in place: how they would be passed does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"
typedef double da_v __attribute__((vector_size(8 * DA_WIDE), aligned(8)));
#define DA_IN_PLACE static inline __attribute__((always_inline))
/* Not put in place: the whole would take three times as long to compile, for a tenth of the time to run. */
#define DA_APART static __attribute__((noinline))

/* The larger one of two numbers, the first where the second is none: fmax is a call. */
DA_IN_PLACE double da_most(double x, double y) { return y > x ? y : x; }

/* What is not a number counts as infinite. */
DA_IN_PLACE double da_or_infinite(double x) { return x == x ? x : INFINITY; }

/* Entry i of the arrays at which the points of a block have theirs, and the other way round. */
DA_IN_PLACE da_v da_load(const double *const *at, long i)
{
    da_v x;
    for (int l = 0; l < DA_WIDE; l++) x[l] = at[l][i];
    return x;
}

DA_IN_PLACE void da_store(double *const *at, long i, da_v x, int lanes)
{
    for (int l = 0; l < lanes; l++) at[l][i] = x[l];
}

DA_IN_PLACE da_v da_roots(da_v x)
{
    for (int l = 0; l < DA_WIDE; l++) x[l] = sqrt(x[l]);
    return x;
}

DA_IN_PLACE da_v da_size(da_v x)
{
    for (int l = 0; l < DA_WIDE; l++) x[l] = fabs(x[l]);
    return x;
}

/* The larger one, and what is not a number where one of them is none. */
DA_IN_PLACE da_v da_larger(da_v x, da_v y)
{
    for (int l = 0; l < DA_WIDE; l++) x[l] = x[l] > y[l] || x[l] != x[l] ? x[l] : y[l];
    return x;
}

/* x where it is positive, else 1. */
DA_IN_PLACE da_v da_divisor(da_v x)
{
    for (int l = 0; l < DA_WIDE; l++) x[l] = x[l] > 0.0 ? x[l] : 1.0;
    return x;
}

DA_IN_PLACE da_v da_inner(long n, const da_v *x, const da_v *y)
{
    da_v sum = {0.0};
    for (long i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

/* The lower factor of symmetric matrices (n, n), in its place, and the inverses of its diagonal. Where a pivot is not
 * above `least`, good[l] becomes 0. */
DA_APART void da_lower_factor(long n, da_v *W, da_v *inverse, double least, int *good)
{
    for (long i = 0; i < n; i++) {
        da_v *row = W + n * i;
        for (long j = 0; j < i; j++) row[j] = (row[j] - da_inner(j, row, W + n * j)) * inverse[j];
        da_v pivot = row[i] - da_inner(i, row, row);
        for (int l = 0; l < DA_WIDE; l++) {
            if (pivot[l] > least) continue;
            good[l] = 0;
            pivot[l] = 1.0;
        }
        row[i] = da_roots(pivot);
        inverse[i] = 1.0 / row[i];
    }
}

/* x := L⁻¹ x */
DA_APART void da_lower(long n, const da_v *L, const da_v *inverse, da_v *x)
{
    for (long i = 0; i < n; i++) x[i] = (x[i] - da_inner(i, L + n * i, x)) * inverse[i];
}

/* x := L⁻ᵀ x */
DA_APART void da_lower_transposed(long n, const da_v *L, const da_v *inverse, da_v *x)
{
    for (long i = n - 1; i >= 0; i--) {
        x[i] *= inverse[i];
        for (long j = 0; j < i; j++) x[j] -= L[n * i + j] * x[i];
    }
}

/* Column d (n), to which the k reflections before have been applied, gets the next one: R above and at k, the
 * reflection below it, with its factor and the inverse of R there. length: of d from k on, positive. */
DA_IN_PLACE void da_reflect(long n, long k, da_v *d, da_v length, da_v *factor, da_v *inverse)
{
    da_v head = length;
    for (int l = 0; l < DA_WIDE; l++) head[l] = d[k][l] > 0.0 ? -length[l] : length[l];
    const da_v first = d[k] - head, share = 1.0 / first;
    *inverse = 1.0 / head;
    *factor = -first * *inverse;
    for (long i = k + 1; i < n; i++) d[i] *= share;
    d[k] = head;
}

DA_IN_PLACE void da_reflection(long n, long k, const da_v *d, da_v factor, da_v *x)
{
    const da_v share = factor * (x[k] + da_inner(n - k - 1, d + k + 1, x + k + 1));
    x[k] -= share;
    for (long i = k + 1; i < n; i++) x[i] -= share * d[i];
}

/* x := Qᵀ x and x := Q x, where Q is the product of `rank` reflections, in the columns of D. */
DA_APART void da_into(long n, long rank, const da_v *D, const da_v *factor, da_v *x)
{
    for (long k = 0; k < rank; k++) da_reflection(n, k, D + n * k, factor[k], x);
}

DA_APART void da_out_of(long n, long rank, const da_v *D, const da_v *factor, da_v *x)
{
    for (long k = rank - 1; k >= 0; k--) da_reflection(n, k, D + n * k, factor[k], x);
}

/* g := R⁻ᵀ g and g := R⁻¹ g */
DA_APART void da_upper_transposed(long n, long rank, const da_v *D, const da_v *inverse, da_v *g)
{
    for (long k = 0; k < rank; k++) g[k] = (g[k] - da_inner(k, D + n * k, g)) * inverse[k];
}

DA_APART void da_upper(long n, long rank, const da_v *D, const da_v *inverse, da_v *g)
{
    for (long k = rank - 1; k >= 0; k--) {
        g[k] *= inverse[k];
        for (long i = 0; i < k; i++) g[i] -= D[n * k + i] * g[k];
    }
}

#endif
