/* Δq̇ against ∫ q̈ dt between neighbouring output points, as `consistency` of motion/certificate/repeat.py has it in
 * NumPy, where the reasons stand. */
#ifndef DA_READY_QUADRATURE_H
#define DA_READY_QUADRATURE_H

typedef struct {
    long count, n, v_stride;
    const double *t, *v, *a, *root; /* (count), (count, n) each */
    double near, allowed, resolved; /* near: outputs must be no further apart; not positive: none are judged */
} da_outputs;

/* Whether six points about the stretch after point k are even and near enough. Below, what quadratures over six, four
 * and two of them give. */
static int da_judges(const da_outputs *of, long k)
{
    double least = INFINITY, most = 0.0;
    if (k < 2 || k + 3 >= of->count) return 0;
    for (long j = k - 2; j < k + 3; j++) {
        const double gap = of->t[j + 1] - of->t[j];
        least = gap < least ? gap : least;
        most = da_most(most, gap);
    }
    return most - least < 1e-6 * most && most <= of->near;
}

/* Of rates a, so far apart in memory, over the stretch h between the first and the next. */
static void da_quadratures(double h, const double *a, long n, double *six, double *four, double *two)
{
    const double inner = a[0] + a[n], middle = a[-n] + a[2 * n], outer = a[-2 * n] + a[3 * n];
    *six = h * (802.0 * inner - 93.0 * middle + 11.0 * outer) / 1440.0;
    *four = h * (13.0 * inner - middle) / 24.0;
    *two = h * inner / 2.0;
}

/* For each of the count − 1 stretches: what Δq̇ misses the integral by, less what the quadrature may err by, 0 where it
 * cannot judge; and by how much the trapezoidal rule misses it. */
DA_READY void da_quadrature(const da_outputs *of, double *found, double *trapezoid)
{
    const long n = of->n;
    double largest = 0.0;
    for (long k = 0; k + 1 < of->count; k++) {
        const double h = of->t[k + 1] - of->t[k];
        found[k] = trapezoid[k] = 0.0;
        for (long i = 0; i < n; i++) {
            const double *a = of->a + n * k + i;
            const double change = of->v[of->v_stride * (k + 1) + i] - of->v[of->v_stride * k + i];
            const double off = of->root[n * k + i] * fabs(change - h / 2 * (a[0] + a[n]));
            trapezoid[k] = da_most(trapezoid[k], da_or_infinite(off));
        }
        if (!da_judges(of, k)) continue;
        found[k] = -1.0;
        for (long i = 0; i < n; i++) largest = da_most(largest, fabs(h * of->a[n * k + i]));
    }
    for (long k = 0; k + 1 < of->count; k++) {
        if (found[k] >= 0.0) continue;
        found[k] = 0.0;
        for (long i = 0; i < n; i++) {
            double six, four, two;
            da_quadratures(of->t[k + 1] - of->t[k], of->a + n * k + i, n, &six, &four, &two);
            const double finer = fabs(six - four), coarser = fabs(four - two);
            /* Where more points do not bring a quadrature nearer, q̈ changes faster than the points show. */
            if (finer > of->resolved * coarser + 1e-12 * largest) continue;
            const double change = of->v[of->v_stride * (k + 1) + i] - of->v[of->v_stride * k + i];
            const double off = of->root[n * k + i] * (fabs(change - six) - of->allowed * finer);
            found[k] = da_most(found[k], da_or_infinite(off));
        }
    }
}

/* On the cubics through values x (count, n) and rates r at both ends of each stretch: those at `shares` of it, all
 * stretches at the first share first, to[width · …]. */
DA_READY void da_inside(long count, long n, long some, const double *shares, const double *t, const double *x,
                        const double *r, long width, double *to)
{
    for (long s = 0; s < some; s++) {
        const double u = shares[s], last = (3.0 - 2.0 * u) * u * u, leaving = (1.0 - u) * (1.0 - u) * u;
        const double first = 1.0 - last, arriving = (u - 1.0) * u * u;
        for (long k = 0; k + 1 < count; k++, to += width) {
            const double h = t[k + 1] - t[k], *y = x + n * k, *dy = r + n * k;
            for (long i = 0; i < n; i++)
                to[i] = first * y[i] + last * y[n + i] + h * (leaving * dy[i] + arriving * dy[n + i]);
        }
    }
}

/* The largest distance of `told` (count, columns) from the integrals of `powers` by Simpson's rule, beyond `allowed`
 * times what that may err by, over parts of the motion between gaps that are broken (count − 1): as `_apart` of
 * motion/certificate/friction_heat.py has it, from the first and from the second point of each part. */
DA_READY long da_integrals_missed(long count, long columns, const double *t, const double *told, const double *powers,
                                  const unsigned char *broken, double allowed, double *worst)
{
    *worst = 0.0;
    for (long first = 0, last; first + 2 < count; first = last + 1) {
        for (last = first; last + 1 < count && !broken[last]; last++) {}
        for (long start = first; start < first + 2; start++)
            for (long j = 0; j < columns; j++) {
                double missed = 0.0, doubt = 0.0;
                for (long k = start; k + 2 <= last; k += 2) {
                    const double one = t[k + 1] - t[k], two = t[k + 2] - t[k + 1], *p = powers + columns * k + j;
                    const double fine = (one * (p[0] + p[columns]) + two * (p[columns] + p[2 * columns])) / 2;
                    const double coarse = (one + two) * (p[0] + p[2 * columns]) / 2;
                    const int even = fabs(one - two) <= 1e-6 * (one + two);
                    missed += told[columns * (k + 2) + j] - told[columns * k + j];
                    missed -= even ? fine + (fine - coarse) / 3 : fine;
                    doubt += fabs(fine - coarse);
                    *worst = da_most(*worst, da_or_infinite(fabs(missed) - allowed * doubt));
                }
            }
    }
    return 0;
}

#endif
