/* Follows a kernel's source: repeats recorded calls of da_integrate under the sanitizers. Every array has exactly the
   length that the kernel may use, so that one entry too many is seen. argv[1] holds the calls as doubles, one after the
   other:

   method, project, t0, rtol, points, functions of events, whether a branch is given, then y0, p, atol, times, directions
   and terminals of the events and which count from zero, the places of the sides of kinks, the branch.

   Where it follows the runtime for all models, argv[2] holds the model as data: see da_take_model.

   Prints for each its status, points, evaluations off the straight-line code, events, and the last state. */
#include <stdio.h>
#include <stdlib.h>

static double *da_take(FILE *from, long count)
{
    double *x = malloc(sizeof(double) * (size_t)(count > 0 ? count : 1));
    if (!x || fread(x, sizeof(double), (size_t)count, from) != (size_t)count) exit(3);
    return x;
}

static int *da_take_whole(FILE *from, long count)
{
    double *x = da_take(from, count);
    int *whole = malloc(sizeof(int) * (size_t)(count > 0 ? count : 1));
    if (!whole) exit(3);
    for (long i = 0; i < count; i++) whole[i] = (int)x[i];
    free(x);
    return whole;
}

#ifdef DA_GENERIC
/* Each list of whole numbers with its length before it: sizes, the lists of rows, where tapes have their numbers, the
   lengths of their inputs and of their outputs; then of each tape the numbers of da_tape behind its pointers, its fixed
   and its live code, and the constants. */
static int *da_take_list(FILE *from)
{
    double *count = da_take(from, 1);
    int *list = da_take_whole(from, (long)*count);
    free(count);
    return list;
}

static void da_take_model(const char *path)
{
    FILE *from = fopen(path, "rb");
    static da_model model;
    static const int *rows[4];
    static da_tape tape[DA_TAPES];
    if (!from) exit(3);
    model.size = da_take_list(from);
    for (int k = 0; k < 4; k++) rows[k] = da_take_list(from);
    model.work_at = da_take_list(from);
    model.input = (const int (*)[DA_TAPE_MOST])da_take_list(from);
    model.output = (const int (*)[DA_TAPE_MOST])da_take_list(from);
    for (int k = 0; k < DA_TAPES; k++) {
        int *numbers = da_take_list(from);
        tape[k].constant_count = numbers[0];
        tape[k].parameter_count = numbers[1];
        tape[k].inputs_at = numbers[2];
        tape[k].outputs_at = numbers[3];
        tape[k].output_count = numbers[4];
        tape[k].size = numbers[5];
        tape[k].fixed = da_take_list(from);
        tape[k].live = da_take_list(from);
        tape[k].constants = da_take(from, numbers[0]);
        if (!numbers[5]) tape[k].live = 0; /* the model has no such function */
        free(numbers);
    }
    model.rows = rows;
    model.tape = tape;
    da_now = &model;
    fclose(from);
}
#endif

int main(int argc, char **argv)
{
    FILE *from = argc > 1 ? fopen(argv[1], "rb") : 0;
    double head[10];
    if (!from) return 3;
#ifdef DA_GENERIC
    if (argc < 3) return 3;
    da_take_model(argv[2]);
#endif
    while (fread(head, sizeof(double), 10, from) == 10) {
        const long count = (long)head[4], functions = (long)head[5];
        double *y0 = da_take(from, DA_NY), *p = da_take(from, DA_NP), *atol = da_take(from, DA_NE);
        double *times = da_take(from, count), *branch = 0;
        int *direction = da_take_whole(from, functions), *terminal = da_take_whole(from, functions);
        int *from_zero = da_take_whole(from, functions), *places = da_take_whole(from, DA_KINKS);
        double *out = malloc(sizeof(double) * (size_t)(count * DA_NY));
        double *report = malloc(sizeof(double) * (size_t)DA_REPORT_SIZE);
        const long room = 50;
        double *record = malloc(sizeof(double) * (size_t)(room * (3 + DA_NY)));
        da_requests events = {direction, terminal, from_zero, record, room, 0, -1, places, -1};
        if (!out || !report || !record) return 3;
        if (head[6] != 0.0) {
            double *first = da_take(from, 2 * DA_N);
            branch = calloc((size_t)(count * 2 * DA_N), sizeof(double));
            if (!branch) return 3;
            for (int i = 0; i < 2 * DA_N; i++) branch[i] = first[i];
            free(first);
        }
        double *starts = da_take(from, (long)head[7]), *bounds = da_take(from, (long)head[7]);
        double weights[DA_N], fastest[2 + DA_NY];
        for (int j = 0; j < DA_N; j++) weights[j] = 1.0;
        const da_pace pace = {starts, bounds, (long)head[7], head[8], head[9], weights, fastest};
        double progress = 0.0;
        const int stop = 0;
        const int status = da_integrate(y0, head[2], p, times, count, head[3], atol, (int)head[0], (int)head[1], out,
                                        report, &progress, &stop, functions ? &events : 0, branch, &pace);
        printf("%d %.0f %.0f %ld", status, report[DA_REPORT_POINTS], report[DA_REPORT_ROBUST], events.count);
        for (int j = 0; j < DA_NY; j++) printf(" %.17g", report[DA_REPORT_STATE + j]);
        printf("\n");
        double *dy = malloc(sizeof(double) * (size_t)DA_NY);
        if (!dy) return 3;
        for (int way = 0; way < 3; way++)
            if (da_slope_of(y0, head[2], p, way, branch, dy)) return 4;
        free(dy), free(y0), free(p), free(atol), free(times), free(branch), free(out), free(report), free(record);
        free(direction), free(terminal), free(from_zero), free(places), free(starts), free(bounds);
    }
    fclose(from);
    return 0;
}
