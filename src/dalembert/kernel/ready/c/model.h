/* A model as data: sizes, rows of constraints by kind, and its functions as tapes. The runtime asks for them by the
   names that the kernel of one model has as macros: DA_N, da_fast_rows, da_fast(…). Which model it is about is known to
   each thread by itself. */
#ifndef DA_MODEL_H
#define DA_MODEL_H

/* As the structure in kernel/ready/model.py. DA_TAPES and what follows on them in each are made from its lists. */
typedef struct {
    const int *size;
    const int *const *rows;
    const da_tape *tape; /* of a function that the model lacks: without code */
    const int *work_at;  /* of each: where its numbers stand among the constants of a run */
    const int (*input)[DA_TAPE_MOST]; /* of each: the lengths of its inputs, parameters left out … */
    const int (*output)[DA_TAPE_MOST]; /* … and of its outputs */
} da_model;

/* A library that is loaded late has a little room of this kind, which is found without a call. */
static __thread const da_model *da_now __attribute__((tls_model("initial-exec")));

/* The numbers of a tape. They are written at every evaluation, by the one run that has them. */
DA_FN double *da_numbers(int which, const double *constants) { return (double *)constants + da_now->work_at[which]; }

DA_FN double *da_put_in(double *to, const double *x, int count)
{
    for (int i = 0; i < count; i++) to[i] = x[i];
    return to + count;
}

DA_FN const double *da_take_out(const double *from, double *x, int count)
{
    for (int i = 0; i < count; i++) x[i] = from[i];
    return from + count;
}

/* What depends on parameters alone, of all functions. */
DA_FN void da_constants(const double *p, double *constants)
{
    for (int k = 0; k < DA_TAPES; k++)
        if (da_now->tape[k].live) da_tape_begin(da_now->tape + k, p, da_numbers(k, constants));
}

#endif
