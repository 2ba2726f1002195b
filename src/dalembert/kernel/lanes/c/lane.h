/* DA_LANES numbers side by side, one for each member at hand, and functions of them. Nothing here lets a lane depend on
   another: what a member gives is the same in any lane, with any neighbours, and for any DA_LANES. */
#ifndef DA_LANE_H
#define DA_LANE_H

/* As many as a register holds; any other power of two works too. */
#ifndef DA_LANES
#if defined(__AVX512F__)
#define DA_LANES 8
#elif defined(__AVX__)
#define DA_LANES 4
#else
#define DA_LANES 2
#endif
#endif

/* Keeps a number in a register: compilers read it from memory again for every product, and where there is nothing but
   products, loads are what takes the time. */
#if defined(__AVX512F__) && DA_LANES == 8
#define DA_HOLD(x) __asm__("" : "+v"(x))
#elif defined(__AVX__) && DA_LANES == 4
#define DA_HOLD(x) __asm__("" : "+x"(x))
#else
#define DA_HOLD(x)
#endif

typedef double da_lane __attribute__((vector_size(8 * DA_LANES)));
typedef long long da_mask __attribute__((vector_size(8 * DA_LANES))); /* −1: yes, 0: no */
typedef unsigned long long da_bits __attribute__((vector_size(8 * DA_LANES)));

#define DA_LANE static inline __attribute__((unused, always_inline))

DA_LANE da_lane da_same(double x) { return x - (da_lane){0.0}; }
#define DA_R(x) da_same(x)
#define DA_NOT_A_NUMBER ((da_lane)((da_bits){0} + 0x7ff8000000000000ULL))
#define DA_NONE ((da_mask){0})
#define DA_EVERY (~(da_mask){0})

DA_LANE da_mask da_less(da_lane a, da_lane b) { return a < b; }
DA_LANE da_mask da_most(da_lane a, da_lane b) { return a <= b; } /* a at most b */
DA_LANE da_mask da_equal(da_lane a, da_lane b) { return a == b; }
#define DA_BELOW(x, number) da_less(x, DA_R(number))
#define DA_ABOVE(x, number) da_less(DA_R(number), x)

/* da_lane_min, da_lane_max: the smaller and the larger of two; the second where they cannot be compared. */
#ifdef __AVX__
#include <immintrin.h>
#endif
#if defined(__AVX__) && DA_LANES == 4
DA_LANE da_lane da_select(da_mask which, da_lane yes, da_lane no) { return _mm256_blendv_pd(no, yes, (__m256d)which); }
DA_LANE da_lane da_lane_min(da_lane a, da_lane b) { return _mm256_min_pd(a, b); }
DA_LANE da_lane da_lane_max(da_lane a, da_lane b) { return _mm256_max_pd(a, b); }
DA_LANE da_lane da_lane_sqrt(da_lane a) { return _mm256_sqrt_pd(a); }
DA_LANE int da_any(da_mask which) { return _mm256_movemask_pd((__m256d)which) != 0; }
#else
DA_LANE da_lane da_select(da_mask which, da_lane yes, da_lane no)
{
    return (da_lane)((which & (da_mask)yes) | (~which & (da_mask)no));
}
DA_LANE da_lane da_lane_min(da_lane a, da_lane b) { return da_select(da_less(a, b), a, b); }
DA_LANE da_lane da_lane_max(da_lane a, da_lane b) { return da_select(da_less(b, a), a, b); }
DA_LANE da_lane da_lane_sqrt(da_lane a)
{
    for (int i = 0; i < DA_LANES; i++) a[i] = sqrt(a[i]);
    return a;
}
DA_LANE int da_any(da_mask which)
{
    long long found = 0;
    for (int i = 0; i < DA_LANES; i++) found |= which[i];
    return found != 0;
}
#endif

DA_LANE da_lane da_lane_fabs(da_lane a) { return (da_lane)((da_bits)a & 0x7fffffffffffffffULL); }
DA_LANE da_lane da_lane_sign(da_lane a)
{
    const da_lane zero = DA_R(0.0);
    return da_select(da_less(zero, a), DA_R(1.0), da_select(da_less(a, zero), DA_R(-1.0), zero));
}
DA_LANE da_mask da_lane_finite(da_lane a) { return da_equal(a - a, DA_R(0.0)); }

/* Of the C library, number by number. */
#define DA_BY_LANE(name)                                          \
    DA_LANE da_lane da_lane_##name(da_lane x)                     \
    {                                                             \
        da_lane found = x;                                        \
        for (int i = 0; i < DA_LANES; i++) found[i] = name(x[i]); \
        return found;                                             \
    }
#define DA_BY_TWO_LANES(name)                                           \
    DA_LANE da_lane da_lane_##name(da_lane x, da_lane y)                \
    {                                                                   \
        da_lane found = x;                                              \
        for (int i = 0; i < DA_LANES; i++) found[i] = name(x[i], y[i]); \
        return found;                                                   \
    }
DA_BY_LANE(tan)
DA_BY_LANE(asin)
DA_BY_LANE(acos)
DA_BY_LANE(atan)
DA_BY_LANE(sinh)
DA_BY_LANE(cosh)
DA_BY_LANE(tanh)
DA_BY_LANE(asinh)
DA_BY_LANE(acosh)
DA_BY_LANE(atanh)
DA_BY_LANE(log1p)
DA_BY_LANE(expm1)
DA_BY_LANE(erf)
DA_BY_LANE(floor)
DA_BY_LANE(ceil)
DA_BY_TWO_LANES(pow)
DA_BY_TWO_LANES(atan2)
DA_BY_TWO_LANES(copysign)
DA_BY_TWO_LANES(hypot)

/* Adding this rounds to a whole number, whose last bits then stand in the last bits of the sum. */
#define DA_WHOLE 6755399441055744.0

/* Sine and cosine, as base/elementary.h has them: x = k π/2 + r with |r| ≤ π/4, polynomials of fdlibm. Within 2
   units in the last place. Where products need not be rounded, π/2 is taken in three whole parts, which serves up
   to |x| = 1e9; elsewhere in parts of 33 bits, up to 1e5. Beyond there is no value: such a motion is left to the
   other way. */
#if defined(__FMA__) && DA_LANES == 4
#define DA_MINUS_PRODUCT(c, a, b) _mm256_fnmadd_pd(a, DA_R(b), c)
#elif defined(__AVX512F__) && DA_LANES == 8
#define DA_MINUS_PRODUCT(c, a, b) _mm512_fnmadd_pd(a, DA_R(b), c)
#endif
#ifdef DA_MINUS_PRODUCT
#define DA_LARGEST_ANGLE 1e9
DA_LANE da_lane da_rest_of_turns(da_lane x, da_lane turns)
{
    const da_lane first = DA_MINUS_PRODUCT(x, turns, 1.5707963267948966);
    return DA_MINUS_PRODUCT(DA_MINUS_PRODUCT(first, turns, 6.123233995736766e-17), turns, -1.4973849048591833e-33);
}
#else
#define DA_LARGEST_ANGLE 1e5
DA_LANE da_lane da_rest_of_turns(da_lane x, da_lane turns)
{
    const da_lane first = x - turns * 1.57079632673412561417e+00, part = turns * 6.07710050630396597660e-11;
    const da_lane second = first - part;
    return second + (((first - second) - part) - turns * 2.02226624879595063154e-21);
}
#endif

DA_LANE void da_lane_sincos(da_lane x, da_lane *s, da_lane *c)
{
    const da_lane shifted = x * 0.6366197723675814 + DA_WHOLE, turns = shifted - DA_WHOLE;
    const da_mask too_large = ~da_most(da_lane_fabs(x), DA_R(DA_LARGEST_ANGLE));
    const da_mask quarter = (da_mask)shifted;
    const da_lane r = (da_lane)((da_mask)da_rest_of_turns(x, turns) | too_large);
    const da_lane z = r * r;
    const da_lane sine =
        r + r * z *
                (-1.66666666666666324348e-01 +
                 z * (8.33333333332248946124e-03 +
                      z * (-1.98412698298579493134e-04 +
                           z * (2.75573137070700676789e-06 +
                                z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)))));
    const da_lane cosine =
        1.0 + z * (-0.5 + z * (4.16666666666666019037e-02 +
                               z * (-1.38888888888741095749e-03 +
                                    z * (2.48015872894767294178e-05 +
                                         z * (-2.75573143513906633035e-07 +
                                              z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))))));
    /* An odd number of quarters exchanges the two; the second bit is the sign. */
    const da_mask swap = -(quarter & 1);
    *s = (da_lane)((da_mask)da_select(swap, cosine, sine) ^ ((quarter & 2) << 62));
    *c = (da_lane)((da_mask)da_select(swap, sine, cosine) ^ (((quarter + 1) & 2) << 62));
}

DA_LANE da_lane da_lane_sin(da_lane x)
{
    da_lane s, c;
    da_lane_sincos(x, &s, &c);
    return s;
}

DA_LANE da_lane da_lane_cos(da_lane x)
{
    da_lane s, c;
    da_lane_sincos(x, &s, &c);
    return c;
}

/* 2^k of whole k between −1022 and 1023. */
DA_LANE da_lane da_power_of_2(da_lane k) { return (da_lane)(((da_bits)(k + DA_WHOLE) << 52) + 0x3ff0000000000000ULL); }

/* exp x = 2^k exp r with |r| ≤ ½ ln 2, by the quotient of fdlibm. Within one unit in the last place. */
DA_LANE da_lane da_lane_exp(da_lane given)
{
    const da_lane x = da_lane_max(DA_R(-760.0), da_lane_min(DA_R(720.0), given));
    const da_lane k = (x * 1.44269504088896338700e+00 + DA_WHOLE) - DA_WHOLE;
    const da_lane high = x - k * 6.93147180369123816490e-01, low = k * 1.90821492927058770002e-10;
    const da_lane r = high - low, t = r * r;
    const da_lane c =
        r - t * (1.66666666666666019037e-01 +
                 t * (-2.77777777770155933842e-03 +
                      t * (6.61375632143793436117e-05 +
                           t * (-1.65339022054652515390e-06 + t * 4.13813679705723846039e-08))));
    const da_lane y = 1.0 - ((low - (r * c) / (2.0 - c)) - high), half = (0.5 * k + DA_WHOLE) - DA_WHOLE;
    /* In two factors, since the ends of the range have no 2^k. */
    return y * da_power_of_2(half) * da_power_of_2(k - half);
}

/* log x = k ln 2 + log(1 + f) with √½ ≤ 1 + f < √2, by the polynomial of fdlibm. Within one unit in the last place. */
DA_LANE da_lane da_lane_log(da_lane given)
{
    const da_mask tiny = DA_BELOW(given, 2.2250738585072014e-308);
    const da_lane x = da_select(tiny, given * 18014398509481984.0, given);
    const da_bits bits = (da_bits)x + (0x3ff0000000000000ULL - 0x3fe6a09e667f3bcdULL);
    const da_lane f = (da_lane)((bits & 0x000fffffffffffffULL) + 0x3fe6a09e667f3bcdULL) - 1.0;
    const da_lane exponent = (da_lane)((bits >> 52) | 0x4330000000000000ULL) - (4503599627370496.0 + 1023.0);
    const da_lane k = exponent - da_select(tiny, DA_R(54.0), DA_R(0.0));
    const da_lane s = f / (2.0 + f), z = s * s, half = 0.5 * f * f;
    const da_lane R =
        z * (6.666666666666735130e-01 +
             z * (3.999999999940941908e-01 +
                  z * (2.857142874366239149e-01 +
                       z * (2.222219843214978396e-01 +
                            z * (1.818357216161805012e-01 +
                                 z * (1.531383769920937332e-01 + z * 1.479819860511658591e-01))))));
    const da_lane found =
        k * 6.93147180369123816490e-01 - ((half - (s * (half + R) + k * 1.90821492927058770002e-10)) - f);
    const da_lane infinite = (da_lane)((da_bits){0} + 0x7ff0000000000000ULL);
    const da_lane positive = da_select(DA_ABOVE(given, 0.0), given, DA_NOT_A_NUMBER);
    const da_lane beyond = da_select(da_equal(given, DA_R(0.0)), -infinite, positive);
    return da_select(DA_ABOVE(given, 0.0) & da_less(given, infinite), found, beyond);
}

#endif
