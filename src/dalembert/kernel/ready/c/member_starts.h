/* Whether members of an ensemble can start, a block of them after the other, so that all that is known of a block stays
 * near the processor: see ensemble/start/starts.py. */
#ifndef DA_READY_MEMBER_STARTS_H
#define DA_READY_MEMBER_STARTS_H

enum { DA_START_CLOSER, DA_START_PLAIN, DA_START_OPEN };

/* As the structure in kernel/ready/member_starts.py. */
typedef struct {
    /* Of (q, v, t, p): M, Q, A, b, C, which are watched, E, the inertial part of Q, φ, and (φ̇, ψ). */
    const da_program *points;
    const da_program *rows; /* A alone */
    long n, m, parameters;
    long positions, residuals; /* of φ, and of φ and (φ̇, ψ) together */
    const long *row;           /* the constraint of each residual */
    long solves;               /* whether q̈ is solved for here */
    /* How far off the states lie at which rows are compared, and the share of their length there that is too little;
     * the least size of a state; residuals, relative, that are too large, of constraints and of A q̈ = b. */
    double beside, small, least_size, most_missed, most_residual;
} da_start_look;

/* What is found of `count` members. state: PLAIN where nothing needs a closer look, OPEN where q̈ is to be solved for
 * by other means. missed: residuals relative to the gradient times the size of the state. */
typedef struct {
    unsigned char *state;
    double *residual, *missed;    /* (count, residuals) */
    double *acceleration;         /* (count, n), of plain members; the others have none */
    unsigned char *dependent;     /* (count, m), likewise: constraints that are combinations of those before */
} da_start_found;

/* Where the outputs of `points` at a block begin. */
enum { DA_AT_M, DA_AT_Q, DA_AT_A, DA_AT_b, DA_AT_C, DA_AT_E, DA_AT_INERTIAL, DA_AT_PHI, DA_AT_RATE, DA_AT_COUNT };

/* Numbers that da_member_starts works with. */
DA_READY long da_member_starts_room(const da_start_look *look)
{
    const long n = look->n, m = look->m;
    long sum = DA_LANES * (look->points->registers + look->rows->registers + m * n + 2 * n + m);
    for (long k = 0; k < look->points->outputs; k++) sum += DA_LANES * look->points->sizes[k];
    return sum + DA_WIDE * (da_solve_room(n, m) + 3 * n + 2 * m) + 2 * m + DA_WIDE;
}

/* Residuals of one member into `found`; whether they are all small enough. length: of the rows of A. */
static int da_is_consistent(const da_start_look *look, const double *q, const double *v, const double *phi,
                            const double *rate, const double *length, double *residual, double *missed)
{
    const double places = da_largest_size(look->n, q), speeds = da_largest_size(look->n, v);
    const double size_q = da_most(da_most(places, 1e-3 * speeds), look->least_size);
    const double size_v = da_most(da_most(speeds, 1e-3 * places), look->least_size);
    int good = 1;
    for (long k = 0; k < look->residuals; k++) {
        const int of_place = k < look->positions;
        const double reach = length[look->row[k]] * (of_place ? size_q : size_v);
        residual[k] = of_place ? phi[k] : rate[k - look->positions];
        missed[k] = fabs(residual[k]) / (reach > 0.0 ? reach : 1.0);
        good &= missed[k] <= look->most_missed;
    }
    return good;
}

/* q̈ and dependent constraints of some members of a block, `which` of them, with data at `at`. */
static void da_solve_starts(const da_start_look *look, const int *which, int count, double *const *at, long first,
                            const da_start_found *found, double *spare, da_v *w)
{
    const long n = look->n, m = look->m;
    long rank[DA_WIDE], *row = (long *)(w + da_solve_room(n, m));
    for (int begin = 0; begin < count; begin += DA_WIDE) {
        const int lanes = count - begin < DA_WIDE ? count - begin : DA_WIDE;
        da_point_data of;
        da_solution to;
        to.all = 1;
        for (int l = 0; l < DA_WIDE; l++) {
            const long k = which[begin + (l < lanes ? l : lanes - 1)];
            double *own = spare + l * (3 * n + 2 * m);
            of.M[l] = at[DA_AT_M] + n * n * k;
            of.Q[l] = at[DA_AT_Q] + n * k;
            of.A[l] = at[DA_AT_A] + m * n * k;
            of.b[l] = at[DA_AT_b] + m * k;
            of.C[l] = at[DA_AT_C] + n * k;
            to.acceleration[l] = found->acceleration + n * (first + k);
            to.dependent[l] = found->dependent + m * (first + k);
            to.unconstrained[l] = own;
            to.ideal[l] = own + n;
            to.nonideal[l] = own + 2 * n;
            to.multipliers[l] = own + 3 * n;
            to.residual[l] = own + 3 * n + m;
        }
        /* No row vanishes at any of them, so that they have the same ones. */
        da_solve_block(n, m, &of, &to, lanes, rank, w, row);
        for (int l = 0; l < lanes; l++) {
            unsigned char *state = found->state + first + which[begin + l];
            if (rank[l] < 0) *state = DA_START_OPEN;
            for (long k = 0; rank[l] >= 0 && k < m; k++)
                if (to.residual[l][k] > look->most_residual) *state = DA_START_CLOSER;
        }
    }
}

/* Whether a member is plain and all of its constraints are independent. */
static int da_is_regular(const da_start_look *look, const da_start_found *found, long k)
{
    int dependent = 0;
    for (long j = 0; j < look->m; j++) dependent |= found->dependent[look->m * k + j];
    return found->state[k] == DA_START_PLAIN && !dependent;
}

/* in: q, v, t, p, each with the members along its first axis and contiguous. room: see da_member_starts_room. Returns
 * how many members are not plain, or have constraints that depend on each other. */
DA_READY long da_member_starts(const da_start_look *look, long count, const double *const *in,
                               const da_start_found *found, double *room)
{
    const da_program *P = look->points, *R = look->rows;
    const long n = look->n, m = look->m, stride[4] = {n, n, 1, look->parameters};
    double *at[DA_AT_COUNT], bad[DA_LANES] = {0.0}, *w = room, *w_rows, *A, *q, *v, *length, *spare;
    w_rows = w + DA_LANES * P->registers;
    double *next = w_rows + DA_LANES * R->registers;
    for (long k = 0; k < P->outputs; k++) {
        at[k] = next;
        next += DA_LANES * P->sizes[k];
        for (double *entry = at[k]; entry < next; entry++) *entry = 0.0; /* some are, at all states */
    }
    A = next;
    for (long i = 0; i < DA_LANES * m * n; i++) A[i] = 0.0;
    q = A + DA_LANES * m * n;
    v = q + DA_LANES * n;
    length = v + DA_LANES * n;
    spare = length + DA_LANES * m;
    da_v *vectors = (da_v *)(spare + DA_WIDE * (3 * n + 2 * m));
    long others = 0;
    da_block(P, 0, P->once, 0, 1, 1, in, stride, at, w, bad);
    da_block(R, 0, R->once, 0, 1, 1, in, stride, &A, w_rows, bad);
    for (long first = 0; first < count; first += DA_LANES) {
        const int lanes = count - first < DA_LANES ? (int)(count - first) : DA_LANES;
        const double *own[4], *beside[4];
        int which[DA_LANES], plain = 0;
        for (int k = 0; k < 4; k++) own[k] = beside[k] = in[k] + stride[k] * first;
        for (int l = 0; l < DA_LANES; l++) bad[l] = 0.0;
        da_block(P, P->once, P->once + P->each, 0, lanes, lanes, own, stride, at, w, bad);
        if (m) {
            for (long i = 0; i < lanes * n; i++) {
                q[i] = own[0][i] + look->beside * da_most(1.0, fabs(own[0][i]));
                v[i] = own[1][i] + look->beside * da_most(1.0, fabs(own[1][i]));
            }
            beside[0] = q;
            beside[1] = v;
            da_block(R, R->once, R->once + R->each, 0, lanes, lanes, beside, stride, &A, w_rows, bad);
        }
        for (int l = 0; l < lanes; l++) {
            const double *mine = at[DA_AT_A] + m * n * l, *x = own[0] + n * l, *y = own[1] + n * l;
            const long r = look->residuals, to = r * (first + l);
            int good = bad[l] == 0.0 && da_all_finite(at[DA_AT_E] + l, 1);
            good &= da_all_finite(x, (int)n) & da_all_finite(y, (int)n);
            for (long k = 0; k < m; k++) {
                const double near = da_row_length(n, A + m * n * l + n * k);
                length[m * l + k] = da_row_length(n, mine + n * k);
                good &= length[m * l + k] > 0.0 && !(length[m * l + k] < look->small * (isfinite(near) ? near : 0.0));
            }
            good &= da_is_consistent(look, x, y, at[DA_AT_PHI] + look->positions * l,
                                     at[DA_AT_RATE] + (r - look->positions) * l, length + m * l, found->residual + to,
                                     found->missed + to);
            found->state[first + l] = good ? look->solves ? DA_START_PLAIN : DA_START_OPEN : DA_START_CLOSER;
            if (good) which[plain++] = l;
            for (long k = 0; k < n; k++) found->acceleration[n * (first + l) + k] = NAN;
            for (long k = 0; k < m; k++) found->dependent[m * (first + l) + k] = 0;
        }
        if (look->solves) da_solve_starts(look, which, plain, at, first, found, spare, vectors);
        for (int l = 0; l < lanes; l++) others += !da_is_regular(look, found, first + l);
    }
    return others;
}

/* Absolute tolerances (count, 2n) of members at states q, v with accelerations a, as `tolerances` of
 * motion/integrate/settings.py: shares of the sizes of q and v as far as a start tells them over a time `span`, whose
 * square is given. rates (n), `apart` numbers from one member to the next: accelerations that the model foretells; NULL
 * where it does not. Where sizes are below `least`, more must be thought of: others[k] says so. Returns how many such
 * there are. */
DA_READY long da_member_tolerances(long count, long n, const double *q, const double *v, const double *a,
                                   const double *rates, long apart, double span, double square, double share,
                                   double least, double *to, unsigned char *others)
{
    long some = 0;
    for (long k = 0; k < count; k++) {
        double *size = to + 2 * n * k, largest[2] = {0.0, 0.0};
        for (long i = 0; i < n; i++) {
            const double own = fabs(v[n * k + i]);
            const double rate = da_most(fabs(a[n * k + i]), rates ? rates[apart * k + i] : 0.0);
            const double reach = da_most(da_most(fabs(q[n * k + i]), own * span), rate * square);
            size[i] = reach;
            size[n + i] = da_most(da_most(own, rate * span), reach / span);
            largest[0] = da_most(largest[0], size[i]);
            largest[1] = da_most(largest[1], size[n + i]);
        }
        others[k] = 0;
        for (long i = 0; i < 2 * n; i++) {
            const double most = largest[i >= n] > 0.0 ? largest[i >= n] : 1.0;
            const double known = size[i] > 1e-12 * most ? size[i] : most;
            others[k] |= known < least;
            size[i] = share * (known < 1.0 ? known : 1.0);
        }
        some += others[k];
    }
    return some;
}

#endif
