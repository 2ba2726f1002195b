/* Qualifiers and small functions. The same source compiles as C and as CUDA; only these macros differ. */
#ifndef DA_BASE_H
#define DA_BASE_H

#ifdef __CUDACC__
#define DA_FN __device__ static inline __attribute__((unused))
#define DA_HOT __device__ static __forceinline__
#define DA_PIECE __device__ static __noinline__
#define DA_SMALL
#define DA_RESTRICT __restrict__
#define DA_API extern "C" __device__
#define DA_LIST(name) __device__ static const int name[] __attribute__((unused))
#else
#include <math.h>
#include <stddef.h>
#include <string.h>
#ifdef DA_GENERIC
#define DA_FN static __attribute__((unused)) /* with sizes at run time there is little to gain from copies */
#else
#define DA_FN static inline __attribute__((unused)) /* a kernel need not call all of the runtime */
#endif
#define DA_HOT static inline __attribute__((unused, always_inline)) /* short, in every step */
#define DA_PIECE static __attribute__((noinline))
#define DA_SMALL __attribute__((cold))
#define DA_RESTRICT restrict
#define DA_API __attribute__((visibility("default")))
#define DA_LIST(name) static const int name[] __attribute__((unused)) /* of constraints, by row */
#endif

/* For what runs only where straight-line code is not enough: kept apart and small, it costs a small kernel a fifth
   less to compile. Not so where constraints are redundant, since it runs at every step there, nor in larger systems,
   where its loops are worth their speed. Nothing that every run calls may be cold: its callers would be taken for
   cold too. */
#if defined DA_GENERIC
#define DA_COLD DA_FN
#elif DA_FAST_ROWS < DA_M || DA_N > 8
#define DA_COLD DA_FN
#else
#define DA_COLD DA_SMALL DA_PIECE
#endif

/* What an integration returns. Python turns these into messages. */
enum {
    DA_DONE = 0,
    DA_STEP_TOO_SMALL = 1, /* the step size fell below rounding */
    DA_STALLED = 2,        /* so many steps for so little time that the end would not be reached */
    DA_UNDEFINED = 3,      /* the model has no finite value at an accepted state */
    DA_INCONSISTENT = 4,   /* no acceleration satisfies the constraints together */
    DA_UNDETERMINED = 5,   /* a direction has neither mass nor constraint */
    DA_NO_PROJECTION = 6,  /* the state could not be returned to the constraints */
    DA_NO_METHOD = 7,      /* the kernel was made without the stiff method */
    DA_BRANCH_ENDS = 8,    /* the branch of accelerations that was followed has no solution nearby */
    DA_BRANCHES_MEET = 9,  /* two branches of accelerations meet */
    DA_NO_FORCE = 10,      /* no constraint force found that agrees with the work it is said to do */
    DA_SINGULAR_FORCE = 11, /* none agrees, or any does: the equations for it are singular */
    DA_CHATTERS = 12,      /* the motion is driven back over a kink as soon as it has crossed it */
    DA_CORNER = 13,        /* a constraint has a corner at a kink: the velocity would have to jump */
    DA_EDGE = 14           /* it has one elsewhere: however short the step, the constraints ask for another velocity */
};

/* No value where one of the two has none: of pivots, those after a vanished one have none, and it must not be
   forgotten. */
DA_FN double da_min(double a, double b) { return a < b || a != a ? a : b; }
DA_FN double da_max(double a, double b) { return a > b ? a : b; }
DA_FN double da_sign(double a) { return (double)((a > 0.0) - (a < 0.0)); }
DA_FN int da_finite(double a) { return a - a == 0.0; }

DA_FN int da_all_finite(const double *x, int n)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] - x[i];
    return sum == 0.0;
}

#endif
