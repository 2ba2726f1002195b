/* Constraints nonlinear in the accelerations: the branch of least Gauss function, followed in time.

       minimise ½ (z − a)ᵀ M (z − a),  M a = Q + C,   subject to  h(z) = 0  and  A z = b

   Newton's method on the stationarity conditions, from the acceleration of the last accepted state. Each pass solves

       W dz − Jᵀκ = force − M z,   J dz = −g,    W = M − ∂²(kᵀh)/∂z²,  J = [A; ∂h/∂z],  g = [A z − b; h]

   on the null space of J. Tolerances are those of motion/state/branches.py, which also finds where a branch starts. */
#ifndef DA_BRANCH_H
#define DA_BRANCH_H

#define DA_BRANCH_ITERATIONS 60

/* A symmetric matrix seen from the null space: H[i][j] = u[rank + i] · W u[rank + j]. */
DA_FN void da_on_null_space(double W[DA_N][DA_N], double u[DA_N][DA_N], int rank, double H[DA_N][DA_N])
{
    for (int j = rank; j < DA_N; j++) {
        double image[DA_N];
        for (int i = 0; i < DA_N; i++) image[i] = da_dot(W[i], u[j], DA_N);
        for (int i = rank; i < DA_N; i++) H[i - rank][j - rank] = da_dot(u[i], image, DA_N);
    }
}

DA_FN double da_largest(const double *x, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) largest = da_max(largest, fabs(x[i]));
    return largest;
}

/* The acceleration on the branch near branch->z, into z. decide: at an accepted state, where branch takes it over,
   with the constraints that are independent there. */
DA_FN int da_follow(const double *q, const double *v, double t, const double *mass, const double *force,
                    const double *A, const double *b, int decide, const da_context *ctx, da_branch *branch, double *z)
{
    const int *nonlinear = da_nonlinear_rows;
    double M[DA_N][DA_N], W[DA_N][DA_N], H[DA_N][DA_N], scale[DA_N], column[DA_MM][DA_N], u[DA_N][DA_N], length[DA_MM];
    double J[DA_M * DA_N], g[DA_M], h[DA_NONLINEAR], slope[DA_NONLINEAR * DA_N], curvature[DA_N * DA_N];
    double k[DA_NONLINEAR], e[DA_M], x[DA_N], w[DA_N], left[DA_N], flat[DA_N * DA_N], unit = 0.0;
    int exchange[DA_N], order[DA_MM], curved[DA_M], rank = branch->rank, settled = 0, i, j, l;
    da_scaled_mass(mass, scale, M);
    for (i = 0; i < DA_N; i++) {
        z[i] = branch->z[i];
        unit += z[i] * z[i];
    }
    unit = unit > 0.0 ? sqrt(unit) : 1.0; /* what counts as a large acceleration here */
    for (j = 0; j < DA_M; j++) {
        order[j] = branch->order[j];
        curved[j] = 0;
    }
    for (l = 0; l < DA_NONLINEAR; l++) {
        curved[nonlinear[l]] = 1;
        k[l] = 0.0;
    }
    for (int pass = 0;; pass++) {
        da_acceleration(q, v, z, t, ctx->p, k, h, slope, curvature);
        if (!da_all_finite(h, DA_NONLINEAR) || !da_all_finite(slope, DA_NONLINEAR * DA_N) ||
            !da_all_finite(curvature, DA_N * DA_N))
            return DA_BRANCH_ENDS;
        for (j = 0; j < DA_M * DA_N; j++) J[j] = A[j];
        for (j = 0; j < DA_M; j++) g[j] = da_dot(A + DA_N * j, z, DA_N) - b[j];
        for (l = 0; l < DA_NONLINEAR; l++) {
            g[nonlinear[l]] = h[l];
            for (i = 0; i < DA_N; i++) J[i + DA_N * nonlinear[l]] = slope[i + DA_N * l];
        }
        for (j = 0; j < DA_M; j++)
            for (i = 0; i < DA_N; i++) column[j][i] = J[i + DA_N * j] / scale[i];
        da_unit(column, DA_M, 0, length);
        da_orthogonalise(column, DA_M, decide, u, &rank, order);
        da_complete(u, rank);
        for (i = 0; i < DA_N; i++) {
            double image = 0.0;
            for (j = 0; j < DA_N; j++) {
                W[i][j] = M[i][j] - curvature[i + DA_N * j] / (scale[i] * scale[j]);
                image += mass[i + DA_N * j] * z[j];
            }
            left[i] = (image - force[i]) / scale[i];
        }
        da_on_null_space(W, u, rank, H);
        if (settled || pass == DA_BRANCH_ITERATIONS) break;
        for (j = 0; j < DA_M; j++) e[j] = -g[j] / length[j];
        da_particular(column, u, rank, order, e, x);
        const int free = DA_N - rank;
        for (i = 0; i < DA_N; i++) left[i] += da_dot(W[i], x, DA_N);
        for (i = 0; i < free; i++) {
            w[i] = -da_dot(u[rank + i], left, DA_N);
            for (j = 0; j < free; j++) flat[free * i + j] = H[i][j];
        }
        /* Where branches meet exactly, no tangent step is determined, and none may be needed. */
        if (da_lu(flat, free, exchange))
            for (i = 0; i < free; i++) w[i] = 0.0;
        else
            da_lu_solve(flat, free, exchange, w);
        for (l = 0; l < free; l++)
            for (i = 0; i < DA_N; i++) x[i] += w[l] * u[rank + l][i];
        for (i = 0; i < DA_N; i++) {
            double image = 0.0;
            for (l = 0; l < free; l++) image += w[l] * da_dot(W[i], u[rank + l], DA_N);
            left[i] += image;
        }
        /* Jᵀκ is what is left of the forces: backwards, because column[order[l]] lies in the span of u[0 … l]. */
        for (l = 0; l < DA_NONLINEAR; l++) k[l] = 0.0;
        for (l = rank - 1; l >= 0; l--) {
            const int row = order[l];
            const double kappa = da_dot(u[l], left, DA_N) / da_dot(u[l], column[row], DA_N);
            for (i = 0; i < DA_N; i++) left[i] -= kappa * column[row][i];
            for (j = 0; j < DA_NONLINEAR; j++)
                if (nonlinear[j] == row) k[j] = kappa / length[row];
        }
        double size = 0.0, move = 0.0;
        for (i = 0; i < DA_N; i++) {
            x[i] /= scale[i];
            move += x[i] * x[i];
            size += z[i] * z[i];
        }
        move = sqrt(move);
        /* A long step leaves the region where the linearisation means anything. */
        const double limit = 2.0 * (unit + sqrt(size)), share = move > limit ? limit / move : 1.0;
        if (!da_finite(move)) return DA_BRANCH_ENDS;
        for (size = 0.0, i = 0; i < DA_N; i++) {
            z[i] += share * x[i];
            size += z[i] * z[i];
        }
        settled = move <= 1e-13 * sqrt(size) + 1e-15 * unit;
    }
    const double reach = 1e-3 * unit + da_largest(z, DA_N), steep = da_largest(slope, DA_NONLINEAR * DA_N);
    const double most = da_largest(A, DA_M * DA_N), pull = da_largest(b, DA_M);
    for (l = 0; l < (decide ? DA_M : rank); l++) {
        j = decide ? l : order[l];
        if (!(fabs(g[j]) <= (curved[j] ? 1e-10 * steep * reach : 1e-9 * (reach * most + pull)))) return DA_BRANCH_ENDS;
    }
    double strongest = da_largest(force, DA_N), inertia = 0.0;
    for (i = 0; i < DA_N; i++) inertia = da_max(inertia, fabs(left[i] * scale[i] + force[i]));
    da_remove(left, u, rank);
    for (i = 0; i < DA_N; i++)
        if (!(fabs(left[i] * scale[i]) <= 1e-8 * (strongest + inertia))) return DA_BRANCH_ENDS;
    /* A strict minimum: the least eigenvalue on the null space is positive beyond rounding. */
    for (i = 0; i < DA_N - rank; i++) H[i][i] -= 1e-9;
    if (!da_cholesky(DA_N - rank, H, W, 0.0)) return DA_BRANCHES_MEET;
    if (decide) {
        branch->rank = rank;
        for (i = 0; i < DA_N; i++) branch->z[i] = z[i];
        for (j = 0; j < DA_M; j++) branch->order[j] = order[j];
    }
    return DA_DONE;
}

/* C, which comes in as zero, acceleration and forces. The ideal force belongs to the least Gauss function without C,
   whose branch is followed by itself. */
DA_PIECE int da_branch_forces(const double *q, const double *v, double t, const double *mass, const double *Q,
                              const double *A, const double *b, int decide, da_context *ctx, double *C, double *a,
                              double *ideal, double *nonideal)
{
    double force[DA_N];
    int status;
    if (DA_HAS_WORK) {
        double free[DA_N];
        status = da_follow(q, v, t, mass, Q, A, b, decide, ctx, &ctx->free, free);
        if (status) return status;
        for (int i = 0; i < DA_N; i++) {
            ideal[i] = -Q[i];
            for (int j = 0; j < DA_N; j++) ideal[i] += mass[i + DA_N * j] * free[j];
        }
        da_work(q, v, t, ctx->p, ideal, C);
        if (!da_all_finite(C, DA_N)) return DA_UNDEFINED;
    }
    for (int i = 0; i < DA_N; i++) force[i] = Q[i] + C[i];
    status = da_follow(q, v, t, mass, force, A, b, decide, ctx, &ctx->followed, a);
    if (status) return status;
    const int acts = da_largest(C, DA_N) > 0.0;
    for (int i = 0; i < DA_N; i++) {
        double total = -Q[i];
        for (int j = 0; j < DA_N; j++) total += mass[i + DA_N * j] * a[j];
        if (!acts) ideal[i] = total;
        nonideal[i] = total - ideal[i];
    }
    if (decide) ctx->rank = ctx->kept = ctx->followed.rank;
    return DA_DONE;
}

#endif
