/* Blows of one gap alone that nothing rubs: what a bounce came to, from the velocities on both sides of it, and whether
 * what is told of it obeys its laws. The formulas are those of motion/contacts/run/bounces.py and of
 * motion/certificate/smooth_impacts.py, for all blows of a motion in one call. */
#ifndef DA_READY_BOUNCES_H
#define DA_READY_BOUNCES_H

/* As _Blows in kernel/ready/bounces.py. */
typedef struct {
    const da_program *points;    /* as in forces.h */
    long count, n, m, guides;    /* guides: two-sided constraints */
    const double *q, *before, *after, *t, *p; /* (count, n), rows `stride` apart, three times; (count), `apart` */
    long stride, apart;
    const long *row, *place;     /* (count): the constraint that closes, and where its rate stands */
    const long *guide;           /* (guides) */
    double *base, *registers;    /* room for what `points` gives, see da_many, and its registers */
    double *room;                /* 3 s² + 6 s numbers, s = n + guides + 1 */
} da_blows;

/* Where the parts of what `points` gives at all blows begin. */
typedef struct {
    const double *M, *A, *rate;
    long rates;
} da_at_blows;

static int da_look_at_blows(const da_blows *of, da_at_blows *at)
{
    const long stride[4] = {of->stride, of->stride, of->apart, 0}, B = of->count, n = of->n;
    const double *in[4] = {of->q, of->before, of->t, of->p};
    long rates = 0;
    double *part = of->base;
    if (da_many(of->points, B, in, stride, of->base, of->registers)) return 1;
    at->M = part;
    at->A = part + B * (n * n + n);
    for (long k = 0; k < of->points->outputs; k++) {
        rates = of->points->sizes[k];
        if (k + 1 < of->points->outputs) part += B * rates;
    }
    at->rate = part;
    at->rates = rates;
    return 0;
}

/* Of each blow: the normal impulse, what it lost, the kinetic energy after it less that before, the speed of its
 * approach along the normal, and the impulses of the guides: found (count, 4 + guides). 1 where that must be had by
 * other means. */
DA_READY long da_bounce_impulses(const da_blows *of, double *found)
{
    const long n = of->n, c = 1 + of->guides;
    double *jump = of->room, *x = jump + n, *W = x + c, *length = W + n * c, *room = length + c;
    da_at_blows at;
    if (da_look_at_blows(of, &at)) return 1;
    for (long k = 0; k < of->count; k++, found += 4 + of->guides) {
        const double *M = at.M + n * n * k, *A = at.A + of->m * n * k, *normal = A + n * of->row[k];
        const double *before = of->before + of->stride * k, *after = of->after + of->stride * k;
        const double closing = at.rate[at.rates * k + of->place[k]];
        double parting = closing, gained = 0.0;
        for (long i = 0; i < n; i++) {
            jump[i] = 0.0;
            for (long j = 0; j < n; j++) jump[i] += M[n * i + j] * (after[j] - before[j]);
            parting += normal[i] * (after[i] - before[i]);
            gained += jump[i] * (after[i] + before[i]) / 2;
        }
        for (long j = 0; j < c; j++) {
            const double *row = j ? A + n * of->guide[j - 1] : normal;
            double sum = 0.0;
            for (long i = 0; i < n; i++) sum += row[i] * row[i];
            length[j] = sum > 0.0 ? sqrt(sum) : 1.0;
            for (long i = 0; i < n; i++) W[n * j + i] = row[i] / length[j];
        }
        if (!da_shortest(n, c, W, jump, x, room)) return 1;
        const double push = x[0] / length[0];
        found[0] = push;
        found[1] = -push * (closing + parting) / 2;
        found[2] = gained;
        found[3] = fabs(closing) / length[0];
        for (long j = 1; j < c; j++) found[3 + j] = x[j] / length[j];
    }
    return 0;
}

enum { DA_NEWTON, DA_POISSON, DA_STRONGE };

/* What is told of each blow: numbers (count, 8 + guides), its normal impulse, restitution, impulse at the end of
 * compression, loss, the impulses at the ends of both pieces of its way, and the impulses of guides; law (count). */
typedef struct {
    const double *numbers;
    const long *law;
} da_told;

static double da_root_of(const double *M, long n, long i)
{
    const double own = sqrt(fabs(M[n * i + i]));
    return own > 0.0 ? own : 1.0;
}

/* The largest departure of the blows from their laws in `worst`, infinite where it is no number. 1 where that must be
 * had by other means. */
DA_READY long da_check_bounces(const da_blows *of, const da_told *told, double *worst)
{
    const long n = of->n, guides = of->guides, all = n + guides;
    double *root = of->room, *balance = root + n, *f = balance + all, *x = f + all, *W = x + all, *room = W + all * all;
    da_at_blows at;
    *worst = 0.0;
    if (da_look_at_blows(of, &at)) return 1;
    for (long k = 0; k < of->count; k++) {
        const double *M = at.M + n * n * k, *A = at.A + of->m * n * k, *normal = A + n * of->row[k];
        const double *before = of->before + of->stride * k, *after = of->after + of->stride * k;
        const double *own = told->numbers + (8 + guides) * k, *ends = own + 4, *held = own + 8;
        const double p = own[0], e = own[1], pressed = own[2], loss = own[3];
        const double closing = at.rate[at.rates * k + of->place[k]];
        double slow = 0.0, fast = 0.0, weight = 0.0, parting = closing, missed = 0.0, feels = 0.0, most = 0.0;
        for (long i = 0; i < n; i++) {
            root[i] = da_root_of(M, n, i);
            slow += root[i] * before[i] * (root[i] * before[i]);
            fast += root[i] * after[i] * (root[i] * after[i]);
            weight += normal[i] / root[i] * (normal[i] / root[i]);
            parting += normal[i] * (after[i] - before[i]);
        }
        double size = sqrt(da_most(slow, fast));
        size = size == 0.0 ? 1.0 : size;
        weight = weight > 0.0 ? sqrt(weight) : 1.0;
        for (long i = 0; i < n; i++) {
            double jump = -p * normal[i];
            for (long j = 0; j < n; j++) jump += M[n * i + j] * (after[j] - before[j]);
            for (long g = 0; g < guides; g++) jump -= A[n * of->guide[g] + i] * held[g];
            missed += jump / root[i] * (jump / root[i]);
            balance[i] = root[i];
        }
        most = sqrt(missed) / size;
        for (long g = 0; g < guides; g++) {
            const double *row = A + n * of->guide[g];
            double steep = 0.0, kept = 0.0;
            for (long i = 0; i < n; i++) {
                steep += row[i] / root[i] * (row[i] / root[i]);
                kept += row[i] * (after[i] - before[i]);
            }
            balance[n + g] = steep > 0.0 ? sqrt(steep) : 1.0;
            most = da_most(most, da_or_infinite(fabs(kept) / balance[n + g] / size));
        }
        /* The inverse inertia along the normal, from [M Aᵀ; A 0], balanced. */
        for (long j = 0; j < all; j++)
            for (long i = 0; i < all; i++) {
                double entry = 0.0;
                if (i < n && j < n) entry = M[n * i + j];
                if (i < n && j >= n) entry = A[n * of->guide[j - n] + i];
                if (i >= n && j < n) entry = A[n * of->guide[i - n] + j];
                W[all * j + i] = entry / (balance[i] * balance[j]);
            }
        for (long i = 0; i < all; i++) f[i] = i < n ? normal[i] / balance[i] : 0.0;
        if (!da_shortest(all, all, W, f, x, room)) return 1;
        for (long i = 0; i < n; i++) feels += normal[i] * x[i] / balance[i];
        const double lost = -p * (closing + parting) / 2, square = size * size;
        double works[2], joined[4] = {ends[0], ends[1] - pressed, ends[2] - pressed, ends[3] - p};
        for (int piece = 0; piece < 2; piece++) {
            const double from = ends[2 * piece], until = ends[2 * piece + 1];
            works[piece] = (until - from) * (closing + feels * (from + until) / 2);
        }
        double restored = (closing + feels * p + e * closing) / (weight * size);
        if (told->law[k] == DA_POISSON) restored = (p - (1.0 + e) * pressed) * weight / size;
        if (told->law[k] == DA_STRONGE) restored = (works[1] + e * e * works[0]) / square;
        most = da_most(most, da_or_infinite((fabs(lost - loss) + da_most(0.0, -lost)) / square));
        most = da_most(most, da_or_infinite(-p * weight / size));
        for (int j = 0; j < 3; j++) most = da_most(most, da_or_infinite((ends[j] - ends[j + 1]) * weight / size));
        for (int j = 0; j < 4; j++) most = da_most(most, da_or_infinite(fabs(joined[j]) * weight / size));
        most = da_most(most, da_or_infinite(fabs(closing + feels * pressed) / (weight * size)));
        most = da_most(most, da_or_infinite(fabs(restored)));
        *worst = da_most(*worst, da_or_infinite(most));
    }
    return 0;
}

#endif
