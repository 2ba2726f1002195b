/* A function given as a list of instructions, evaluated at many points: each instruction serves a block of points at
 * once, so that reading it costs little and the arithmetic runs in vector registers. */
#ifndef DA_READY_MANY_H
#define DA_READY_MANY_H

#define DA_LANES 8

/* The order is that of OPERATIONS in kernel/ready/many.py. */
enum {
    DA_OP_CONSTANT, DA_OP_INPUT, DA_OUTPUT, DA_ASSIGN, DA_ADD, DA_SUB, DA_MUL, DA_DIV, DA_NEG, DA_SQ, DA_TWICE, DA_INV,
    DA_SQRT, DA_SIN, DA_COS, DA_TAN, DA_ASIN, DA_ACOS, DA_ATAN, DA_SINH, DA_COSH, DA_TANH, DA_ASINH, DA_ACOSH,
    DA_ATANH, DA_EXP, DA_LOG, DA_LOG1P, DA_EXPM1, DA_ERF, DA_FABS, DA_SIGN, DA_FLOOR, DA_CEIL, DA_NOT, DA_POW,
    DA_ATAN2, DA_FMIN, DA_FMAX, DA_LT, DA_LE, DA_EQ, DA_OP_NE, DA_AND, DA_OR, DA_IF_ELSE_ZERO, DA_COPYSIGN, DA_HYPOT
};

typedef struct {
    const int *code;         /* (operation, into, one, two) of each instruction */
    const double *constants;
    long once, each;         /* instructions that depend on parameters alone, and those after them */
    long registers;
    long outputs;
    const long *sizes;       /* of each output at one point */
    long watched;            /* so many outputs, the first ones, must be finite */
} da_program;

/* Into an array of its own first, which nothing else can be: else a compiler must take the numbers one by one, since
 * each might be an operand of the next. */
#define DA_EACH(expression)                                     \
    {                                                           \
        double made[DA_LANES];                                  \
        for (int l = 0; l < DA_LANES; l++) made[l] = (expression); \
        memcpy(to, made, sizeof made);                          \
    }                                                           \
    break

/* Instructions [from, until) for the points first … first + lanes of `count`. Whether watched outputs are finite goes
 * into `bad` as numbers that are zero then. */
static void da_block(const da_program *P, long from, long until, long first, int lanes, long count,
                     const double *const *in, const long *stride, double *const *out, double *w, double *bad)
{
    for (long k = from; k < until; k++) {
        const int *c = P->code + 4 * k;
        double *to = w + (long)DA_LANES * c[1];
        const double *x = w + (long)DA_LANES * c[2], *y = w + (long)DA_LANES * c[3];
        switch (c[0]) {
        case DA_OP_CONSTANT: DA_EACH(P->constants[c[2]]);
        case DA_OP_INPUT: {
            const double *at = in[c[2]] + c[3];
            const long s = stride[c[2]];
            at += s * first;
            if (lanes == DA_LANES) {
                for (int l = 0; l < DA_LANES; l++) to[l] = at[s * l];
            } else {
                for (int l = 0; l < DA_LANES; l++) to[l] = at[s * (l < lanes ? l : lanes - 1)];
            }
            break;
        }
        case DA_OUTPUT: {
            const long size = P->sizes[c[1]];
            double *at = out[c[1]] + size * first + c[3];
            for (int l = 0; l < lanes; l++) at[size * l] = x[l];
            if (c[1] < P->watched)
                for (int l = 0; l < DA_LANES; l++) bad[l] += x[l] * 0.0;
            break;
        }
        case DA_ASSIGN: DA_EACH(x[l]);
        case DA_ADD: DA_EACH(x[l] + y[l]);
        case DA_SUB: DA_EACH(x[l] - y[l]);
        case DA_MUL: DA_EACH(x[l] * y[l]);
        case DA_DIV: DA_EACH(x[l] / y[l]);
        case DA_NEG: DA_EACH(-x[l]);
        case DA_SQ: DA_EACH(x[l] * x[l]);
        case DA_TWICE: DA_EACH(x[l] + x[l]);
        case DA_INV: DA_EACH(1.0 / x[l]);
        case DA_SQRT: DA_EACH(sqrt(x[l]));
        case DA_SIN: DA_EACH(sin(x[l]));
        case DA_COS: DA_EACH(cos(x[l]));
        case DA_TAN: DA_EACH(tan(x[l]));
        case DA_ASIN: DA_EACH(asin(x[l]));
        case DA_ACOS: DA_EACH(acos(x[l]));
        case DA_ATAN: DA_EACH(atan(x[l]));
        case DA_SINH: DA_EACH(sinh(x[l]));
        case DA_COSH: DA_EACH(cosh(x[l]));
        case DA_TANH: DA_EACH(tanh(x[l]));
        case DA_ASINH: DA_EACH(asinh(x[l]));
        case DA_ACOSH: DA_EACH(acosh(x[l]));
        case DA_ATANH: DA_EACH(atanh(x[l]));
        case DA_EXP: DA_EACH(exp(x[l]));
        case DA_LOG: DA_EACH(log(x[l]));
        case DA_LOG1P: DA_EACH(log1p(x[l]));
        case DA_EXPM1: DA_EACH(expm1(x[l]));
        case DA_ERF: DA_EACH(erf(x[l]));
        case DA_FABS: DA_EACH(fabs(x[l]));
        case DA_SIGN: DA_EACH(x[l] > 0.0 ? 1.0 : x[l] < 0.0 ? -1.0 : x[l]);
        case DA_FLOOR: DA_EACH(floor(x[l]));
        case DA_CEIL: DA_EACH(ceil(x[l]));
        case DA_NOT: DA_EACH((double)(x[l] == 0.0));
        case DA_POW: DA_EACH(pow(x[l], y[l]));
        case DA_ATAN2: DA_EACH(atan2(x[l], y[l]));
        case DA_FMIN: DA_EACH(fmin(x[l], y[l]));
        case DA_FMAX: DA_EACH(fmax(x[l], y[l]));
        case DA_LT: DA_EACH((double)(x[l] < y[l]));
        case DA_LE: DA_EACH((double)(x[l] <= y[l]));
        case DA_EQ: DA_EACH((double)(x[l] == y[l]));
        case DA_OP_NE: DA_EACH((double)(x[l] != y[l]));
        case DA_AND: DA_EACH((double)(x[l] != 0.0 && y[l] != 0.0));
        case DA_OR: DA_EACH((double)(x[l] != 0.0 || y[l] != 0.0));
        case DA_IF_ELSE_ZERO: DA_EACH(x[l] != 0.0 ? y[l] : 0.0);
        case DA_COPYSIGN: DA_EACH(copysign(x[l], y[l]));
        case DA_HYPOT: DA_EACH(hypot(x[l], y[l]));
        default: break;
        }
    }
    (void)count;
}

/* All outputs at `count` points, one after the other in `base`, each (count, size). Entries that no instruction writes
 * are left as they are. w: room for the registers. Returns 0 where all watched outputs are finite. */
DA_READY int da_many(const da_program *P, long count, const double *const *in, const long *stride, double *base,
                     double *w)
{
    double *out[32], bad[DA_LANES] = {0.0}, sum = 0.0;
    for (long k = 0; k < P->outputs; k++) {
        out[k] = base;
        base += count * P->sizes[k];
    }
    da_block(P, 0, P->once, 0, 1, count, in, stride, out, w, bad);
    for (long first = 0; first < count; first += DA_LANES) {
        const int lanes = count - first < DA_LANES ? (int)(count - first) : DA_LANES;
        da_block(P, P->once, P->once + P->each, first, lanes, count, in, stride, out, w, bad);
    }
    for (int l = 0; l < DA_LANES; l++) sum += bad[l];
    return sum != 0.0 || sum != sum;
}

#endif
