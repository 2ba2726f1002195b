/* The fundamental equation at one state by dense, rank-revealing algebra: for small pivots, redundant constraints,
   singular M.

   Constraint directions are the columns L⁻¹Aᵀ with M = L Lᵀ (or Aᵀ in coordinates scaled by the root of their mass
   where M is singular), scaled to length one and orthogonalised largest first; those that vanish belong to dependent
   constraints. The rank is decided at accepted states only: trial states lie off the constraints, where redundant
   ones contradict each other slightly. */
#ifndef DA_ROBUST_H
#define DA_ROBUST_H

#define DA_MASS_TOLERANCE 1e-10 /* a squared pivot of M below this, relative to its diagonal: the null-space way */
#define DA_FADING 1e-4          /* in squared length, far above where PROXIMAL acts: straight-line code is left */
#define DA_MM DA_AT_LEAST_1(DA_M)

DA_COLD double da_dot(const double *a, const double *b, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

/* The lower Cholesky factor of the leading `size` block of the symmetric matrix M; 0 where a pivot is too small.
   Before the first entry of a row nothing fills in: of many bodies, each is joined to few. */
DA_COLD int da_cholesky(int size, double M[DA_N][DA_N], double L[DA_N][DA_N], double tolerance)
{
    int first[DA_N];
    for (int i = 0; i < size; i++) {
        for (first[i] = 0; first[i] < i && M[i][first[i]] == 0.0; first[i]++) L[i][first[i]] = 0.0;
        for (int j = first[i]; j <= i; j++) {
            double sum = M[i][j];
            for (int k = first[i] > first[j] ? first[i] : first[j]; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i != j)
                L[i][j] = sum / L[j][j];
            else if (sum > tolerance * fabs(M[i][i]) && sum > 0.0)
                L[i][i] = sqrt(sum);
            else
                return 0;
        }
    }
    return 1;
}

DA_COLD void da_forward(int size, double L[DA_N][DA_N], double *x)
{
    for (int k = 0; k < size; k++) {
        if (x[k] == 0.0) continue;
        x[k] /= L[k][k];
        for (int i = k + 1; i < size; i++) x[i] -= L[i][k] * x[k];
    }
}

DA_COLD void da_backward(int size, double L[DA_N][DA_N], double *x)
{
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++) x[i] -= L[k][i] * x[k];
        x[i] /= L[i][i];
    }
}

/* x minus its part along the first `count` vectors u, twice for rounding. */
DA_COLD void da_remove(double *x, double u[][DA_N], int count)
{
    for (int pass = 0; pass < 2; pass++)
        for (int k = 0; k < count; k++) {
            const double part = da_dot(u[k], x, DA_N);
            for (int i = 0; i < DA_N; i++) x[i] -= part * u[k][i];
        }
}

/* Orthonormal vectors u for the columns. Where `decide` is set, rank and order are found, largest rest first;
   otherwise those given are used, except columns that vanish. */
DA_COLD void da_orthogonalise(double column[][DA_N], int count, int decide, double u[][DA_N], int *rank, int *order)
{
    double rest[DA_MM][DA_N];
    int taken[DA_MM];
    for (int j = 0; j < count; j++) {
        taken[j] = 0;
        for (int i = 0; i < DA_N; i++) rest[j][i] = column[j][i];
    }
    const int most = decide ? (count < DA_N ? count : DA_N) : *rank;
    int k = 0;
    for (int turn = 0; turn < most && k < DA_N; turn++) {
        int best = decide ? -1 : order[turn];
        double largest = DA_RANK_TOLERANCE;
        for (int j = 0; decide && j < count; j++) {
            const double size = sqrt(da_dot(rest[j], rest[j], DA_N));
            if (!taken[j] && size > largest) {
                largest = size;
                best = j;
            }
        }
        if (best < 0) break;
        taken[best] = 1;
        for (int i = 0; i < DA_N; i++) u[k][i] = rest[best][i];
        da_remove(u[k], u, k);
        const double size = sqrt(da_dot(u[k], u[k], DA_N));
        if (!decide && !(size > DA_RANK_TOLERANCE)) continue;
        order[k] = best;
        for (int i = 0; i < DA_N; i++) u[k][i] /= size;
        for (int j = 0; j < count; j++)
            if (!taken[j]) da_remove(rest[j], u + k, 1);
        k++;
    }
    *rank = k;
}

/* u[rank … DA_N − 1], orthonormal and orthogonal to those before: completed from the unit vectors, largest rest
   first. */
DA_FN void da_complete(double u[][DA_N], int rank)
{
    for (int k = rank; k < DA_N; k++) {
        double largest = 0.0;
        for (int j = 0; j < DA_N; j++) {
            double unit[DA_N];
            for (int i = 0; i < DA_N; i++) unit[i] = (double)(i == j);
            da_remove(unit, u, k);
            const double size = sqrt(da_dot(unit, unit, DA_N));
            if (size > largest) {
                largest = size;
                for (int i = 0; i < DA_N; i++) u[k][i] = unit[i] / size;
            }
        }
    }
}

/* The vector in the span of u with column[order[k]] · z = e[order[k]] for k < rank. */
DA_COLD void da_particular(double column[][DA_N], double u[][DA_N], int rank, const int *order, const double *e,
                           double *z)
{
    for (int i = 0; i < DA_N; i++) z[i] = 0.0;
    for (int k = 0; k < rank; k++) {
        const double *c = column[order[k]];
        const double w = (e[order[k]] - da_dot(c, z, DA_N)) / da_dot(c, u[k], DA_N);
        for (int i = 0; i < DA_N; i++) z[i] += w * u[k][i];
    }
}

/* The columns order[0 … rank−1] as a proximal iteration sees them: S = columnᵀ column + eps, factored once. Away from
   singular configurations it gives the same as da_particular; next to them it keeps rounding, divided by small
   singular values, out. */
#define DA_PROXIMAL_ARRAYS(ARRAY, PART) ARRAY(double, L, DA_MM * DA_MM)
typedef struct {
    DA_PROXIMAL_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
    int rank;
    const int *order;
} da_proximal;
DA_STRUCTURE(da_proximal, DA_PROXIMAL_ARRAYS)

DA_COLD int da_proximal_factor(double column[][DA_N], int rank, const int *order, da_proximal *s)
{
    double (*L)[DA_MM] = DA_ROWS(s->L, DA_MM);
    s->rank = rank;
    s->order = order;
    for (int i = 0; i < rank; i++)
        for (int j = 0; j <= i; j++) {
            double sum = da_dot(column[order[i]], column[order[j]], DA_N) + (i == j ? DA_PROXIMAL : 0.0);
            for (int k = 0; k < j; k++) sum -= L[i][k] * L[j][k];
            if (i != j)
                L[i][j] = sum / L[j][j];
            else if (sum > 0.0)
                L[i][i] = sqrt(sum);
            else
                return 1;
        }
    return 0;
}

/* z = sum of x_k column[order[k]] with column · z = e, by passes x += (S + eps)⁻¹ (e − column · z). */
DA_COLD void da_proximal_solve(const da_proximal *s, double column[][DA_N], const double *e, double *z)
{
    double x[DA_MM];
    double (*L)[DA_MM] = DA_ROWS(s->L, DA_MM);
    for (int i = 0; i < DA_N; i++) z[i] = 0.0;
    for (int pass = 0; pass < DA_PROXIMAL_PASSES; pass++) {
        double largest = 0.0, rest = 0.0;
        for (int k = 0; k < s->rank; k++) {
            x[k] = e[s->order[k]] - da_dot(column[s->order[k]], z, DA_N);
            rest = da_max(rest, fabs(x[k]));
            largest = da_max(largest, fabs(e[s->order[k]]));
        }
        if (rest <= 1e-16 * largest) return;
        for (int i = 0; i < s->rank; i++) {
            for (int k = 0; k < i; k++) x[i] -= L[i][k] * x[k];
            x[i] /= L[i][i];
        }
        for (int i = s->rank - 1; i >= 0; i--) {
            for (int k = i + 1; k < s->rank; k++) x[i] -= L[k][i] * x[k];
            x[i] /= L[i][i];
        }
        for (int k = 0; k < s->rank; k++)
            for (int i = 0; i < DA_N; i++) z[i] += x[k] * column[s->order[k]][i];
    }
}

/* Columns to length one, or to their share of a longer natural length (NULL: none); lengths of zero columns become
   one. */
DA_COLD void da_unit(double column[][DA_N], int count, const double *natural, double *length)
{
    for (int j = 0; j < count; j++) {
        length[j] = sqrt(da_dot(column[j], column[j], DA_N));
        if (natural) length[j] = da_max(length[j], natural[j]);
        if (!(length[j] > 0.0)) length[j] = 1.0;
        for (int i = 0; i < DA_N; i++) column[j][i] /= length[j];
    }
}

/* M in coordinates scaled by the root of their own mass. */
DA_COLD void da_scaled_mass(const double *mass, double *scale, double M[DA_N][DA_N])
{
    for (int i = 0; i < DA_N; i++) {
        scale[i] = sqrt(fabs(mass[i + DA_N * i]));
        if (!(scale[i] > 0.0)) scale[i] = 1.0;
    }
    for (int i = 0; i < DA_N; i++)
        for (int j = 0; j < DA_N; j++) M[i][j] = mass[i + DA_N * j] / (scale[i] * scale[j]);
}

/* Whether the gradient of row j, which has this length, has vanished against its past. */
DA_FN int da_faded(const double *A, int j, const da_context *ctx)
{
    return sqrt(da_dot(A + DA_N * j, A + DA_N * j, DA_N)) <= DA_FADED * ctx->longest[j];
}

/* Keeps what an accepted state shows: rank and independent rows, and behind them those that have vanished for the
   moment. */
DA_COLD void da_decided(const double *A, int rank, const int *order, da_context *ctx)
{
    int taken[DA_MM];
    for (int j = 0; j < DA_M; j++) taken[j] = 0;
    ctx->rank = ctx->kept = rank;
    for (int k = 0; k < rank; k++) {
        ctx->order[k] = order[k];
        taken[order[k]] = 1;
    }
    for (int j = 0; j < DA_M; j++)
        if (!taken[j] && da_faded(A, j, ctx)) ctx->order[ctx->kept++] = j;
}

/* Acceleration, ideal and nonideal force. A has its rows one after the other. */
DA_COLD int da_solve(const double *mass, const double *Q, const double *A, const double *b, const double *C, int decide,
                   da_context *ctx, double *a, double *ideal, double *nonideal)
{
    double M[DA_N][DA_N], L[DA_N][DA_N], column[DA_MM][DA_N], u[DA_N][DA_N], length[DA_MM], e[DA_MM];
    double y[DA_N], c[DA_N], z[DA_N], scale[DA_N];
    int order[DA_MM], rank = ctx->kept, i, j, k;
    for (j = 0; j < DA_M; j++) order[j] = ctx->order[j];
    da_scaled_mass(mass, scale, M);
    for (i = 0; i < DA_N; i++) {
        y[i] = Q[i] / scale[i];
        c[i] = C[i] / scale[i];
    }
    for (j = 0; j < DA_M; j++)
        for (i = 0; i < DA_N; i++) column[j][i] = A[i + DA_N * j] / scale[i];
    if (!DA_SINGULAR_MASS && da_cholesky(DA_N, M, L, DA_MASS_TOLERANCE)) {
        da_forward(DA_N, L, y);
        da_forward(DA_N, L, c);
        for (j = 0; j < DA_M; j++) da_forward(DA_N, L, column[j]);
        da_unit(column, DA_M, ctx->natural, length);
        if (decide) da_orthogonalise(column, DA_M, 1, u, &rank, order);
        DA_LOCAL(da_proximal, s);
        double along[DA_N];
        if (da_proximal_factor(column, rank, order, &s)) return DA_UNDEFINED;
        for (j = 0; j < DA_M; j++) e[j] = b[j] / length[j] - da_dot(column[j], y, DA_N);
        da_proximal_solve(&s, column, e, z);
        for (j = 0; j < DA_M; j++) e[j] = da_dot(column[j], c, DA_N);
        da_proximal_solve(&s, column, e, along);
        for (i = 0; i < DA_N; i++) c[i] -= along[i];
        for (i = 0; i < DA_N; i++) a[i] = y[i] + z[i] + c[i];
        da_backward(DA_N, L, a);
        for (i = 0; i < DA_N; i++) {
            ideal[i] = nonideal[i] = 0.0;
            for (k = 0; k <= i; k++) {
                ideal[i] += L[i][k] * z[k];
                nonideal[i] += L[i][k] * c[k];
            }
            ideal[i] *= scale[i];
            nonideal[i] *= scale[i];
        }
    } else {
        /* On the null space of A. */
        double H[DA_N][DA_N], g[DA_N], d[DA_N];
        da_unit(column, DA_M, 0, length);
        da_orthogonalise(column, DA_M, decide, u, &rank, order);
        for (j = 0; j < DA_M; j++) e[j] = b[j] / length[j];
        da_particular(column, u, rank, order, e, z);
        const int free = DA_N - rank;
        da_complete(u, rank);
        for (i = 0; i < free; i++) {
            double image[DA_N];
            for (k = 0; k < DA_N; k++) image[k] = da_dot(M[k], u[rank + i], DA_N);
            for (j = 0; j < free; j++) H[j][i] = da_dot(u[rank + j], image, DA_N);
            g[i] = da_dot(u[rank + i], y, DA_N) - da_dot(image, z, DA_N);
            d[i] = da_dot(u[rank + i], c, DA_N);
        }
        if (!da_cholesky(free, H, L, 1e-12)) return DA_UNDETERMINED;
        da_forward(free, L, g);
        da_backward(free, L, g);
        da_forward(free, L, d);
        da_backward(free, L, d);
        for (i = 0; i < DA_N; i++)
            for (c[i] = 0.0, k = 0; k < free; k++) {
                z[i] += g[k] * u[rank + k][i];
                c[i] += d[k] * u[rank + k][i];
            }
        for (i = 0; i < DA_N; i++) {
            a[i] = z[i] + c[i];
            ideal[i] = scale[i] * (da_dot(M[i], z, DA_N) - y[i]);
            nonideal[i] = scale[i] * da_dot(M[i], c, DA_N);
        }
    }
    for (i = 0; i < DA_N; i++) a[i] /= scale[i];
    if (decide) da_decided(A, rank, order, ctx);
    if (decide && rank < DA_M) {
        const double reach = sqrt(da_dot(y, y, DA_N)) + sqrt(da_dot(z, z, DA_N));
        double fastest = 0.0;
        for (i = 0; i < DA_N; i++) fastest = da_max(fastest, fabs(a[i]));
        for (j = 0; j < DA_M; j++) {
            /* A row that has vanished asks for nothing here, if what is left of it is rounding. */
            if (da_faded(A, j, ctx) && fabs(b[j]) <= DA_DRIFT_TOLERANCE * ctx->longest[j] * fastest) continue;
            double sum = -b[j], size = fabs(b[j]) + 1e-4 * length[j] * reach;
            for (i = 0; i < DA_N; i++) {
                sum += A[i + DA_N * j] * a[i];
                size += fabs(A[i + DA_N * j] * a[i]);
            }
            if (fabs(sum) > DA_DRIFT_TOLERANCE * size) return DA_INCONSISTENT;
        }
    }
    return da_all_finite(a, DA_N) ? DA_DONE : DA_UNDEFINED;
}

/* In fading.h; then in branch.h and actual.h, for the systems that need them. */
DA_PIECE void da_note_lengths(const double *mass, const double *A, da_context *ctx);
#if DA_WITH_NONLINEAR
DA_PIECE int da_branch_forces(const double *q, const double *v, double t, const double *mass, const double *Q,
                              const double *A, const double *b, int decide, da_context *ctx, double *C, double *a,
                              double *ideal, double *nonideal);
#endif
#if DA_WITH_ACTUAL
DA_PIECE int da_actual_work(const double *q, const double *v, double t, const double *mass, const double *Q,
                            const double *A, const double *ideal, da_context *ctx, double *C);
#endif

/* The equations at a state and their solution, by the robust path. */
DA_COLD int da_robust_forces(const double *q, const double *v, double t, int decide, da_context *ctx, double *M,
                             double *Q, double *A, double *C, double *a, double *ideal, double *nonideal)
{
    double b[DA_MM];
    int status;
    ctx->robust++;
    for (int i = 0; i < DA_N; i++) C[i] = ideal[i] = 0.0;
    da_dynamics(q, v, t, ctx->p, M, Q, A, b);
    if (!da_all_finite(M, DA_N * DA_N) || !da_all_finite(Q, DA_N) || !da_all_finite(A, DA_M * DA_N) ||
        !da_all_finite(b, DA_M))
        return DA_UNDEFINED;
    if (decide) da_note_lengths(M, A, ctx);
    for (int j = 0; j < DA_M; j++)
        if (ctx->natural[j] > 0.0 &&
            da_dot(A + DA_N * j, A + DA_N * j, DA_N) < DA_FADING * ctx->longest[j] * ctx->longest[j])
            ctx->fading = 2;
#if DA_WITH_NONLINEAR
    if (DA_NONLINEAR) return da_branch_forces(q, v, t, M, Q, A, b, decide, ctx, C, a, ideal, nonideal);
#endif
    if (DA_USES_IDEAL) {
        status = da_solve(M, Q, A, b, C, decide, ctx, a, ideal, nonideal);
        if (status) return status;
        decide = 0;
    }
#if DA_WITH_ACTUAL
    if (DA_USES_ACTUAL) {
        status = da_actual_work(q, v, t, M, Q, A, ideal, ctx, C);
        if (status) return status;
    }
#endif
#if DA_WITH_GIVEN
    if (!DA_USES_ACTUAL) da_work(q, v, t, ctx->p, ideal, C);
#endif
    if (!da_all_finite(C, DA_N)) return DA_UNDEFINED;
    return da_solve(M, Q, A, b, C, decide, ctx, a, ideal, nonideal);
}

#if DA_WITH_BY_FRICTION
/* The ideal force of the constraints that are not made by friction, and the rest. Where the motion is not determined
   without friction, they stay as they are. */
DA_COLD void da_told_from_friction(const double *q, const double *v, double t, const da_context *ctx, double *ideal,
                                   double *nonideal)
{
    const int *rows = da_friction_rows;
    double M[DA_N * DA_N], Q[DA_N], A[DA_MM * DA_N], b[DA_MM], none[DA_N], a[DA_N], own[DA_N], rest[DA_N];
    DA_LOCAL(da_context, free); /* without those rows, others may be independent */
    da_context_copy(&free, ctx);
    for (int i = 0; i < DA_N; i++) none[i] = 0.0;
    da_dynamics(q, v, t, ctx->p, M, Q, A, b);
    for (int k = 0; k < DA_BY_FRICTION; k++) {
        b[rows[k]] = 0.0;
        for (int i = 0; i < DA_N; i++) A[i + DA_N * rows[k]] = 0.0;
    }
    if (da_solve(M, Q, A, b, none, 1, &free, a, own, rest)) return;
    for (int i = 0; i < DA_N; i++) {
        nonideal[i] += ideal[i] - own[i];
        ideal[i] = own[i];
    }
}
#endif

/* Acceleration and powers at a state by the robust path. */
DA_COLD int da_robust(const double *q, const double *v, double t, int decide, da_context *ctx, double *a, double *power)
{
    double M[DA_N * DA_N], Q[DA_N], A[DA_MM * DA_N], C[DA_N], ideal[DA_N], nonideal[DA_N], F[DA_N], explicit_power[1];
    const int status = da_robust_forces(q, v, t, decide, ctx, M, Q, A, C, a, ideal, nonideal);
    if (status) return status;
    da_energetics(q, v, t, ctx->p, F, explicit_power);
#if DA_WITH_BY_FRICTION
    if (DA_BY_FRICTION) da_told_from_friction(q, v, t, ctx, ideal, nonideal);
#endif
    power[0] = da_dot(v, F, DA_N) + explicit_power[0];
    power[1] = da_dot(v, ideal, DA_N);
    power[2] = da_dot(v, nonideal, DA_N);
#if DA_WITH_HEATS && DA_WITH_ACTUAL
    if (DA_HEATS && DA_USES_ACTUAL) da_heat_of_actual(q, v, t, ctx->p, ctx->multipliers, power + 3);
#endif
#if DA_WITH_HEATS && DA_WITH_GIVEN
    if (DA_HEATS && !DA_USES_ACTUAL) da_heat(q, v, t, ctx->p, power + 3);
#endif
    return DA_DONE;
}

/* Whether a gradient fades, from the squared lengths that straight-line code gives. Projections are told, until two
   accepted states have shown nothing of it. */
DA_FN int da_fades(const double *size, da_context *ctx)
{
    int fades = 0;
    for (int k = 0; k < DA_FAST_ROWS; k++) fades |= !(size[k] > DA_FADING * ctx->square[k]);
    if (fades) ctx->fading = 2;
    return fades;
}

/* The right-hand side: straight-line code while the pivots are good, the robust path where they are not. Returns 0
   where it has a value. */
DA_PIECE int da_rhs(double t, const double *DA_RESTRICT y, double *DA_RESTRICT dy, da_context *ctx)
{
    const double *q = y, *v = y + DA_N;
    ctx->evaluations++;
    for (int i = 0; i < DA_N; i++) dy[i] = v[i];
#if DA_WITH_STRAIGHT
    double pivot[1], size[DA_AT_LEAST_1(DA_FAST_ROWS)];
    if (DA_STRAIGHT && ctx->fast) {
        da_fast(q, v, t, ctx->p, dy + DA_N, dy + 2 * DA_N, pivot, size);
        if (!da_fades(size, ctx)) {
            /* Where there is no value, the norm of the step's error has none either: not asked here, at every stage. */
            if (pivot[0] > DA_PIVOT) return 0;
#if DA_WITH_LARGE
            if (DA_LARGE && ctx->rank == DA_FAST_ROWS && !da_weak(q, v, t, ctx, dy + DA_N, dy + 2 * DA_N)) return 0;
#endif
        }
    }
#endif
    ctx->trouble = da_robust(q, v, t, 0, ctx, dy + DA_N, dy + 2 * DA_N);
    return ctx->trouble;
}

/* The same with the question asked: for those who have no such norm. */
DA_FN int da_rhs_checked(double t, const double *DA_RESTRICT y, double *DA_RESTRICT dy, da_context *ctx)
{
    if (da_rhs(t, y, dy, ctx)) return 1;
    if (da_all_finite(dy, DA_NY)) return 0;
    ctx->trouble = DA_UNDEFINED;
    return 1;
}

#endif
