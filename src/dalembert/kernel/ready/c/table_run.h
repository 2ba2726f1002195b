/* Programs of a large system wholly as data, so that it needs no compiler: as long in the doing as some four times the
   loops that are compiled for it. A table begins with where its steps begin and end; before them stand instructions of
   templates, once for all instances. */
#ifndef DA_TABLE_RUN_H
#define DA_TABLE_RUN_H

/* As in kernel/rolled/by_table.py. */
enum { DA_STEP_SOLVE, DA_STEP_BACK, DA_STEP_REPLACE, DA_STEP_FOLLOW, DA_STEP_CLEAR, DA_STEP_COPY, DA_STEP_GAUGE };
/* Besides CasADi's operations: a number, an operand of the step, and results written to a place or added there. */
enum { DA_ROW_NUMBER = DA_TAPE_CODES, DA_ROW_OPERAND, DA_ROW_WRITE, DA_ROW_ADD };

/* Behind the number of the step: where its template is, then its places. Of the template: how many places, where its
   values on the way stand, how many instructions, and these. */
static const int *da_step_contribute(double *w, const int *T, const int *s)
{
    const int *made = T + s[1], *at = s + 2;
    double *v = w + made[1];
#define DA_ROW_BINARY(code, form)                  \
    case code: {                                   \
        const double x = v[row[2]], y = v[row[3]]; \
        v[row[1]] = form;                          \
        break;                                     \
    }
#define DA_ROW_UNARY(code, form)    \
    case code: {                    \
        const double x = v[row[2]]; \
        v[row[1]] = form;           \
        break;                      \
    }
    for (const int *row = made + 3, *end = row + 4 * made[2]; row < end; row += 4)
        switch (*row) {
            DA_TAPE_OPERATIONS(DA_ROW_BINARY, DA_ROW_UNARY)
        case DA_ROW_NUMBER: memcpy(v + row[1], row + 2, sizeof *v); break;
        case DA_ROW_OPERAND: v[row[1]] = w[at[row[2]]]; break;
        case DA_ROW_WRITE: w[at[row[2]]] = v[row[1]]; break;
        case DA_ROW_ADD: w[at[row[2]]] += v[row[1]]; break;
        }
#undef DA_ROW_BINARY
#undef DA_ROW_UNARY
    return at + made[0];
}

DA_READY void da_run_table(double *w, const int *T)
{
    for (const int *s = T + T[0], *end = T + T[1]; s < end;) switch (*s) {
        case DA_STEP_SOLVE: s = da_step_solve(w, s); break;
        case DA_STEP_BACK: s = da_step_back(w, s); break;
        case DA_STEP_REPLACE: s = da_step_replace(w, s); break;
        case DA_STEP_FOLLOW: s = da_step_follow(w, s); break;
        case DA_STEP_CLEAR: s = da_step_clear(w, s); break;
        case DA_STEP_COPY: s = da_step_copy(w, s); break;
        case DA_STEP_GAUGE: s = da_step_gauge(w, s); break;
        default: s = da_step_contribute(w, T, s); break;
        }
}

#endif
