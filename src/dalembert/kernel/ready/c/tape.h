/* A function as data: instructions on one array of numbers, evaluated here, so that a model needs no compiler.

   The array w of a tape has, one after the other: constants, the parameters, what follows from these two alone (found
   once per run by the code `fixed`), the inputs, the outputs stored by columns, one place for what nobody reads, and
   places for values on the way, used again once a value is read no more. Code is a row of int: a code, where the result
   goes, where operands stand. DA_TAPE_OPERATIONS, made from the table of kernel/emit/straight_line.py, lists the
   operations: BINARY(code, form in x and y) and UNARY(code, form in x); codes are CasADi's. */
#ifndef DA_TAPE_H
#define DA_TAPE_H

#include <stdlib.h>
#include <string.h>

/* Besides CasADi's operations, each with its length: the end; a b + c, c − a b and a b − c; sines and cosines of four
   angles. */
enum {
    DA_TAPE_END = DA_TAPE_CODES,
    DA_TAPE_ADD,
    DA_TAPE_TAKE,
    DA_TAPE_LESS,
    DA_TAPE_TURN,
    DA_TAPE_ALL
};
enum { DA_LENGTH_UNARY = 3, DA_LENGTH_BINARY = 4, DA_LENGTH_FUSED = 5, DA_LENGTH_TURN = 13 };

/* As the structure in kernel/ready/tape.py. */
typedef struct {
    const int *fixed, *live; /* code: once per run, and at every evaluation */
    const double *constants;
    int constant_count, parameter_count, inputs_at, outputs_at, output_count;
    int size; /* of w */
} da_tape;

static void da_tape_go(const int *pc, double *w)
{
#define DA_TAPE_LABEL(code, form) [code] = &&op_##code,
    static const void *const to[DA_TAPE_ALL] = {DA_TAPE_OPERATIONS(DA_TAPE_LABEL, DA_TAPE_LABEL) //
                                                [DA_TAPE_END] = &&end,
                                                [DA_TAPE_ADD] = &&add,
                                                [DA_TAPE_TAKE] = &&take,
                                                [DA_TAPE_LESS] = &&less,
                                                [DA_TAPE_TURN] = &&turn};
#undef DA_TAPE_LABEL
#define DA_TAPE_NEXT(length) \
    pc += length;            \
    goto *to[*pc]
#define DA_TAPE_BINARY(code, form)                   \
    op_##code:                                       \
    {                                                \
        const double x = w[pc[2]], y = w[pc[3]];     \
        w[pc[1]] = form;                             \
        DA_TAPE_NEXT(DA_LENGTH_BINARY);              \
    }
#define DA_TAPE_UNARY(code, form)                    \
    op_##code:                                       \
    {                                                \
        const double x = w[pc[2]];                   \
        w[pc[1]] = form;                             \
        DA_TAPE_NEXT(DA_LENGTH_UNARY);               \
    }
    goto *to[*pc];
    DA_TAPE_OPERATIONS(DA_TAPE_BINARY, DA_TAPE_UNARY)
add:
    w[pc[1]] = w[pc[2]] * w[pc[3]] + w[pc[4]];
    DA_TAPE_NEXT(DA_LENGTH_FUSED);
take:
    w[pc[1]] = w[pc[4]] - w[pc[2]] * w[pc[3]];
    DA_TAPE_NEXT(DA_LENGTH_FUSED);
less:
    w[pc[1]] = w[pc[2]] * w[pc[3]] - w[pc[4]];
    DA_TAPE_NEXT(DA_LENGTH_FUSED);
turn: {
    const double x[4] = {w[pc[1]], w[pc[2]], w[pc[3]], w[pc[4]]};
    double s[4], c[4];
    da_sincos4(x, s, c);
    for (int i = 0; i < 4; i++) {
        w[pc[5 + i]] = s[i];
        w[pc[9 + i]] = c[i];
    }
    DA_TAPE_NEXT(DA_LENGTH_TURN);
}
end:
    return;
#undef DA_TAPE_NEXT
#undef DA_TAPE_BINARY
#undef DA_TAPE_UNARY
}

/* At the start of a run: all of w that does not change with the inputs. */
DA_FN void da_tape_begin(const da_tape *tape, const double *p, double *w)
{
    memcpy(w, tape->constants, sizeof(double) * (size_t)tape->constant_count);
    memcpy(w + tape->constant_count, p, sizeof(double) * (size_t)tape->parameter_count);
    memset(w + tape->outputs_at, 0, sizeof(double) * (size_t)tape->output_count);
    da_tape_go(tape->fixed, w);
}

/* Evaluate at many points at once: inputs (points, …) and outputs (points, …) by rows. w: tape->size numbers. */
DA_READY void da_tape_points(const da_tape *tape, const double *p, const double *inputs, long input_count, long points,
                             double *w, double *outputs)
{
    da_tape_begin(tape, p, w);
    for (long k = 0; k < points; k++) {
        memcpy(w + tape->inputs_at, inputs + k * input_count, sizeof(double) * (size_t)input_count);
        da_tape_go(tape->live, w);
        memcpy(outputs + k * tape->output_count, w + tape->outputs_at, sizeof(double) * (size_t)tape->output_count);
    }
}

#endif
