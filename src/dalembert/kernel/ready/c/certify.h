/* The certificate of a motion whose accelerations follow from its states by the fundamental equation alone, in one
 * call: what `certify` of motion/certificate/certify.py puts together from its parts, with the same formulas, where
 * nothing needs a second look. The reasons for each stand there. */
#ifndef DA_READY_CERTIFY_H
#define DA_READY_CERTIFY_H

#define DA_MOST_STRETCHES 12
#define DA_ROUNDED 1e-15
#define DA_PLACES_COUNT 1e3
/* As STEPS and NOISE of motion/certificate/drift.py. */
#define DA_DRIFT_STEPS 2.0
#define DA_DRIFT_NOISE 1e-12
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
    long independent;              /* constraints that `dynamics` has: as many as the rank must be at all points */
    const double *p;
    double steps, near, allowed, resolved; /* steps of the integration; the others as in quadrature.h */
    double least, wanted, granted; /* the least size of a state; what a stretch may miss, and for how many steps */
    double foreseen, diverged;     /* with more steps, or so unsure, a stretch is given up */
    double steps_of_piece;         /* a piece looks as closely as so many steps did */
    long pieces;                   /* into as many a stretch is divided at most */
    const long *sequence;          /* of the extrapolation */
    long rows;
    const unsigned char *smooth;   /* (count − 1), of the stretches; NULL: all are */
    const double *y;               /* (count, width): states that q and v must be; NULL: they need not */
    long width;
    const da_curved *curved;       /* constraints nonlinear in q̈, NULL: none */
    const unsigned char *acting;   /* (count, m), of contacts: constraints that act; NULL: all do. Then ranks may
                                      change, and stretches are left to other means */
} da_motion;

/* What is found, in the order of FOUND in kernel/ready/certify.py. */
enum {
    DA_C_POSITION, DA_C_VELOCITY, DA_C_ACCELERATION, DA_C_FORCES, DA_C_VIRTUAL_WORK, DA_C_GAUSS, DA_C_ENERGY,
    DA_C_REPEAT, DA_C_CONSISTENCY, DA_C_RANK_MIN, DA_C_RANK_MAX, DA_C_ENERGY_SIZE, DA_C_COUNT
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
            if (of->acting && !of->acting[of->m * k + of->row[j]]) continue;
            most = da_most(most, da_or_infinite(fabs(value[columns * k + j])));
        }
        const double reach = gradient * size;
        found = da_most(found, most / (reach > 0.0 ? reach : 1.0));
    }
    return found;
}

/* As ROUNDING of motion/certificate/energy.py. */
#define DA_ENERGY_ROUNDING (8 * 2.220446049250313e-16)

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

/* What the balance misses, and what it is measured against, the one relative to the other where that is not zero. room:
 * for the outputs of `points` at one state and its registers. −1 where the model has no value at the fastest. */
static double da_energy_off(const da_motion *of, const double *numbers, double pushed, double pull, double *room,
                            double *against)
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
    *against = size;
    const double missed = da_most(b.missed - DA_ENERGY_ROUNDING * b.size, 0.0);
    return size > 0.0 ? missed / size : 0.0;
}

/* Stretches to be looked at, of those that are usable: half of them evenly, half those most in doubt, in order; their
 * number. */
static long da_choose_stretches(const long *usable, long count, const double *apart, const double *doubt, long *at)
{
    long chosen = 0, strong[DA_MOST_STRETCHES / 2];
    double strength[DA_MOST_STRETCHES / 2];
    if (count <= DA_MOST_STRETCHES) {
        for (long k = 0; k < count; k++) at[k] = usable[k];
        return count;
    }
    for (int j = 0; j < DA_MOST_STRETCHES / 2; j++) strength[j] = -1.0;
    for (long u = 0; u < count; u++) {
        const long k = usable[u];
        const double here = doubt[k] + 1e6 * apart[k];
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
        const long even = j < half ? (long)nearbyint((double)(count - 1) * j / (half - 1)) : 0;
        const long k = j < half ? usable[even] : strong[j - half];
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
    const long most = DA_MOST_STRETCHES, n = of->n, m = of->independent;
    return (da_outputs_of(of->dynamics) + (2 * DA_REPEAT_ROWS + 12) * 2 * n + 4) * most +
           DA_LANES * of->dynamics->registers + DA_WIDE * da_solve_room(n, m) + 2 * m;
}

/* Stretches that are looked at: where they begin, what was found of each, and where it ended when last repeated, (…,
 * 2n). state: DA_LEFT until it is right, or given up. */
enum { DA_LEFT, DA_RIGHT, DA_GIVEN_UP };
typedef struct {
    long at[DA_MOST_STRETCHES], chosen;
    double off[DA_MOST_STRETCHES], *before;
    int state[DA_MOST_STRETCHES];
} da_looks;

/* Those that are left integrated again in equal pieces, as `_distances` of motion/certificate/repeat.py does it. 1
 * where one of them contradicts the motion, or needs other means. */
static int da_look_again(const da_motion *of, da_looks *looks, long pieces, const double *scale, double place,
                         double speed, double *room)
{
    const long n = of->n, m = of->independent, width = 2 * n, stride = of->checked.v_stride;
    long which[DA_MOST_STRETCHES], chosen = 0;
    for (long c = 0; c < looks->chosen; c++)
        if (looks->state[c] == DA_LEFT) which[chosen++] = c;
    const long all = chosen * width;
    double *t = room, *length = t + chosen, *y = length + chosen, *wanted = y + all, *size = wanted + all;
    double *end = size + all, *unsure = end + all, *left = unsure + all, *base = left + all;
    double *registers = base + da_outputs_of(of->dynamics) * chosen;
    double *w = registers + DA_LANES * of->dynamics->registers;
    double *more = w + DA_WIDE * da_solve_room(n, m) + 2 * m;
    unsigned char known[DA_MOST_STRETCHES], sure[DA_MOST_STRETCHES], lost[DA_MOST_STRETCHES];
    double *near = more + (2 * DA_REPEAT_ROWS + 4) * all + chosen;
    const da_repeated model = {of->dynamics, of->p, chosen, n, m, base, registers, (da_v *)w, lost, of->curved, near};
    for (double *x = base; x < registers; x++) *x = 0.0;
    for (long c = 0; c < chosen; c++) {
        const long k = looks->at[which[c]];
        t[c] = of->t[k];
        length[c] = (of->t[k + 1] - of->t[k]) / (double)pieces;
        sure[c] = 1;
        for (long i = 0; i < n; i++) {
            double *to = y + width * c + i;
            to[0] = of->q[n * k + i];
            to[n] = of->checked.v[stride * k + i];
            near[n * c + i] = of->checked.a[n * k + i];
            size[width * c + i] = place / scale[n * k + i];
            size[width * c + n + i] = speed / scale[n * k + i];
        }
    }
    for (long i = 0; i < all; i++) {
        wanted[i] = 0.1 * of->wanted * size[i] / (double)pieces;
        left[i] = 0.0;
    }
    for (long piece = 0; piece < pieces; piece++) {
        int some = 0;
        if (da_repeat(&model, t, y, length, wanted, of->sequence, of->rows, end, unsure, known, more)) return 1;
        for (long i = 0; i < all; i++) {
            y[i] = end[i];
            left[i] += unsure[i];
        }
        for (long c = 0; c < chosen; c++) {
            t[c] += length[c];
            sure[c] &= known[c];
            some |= sure[c];
        }
        if (!some) break;
    }
    for (long c = 0; c < chosen; c++) {
        const long k = looks->at[which[c]] + 1;
        double *before = looks->before + width * which[c], off = 0.0;
        double steps = of->steps * (of->t[k] - of->t[k - 1]) / da_span_of(of);
        int same = 1, hopeful;
        steps = steps > 1.0 ? steps : 1.0;
        hopeful = steps <= of->foreseen;
        for (long i = 0; i < width; i++) {
            const double there = i < n ? of->q[n * k + i] : of->checked.v[stride * k + i - n];
            const double here = y[width * c + i], own = size[width * c + i], doubt = left[width * c + i];
            off = da_most(off, da_or_infinite(fabs(here - there) - doubt) / own);
            same &= fabs(here - before[i]) <= of->wanted * own;
            hopeful &= doubt <= 0.1 * of->diverged * of->wanted * own;
            before[i] = sure[c] ? here : NAN;
        }
        off /= da_most(1.0, steps / of->granted);
        looks->off[which[c]] = off;
        if (sure[c] && off <= of->wanted)
            looks->state[which[c]] = DA_RIGHT;
        else if (sure[c] && same && steps <= of->steps_of_piece * (double)pieces)
            return 1;
        else if (!hopeful)
            looks->state[which[c]] = DA_GIVEN_UP;
    }
    return 0;
}

static double da_largest_scaled(long count, long n, long stride, const double *x, const double *scale)
{
    double most = 0.0;
    for (long k = 0; k < count; k++)
        for (long i = 0; i < n; i++) most = da_most(most, da_or_infinite(fabs(scale[n * k + i] * x[stride * k + i])));
    return most;
}

/* Adds to the doubt of each stretch how far places change otherwise than velocities say, as `doubted_places` of
 * motion/certificate/repeat.py has it. speed: what the largest place counts as. */
static void da_doubt_places(const da_motion *of, const double *scale, double place, double speed, double *doubt)
{
    const long n = of->n, stride = of->checked.v_stride;
    for (long k = 0; k + 1 < of->count; k++) {
        const double h = of->t[k + 1] - of->t[k];
        const double *v = of->checked.v + stride * k, *a = of->checked.a + n * k;
        double most = 0.0;
        for (long i = 0; i < n; i++) {
            const double moved = of->q[n * (k + 1) + i] - of->q[n * k + i] - h / 2 * (v[i] + v[stride + i]);
            most = da_most(most, scale[n * k + i] * fabs(moved + h * h / 12 * (a[n + i] - a[i])));
        }
        doubt[k] += DA_PLACES_COUNT * da_or_infinite(most) * speed / place;
    }
}

/* Of a sum over stretches of what x changes otherwise than the quadrature of its rate r, and of what that may err by:
 * one stretch more. 0 where the quadrature says nothing. size: what counts as one. */
static int da_add_missed(const da_motion *of, double h, const double *x, long from, const double *r, long apart,
                         double size, double *sum)
{
    double six, four, two;
    da_quadratures(h, r, apart, &six, &four, &two);
    const double finer = fabs(six - four);
    if (finer > of->resolved * fabs(four - two) + DA_DRIFT_NOISE * size) return 0;
    sum[0] += x[from] - x[0] - six;
    sum[1] += of->allowed * finer;
    return 1;
}

/* Whether places or velocities drift from what their rates say, as motion/certificate/drift.py has it: over two steps
 * of the integration, in which there may be many outputs. sums: room for 4 n. */
static int da_drifts(const da_motion *of, const da_outputs *outputs, double place, double speed, double *sums)
{
    const long n = of->n, stride = of->checked.v_stride;
    long length = 0;
    for (long k = 0; k + 1 < of->count; k++) {
        const double h = of->t[k + 1] - of->t[k], *v = of->checked.v + stride * k;
        int usable = da_judges(outputs, k) && (!of->smooth || of->smooth[k]);
        if (!length)
            for (long j = 0; j < 4 * n; j++) sums[j] = 0.0;
        for (long i = 0; usable && i < n; i++) {
            const double root = outputs->root[n * k + i], *q = of->q + n * k + i, *a = of->checked.a + n * k + i;
            double *sum = sums + 4 * i;
            usable = da_add_missed(of, h, q, n, v + i, stride, place / root, sum) &&
                     da_add_missed(of, h, v + i, stride, a, n, speed / root, sum + 2);
            if (usable && (fabs(sum[0]) - sum[1] > of->wanted * place / root ||
                           fabs(sum[2]) - sum[3] > of->wanted * speed / root))
                return 1;
        }
        length = usable && (double)(length + 1) * h < DA_DRIFT_STEPS * of->near ? length + 1 : 0;
    }
    return 0;
}

/* `repeat` and `consistency`; 1 where stretches need more than is done here. pull: the largest Q²/m. */
static long da_stretches(const da_motion *of, const double *scale, double pull, double *apart, long *usable,
                         double *room, double *found)
{
    const long count = of->count, n = of->n;
    const double span = da_span_of(of);
    const double fast = da_largest_scaled(count, n, of->checked.v_stride, of->checked.v, scale);
    const double far = da_largest_scaled(count, n, n, of->q, scale);
    /* As in motion/certificate/repeat.py. */
    const double rounded = span > 0.0 ? DA_ROUNDED / of->wanted * da_most(of->steps, 1.0) * far / span : 0.0;
    const double speed = da_most(da_most(fast, 1e-6 * span * sqrt(pull)), rounded);
    const double place = da_most(far, 1e-6 * span * speed);
    found[DA_C_REPEAT] = found[DA_C_CONSISTENCY] = 0.0;
    if (!(speed > 0.0)) return 0;
    const da_outputs outputs = {count, n, of->checked.v_stride, of->t, of->checked.v, of->checked.a, scale,
                                of->near, of->allowed, of->resolved};
    double *doubt = apart + count - 1;
    long some = 0;
    da_looks looks = {{0}, 0, {0.0}, room, {0}};
    int doubted = 0, right = 1;
    da_quadrature(&outputs, apart, doubt);
    da_doubt_places(of, scale, place, speed, doubt);
    if (da_drifts(of, &outputs, place, speed, room)) return 1;
    for (long k = 0; k + 1 < count; k++) {
        if (!of->smooth || of->smooth[k])
            usable[some++] = k;
        else
            apart[k] = 0.0;
    }
    if (!some) return 0;
    looks.chosen = da_choose_stretches(usable, some, apart, doubt, looks.at);
    room += DA_MOST_STRETCHES * 2 * n;
    for (double *x = looks.before; x < room; x++) *x = NAN;
    for (long pieces = 1, more = 1; more && pieces <= of->pieces; pieces *= 4) {
        if (da_look_again(of, &looks, pieces, scale, place, speed, room)) return 1;
        more = 0;
        for (long c = 0; c < looks.chosen; c++) more |= looks.state[c] == DA_LEFT;
    }
    for (long c = 0; c < looks.chosen; c++) {
        const int judged = looks.state[c] == DA_RIGHT, suspected = apart[looks.at[c]] / speed > of->wanted;
        if (judged) found[DA_C_REPEAT] = da_most(found[DA_C_REPEAT], looks.off[c]);
        doubted |= suspected;
        right &= judged || !suspected;
    }
    /* A quadrature that doubts what the repetition finds right has judged more than it can. */
    const int clear = doubted && right;
    for (long k = 0; k + 1 < count; k++) {
        const double suspect = apart[k] / speed;
        if (!clear || suspect <= of->wanted) found[DA_C_CONSISTENCY] = da_most(found[DA_C_CONSISTENCY], suspect);
    }
    return 0;
}

static int da_are_states(const da_motion *of)
{
    const long n = of->n;
    int same = 1;
    for (long k = 0; of->y && k < of->count; k++) {
        const double *y = of->y + of->width * k, *q = of->q + n * k, *v = of->checked.v + of->checked.v_stride * k;
        for (long i = 0; i < n; i++) same &= y[i] == q[i] && y[n + i] == v[i];
    }
    return same;
}

/* 0: all of `found` is measured; 1: the motion needs a second look, by other means. */
DA_READY long da_certify(const da_motion *of, double *found)
{
    const long count = of->count, n = of->n, m = of->m;
    const long numbers_size = DA_NUMBERS * count, rows_size = 3 * count * m;
    const long check_room = DA_WIDE * (3 * n * n + m * n + 20 * n + 6 * m);
    const long energy_room = da_outputs_of(of->points) + DA_LANES * of->points->registers;
    const long repeat_room = da_repeat_room(of);
    if (!da_are_states(of)) return 1;
    long more = check_room > energy_room ? check_room : energy_room;
    more = more > repeat_room ? more : repeat_room;
    double *numbers = malloc(sizeof(double) * (size_t)(numbers_size + rows_size + count * n + 3 * count + more));
    if (!numbers) return 1;
    double *rows = numbers + numbers_size, *scale = rows + rows_size, *apart = scale + count * n;
    long *usable = (long *)(apart + 2 * count);
    double *room = apart + 3 * count, totals[8], fast = 0.0, speed = 0.0, far = 0.0;
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
        found[DA_C_ENERGY] = da_energy_off(of, numbers, totals[6], totals[7], room, found + DA_C_ENERGY_SIZE);
        const double wanted = (double)of->independent;
        open = (!of->acting && (totals[4] != wanted || totals[5] != wanted)) || found[DA_C_ENERGY] < 0.0;
        found[DA_C_REPEAT] = found[DA_C_CONSISTENCY] = 0.0;
        if (!open && !of->acting) open = da_stretches(of, scale, totals[7], apart, usable, room, found);
    }
    free(numbers);
    for (int k = 0; !open && k < DA_C_COUNT; k++) open = !(fabs(found[k]) < INFINITY);
    return open != 0;
}

#endif
