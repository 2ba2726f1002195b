/* The certificate of a motion whose accelerations follow from its states by the fundamental equation alone, in one
 * call: what `certify` of motion/certificate/certify.py puts together from its parts, with the same formulas, where
 * nothing needs a second look. The reasons for each stand there. */
#ifndef DA_READY_CERTIFY_H
#define DA_READY_CERTIFY_H

#define DA_MOST_STRETCHES 12
/* As _Motion in kernel/ready/certify.py. */
typedef struct {
    long count, n, m;
    const double *t, *q, *work;    /* (count), (count, n), (count, 3) */
    da_checked checked;            /* M … C along it, its velocities and forces */
    const double *energy, *position, *rate; /* E (count), φ and (φ̇, ψ) along it */
    long positions, rates;         /* columns of φ and of (φ̇, ψ) */
    const long *row;               /* the rows of A that belong to (φ̇, ψ); those of φ come first */
    const double *fastest;         /* t, q, v and work where it was fastest; NULL: not known */
    const da_program *points, *dynamics; /* see forces.h and again.h */
    const double *p;
    double steps, near, allowed, resolved; /* steps of the integration; the others as in quadrature.h */
    double least, wanted, granted; /* the least size of a state; what a stretch may miss, and for how many steps */
    const long *sequence;          /* of the extrapolation */
    long rows;
} da_motion;

/* What is found, in the order of FOUND in kernel/ready/certify.py. */
enum {
    DA_C_POSITION, DA_C_VELOCITY, DA_C_ACCELERATION, DA_C_FORCES, DA_C_VIRTUAL_WORK, DA_C_GAUSS, DA_C_ENERGY,
    DA_C_REPEAT, DA_C_CONSISTENCY, DA_C_RANK_MIN, DA_C_RANK_MAX, DA_C_COUNT
};

static double da_span_of(const da_motion *of) { return of->t[of->count - 1] - of->t[0]; }

/* Residuals (count, columns) of constraints relative to their gradients times a size. lengths (count, m): of rows. */
static double da_residual(const da_motion *of, const double *value, long columns, const double *lengths, double size)
{
    double found = 0.0;
    for (long j = 0; j < columns; j++) {
        double gradient = 0.0, most = 0.0;
        for (long k = 0; k < of->count; k++) {
            gradient = da_most(gradient, lengths[of->m * k + of->row[j]]);
            most = da_most(most, da_or_infinite(fabs(value[columns * k + j])));
        }
        const double reach = gradient * size;
        found = da_most(found, most / (reach > 0.0 ? reach : 1.0));
    }
    return found;
}

/* The balance of energy with one more moment: the largest terms, and what they miss. */
typedef struct {
    double first, other, moving, change, work, size, missed;
} da_balance;

static void da_weigh(da_balance *b, double energy, double moving, const double *work)
{
    const double rest = energy - moving, done = work[0] + work[1] + work[2];
    b->moving = da_most(b->moving, moving);
    b->change = da_most(b->change, fabs(rest - b->other));
    for (int j = 0; j < 3; j++) b->work = da_most(b->work, fabs(work[j]));
    b->size = da_most(b->size, fabs(energy));
    b->missed = da_most(b->missed, da_or_infinite(fabs(energy - b->first - done)));
}

/* room: for the outputs of `points` at one state and its registers. −1 where the model has no value at the fastest. */
static double da_energy_off(const da_motion *of, const double *numbers, double pushed, double pull, double *room)
{
    const long n = of->n;
    const double span = da_span_of(of), *kinetic = numbers + DA_KINETIC;
    da_balance b = {of->energy[0], of->energy[0] - kinetic[0], 0.0, 0.0, 0.0, 0.0, 0.0};
    double gap = 0.0;
    for (long k = 0; k < of->count; k++) {
        da_weigh(&b, of->energy[k], kinetic[DA_NUMBERS * k], of->work + 3 * k);
        if (k) gap = da_most(gap, of->t[k] - of->t[k - 1]);
    }
    if (of->fastest) {
        const double *q = of->fastest + 1, *v = q + n, *in[4] = {q, v, of->fastest, of->p};
        const long stride[4] = {0, 0, 0, 0};
        long size = 0, before = 0;
        for (long k = 0; k < of->points->outputs; k++) {
            if (k == 5) before = size;
            size += of->points->sizes[k];
        }
        for (long k = 0; k < size; k++) room[k] = 0.0;
        if (da_many(of->points, 1, in, stride, room, room + size)) return -1.0;
        double moving = 0.0;
        for (long i = 0; i < n; i++)
            for (long j = 0; j < n; j++) moving += v[i] * room[n * i + j] * v[j];
        da_weigh(&b, room[before], fabs(moving) / 2, v + n);
    }
    double moment = span / da_most(of->steps, 1.0);
    moment = gap < moment ? gap : moment;
    double size = da_most(da_most(b.moving, b.change), b.work);
    size = da_most(size, pushed / 2 * moment * moment);
    size = da_most(size, 1e-7 * b.size);
    size = da_most(size, 1e-8 * pull * span * span);
    return size > 0.0 ? b.missed / size : 0.0;
}

/* Stretches to be looked at, half of them evenly, half those most in doubt, in order; their number. */
static long da_choose_stretches(long count, const double *apart, const double *doubt, double speed, long *at)
{
    long chosen = 0, strong[DA_MOST_STRETCHES / 2];
    double strength[DA_MOST_STRETCHES / 2];
    if (count <= DA_MOST_STRETCHES) {
        for (long k = 0; k < count; k++) at[k] = k;
        return count;
    }
    for (int j = 0; j < DA_MOST_STRETCHES / 2; j++) strength[j] = -1.0;
    for (long k = 0; k < count; k++) {
        const double here = doubt[k] + 1e6 * (apart[k] / speed);
        int j = DA_MOST_STRETCHES / 2;
        while (j > 0 && here > strength[j - 1]) j--;
        if (j == DA_MOST_STRETCHES / 2) continue;
        for (int i = DA_MOST_STRETCHES / 2 - 1; i > j; i--) {
            strength[i] = strength[i - 1];
            strong[i] = strong[i - 1];
        }
        strength[j] = here;
        strong[j] = k;
    }
    for (int j = 0; j < DA_MOST_STRETCHES; j++) {
        const int half = DA_MOST_STRETCHES / 2;
        const long k = j < half ? (long)nearbyint((double)(count - 1) * j / (half - 1)) : strong[j - half];
        long i = 0;
        while (i < chosen && at[i] < k) i++;
        if (i < chosen && at[i] == k) continue;
        for (long l = chosen++; l > i; l--) at[l] = at[l - 1];
        at[i] = k;
    }
    return chosen;
}

static long da_outputs_of(const da_program *P)
{
    long size = 0;
    for (long k = 0; k < P->outputs; k++) size += P->sizes[k];
    return size;
}

static long da_repeat_room(const da_motion *of)
{
    const long most = DA_MOST_STRETCHES, n = of->n, m = of->m;
    return (da_outputs_of(of->dynamics) + (2 * DA_REPEAT_ROWS + 9) * 2 * n + 4) * most +
           DA_LANES * of->dynamics->registers + DA_WIDE * da_solve_room(n, m) + m;
}

/* The chosen stretches integrated again: the largest distance from the motion, in tolerances that are granted. Below
 * zero where one of them needs more than one piece, or other means. */
static double da_repeated_off(const da_motion *of, const long *at, long chosen, const double *scale, double place,
                              double speed, double *room)
{
    const long n = of->n, width = 2 * n, all = chosen * width, stride = of->checked.v_stride;
    double *t = room, *length = t + chosen, *y = length + chosen, *wanted = y + all, *size = wanted + all;
    double *end = size + all, *unsure = end + all, *base = unsure + all;
    double *registers = base + da_outputs_of(of->dynamics) * chosen;
    double *w = registers + DA_LANES * of->dynamics->registers;
    double *more = w + DA_WIDE * da_solve_room(n, of->m) + of->m;
    const da_repeated model = {of->dynamics, of->p, chosen, n, of->m, base, registers, (da_v *)w};
    unsigned char known[DA_MOST_STRETCHES];
    for (double *x = base; x < registers; x++) *x = 0.0;
    for (long c = 0; c < chosen; c++) {
        const long k = at[c];
        t[c] = of->t[k];
        length[c] = of->t[k + 1] - of->t[k];
        for (long i = 0; i < n; i++) {
            double *to = y + width * c + i;
            to[0] = of->q[n * k + i];
            to[n] = of->checked.v[stride * k + i];
            size[width * c + i] = place / scale[n * k + i];
            size[width * c + n + i] = speed / scale[n * k + i];
        }
    }
    for (long i = 0; i < all; i++) wanted[i] = 0.1 * of->wanted * size[i];
    if (da_repeat(&model, t, y, length, wanted, of->sequence, of->rows, end, unsure, known, more)) return -1.0;
    double most = 0.0;
    for (long c = 0; c < chosen; c++) {
        const long k = at[c] + 1;
        double steps = of->steps * length[c] / da_span_of(of), off = 0.0;
        steps = steps > 1.0 ? steps : 1.0;
        for (long i = 0; i < width; i++) {
            const double there = i < n ? of->q[n * k + i] : of->checked.v[stride * k + i - n];
            const double apart = fabs(end[width * c + i] - there) - unsure[width * c + i];
            off = da_most(off, da_or_infinite(apart) / size[width * c + i]);
        }
        off /= da_most(1.0, steps / of->granted);
        if (!known[c] || !(off <= of->wanted)) return -1.0;
        most = da_most(most, off);
    }
    return most;
}

static double da_largest_scaled(long count, long n, long stride, const double *x, const double *scale)
{
    double most = 0.0;
    for (long k = 0; k < count; k++)
        for (long i = 0; i < n; i++) most = da_most(most, da_or_infinite(fabs(scale[n * k + i] * x[stride * k + i])));
    return most;
}

/* `repeat` and `consistency`; 1 where stretches need more than is done here. pull: the largest Q²/m. */
static long da_stretches(const da_motion *of, const double *scale, double pull, double *apart, double *room,
                         double *found)
{
    const long count = of->count, n = of->n;
    const double span = da_span_of(of);
    const double fast = da_largest_scaled(count, n, of->checked.v_stride, of->checked.v, scale);
    const double far = da_largest_scaled(count, n, n, of->q, scale);
    const double speed = da_most(fast, 1e-6 * span * sqrt(pull)), place = da_most(far, 1e-6 * span * speed);
    found[DA_C_REPEAT] = found[DA_C_CONSISTENCY] = 0.0;
    if (!(speed > 0.0)) return 0;
    const da_outputs outputs = {count, n, of->checked.v_stride, of->t, of->checked.v, of->checked.a, scale,
                                of->near, of->allowed, of->resolved};
    double *doubt = apart + count - 1;
    long at[DA_MOST_STRETCHES];
    int doubted = 0;
    da_quadrature(&outputs, apart, doubt);
    const long chosen = da_choose_stretches(count - 1, apart, doubt, speed, at);
    const double missed = da_repeated_off(of, at, chosen, scale, place, speed, room);
    if (missed < 0.0) return 1;
    found[DA_C_REPEAT] = missed;
    /* A quadrature that doubts what the repetition finds right has judged more than it can. */
    for (long c = 0; c < chosen; c++) doubted |= apart[at[c]] / speed > of->wanted;
    for (long k = 0; k + 1 < count; k++) {
        const double suspect = apart[k] / speed;
        if (!doubted || suspect <= of->wanted) found[DA_C_CONSISTENCY] = da_most(found[DA_C_CONSISTENCY], suspect);
    }
    return 0;
}

/* 0: all of `found` is measured; 1: the motion needs a second look, by other means. */
DA_READY long da_certify(const da_motion *of, double *found)
{
    const long count = of->count, n = of->n, m = of->m;
    const long numbers_size = DA_NUMBERS * count, rows_size = 3 * count * m;
    const long check_room = DA_WIDE * (3 * n * n + m * n + 20 * n + 6 * m);
    const long energy_room = da_outputs_of(of->points) + DA_LANES * of->points->registers;
    const long repeat_room = da_repeat_room(of);
    long more = check_room > energy_room ? check_room : energy_room;
    more = more > repeat_room ? more : repeat_room;
    double *numbers = malloc(sizeof(double) * (size_t)(numbers_size + rows_size + count * n + 2 * count + more));
    if (!numbers) return 1;
    double *rows = numbers + numbers_size, *scale = rows + rows_size, *apart = scale + count * n;
    double *room = apart + 2 * count, totals[8], fast = 0.0, speed = 0.0, far = 0.0;
    const double *lengths = rows + 2 * count * m;
    long open = da_check_points(count, n, m, &of->checked, numbers, rows, scale, room);
    if (!open) {
        const double span = da_span_of(of);
        for (long k = 0; k < count; k++) {
            fast = da_most(fast, numbers[DA_NUMBERS * k + DA_SPEED]);
            for (long i = 0; i < n; i++) {
                speed = da_most(speed, fabs(of->checked.v[of->checked.v_stride * k + i]));
                far = da_most(far, fabs(of->q[n * k + i]));
            }
        }
        da_check_totals(count, m, numbers, rows, fast / span, speed / span, totals);
        for (int k = 0; k < 4; k++) found[DA_C_ACCELERATION + k] = totals[k];
        found[DA_C_RANK_MIN] = totals[4];
        found[DA_C_RANK_MAX] = totals[5];
        const double place = da_most(da_most(far, 1e-3 * speed), of->least);
        const double rate = da_most(da_most(speed, 1e-3 * far), of->least);
        found[DA_C_POSITION] = da_residual(of, of->position, of->positions, lengths, place);
        found[DA_C_VELOCITY] = da_residual(of, of->rate, of->rates, lengths, rate);
        found[DA_C_ENERGY] = da_energy_off(of, numbers, totals[6], totals[7], room);
        open = totals[4] < (double)m || found[DA_C_ENERGY] < 0.0;
        if (!open) open = da_stretches(of, scale, totals[7], apart, room, found);
    }
    free(numbers);
    for (int k = 0; !open && k < DA_C_COUNT; k++) open = !(fabs(found[k]) < INFINITY);
    return open != 0;
}

#endif
