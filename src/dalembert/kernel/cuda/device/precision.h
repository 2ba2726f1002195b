/* What the rest is written in: C that CUDA compiles (NVRTC and nvcc, no other header), and any C compiler too, where a
   loop takes the place of the threads, so that both can be compared.

   DA_SINGLE 1: float instead of double. DA_LOOK 1: samples, reductions and events, see look.h. DA_PACED 1: steps have a
   longest length. DA_THREADS, DA_BLOCKS: threads of a block, blocks of a processor at least. */
#ifndef DA_SINGLE
#define DA_SINGLE 0
#endif
#ifndef DA_LOOK
#define DA_LOOK 0
#endif
#ifndef DA_PACED
#define DA_PACED 0
#endif
#ifndef DA_THREADS
#define DA_THREADS 128
#endif
#ifndef DA_BLOCKS
#define DA_BLOCKS 1
#endif

#ifndef DA_SHARED
#if defined(__CUDACC__) && (DA_NE + DA_NC) * DA_THREADS * (DA_SINGLE ? 4 : 8) <= 49152
#define DA_SHARED 1
#else
#define DA_SHARED 0
#endif
#endif

#if DA_SINGLE
typedef float da_real;
#define DA_EPS 1.1920929e-07f
#else
typedef double da_real;
#define DA_EPS 2.220446049250313e-16
#endif
