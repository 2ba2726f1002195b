/* Least squares by columns that may depend on each other: the shortest of all solutions. */
#ifndef DA_READY_SHORTEST_H
#define DA_READY_SHORTEST_H

/* Columns are independent where what others leave of them is above the one share of the longest, and follow from them
 * below the other; between, a point is left to singular values. */
#define DA_COLUMN_ABOVE 1e-7
#define DA_COLUMN_BELOW 1e-12

/* Of W (n, c), by columns: Q (n, r), by columns, and R (r, c), by rows, with W = Q R, columns by pivots; their number
 * r, −1 where it is not clear. W is used up. */
static long da_span_columns(long n, long c, double *W, double *Q, double *R)
{
    double longest = 0.0;
    long r = 0;
    for (; r < c && r < n; r++) {
        double most = 0.0;
        long best = 0;
        for (long j = 0; j < c; j++) {
            double length = 0.0;
            for (long i = 0; i < n; i++) length += W[n * j + i] * W[n * j + i];
            if (length > most) {
                most = length;
                best = j;
            }
        }
        most = sqrt(most);
        if (!r) longest = most;
        if (most <= DA_COLUMN_BELOW * longest) return r;
        if (most < DA_COLUMN_ABOVE * longest) return -1;
        double *own = Q + n * r, length = 0.0;
        for (long i = 0; i < n; i++) own[i] = W[n * best + i] / most;
        for (long k = 0; k < r; k++) { /* what rounding has left along those before */
            double along = 0.0;
            for (long i = 0; i < n; i++) along += Q[n * k + i] * own[i];
            for (long i = 0; i < n; i++) own[i] -= along * Q[n * k + i];
        }
        for (long i = 0; i < n; i++) length += own[i] * own[i];
        length = sqrt(length);
        for (long i = 0; i < n; i++) own[i] /= length;
        for (long j = 0; j < c; j++) {
            double along = 0.0;
            for (long i = 0; i < n; i++) along += own[i] * W[n * j + i];
            for (long i = 0; i < n; i++) W[n * j + i] -= along * own[i];
            R[c * r + j] = along;
        }
    }
    return r;
}

/* The shortest x (c) with W x nearest to a force f (n); f becomes what is missed. 0 where that is not clear. W (n, c),
 * by columns, is used up; room: c (n + c + 1) numbers. */
static int da_shortest(long n, long c, double *W, double *f, double *x, double *room)
{
    double *Q = room, *R = Q + n * c, *y = R + c * c;
    const long r = da_span_columns(n, c, W, Q, R);
    if (r < 0) return 0;
    for (long k = 0; k < r; k++) {
        y[k] = 0.0;
        for (long i = 0; i < n; i++) y[k] += Q[n * k + i] * f[i];
        for (long i = 0; i < n; i++) f[i] -= y[k] * Q[n * k + i];
    }
    /* R x = y: rows of R made orthonormal one after the other, and y along with them. */
    for (long k = 0; k < r; k++) {
        double *row = R + c * k, length = 0.0;
        for (int pass = 0; pass < 2; pass++)
            for (long l = 0; l < k; l++) {
                double along = 0.0;
                for (long j = 0; j < c; j++) along += R[c * l + j] * row[j];
                for (long j = 0; j < c; j++) row[j] -= along * R[c * l + j];
                y[k] -= along * y[l];
            }
        for (long j = 0; j < c; j++) length += row[j] * row[j];
        length = sqrt(length);
        if (!(length > 0.0)) return 0;
        for (long j = 0; j < c; j++) row[j] /= length;
        y[k] /= length;
    }
    for (long j = 0; j < c; j++) {
        x[j] = 0.0;
        for (long k = 0; k < r; k++) x[j] += R[c * k + j] * y[k];
    }
    return 1;
}

#endif
