/* Constraints nonlinear in the accelerations, h(q̈) = 0, at many points: the acceleration of least Gauss function on
 * them that is near a given one, as motion/state/branches.py has it. Newton's step from z,
 *
 *     (M − K) z' = Q − K z + Aᵀλ,   ∂h/∂q̈ z' = ∂h/∂q̈ z − h,   K = ∂²(kᵀh)/∂q̈²,
 *
 * is the fundamental equation with other masses, which are positive where G has a minimum. */
#ifndef DA_READY_BRANCHES_H
#define DA_READY_BRANCHES_H

#include <stdlib.h>

/* As many passes at most: next to the branch, three or four do. */
#define DA_BRANCH_PASSES 12

typedef struct {
    const da_program *program; /* (q, v, a, t, p, k) -> h (rows), ∂h/∂q̈ (rows, n), ∂²(kᵀh)/∂q̈² (n, n) */
    const long *row;           /* which constraints they are */
    long rows;
} da_curved;

/* A state for each point: rows of q and v `stride` apart. */
typedef struct {
    long count, n, m, stride;
    const double *q, *v, *t, *p;
} da_states;

/* Accelerations z (count, n) and multipliers k (count, rows) on the way; unit (count): what is a large acceleration.
 * The others are room: outputs of the program, its registers, M' and Q' of a step, no forces C, and as
 * da_solve_points has them. */
typedef struct {
    double *z, *k, *unit, *out, *registers, *mass, *force, *none, *found, *w;
    long *rank;
    unsigned char *dependent;
} da_branches;

/* One step. The rows of A and b that belong to h are overwritten. 1 where a point must be looked at by other means.
 * settled: whether nothing moves any more. */
static int da_branch_step(const da_curved *of, const da_states *at, const double *M, const double *Q, double *A,
                          double *b, const da_branches *on, int *settled)
{
    const long count = at->count, n = at->n, m = at->m, rows = of->rows;
    double *z = on->z, *mass = on->mass, *force = on->force, *found = on->found;
    const double *in[6] = {at->q, at->v, z, at->t, at->p, on->k};
    const long stride[6] = {at->stride, at->stride, n, 1, 0, rows};
    if (da_many(of->program, count, in, stride, on->out, on->registers)) return 1;
    const double *h = on->out, *slope = h + count * rows, *bend = slope + count * rows * n;
    for (long c = 0; c < count; c++) {
        const double *K = bend + n * n * c, *own = z + n * c;
        for (long j = 0; j < rows; j++) {
            const long row = m * c + of->row[j], from = rows * c + j;
            b[row] = -h[from];
            for (long i = 0; i < n; i++) {
                A[n * row + i] = slope[n * from + i];
                b[row] += slope[n * from + i] * own[i];
            }
        }
        for (long i = 0; i < n; i++) {
            force[n * c + i] = Q[n * c + i];
            for (long j = 0; j < n; j++) {
                mass[n * n * c + n * i + j] = M[n * n * c + n * i + j] - K[n * i + j];
                force[n * c + i] -= K[n * i + j] * own[j];
            }
        }
    }
    if (da_solve_points(count, n, m, mass, force, A, b, on->none, found, on->rank, on->dependent, on->w))
        return 1;
    *settled = 1;
    for (long c = 0; c < count; c++) {
        double step = 0.0, before = 0.0, after = 0.0;
        for (long i = 0; i < n; i++) {
            const double next = found[n * c + i], now = z[n * c + i];
            step += (next - now) * (next - now);
            before += now * now;
            after += next * next;
            z[n * c + i] = next;
        }
        step = sqrt(step);
        /* A long step leaves the region where the linearisation means anything. */
        if (on->rank[c] < m || !(step <= 2.0 * (on->unit[c] + sqrt(before)))) return 1;
        *settled &= step <= 1e-13 * sqrt(after) + 1e-15 * on->unit[c];
        for (long j = 0; j < rows; j++) on->k[rows * c + j] = found[4 * count * n + m * c + of->row[j]];
    }
    return 0;
}

/* The accelerations z (count, n) near those given there, and the rows of A (count, m, n) and b (count, m) that belong
 * to h, linear about them. M, Q: at the states. 1 where a point must be looked at by other means: there is no branch
 * near, or no minimum, or constraints depend on each other. */
static int da_follow(const da_curved *of, const da_states *at, const double *M, const double *Q, double *A, double *b,
                     double *z)
{
    const long count = at->count, n = at->n, m = at->m, rows = of->rows;
    const long outputs = count * (rows + rows * n + n * n), registers = DA_LANES * of->program->registers;
    const long found = count * (4 * n + 2 * m), room = DA_WIDE * da_solve_room(n, m) + 2 * m;
    const long size = outputs + count * (rows + n * n + 2 * n + 1) + found + registers + room;
    double *out = malloc(sizeof(double) * (size_t)size + (sizeof(long) + (size_t)m) * (size_t)count);
    if (!out) return 1;
    da_branches on = {.z = z, .out = out, .k = out + outputs};
    on.none = on.k + count * rows;
    on.mass = on.none + count * n;
    on.force = on.mass + count * n * n;
    on.unit = on.force + count * n;
    on.found = on.unit + count;
    on.registers = on.found + found;
    on.w = on.registers + registers;
    on.rank = (long *)(on.w + room);
    on.dependent = (unsigned char *)(on.rank + count);
    for (double *x = out; x < on.mass; x++) *x = 0.0;
    for (long c = 0; c < count; c++) {
        double sum = 0.0;
        for (long i = 0; i < n; i++) sum += z[n * c + i] * z[n * c + i];
        on.unit[c] = sum > 0.0 ? sqrt(sum) : 1.0;
    }
    int settled = 0, failed = 0;
    /* The first pass has no multipliers, so that it does not see whether G has a minimum. */
    for (int pass = 0; pass < DA_BRANCH_PASSES && !failed && !(settled && pass > 1); pass++)
        failed = da_branch_step(of, at, M, Q, A, b, &on, &settled);
    free(out);
    return failed || !settled;
}

#endif
