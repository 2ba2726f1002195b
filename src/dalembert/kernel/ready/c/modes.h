/* The instants of a motion with contacts, each in its mode, by plain elimination: the formulas of
 * motion/contacts/modes/regular.py, point by point.
 *
 *     M q̈ − (Aᵀ + slope) λ = Q + C₀,   A q̈ = b */
#ifndef DA_READY_MODES_H
#define DA_READY_MODES_H

/* Factors of a matrix (size, size) by rows, in its place, and the order of its rows; 0 where a pivot vanishes. */
static int da_factor_rows(long size, double *W, long *order)
{
    for (long i = 0; i < size; i++) order[i] = i;
    for (long k = 0; k < size; k++) {
        long best = k;
        for (long i = k + 1; i < size; i++)
            if (fabs(W[size * i + k]) > fabs(W[size * best + k])) best = i;
        if (!(fabs(W[size * best + k]) > 0.0)) return 0;
        if (best != k) {
            const long other = order[k];
            order[k] = order[best];
            order[best] = other;
            for (long j = 0; j < size; j++) {
                const double x = W[size * k + j];
                W[size * k + j] = W[size * best + j];
                W[size * best + j] = x;
            }
        }
        for (long i = k + 1; i < size; i++) {
            const double share = W[size * i + k] /= W[size * k + k];
            if (share == 0.0) continue;
            for (long j = k + 1; j < size; j++) W[size * i + j] -= share * W[size * k + j];
        }
    }
    return 1;
}

/* x = W⁻¹ right */
static void da_solve_rows(long size, const double *W, const long *order, const double *right, double *x)
{
    for (long i = 0; i < size; i++) {
        x[i] = right[order[i]];
        for (long j = 0; j < i; j++) x[i] -= W[size * i + j] * x[j];
    }
    for (long i = size - 1; i >= 0; i--) {
        for (long j = i + 1; j < size; j++) x[i] -= W[size * i + j] * x[j];
        x[i] /= W[size * i + i];
    }
}

/* Of a matrix and its factors: whether its pivots lie no further apart than `spread`, told by the row sums of it and of
 * its inverse. unit, x, sums: room for `size` numbers each. */
static int da_is_spread_little(long size, const double *whole, const double *W, const long *order, double spread,
                               double *unit, double *x, double *sums)
{
    double most = 0.0, inverse = 0.0;
    for (long i = 0; i < size; i++) unit[i] = sums[i] = 0.0;
    for (long j = 0; j < size; j++) {
        unit[j] = 1.0;
        da_solve_rows(size, W, order, unit, x);
        unit[j] = 0.0;
        for (long i = 0; i < size; i++) sums[i] += fabs(x[i]);
    }
    for (long i = 0; i < size; i++) {
        double sum = 0.0;
        for (long j = 0; j < size; j++) sum += fabs(whole[size * i + j]);
        most = da_most(most, sum);
        inverse = da_most(inverse, da_or_infinite(sums[i]));
    }
    return spread * most * inverse <= 1.0;
}

/* M (count, n, n), Q (count, n), A (count, m, n), b (count, m), C₀ (count, n) and slope (count, n, m), one after the
 * other in `data`. a (count, n), multipliers (count, m), zero of rows that do not act; served (count): where
 * elimination did. room: 2 (n + m)² + 6 (n + m) numbers and 2 (n + m) indices. */
DA_READY long da_eliminate(long count, long n, long m, const double *data, double spread, double *a,
                           double *multipliers, unsigned char *served, double *room)
{
    const double *M = data, *Q = M + count * n * n, *A = Q + count * n, *b = A + count * m * n, *C = b + count * m;
    const double *slope = C + count * n;
    const long all = n + m;
    double *whole = room, *W = whole + all * all, *scale = W + all * all, *right = scale + all, *x = right + all;
    double *off = x + all, *more = off + all, *unit = more + all;
    long *row = (long *)(unit + all), *order = row + all;
    for (long c = 0; c < count; c++, M += n * n, Q += n, A += m * n, b += m, C += n, slope += n * m) {
        long size = n;
        int good = 1;
        for (long i = 0; i < n; i++) {
            const double own = sqrt(fabs(M[n * i + i]));
            scale[i] = own > 0.0 ? 1.0 / own : 1.0;
        }
        for (long k = 0; k < m; k++) {
            double length = 0.0;
            for (long i = 0; i < n; i++) length += A[n * k + i] * scale[i] * (A[n * k + i] * scale[i]);
            if (length == 0.0) continue;
            scale[size] = 1.0 / sqrt(length);
            row[size++] = k;
        }
        for (long i = 0; i < size * size; i++) whole[i] = 0.0;
        for (long i = 0; i < n; i++) {
            for (long j = 0; j < n; j++) whole[size * i + j] = M[n * i + j] * scale[i] * scale[j];
            for (long j = n; j < size; j++) {
                const long k = row[j];
                whole[size * i + j] = -(A[n * k + i] + slope[m * i + k]) * scale[i] * scale[j];
                whole[size * j + i] = A[n * k + i] * scale[i] * scale[j];
            }
            right[i] = (Q[i] + C[i]) * scale[i];
        }
        for (long j = n; j < size; j++) right[j] = b[row[j]] * scale[j];
        for (long i = 0; i < size * size; i++) W[i] = whole[i];
        for (long i = 0; i < m; i++) multipliers[m * c + i] = 0.0;
        good = da_factor_rows(size, W, order);
        if (good) {
            da_solve_rows(size, W, order, right, x);
            /* One step of refinement, as everywhere. */
            for (long i = 0; i < size; i++) {
                off[i] = right[i];
                for (long j = 0; j < size; j++) off[i] -= whole[size * i + j] * x[j];
            }
            da_solve_rows(size, W, order, off, more);
            double sum = 0.0;
            for (long i = 0; i < size; i++) {
                x[i] += more[i];
                sum += 0.0 * x[i];
            }
            good = sum == 0.0 && da_is_spread_little(size, whole, W, order, spread, unit, more, off);
        }
        for (long i = 0; i < n; i++) a[n * c + i] = good ? x[i] * scale[i] : NAN;
        for (long j = n; good && j < size; j++) multipliers[m * c + row[j]] = x[j] * scale[j];
        served[c] = (unsigned char)good;
    }
    return 0;
}

/* Stretches that begin at states y (count, 2n) and times t, each in its mode, p (count, parameters), by `steps` steps
 * of the classical Runge–Kutta method over `length` (count); y becomes their ends, no numbers where there is no
 * acceleration on the way. data: room for what the program gives, cleared. registers: room for those of the program,
 * behind them as much as da_eliminate has, and count · (7 n + m + 1) numbers. */
DA_READY long da_mode_stretches(const da_program *P, long count, long n, long m, const double *p, long parameters,
                                const double *t, double *y, const double *length, long steps, double spread,
                                double *data, double *registers, unsigned char *served)
{
    double *room = registers + DA_LANES * P->registers, *a = room + 2 * (n + m) * (n + m) + 8 * (n + m);
    double *multipliers = a + count * n, *trial = multipliers + count * m, *sum = trial + 2 * count * n;
    double *rate = sum + 2 * count * n, *time = rate + 2 * count * n;
    const double at[4] = {0.0, 0.5, 0.5, 1.0}, share[4] = {1.0, 2.0, 2.0, 1.0};
    const double *in[4] = {trial, trial + n, time, p};
    const long stride[4] = {2 * n, 2 * n, 1, parameters}, all = 2 * n * count;
    for (long step = 0; step < steps; step++) {
        for (long i = 0; i < all; i++) sum[i] = rate[i] = 0.0;
        for (int stage = 0; stage < 4; stage++) {
            for (long c = 0; c < count; c++) {
                const double h = length[c] / (double)steps;
                time[c] = t[c] + ((double)step + at[stage]) * h;
                for (long i = 2 * n * c; i < 2 * n * (c + 1); i++) trial[i] = y[i] + at[stage] * h * rate[i];
            }
            da_many(P, count, in, stride, data, registers);
            da_eliminate(count, n, m, data, spread, a, multipliers, served, room);
            for (long c = 0; c < count; c++)
                for (long i = 0; i < n; i++) {
                    rate[2 * n * c + i] = trial[2 * n * c + n + i];
                    rate[2 * n * c + n + i] = a[n * c + i];
                }
            for (long i = 0; i < all; i++) sum[i] += share[stage] * rate[i];
        }
        for (long i = 0; i < all; i++) y[i] += length[i / (2 * n)] / (double)steps / 6.0 * sum[i];
    }
    return 0;
}

/* As _Halved in kernel/ready/modes.py. Stretches as for da_mode_stretches, from `start` (count, 2n). */
typedef struct {
    const da_program *program;
    long count, n, m, parameters;
    const double *p, *t, *start, *length;
    const double *wanted, *least; /* (count, 2n): how near two results must be; (count): of steps, for each */
    double spread, most, richardson, converges;
    double *end, *allowed;        /* (count, 2n): states at the ends, and how far they may be from right */
    unsigned char *judged, *lost; /* (count): two results agree; there is no acceleration on the way */
    unsigned char *served;        /* (count): room */
    double *data, *registers;     /* as in da_mode_stretches */
    double *room;                 /* count (parameters + 6 n + 3) numbers */
} da_halved;

/* In 1, 2, 4, … steps until two results agree: `by_halving` of motion/certificate/again_in_modes.py, where the
 * reasons stand. */
#define DA_SETTLED 1e-3
DA_READY long da_halve_stretches(const da_halved *of)
{
    const long n = of->n, both = 2 * n, P = of->parameters;
    long outputs = 0;
    for (long k = 0; k < of->program->outputs; k++) outputs += of->program->sizes[k];
    double *p = of->room, *t = p + of->count * P, *length = t + of->count, *ends = length + of->count;
    double *before = ends + both * of->count, *last = before + both * of->count;
    long *rest = (long *)(last + both * of->count), left = of->count;
    for (long c = 0; c < of->count; c++) {
        rest[c] = c;
        of->judged[c] = of->lost[c] = 0;
        for (long i = both * c; i < both * (c + 1); i++) {
            before[i] = last[i] = 0.0;
            of->end[i] = of->start[i];
            of->allowed[i] = of->wanted[i];
        }
    }
    for (long steps = 1; left && (double)steps <= of->most; steps *= 2) {
        long some = 0;
        for (long k = 0; k < outputs * left; k++) of->data[k] = 0.0;
        for (long k = 0; k < left; k++) {
            const long c = rest[k];
            t[k] = of->t[c];
            length[k] = of->length[c];
            for (long i = 0; i < P; i++) p[P * k + i] = of->p[P * c + i];
            for (long i = 0; i < both; i++) ends[both * k + i] = of->start[both * c + i];
        }
        da_mode_stretches(of->program, left, n, of->m, p, P, t, ends, length, steps, of->spread, of->data,
                          of->registers, of->served);
        for (long k = 0; k < left; k++) {
            const long c = rest[k], at = both * c;
            const double *y = ends + both * k;
            int done = steps > 1 && (double)steps >= of->least[c];
            double sum = 0.0;
            for (long i = 0; i < both; i++) sum += 0.0 * y[i];
            of->lost[c] = (unsigned char)(sum != 0.0);
            for (long i = 0; i < both && steps > 1; i++) {
                const double apart = fabs(y[i] - before[at + i]);
                const double unsure = of->converges * apart <= last[at + i] ? apart / of->richardson : apart;
                const double settled = da_max(last[at + i], DA_SETTLED * of->wanted[at + i]);
                done &= unsure <= of->wanted[at + i] && (of->least[c] == 0.0 || of->converges * apart <= settled);
                of->allowed[at + i] = unsure;
                last[at + i] = apart;
            }
            for (long i = 0; i < both; i++) before[at + i] = y[i];
            for (long i = 0; i < both && !done; i++) of->allowed[at + i] = of->wanted[at + i];
            for (long i = 0; i < both && done; i++) of->end[at + i] = y[i];
            of->judged[c] = (unsigned char)done;
            if (!done && !of->lost[c]) rest[some++] = c;
        }
        left = some;
    }
    return 0;
}

#endif
