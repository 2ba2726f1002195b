/* The words of the rest, for CUDA and for plain C; small functions. */
#define DA_R(x) ((da_real)(x))
#define DA_RESTRICT __restrict__
#define DA_AT_LEAST_1(n) ((n) > 0 ? (n) : 1)
/* Numbers of a thread that are read seldom, its tolerances and what depends on parameters alone, lie in the memory that
   the threads of a block share, where they fit: every number of one thread beside the same one of its neighbours. */
#define DA_ROOM (DA_NE + DA_AT_LEAST_1(DA_NC))
#if DA_SHARED
#define DA_AT(j) ((j) * DA_THREADS)
#else
#define DA_AT(j) (j)
#endif

#ifdef __CUDACC__
#define DA_FN static __device__ __forceinline__
#define DA_PIECE static __device__ __noinline__
/* Not const: the compiler would put the numbers into the instructions, which takes two more for each of them. */
#define DA_TABLE __constant__
#define DA_UNROLL _Pragma("unroll")
#define DA_ROLL _Pragma("unroll 1")
#define DA_ENTRY extern "C" __global__ void __launch_bounds__(DA_THREADS, DA_BLOCKS)
#define DA_THREAD ((long long)blockIdx.x * blockDim.x + threadIdx.x)
#define DA_THREADS_IN_ALL ((long long)gridDim.x * blockDim.x)
#define DA_TAKE(counter) ((long long)atomicAdd(counter, 1ULL))
#else
#include <tgmath.h>
#define DA_FN static inline
#define DA_PIECE static
#define DA_TABLE static const
#define DA_UNROLL
#define DA_ROLL
#define DA_ENTRY void
#define DA_THREAD 0
#define DA_THREADS_IN_ALL 1
#define DA_TAKE(counter) ((long long)(*(counter))++)
#endif

/* What becomes of a member. The first ones as in runtime/base/base.h; those from 32 on are a GPU's own. */
enum {
    DA_DONE = 0,
    DA_STEP_TOO_SMALL = 1,
    DA_UNDEFINED = 3,
    DA_NO_PROJECTION = 6,
    DA_NEEDS_CPU = 32, /* next to a singular configuration, or over a corner of the constraints: algebra decides */
    DA_BUDGET = 33,    /* more steps than it may take */
    DA_EVENT = 34,     /* an event has ended it: not a failure */
    DA_SHORTER = 35    /* the last step is taken again: not one either */
};

DA_FN double da_min(double a, double b) { return a < b || a != a ? a : b; }
DA_FN double da_max(double a, double b) { return a > b ? a : b; }
DA_FN double da_sign(double a) { return (double)((a > 0.0) - (a < 0.0)); }
DA_FN int da_finite(double a) { return a - a == 0.0; }

/* 1/b within a unit in the last place: the quick reciprocal has 20 bits, and one cubic step triples them; of zero,
   infinity and the ends of the range it is right as it is. Half the time of a division, and no branch. */
#if defined(__CUDACC__) && !DA_SINGLE
DA_FN double da_inverse(double b)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
    const double e = fma(-b, r, 1.0);
    return fabs(e) < 1e-3 ? fma(r, fma(e, e, e), r) : r;
}
DA_FN double da_over(double a, double b) { return a * da_inverse(b); }
#else
DA_FN double da_inverse(double b) { return 1.0 / b; }
DA_FN double da_over(double a, double b) { return a / b; }
#endif

/* Sine and cosine. CUDA's own reads its coefficients from memory, or has a long way round, for angles that no motion
   comes to. As runtime/base/elementary.h: x = k π/2 + r with |r| ≤ π/4, here by products without rounding; polynomials
   of fdlibm, and of Cephes in single precision. Within 2 units in the last place of 1 for |x| below 1e15 (single: 1e5),
   where neighbouring numbers lie a radian apart (a hundredth). */
#if DA_SINGLE
#define DA_WHOLE 12582912.0
#define DA_TERMS 3
DA_TABLE double da_turn[] = {
    0.63661977, 1.57079637050628662109375, -4.37113900018624283e-8, -1.71512451e-15,
    -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1, /* sine */
    2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2, /* cosine */
};
#else
#define DA_WHOLE 6755399441055744.0
#define DA_TERMS 6
DA_TABLE double da_turn[] = {
    0.6366197723675814, 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33,
    1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06,
    -1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01, /* sine */
    -1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07,
    2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02, /* cosine */
};
#endif

/* The last bits of a number in which a whole one stands: how many quarters of a turn. */
DA_FN int da_quarters(double shifted)
{
#ifndef __CUDACC__
    const union {
        double number;
        int bits[2];
    } last = {shifted};
    return last.bits[0];
#elif DA_SINGLE
    return __float_as_int(shifted);
#else
    return __double2loint(shifted);
#endif
}

DA_FN void da_sincos(double x, double *s, double *c)
{
    /* Adding 1.5·2⁵² (2²³) rounds to a whole number, whose last bits then stand in the last bits of the sum. */
    const double shifted = fma(x, da_turn[0], DA_WHOLE), turns = shifted - DA_WHOLE;
    const int quarter = da_quarters(shifted);
    const double r = fma(-turns, da_turn[3], fma(-turns, da_turn[2], fma(-turns, da_turn[1], x))), z = r * r;
    double sine = da_turn[4], cosine = da_turn[4 + DA_TERMS];
    DA_UNROLL
    for (int i = 1; i < DA_TERMS; i++) {
        sine = fma(sine, z, da_turn[4 + i]);
        cosine = fma(cosine, z, da_turn[4 + DA_TERMS + i]);
    }
    sine = fma(r * z, sine, r);
    cosine = fma(z, fma(z, cosine, -0.5), 1.0);
    const double a = quarter & 1 ? cosine : sine, b = quarter & 1 ? sine : cosine;
    *s = quarter & 2 ? -a : a;
    *c = (quarter + 1) & 2 ? -b : b;
}
