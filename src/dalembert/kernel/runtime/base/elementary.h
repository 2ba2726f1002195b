/* Sine and cosine, mostly of four angles at once. Most of the time of an evaluation of a mechanism goes into these, and
   a call for each is several times slower.

   x = k π/2 + r with |r| ≤ π/4; π/2 in three parts of 33, 33 and 53 bits, so that k times the first two is exact.
   Polynomials in r of degree 13 and 14 with the coefficients of fdlibm. Within 1.5 units in the last place for |x| up
   to 1e5; beyond, libm. */
#ifndef DA_ELEMENTARY_H
#define DA_ELEMENTARY_H

#ifdef __CUDACC__
DA_FN void da_sincos4(const double *x, double *s, double *c)
{
    for (int i = 0; i < 4; i++) sincos(x[i], s + i, c + i);
}
DA_FN void da_sincos1(double x, double *s, double *c) { sincos(x, s, c); }
#else
typedef double da_four __attribute__((vector_size(32)));
typedef long long da_four_bits __attribute__((vector_size(32)));

DA_FN void da_sincos4(const double *x, double *s, double *c)
{
    if (!(fabs(x[0]) + fabs(x[1]) + fabs(x[2]) + fabs(x[3]) <= 1e5)) {
        for (int i = 0; i < 4; i++) {
            s[i] = sin(x[i]);
            c[i] = cos(x[i]);
        }
        return;
    }
    const da_four angle = {x[0], x[1], x[2], x[3]};
    /* Adding 1.5·2⁵² rounds to a whole number, whose last bits then stand in the last bits of the sum. */
    const da_four shifted = angle * 0.6366197723675814 + 6755399441055744.0;
    const da_four turns = shifted - 6755399441055744.0;
    const da_four_bits quarter = (da_four_bits)shifted;
    const da_four first = angle - turns * 1.57079632673412561417e+00, part = turns * 6.07710050630396597660e-11;
    const da_four second = first - part;
    const da_four r = second + (((first - second) - part) - turns * 2.02226624879595063154e-21);
    const da_four z = r * r, half = 0.5 * z, rest = 1.0 - half;
    const da_four sine =
        r + r * z *
                (-1.66666666666666324348e-01 +
                 z * (8.33333333332248946124e-03 +
                      z * (-1.98412698298579493134e-04 +
                           z * (2.75573137070700676789e-06 +
                                z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const da_four cosine =
        rest + (((1.0 - rest) - half) +
                z * z *
                    (4.16666666666666019037e-02 +
                     z * (-1.38888888888741095749e-03 +
                          z * (2.48015872894767294178e-05 +
                               z * (-2.75573143513906633035e-07 +
                                    z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))));
    /* An odd number of quarters exchanges the two; the second bit is the sign. */
    const da_four_bits swap = -(quarter & 1);
    const da_four_bits a = (da_four_bits)sine, b = (da_four_bits)cosine;
    const da_four sines = (da_four)(((b & swap) | (a & ~swap)) ^ ((quarter & 2) << 62));
    const da_four cosines = (da_four)(((a & swap) | (b & ~swap)) ^ (((quarter + 1) & 2) << 62));
    for (int i = 0; i < 4; i++) {
        s[i] = sines[i];
        c[i] = cosines[i];
    }
}

/* The same of one angle, in place: four would go through memory and back. */
DA_HOT void da_sincos1(double x, double *s, double *c)
{
    if (!(fabs(x) <= 25e3)) {
        *s = sin(x);
        *c = cos(x);
        return;
    }
    const double shifted = x * 0.6366197723675814 + 6755399441055744.0, turns = shifted - 6755399441055744.0;
    long long quarter;
    memcpy(&quarter, &shifted, sizeof quarter);
    const double first = x - turns * 1.57079632673412561417e+00, part = turns * 6.07710050630396597660e-11;
    const double second = first - part;
    const double r = second + (((first - second) - part) - turns * 2.02226624879595063154e-21);
    const double z = r * r, half = 0.5 * z, rest = 1.0 - half;
    const double sine =
        r + r * z *
                (-1.66666666666666324348e-01 +
                 z * (8.33333333332248946124e-03 +
                      z * (-1.98412698298579493134e-04 +
                           z * (2.75573137070700676789e-06 +
                                z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const double cosine =
        rest + (((1.0 - rest) - half) +
                z * z *
                    (4.16666666666666019037e-02 +
                     z * (-1.38888888888741095749e-03 +
                          z * (2.48015872894767294178e-05 +
                               z * (-2.75573143513906633035e-07 +
                                    z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))));
    const double a = quarter & 1 ? cosine : sine, b = quarter & 1 ? sine : cosine;
    *s = quarter & 2 ? -a : a;
    *c = (quarter + 1) & 2 ? -b : b;
}
#endif

#endif
