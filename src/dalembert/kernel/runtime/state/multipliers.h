/* The directions of the constraints and the multipliers along them, as in motion/state/reactions.py, name by name.

   With M = L Lᵀ and u an orthonormal basis of the columns of L⁻¹Aᵀ, a constraint force is f = L u x. Where M is
   singular, coordinates scaled by the root of their own mass stand for those of L. Where constraints depend on each
   other, the smallest multipliers are given, of rows of unit length. */
#ifndef DA_MULTIPLIERS_H
#define DA_MULTIPLIERS_H

/* Rows of length n: f is the sum of x[k] force[k]; x[k] = read[k] · f; x[k] = x₀[k] + answer[k] · C;
   λ[j] = multipliers[j] · x. */
#define DA_DIRECTIONS_ARRAYS(ARRAY, PART) \
    ARRAY(double, force, DA_N * DA_N)     \
    ARRAY(double, read, DA_N * DA_N)      \
    ARRAY(double, answer, DA_N * DA_N)    \
    ARRAY(double, multipliers, DA_MM * DA_N)
typedef struct {
    int rank;
    DA_DIRECTIONS_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
} da_directions;
DA_STRUCTURE(da_directions, DA_DIRECTIONS_ARRAYS)

/* What C moves along the constraints presses on them too, where M is singular: u ᵀM N (NᵀM N)⁻¹ Nᵀ, A N = 0. */
DA_COLD int da_answer_of_motion(double M[DA_N][DA_N], double u[DA_N][DA_N], const double *scale, da_directions *d)
{
    double H[DA_N][DA_N], L[DA_N][DA_N], image[DA_N][DA_N], w[DA_N];
    const int rank = d->rank, free = DA_N - rank;
    da_complete(u, rank);
    for (int f = 0; f < free; f++)
        for (int i = 0; i < DA_N; i++) image[f][i] = da_dot(M[i], u[rank + f], DA_N);
    for (int i = 0; i < free; i++)
        for (int j = 0; j < free; j++) H[i][j] = da_dot(u[rank + i], image[j], DA_N);
    if (!da_cholesky(free, H, L, 1e-12)) return DA_UNDETERMINED;
    for (int k = 0; k < rank; k++) {
        for (int f = 0; f < free; f++) w[f] = da_dot(u[k], image[f], DA_N);
        da_forward(free, L, w);
        da_backward(free, L, w);
        for (int f = 0; f < free; f++)
            for (int i = 0; i < DA_N; i++) d->answer[DA_N * k + i] += w[f] * u[rank + f][i] / scale[i];
    }
    return DA_DONE;
}

/* rank, order: an independent set of rows, as accepted states show it. */
DA_COLD int da_directions_of(const double *mass, const double *A, int rank, const int *rows, da_directions *d)
{
    double M[DA_N][DA_N], L[DA_N][DA_N], u[DA_N][DA_N], column[DA_MM][DA_N], length[DA_MM], scale[DA_N];
    double part[DA_MM][DA_MM], W[DA_MM * DA_MM], x[DA_MM];
    int exchange[DA_MM], order[DA_MM], i, j, k;
    for (j = 0; j < DA_M; j++) order[j] = rows[j];
    da_scaled_mass(mass, scale, M);
    for (j = 0; j < DA_M; j++)
        for (i = 0; i < DA_N; i++) column[j][i] = A[i + DA_N * j] / scale[i];
    const int regular = !DA_SINGULAR_MASS && da_cholesky(DA_N, M, L, DA_MASS_TOLERANCE);
    for (j = 0; regular && j < DA_M; j++) da_forward(DA_N, L, column[j]);
    da_unit(column, DA_M, 0, length);
    da_orthogonalise(column, DA_M, 0, u, &rank, order);
    d->rank = rank;
    for (k = 0; k < rank; k++) {
        double *read = d->read + DA_N * k;
        for (i = 0; i < DA_N; i++) {
            read[i] = u[k][i];
            d->force[DA_N * k + i] = scale[i] * (regular ? da_dot(L[i], u[k], i + 1) : u[k][i]);
        }
        if (regular) da_backward(DA_N, L, read);
        for (i = 0; i < DA_N; i++) {
            read[i] /= scale[i];
            d->answer[DA_N * k + i] = -read[i];
        }
    }
    if (!regular) {
        const int status = da_answer_of_motion(M, u, scale, d);
        if (status) return status;
    }
    /* The columns seen from the basis, where redundant ones are exact combinations of the others: part x = the force.
       The smallest solution is partᵀ (part partᵀ)⁻¹; without redundance the inverse itself, which keeps more digits. */
    for (k = 0; k < rank; k++)
        for (j = 0; j < DA_M; j++) part[k][j] = da_dot(u[k], column[j], DA_N);
    const int all = rank == DA_M;
    for (i = 0; i < rank; i++)
        for (k = 0; k < rank; k++) W[rank * i + k] = all ? part[i][k] : da_dot(part[i], part[k], DA_M);
    if (da_lu(W, rank, exchange)) return DA_UNDEFINED;
    for (k = 0; k < rank; k++) {
        for (i = 0; i < rank; i++) x[i] = (double)(i == k);
        da_lu_solve(W, rank, exchange, x);
        for (j = 0; j < DA_M; j++) {
            double sum = all ? x[j] : 0.0;
            for (i = 0; !all && i < rank; i++) sum += part[i][j] * x[i];
            d->multipliers[DA_N * j + k] = sum / length[j];
        }
    }
    return DA_DONE;
}

#if DA_WITH_EVENT_MULTIPLIERS
/* The multipliers l at a state, by the robust path, and the size of what they are made of. */
DA_COLD int da_robust_multipliers(const double *q, const double *v, double t, da_context *ctx, double *l, double *size)
{
    double M[DA_N * DA_N], Q[DA_N], A[DA_MM * DA_N], C[DA_N], a[DA_N], ideal[DA_N], nonideal[DA_N], x[DA_N];
    double total = 0.0;
    DA_LOCAL(da_directions, d);
    int rank = ctx->kept, i, j, k;
    const int *order = ctx->order;
    int status = da_robust_forces(q, v, t, 0, ctx, M, Q, A, C, a, ideal, nonideal);
    if (status) return status;
#if DA_WITH_NONLINEAR
    if (DA_NONLINEAR) {
        const int *nonlinear = da_nonlinear_rows;
        double weights[DA_NONLINEAR], h[DA_NONLINEAR], slope[DA_NONLINEAR * DA_N], curvature[DA_N * DA_N];
        for (k = 0; k < DA_NONLINEAR; k++) weights[k] = 0.0;
        da_acceleration(q, v, a, t, ctx->p, weights, h, slope, curvature);
        for (k = 0; k < DA_NONLINEAR; k++)
            for (i = 0; i < DA_N; i++) A[i + DA_N * nonlinear[k]] = slope[i + DA_N * k];
        rank = ctx->followed.rank;
        order = ctx->followed.order;
    }
#endif
    status = da_directions_of(M, A, rank, order, &d);
    if (status) return status;
    for (k = 0; k < d.rank; k++)
        for (x[k] = 0.0, i = 0; i < DA_N; i++) x[k] += d.read[DA_N * k + i] * (ideal[i] + nonideal[i] - C[i]);
    for (i = 0; i < DA_N; i++) {
        double inertia = 0.0;
        for (k = 0; k < DA_N; k++) inertia += M[i + DA_N * k] * a[k];
        const double own = fabs(M[i + DA_N * i]), force = fabs(Q[i]) + fabs(C[i]) + fabs(inertia);
        total += force * force / (own > 0.0 ? own : 1.0);
    }
    for (j = 0; j < DA_M; j++) {
        double square = 0.0;
        for (i = 0; i < DA_N; i++) {
            const double own = fabs(M[i + DA_N * i]);
            square += A[i + DA_N * j] * A[i + DA_N * j] / (own > 0.0 ? own : 1.0);
        }
        l[j] = da_dot(d.multipliers + DA_N * j, x, d.rank);
        size[j] = sqrt(total / (square > 0.0 ? square : 1.0));
    }
    return DA_DONE;
}

/* The same, by straight-line code while the pivots are good. Without a value where there is none. */
DA_PIECE void da_multipliers_at(const double *q, const double *v, double t, da_context *ctx, double *l, double *size)
{
#if DA_WITH_STRAIGHT_MULTIPLIERS
    double pivot[1], lengths[DA_AT_LEAST_1(DA_FAST_ROWS)];
    if (DA_STRAIGHT_MULTIPLIERS && ctx->fast) {
        da_multipliers(q, v, t, ctx->p, l, size, pivot, lengths);
        if (!da_fades(lengths, ctx) && pivot[0] > DA_PIVOT) return;
    }
#endif
    if (da_robust_multipliers(q, v, t, ctx, l, size))
        for (int j = 0; j < DA_M; j++) l[j] = size[j] = 0.0 / 0.0;
}
#endif

#endif
