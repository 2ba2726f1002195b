/* How long steps may be by samples of functions of time: see motion/integrate/ahead.py. */
#ifndef DA_READY_STEP_BOUNDS_H
#define DA_READY_STEP_BOUNDS_H

/* What is allowed to differ, as the structure in kernel/ready/step_bounds.py. */
typedef struct {
    double foretold, negligible, rounding; /* shares of the change around a sample, of all change, of the values */
    double spacing;                        /* of the samples */
    long parts, cell;                      /* intervals between samples, a power of two; of them in a cell */
} da_bounding;

/* The cubic through four samples, one place before the first. */
static double da_before(double a, double b, double c, double d) { return 4.0 * a - 6.0 * b + 4.0 * c - d; }

/* Samples x of one function, at every `step`-th of which cubic interpolation is compared with what is there. Shortens
 * the bounds of cells in which it fails by more than `least`. */
static void da_bound_level(const da_bounding *B, const double *x, long step, double least, double *bounds)
{
    const long parts = B->parts, across = 2 * step, cells = parts / B->cell;
    const double first = da_before(x[0], x[across], x[2 * across], x[3 * across]);
    const double *end = x + parts, last = da_before(end[0], end[-across], end[-2 * across], end[-3 * across]);
    for (long at = step; at < parts; at += across) {
        const double b = x[at - step], between = x[at], c = x[at + step];
        const double a = at > step ? x[at - step - across] : first;
        const double d = at + step < parts ? x[at + step + across] : last;
        const double missed = fabs(between - (9.0 * (b + c) - (a + d)) / 16.0);
        if (!(missed > least)) continue;
        const double low = fmin(fmin(fmin(a, b), fmin(c, d)), between);
        const double high = fmax(fmax(fmax(a, b), fmax(c, d)), between);
        if (!(missed > B->foretold * (high - low))) continue;
        const long from = at > across ? (at - across) / B->cell : 0, to = (at + across - 1) / B->cell;
        for (long k = from; k <= to && k < cells; k++)
            if (bounds[k] > across * B->spacing) bounds[k] = across * B->spacing;
    }
}

/* values (parts + 1, entries): samples, of which those of entries that are not finite everywhere say nothing. noise
 * (entries): how far they may be wrong besides their own rounding. room: parts + 1 numbers. bounds (parts / cell):
 * shortened where steps are to be shorter. */
DA_READY long da_step_bounds(const da_bounding *B, long entries, const double *values, const double *noise,
                             double *room, double *bounds)
{
    for (long e = 0; e < entries; e++) {
        double low = values[e], high = low, sum = 0.0;
        for (long k = 0; k <= B->parts; k++) {
            const double x = room[k] = values[k * entries + e];
            low = x < low ? x : low;
            high = x > high ? x : high;
            sum += x * 0.0;
        }
        if (sum != 0.0) continue;
        const double least = B->negligible * (high - low) + B->rounding * da_most(fabs(low), fabs(high)) + noise[e];
        for (long step = B->parts / 8; step >= 1; step /= 2) da_bound_level(B, room, step, least, bounds);
    }
    return 0;
}

#endif
