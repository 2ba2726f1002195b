/* The words of the rest, for CUDA and for plain C; small functions. */
#define DA_R(x) ((da_real)(x))
#define DA_RESTRICT __restrict__
#define DA_AT_LEAST_1(n) ((n) > 0 ? (n) : 1)

#ifdef __CUDACC__
#define DA_FN static __device__ __forceinline__
#define DA_PIECE static __device__ __noinline__
#define DA_TABLE static __constant__ const
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
    DA_NEEDS_CPU = 32, /* next to a singular configuration, where rank and branch are decided by algebra */
    DA_BUDGET = 33,    /* more steps than it may take */
    DA_EVENT = 34      /* an event has ended it: not a failure */
};

DA_FN double da_min(double a, double b) { return a < b || a != a ? a : b; }
DA_FN double da_max(double a, double b) { return a > b ? a : b; }
DA_FN double da_sign(double a) { return (double)((a > 0.0) - (a < 0.0)); }
DA_FN int da_finite(double a) { return a - a == 0.0; }

DA_FN void da_sincos(double x, double *s, double *c)
{
#ifndef __CUDACC__
    *s = sin(x);
    *c = cos(x);
#elif DA_SINGLE
    sincosf(x, s, c);
#else
    sincos(x, s, c);
#endif
}
