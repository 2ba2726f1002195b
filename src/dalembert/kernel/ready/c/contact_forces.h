/* What contacts along a motion push with: unit forces without their zeros, and what those at rest can hold, in groups
 * that share coordinates. For contact_laws.h. */
#ifndef DA_READY_CONTACT_FORCES_H
#define DA_READY_CONTACT_FORCES_H

/* As LawsArgument in kernel/ready/contact_laws.py. */
typedef struct {
    long count, n, m, gaps, contacts, components;
    const double *M, *Q, *A, *C, *q, *v, *a, *multipliers; /* A with all its rows */
    const double *N, *u, *rate, *mu, *mu_static, *gap;     /* as ContactState has them */
    const double *units;         /* (count, n, components): unit forces along the components of each contact */
    const double *smooth;        /* (count, n): what smooth laws contribute to C */
    const double *normal, *friction; /* (count, contacts): what the motion says of them */
    const unsigned char *state;  /* (count, contacts): slips 0, sticks 1, open 2 */
    const unsigned char *acting; /* (count, m) */
    const long *rank;
    const long *first;           /* (contacts + 1): components of each contact */
    const long *sided;           /* (gaps): rows of the one-sided constraints */
    double span, resting, seen, rounding, idle, share;
    double *rest, *limits, *unsure;          /* (count, n) in scaled coordinates, (count, contacts), (count) */
    unsigned char *holding, *left;           /* (count, contacts), (count): points left to other means */
    unsigned char *idle_before;              /* (contacts), cleared */
    double *room;                /* 3 n + m + (3 n + 2 + components) components numbers */
    long *places;                /* 4 n + 2 contacts + (n + 1) components numbers */
} da_laws;

enum { DA_SLIPS, DA_STICKS, DA_OPEN };
/* MASSLESS of kernel/ready/contact_laws.py. */
static const double DA_MASSLESS = 1e-8;

/* The units of n coordinates: the roots of their masses, 1 where there is next to none. */
static void da_read_roots(long n, const double *M, double *root)
{
    double largest = 0.0;
    for (long i = 0; i < n; i++) {
        root[i] = sqrt(fabs(M[n * i + i]));
        largest = da_most(largest, root[i]);
    }
    for (long i = 0; i < n; i++)
        if (!(root[i] > DA_MASSLESS * largest)) root[i] = 1.0;
}

/* Unit forces at one point without their zeros: of each component its number of entries, where they are and what. */
typedef struct {
    long n;
    long *number, *place;
    double *value;
} da_sparse_units;

static void da_read_units(const da_laws *of, long k, const da_sparse_units *into)
{
    const long n = of->n, c = of->components;
    const double *units = of->units + k * n * c;
    for (long l = 0; l < c; l++) into->number[l] = 0;
    for (long i = 0; i < n; i++)
        for (long l = 0; l < c; l++)
            if (units[c * i + l] != 0.0) {
                const long at = n * l + into->number[l]++;
                into->place[at] = i;
                into->value[at] = units[c * i + l];
            }
}

/* Adds a share of component l to a force (n), each entry over that of `root` where there is one. */
static void da_add_unit(const da_sparse_units *units, long l, double share, const double *root, double *force)
{
    const long *place = units->place + units->n * l;
    const double *value = units->value + units->n * l;
    for (long e = 0; e < units->number[l]; e++) force[place[e]] += value[e] / (root ? root[place[e]] : 1.0) * share;
}

/* Room for a group of contacts: local (n), the number of each coordinate among theirs and −1 of all others, before and
 * after; listed (n), their coordinates; W by columns, f, x, and what da_shortest asks for. */
typedef struct {
    long *local, *listed;
    double *W, *f, *x, *room;
} da_group_room;

/* The shortest forces x along the components of some contacts that make up a force (n), which becomes what is missed on
 * their coordinates; units over root where there is one. next (contacts): from one of them to the next, −1 at the end;
 * NULL where the first is alone. The number of components, −1 where that is not clear. */
static long da_shortest_of(const da_laws *of, const da_sparse_units *units, const double *root, long first,
                           const long *next, double *force, const da_group_room *room)
{
    const long n = of->n;
    long own = 0, some = 0;
    for (long j = first; j >= 0; j = next ? next[j] : -1)
        for (long l = of->first[j]; l < of->first[j + 1]; l++, some++)
            for (long e = 0; e < units->number[l]; e++) {
                const long i = units->place[n * l + e];
                if (room->local[i] >= 0) continue;
                room->local[i] = own;
                room->listed[own++] = i;
            }
    for (long e = 0; e < own * some; e++) room->W[e] = 0.0;
    for (long e = 0; e < own; e++) room->f[e] = force[room->listed[e]];
    some = 0;
    for (long j = first; j >= 0; j = next ? next[j] : -1)
        for (long l = of->first[j]; l < of->first[j + 1]; l++, some++)
            for (long e = 0; e < units->number[l]; e++) {
                const long i = units->place[n * l + e];
                room->W[own * some + room->local[i]] = units->value[n * l + e] / (root ? root[i] : 1.0);
            }
    const int clear = da_shortest(own, some, room->W, room->f, room->x, room->room);
    for (long e = 0; e < own; e++) {
        force[room->listed[e]] = room->f[e];
        room->local[room->listed[e]] = -1;
    }
    return clear ? some : -1;
}

/* How far the rest of point k is beyond what its contacts at rest can hold; −1 where other means must tell that.
 * Contacts that push on no common coordinate are looked at by themselves. */
static double da_beyond(const da_laws *of, long k, double largest, const da_sparse_units *units, const double *root,
                        long *owner, long *group, long *next, double *rest, const da_group_room *room)
{
    const long n = of->n, K = of->contacts;
    double found = 0.0;
    for (long i = 0; i < n; i++) {
        rest[i] = of->rest[n * k + i];
        owner[i] = -1;
    }
    /* Each contact has the number of the first of its group, and these are chains from that one on. */
    for (long j = 0; j < K; j++) {
        group[j] = next[j] = -1;
        if (!of->holding[K * k + j]) continue;
        group[j] = j;
        for (long l = of->first[j]; l < of->first[j + 1]; l++)
            for (long e = 0; e < units->number[l]; e++) {
                const long i = units->place[n * l + e], mine = group[j];
                const long other = owner[i] < 0 ? mine : group[owner[i]];
                owner[i] = j;
                if (other == mine) continue;
                const long head = other < mine ? other : mine, tail = other < mine ? mine : other;
                long last = head;
                while (next[last] >= 0) last = next[last];
                next[last] = tail;
                for (long one = tail; one >= 0; one = next[one]) group[one] = head;
            }
    }
    for (long j = 0; j < K; j++) {
        if (group[j] != j) continue;
        if (da_shortest_of(of, units, root, j, next, rest, room) < 0) return -1.0;
        long some = 0;
        for (long one = j; one >= 0; one = next[one]) {
            double force = 0.0, weight = 0.0;
            for (long l = of->first[one]; l < of->first[one + 1]; l++, some++) {
                force += room->x[some] * room->x[some];
                for (long e = n * l; e < n * l + units->number[l]; e++) {
                    const double unit = units->value[e] / root[units->place[e]];
                    weight += unit * unit;
                }
            }
            const double excess = sqrt(weight) * (sqrt(force) - of->limits[K * k + one]);
            if (!(excess <= of->share * largest)) return -1.0;
            found = da_most(found, excess);
        }
    }
    for (long i = 0; i < n; i++) found = da_most(found, fabs(rest[i]));
    return found;
}

/* How far the friction told of what sticks at point k, and alone pushes on its coordinates, is from what C has there
 * beside that of what slips: −1 where other means must tell that. As `held_friction_off` in
 * motion/certificate/told_contacts.py. */
static double da_held_off(const da_laws *of, long k, const da_sparse_units *units, long *last, long *shares,
                          double *held, const da_group_room *room)
{
    const long n = of->n, K = of->contacts, c = of->components;
    const unsigned char *state = of->state + K * k;
    double found = 0.0;
    int sticks = 0;
    for (long j = 0; j < K; j++) sticks |= state[j] == DA_STICKS;
    if (!sticks) return 0.0;
    for (long i = 0; i < n; i++) {
        held[i] = of->C[n * k + i] - of->smooth[n * k + i];
        last[i] = -1;
        shares[i] = 0;
    }
    for (long j = 0; j < K; j++) {
        double speed = 0.0;
        if (state[j] == DA_OPEN) continue;
        for (long l = of->first[j]; l < of->first[j + 1]; l++) {
            speed += of->u[c * k + l] * of->u[c * k + l];
            for (long e = n * l; e < n * l + units->number[l]; e++) {
                const long i = units->place[e];
                shares[i] += last[i] != j;
                last[i] = j;
            }
        }
        speed = sqrt(speed);
        if (state[j] != DA_SLIPS || !(speed > 0.0)) continue;
        const double rubs = of->mu[K * k + j] * fabs(of->N[K * k + j]) / speed;
        for (long l = of->first[j]; l < of->first[j + 1]; l++)
            da_add_unit(units, l, rubs * of->u[c * k + l], NULL, held);
    }
    for (long j = 0; j < K; j++) {
        int alone = state[j] == DA_STICKS;
        double force = 0.0;
        for (long l = of->first[j]; alone && l < of->first[j + 1]; l++)
            for (long e = n * l; e < n * l + units->number[l]; e++) alone &= shares[units->place[e]] == 1;
        if (!alone) continue;
        const long some = da_shortest_of(of, units, NULL, j, NULL, held, room);
        if (some < 0) return -1.0;
        for (long l = 0; l < some; l++) force += room->x[l] * room->x[l];
        const double off = fabs(sqrt(force) - of->friction[K * k + j]);
        found = off == off ? da_most(found, off) : INFINITY;
    }
    return found;
}

#endif
