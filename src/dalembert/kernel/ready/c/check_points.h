/* What the certificate measures at single points, by other means than the motion was made by: on the null space of A,
 * from reflections of Aᵀ, while motions are solved in the range of A, from factors of M. */
#ifndef DA_READY_CHECK_POINTS_H
#define DA_READY_CHECK_POINTS_H

/* A constraint direction (of length one) is independent of those before it where its distance from them is above the
 * one number, and a combination of them below the other; q̈ is unique where the pivots of NᵀMN, scaled, are above the
 * third. Other points are left to singular values. */
#define DA_RANK_ABOVE 1e-6
#define DA_RANK_BELOW 1e-11
#define DA_UNIQUE_PIVOT 1e-6

/* The numbers of a point; the order is that of NUMBERS in kernel/ready/check.py. */
enum { DA_FORCE, DA_SPEED, DA_ALONG, DA_GAUSS, DA_MISSED, DA_RANK, DA_KINETIC, DA_PUSHED, DA_PULL, DA_NUMBERS };

/* M … C of a motion, its velocities (rows `v_stride` apart), and all that it says of forces. */
typedef struct {
    const double *M, *Q, *A, *b, *C, *v, *a, *impressed, *inertial, *ideal, *nonideal, *multipliers;
    long v_stride, split; /* split: whether the ideal force must be normal to the null space by itself */
} da_checked;

typedef struct {
    long count, n, m;
    const da_checked *of;
    double *numbers, *rows, *scale;
    da_v *w;
} da_check;

DA_IN_PLACE da_v da_scaled_length(long n, const da_v *x, const da_v *part)
{
    da_v sum = {0.0};
    for (long i = 0; i < n; i++) sum += x[i] * part[i] * (x[i] * part[i]);
    return da_roots(sum);
}

/* The largest part of a force along the null space, in scaled coordinates, where it is larger than what was found. */
DA_APART void da_part_along(long n, long rank, const da_v *D, const da_v *factor, const da_v *force, const da_v *part,
                            da_v *w, da_v *most)
{
    for (long i = 0; i < n; i++) w[i] = force[i] * part[i];
    da_into(n, rank, D, factor, w);
    for (long i = rank; i < n; i++) *most = da_larger(da_size(w[i]), *most);
}

/* How far a is from the minimiser of G on the null space; good[l] becomes 0 where it is not certain that there is only
 * one. x: scaled accelerations that satisfy the constraints. */
DA_IN_PLACE da_v da_distance(long n, long rank, const da_v *M, const da_v *force, const da_v *a, const da_v *D,
                        const da_v *factor, const da_v *part, const da_v *x, da_v *w, int *good)
{
    const long free = n - rank;
    da_v *N = w, *H = N + n * free, *pull = H + free * free, *z = pull + n, *moved = z + n, *over = moved + n;
    const da_v zero = {0.0};
    da_v sum;
    for (long k = 0; k < free; k++) {
        da_v *d = N + n * k;
        for (long i = 0; i < n; i++) d[i] = zero + (i == rank + k ? 1.0 : 0.0);
        da_out_of(n, rank, D, factor, d);
        for (long i = 0; i < n; i++) pull[i] = part[i] * d[i];
        for (long i = 0; i < n; i++) moved[i] = da_inner(n, M + n * i, pull) * part[i];
        for (long j = 0; j <= k; j++) H[free * k + j] = da_inner(n, N + n * j, moved);
    }
    for (long i = 0; i < n; i++) moved[i] = x[i] * part[i];
    for (long i = 0; i < n; i++) pull[i] = (force[i] - da_inner(n, M + n * i, moved)) * part[i];
    da_lower_factor(free, H, over, DA_UNIQUE_PIVOT, good);
    for (long k = 0; k < free; k++) z[k] = da_inner(n, N + n * k, pull);
    da_lower(free, H, over, z);
    da_lower_transposed(free, H, over, z);
    for (long i = 0; i < n; i++) {
        sum = x[i];
        for (long k = 0; k < free; k++) sum += N[n * k + i] * z[k];
        moved[i] = a[i] - sum * part[i];
    }
    sum = zero;
    for (long i = 0; i < n; i++) sum += moved[i] * da_inner(n, M + n * i, moved);
    return da_roots(da_larger(sum, zero));
}

/* The points first, first + step, …, of which `lanes` are stored. Returns 1, with nothing stored, where other rows are
 * dependent at other points. */
DA_APART int da_check_block(const da_check *all, long first, long step, int lanes)
{
    const long n = all->n, m = all->m, count = all->count, last = count - 1;
    const da_checked *of = all->of;
    const double *at[12][DA_WIDE];
    const double *const begin[12] = {of->M, of->Q, of->A, of->b, of->C, of->v, of->a, of->impressed, of->inertial,
                                     of->ideal, of->nonideal, of->multipliers};
    const long apart[12] = {n * n, n, m * n, m, n, of->v_stride, n, n, n, n, n, m};
    for (int k = 0; k < 12; k++)
        for (int l = 0; l < DA_WIDE; l++) {
            const long point = first + l * step < last ? first + l * step : last;
            at[k][l] = begin[k] + apart[k] * point;
        }
    da_v *M = all->w, *work = M + n * n, *s = work + n, *part = s + n, *a = part + n, *inertia = a + n;
    da_v *balance = inertia + n, *rest = balance + n, *own = rest + n, *reaction = own + n, *pulled = reaction + n;
    da_v *force = pulled + n, *ideal = force + n, *x = ideal + n, *more = x + n, *others = more + n, *Q = others + n;
    da_v *D = Q + n, *factor = D + n * m, *inverse = factor + m, *g = inverse + m, *plain = g + m, *miss = plain + m;
    da_v *terms = miss + m, *behind = terms + m;
    int good[DA_WIDE];
    const da_v zero = {0.0};
    da_v kinetic = zero, pushed = zero, pull = zero, speed = zero, wrong = zero, fall = zero, reach = zero;
    for (int l = 0; l < DA_WIDE; l++) good[l] = 1;

    for (long i = 0; i < n * n; i++) M[i] = da_load(at[0], i);
    for (long i = 0; i < n; i++) {
        s[i] = da_divisor(da_roots(da_size(M[n * i + i])));
        part[i] = 1.0 / s[i];
        a[i] = da_load(at[6], i);
        more[i] = da_load(at[5], i);
    }
    da_v lengths = zero;
    for (long i = 0; i < n; i++) {
        const da_v C = da_load(at[4], i), v = more[i], nonideal = da_load(at[10], i);
        const da_v impressed = da_load(at[7], i) + da_load(at[8], i);
        Q[i] = da_load(at[1], i);
        ideal[i] = da_load(at[9], i);
        force[i] = Q[i] + C;
        inertia[i] = da_inner(n, M + n * i, a);
        kinetic += v * da_inner(n, M + n * i, more);
        pushed += a[i] * inertia[i];
        pull = da_larger(Q[i] * part[i] * (Q[i] * part[i]), pull);
        speed += s[i] * v * (s[i] * v);
        balance[i] = inertia[i] - impressed - ideal[i] - nonideal;
        rest[i] = reaction[i] = inertia[i] - force[i];
        own[i] = nonideal - C;
        wrong += (Q[i] - impressed) * part[i] * ((Q[i] - impressed) * part[i]);
        pulled[i] = (da_size(Q[i]) + da_size(ideal[i]) + da_size(C)) * (part[i] * part[i]);
        fall += s[i] * a[i] * (s[i] * a[i]);
        reach += s[i] * pulled[i] * (s[i] * pulled[i]);
        others[i] = da_size(a[i]) + pulled[i];
        x[i] = nonideal;
        work[i] = C;
    }
    lengths = da_larger(da_scaled_length(n, inertia, part), da_scaled_length(n, Q, part));
    lengths = da_larger(lengths, da_scaled_length(n, ideal, part));
    lengths = da_larger(lengths, da_scaled_length(n, x, part));
    lengths = da_larger(lengths, da_scaled_length(n, work, part));
    reach = da_roots(fall) + da_roots(reach);
    long rank = 0;
    for (long k = 0; k < m; k++) {
        da_v *d = D + n * rank, length = zero;
        const da_v multiplier = da_load(at[11], k), right = da_load(at[3], k);
        plain[k] = zero;
        miss[k] = -right;
        terms[k] = da_size(right);
        for (long i = 0; i < n; i++) {
            const da_v entry = da_load(at[2], n * k + i);
            d[i] = entry * part[i];
            length += d[i] * d[i];
            plain[k] += entry * entry;
            miss[k] += entry * a[i];
            terms[k] += da_size(entry) * others[i];
            reaction[i] -= entry * multiplier;
        }
        length = da_roots(length);
        terms[k] += 1e-4 * length * reach;
        const da_v shorter = 1.0 / da_divisor(length);
        if (rank == n) continue; /* what is left of this row is nothing */
        for (long i = 0; i < n; i++) d[i] *= shorter;
        da_into(n, rank, D, factor, d);
        da_v left = da_roots(da_inner(n - rank, d + rank, d + rank));
        int independent = 0, dependent = 0;
        for (int l = 0; l < DA_WIDE; l++) {
            if (left[l] > DA_RANK_ABOVE) {
                independent++;
            } else if (left[l] <= DA_RANK_BELOW) {
                dependent++;
            } else {
                good[l] = 0;
            }
        }
        if (independent && dependent) return 1;
        if (!independent) continue;
        da_reflect(n, rank, d, da_divisor(left), factor + rank, inverse + rank);
        g[rank++] = right * shorter;
    }
    const da_v missed = da_larger(da_larger(da_roots(wrong), da_scaled_length(n, balance, part)),
                                  da_scaled_length(n, reaction, part));
    da_v along = zero;
    da_part_along(n, rank, D, factor, rest, part, x, &along);
    da_part_along(n, rank, D, factor, balance, part, x, &along);
    if (of->split) {
        da_part_along(n, rank, D, factor, ideal, part, x, &along);
        da_part_along(n, rank, D, factor, own, part, x, &along);
    }
    da_upper_transposed(n, rank, D, inverse, g);
    for (long i = 0; i < n; i++) x[i] = i < rank ? g[i] : zero;
    da_out_of(n, rank, D, factor, x);
    const da_v gauss = da_distance(n, rank, M, force, a, D, factor, part, x, behind, good);
    kinetic = da_size(kinetic) / 2.0;
    speed = da_roots(speed);
    for (int l = 0; l < lanes; l++) {
        double *to = all->numbers + DA_NUMBERS * (first + l);
        to[DA_FORCE] = lengths[l];
        to[DA_SPEED] = speed[l];
        to[DA_ALONG] = along[l];
        to[DA_GAUSS] = gauss[l];
        to[DA_MISSED] = missed[l];
        to[DA_RANK] = good[l] ? (double)rank : -1.0;
        to[DA_KINETIC] = kinetic[l];
        to[DA_PUSHED] = pushed[l];
        to[DA_PULL] = pull[l];
        for (long i = 0; i < n; i++) all->scale[n * (first + l) + i] = s[i][l];
        for (long k = 0; k < m; k++) {
            all->rows[m * (first + l) + k] = fabs(miss[k][l]);
            all->rows[m * (count + first + l) + k] = terms[k][l];
            all->rows[m * (2 * count + first + l) + k] = sqrt(plain[k][l]);
        }
    }
    return 0;
}

/* At `count` points: numbers (count, DA_NUMBERS), a rank of −1 where the point is left to other means; rows (3, count,
 * m): how far A q̈ is from b, the size of its terms, the length of the row; scale (count, n): the root of each
 * coordinate's own mass. Returns how many points are left. w: room for 3 n² + m n + 20 n + 6 m
 * vectors. */
DA_READY long da_check_points(long count, long n, long m, const da_checked *of, double *numbers, double *rows,
                              double *scale, double *w)
{
    const da_check all = {count, n, m, of, numbers, rows, scale, (da_v *)w};
    long left = 0;
    for (long first = 0; first < count; first += DA_WIDE) {
        const int lanes = count - first < DA_WIDE ? (int)(count - first) : DA_WIDE;
        if (da_check_block(&all, first, 1, lanes))
            for (int l = 0; l < lanes; l++) da_check_block(&all, first + l, 0, 1);
    }
    for (long k = 0; k < count; k++) left += numbers[DA_NUMBERS * k + DA_RANK] < 0.0;
    return left;
}

/* The largest of all: rows relative to their terms, forces, virtual work and distance from the minimum of G relative to
 * the sizes of forces; then the least and the largest rank, the largest of the pushed and the pull. What is not a
 * number is infinite. See `algebraic_residuals` of motion/certificate/algebra.py for the sizes. */
DA_READY void da_check_totals(long count, long m, const double *numbers, const double *rows, double braking,
                              double slowing, double *found)
{
    double largest = 0.0;
    for (int k = 0; k < 8; k++) found[k] = 0.0;
    for (long k = 0; k < count; k++) largest = da_most(largest, numbers[DA_NUMBERS * k + DA_FORCE]);
    const double least = 1e-6 * da_most(largest, braking);
    found[4] = found[5] = numbers[DA_RANK];
    for (long k = 0; k < count; k++) {
        const double *of = numbers + DA_NUMBERS * k;
        double size = da_most(least, of[DA_FORCE]);
        size = size > 0.0 ? size : 1.0;
        found[1] = da_most(found[1], da_or_infinite(of[DA_MISSED] / size));
        found[2] = da_most(found[2], da_or_infinite(of[DA_ALONG] / size));
        found[3] = da_most(found[3], da_or_infinite(of[DA_GAUSS] / size));
        found[4] = of[DA_RANK] < found[4] ? of[DA_RANK] : found[4];
        found[5] = da_most(found[5], of[DA_RANK]);
        found[6] = da_most(found[6], of[DA_PUSHED]);
        found[7] = da_most(found[7], of[DA_PULL]);
    }
    for (long j = 0; j < m; j++) {
        double most = 0.0, longest = 0.0;
        for (long k = 0; k < count; k++) {
            most = da_most(most, rows[m * (count + k) + j]);
            longest = da_most(longest, rows[m * (2 * count + k) + j]);
        }
        const double floor = 0.1 * da_most(most, longest * slowing);
        for (long k = 0; k < count; k++) {
            const double terms = da_most(floor, rows[m * (count + k) + j]);
            found[0] = da_most(found[0], da_or_infinite(rows[m * k + j] / (terms > 0.0 ? terms : 1.0)));
        }
    }
}

#endif
