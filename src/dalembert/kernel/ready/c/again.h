/* Stretches of a motion integrated again: Gragg's modified midpoint rule, extrapolated, for many stretches at once, as
 * `again` of motion/certificate/repeat.py has it in NumPy. Nothing of a kernel is used. */
#ifndef DA_READY_AGAIN_H
#define DA_READY_AGAIN_H

#define DA_REPEAT_ROWS 8

typedef struct {
    const da_program *dynamics; /* (q, v, t, p) -> M, Q, A, b, C */
    const double *p;
    long count, n, m;
    double *base, *registers;
    da_v *w;
    unsigned char *lost; /* (count): stretches on which the model has no value somewhere */
    const da_curved *curved; /* constraints nonlinear in q̈, NULL: none */
    const double *near;      /* then: accelerations of the branch that is followed, (count, n) */
} da_repeated;

/* Of each output at point k, whether all numbers are finite. */
static int da_has_value(const da_program *P, const double *base, long count, long k)
{
    double sum = 0.0;
    for (long j = 0; j < P->watched; j++) {
        const long size = P->sizes[j];
        for (long i = 0; i < size; i++) sum += 0.0 * base[size * k + i];
        base += count * size;
    }
    return sum == 0.0;
}

/* d/dt of states y (count, 2n) at the times t, where they have a value; 1 where one of them must be solved by other
 * means. */
static int da_rates(const da_repeated *of, const double *t, const double *y, double *rates)
{
    const long n = of->n, m = of->m, count = of->count;
    const double *in[4] = {y, y + n, t, of->p};
    const long stride[4] = {2 * n, 2 * n, 1, 0};
    if (da_many(of->dynamics, count, in, stride, of->base, of->registers))
        for (long k = 0; k < count; k++) of->lost[k] |= !da_has_value(of->dynamics, of->base, count, k);
    double *M = of->base, *Q = M + count * n * n, *A = Q + count * n, *b = A + count * m * n, *C = b + count * m;
    for (long k = 0; k < count; k++)
        for (long i = 0; i < n; i++) rates[2 * n * k + i] = y[2 * n * k + n + i];
    if (of->curved) {
        const da_states states = {count, n, m, 2 * n, y, y + n, t, of->p};
        double *z = C; /* there is no C with such constraints */
        for (long i = 0; i < count * n; i++) z[i] = of->near[i];
        if (da_follow(of->curved, &states, M, Q, A, b, z)) return 1;
        for (long k = 0; k < count; k++)
            for (long i = 0; i < n; i++) rates[2 * n * k + n + i] = z[n * k + i];
        return 0;
    }
    for (long first = 0; first < count; first += DA_WIDE) {
        const int lanes = count - first < DA_WIDE ? (int)(count - first) : DA_WIDE;
        const da_point_data given = da_dynamics_at(n, m, M, Q, A, b, C, first, 1, count - 1);
        long rank[DA_WIDE];
        da_solution to;
        to.all = 0;
        for (int l = 0; l < lanes; l++) to.acceleration[l] = rates + 2 * n * (first + l) + n;
        long *row = (long *)(of->w + da_solve_room(n, m));
        if (da_solve_block(n, m, &given, &to, lanes, rank, of->w, row)) return 1;
        da_solve_massless(n, m, &given, &to, lanes, rank, of->w, row);
        for (int l = 0; l < lanes; l++)
            if (rank[l] < m && !of->lost[first + l]) return 1;
    }
    return 0;
}

/* From y (count, 2n) at t over `length` (count): end, how far each entry may be from right, and whether that is what is
 * wanted, which it is not where the model has no value on the way. sequence: numbers of steps. room: (2 ·
 * DA_REPEAT_ROWS + 4) · count · 2n and count numbers more. */
DA_READY int da_repeat(const da_repeated *of, const double *t, const double *y, const double *length,
                       const double *wanted, const long *sequence, long rows, double *end, double *unsure,
                       unsigned char *known, double *room)
{
    const long width = 2 * of->n, all = of->count * width;
    double *first = room, *rate = first + all, *before = rate + all, *now = before + all, *time = now + all;
    double *row[DA_REPEAT_ROWS], *new[DA_REPEAT_ROWS];
    for (long j = 0; j < DA_REPEAT_ROWS; j++) {
        row[j] = time + of->count + j * all;
        new[j] = row[j] + DA_REPEAT_ROWS * all;
    }
    for (long k = 0; k < of->count; k++) of->lost[k] = 0;
    if (da_rates(of, t, y, first)) return 1;
    for (long i = 0; i < all; i++) {
        end[i] = y[i];
        unsure[i] = INFINITY;
    }
    for (long k = 0; k < of->count; k++) known[k] = 0;
    for (long k = 0; k < rows; k++) {
        const long steps = sequence[k];
        for (long i = 0; i < all; i++) {
            before[i] = y[i];
            now[i] = y[i] + length[i / width] / steps * first[i];
        }
        for (long s = 1; s <= steps; s++) {
            for (long c = 0; c < of->count; c++) time[c] = t[c] + s * length[c] / steps;
            if (da_rates(of, time, now, rate)) return 1;
            if (s == steps) break;
            for (long i = 0; i < all; i++) {
                const double next = before[i] + 2 * length[i / width] / steps * rate[i];
                before[i] = now[i];
                now[i] = next;
            }
        }
        for (long i = 0; i < all; i++) new[0][i] = (now[i] + before[i] + length[i / width] / steps * rate[i]) / 2;
        for (long j = 1; j <= k; j++) {
            const double ratio = (double)steps / (double)sequence[k - j];
            for (long i = 0; i < all; i++)
                new[j][i] = new[j - 1][i] + (new[j - 1][i] - row[j - 1][i]) / (ratio * ratio - 1);
        }
        int open = 0;
        for (long c = 0; k && c < of->count; c++) {
            if (known[c] || of->lost[c]) continue;
            double now_off = 0.0, was_off = 0.0;
            int enough = 1;
            for (long i = width * c; i < width * (c + 1); i++) {
                const double off = fabs(new[k][i] - new[k - 1][i]);
                now_off = da_most(now_off, off < INFINITY && new[k][i] == new[k][i] ? off : INFINITY);
                was_off = da_most(was_off, unsure[i]);
            }
            for (long i = width * c; i < width * (c + 1); i++) {
                if (now_off < was_off) {
                    end[i] = new[k][i];
                    unsure[i] = fabs(new[k][i] - new[k - 1][i]);
                }
                enough &= unsure[i] <= wanted[i];
            }
            known[c] = (unsigned char)enough;
            open |= !enough;
        }
        if (k && !open) break; /* those that are lost stay unknown */
        for (long j = 0; j <= k; j++) {
            double *swap = row[j];
            row[j] = new[j];
            new[j] = swap;
        }
    }
    for (long i = 0; i < all; i++) unsure[i] = of->lost[i / width] ? INFINITY : unsure[i];
    for (long c = 0; c < of->count; c++) known[c] &= !of->lost[c];
    return 0;
}

#endif
