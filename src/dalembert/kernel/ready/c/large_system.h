/* A large system as data: programs of loops (kernel/rolled) that solve for its accelerations and for its way back to
   the constraints, with the numbers that they work on. Which system it is about is known to each thread by itself. */
#ifndef DA_LARGE_SYSTEM_H
#define DA_LARGE_SYSTEM_H

/* As the structures in kernel/ready/large.py. */
typedef struct {
    void (*run)(double *w, const void *table);
    const void *table;
} da_program;

/* One kind of right-hand sides: by one elimination, and with the multipliers by themselves; either may be missing.
   pivots: in pairs, the places of the inverse pivot of a constraint, and of what it was made of; rows: the constraints
   of these. */
typedef struct {
    da_program plain, forward, back;
    double *plain_w, *condensed_w;
    long plain_unknowns, condensed_unknowns;
    const long *pivots, *rows, *cleared;
    long pivot_count, watched_count, cleared_count; /* the watched pivots are the first ones */
    const da_multipliers *multipliers;
    double *natural, *missed;
    long apart; /* the last state had its multipliers solved for by themselves */
} da_way;

enum { DA_ACCELERATIONS, DA_POSITIONS, DA_VELOCITIES, DA_WAYS };

typedef struct {
    da_way way[DA_WAYS];
    da_program sums; /* energies and powers; where the time stands in definitions, with places of its own */
    double *sums_w;
    const long *on_rates;                   /* constraints on velocities */
    const long *forces, *pushed, *reach;    /* places of impressed forces and their coordinates; of powers for λ = 1 */
    const unsigned char *independent;       /* constraints, at the start */
    long coordinates, quantities, constraints, watched, works, on_rates_count, force_count, power, sums_quantities;
    long lacking; /* multipliers were to be solved for by themselves, and nothing is there to do it */
} da_large;

static __thread da_large *da_now __attribute__((tls_model("initial-exec")));

#endif
