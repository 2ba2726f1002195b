/* How a run is paced: the longest steps along the time, as motion/integrate/pace.py; tolerances that follow the size
   of the motion; and when a run ends because another method would do it better. */
#ifndef DA_PACE_H
#define DA_PACE_H

typedef struct {
    const double *starts, *bounds; /* from starts[k] to the next start no step is longer than bounds[k] */
    long count;
    double share; /* atol grows to this share of the largest size, up to one unit, that a component has had; 0: fixed */
    double look;  /* after so many steps, or where so many were stiff, a run with as many before it ends, to be judged;
                     below zero: only where so many were stiff; 0: none does */
    const double *weights; /* (DA_N), of the squares of velocities, by which the fastest state is found */
    double *fastest;       /* that sum, the time and the state (2 + DA_NY) where it was fastest; NULL: not wanted */
} da_pace;

/* The longest step from t; *at is the part that t lies in, kept from call to call, since t grows. */
DA_FN double da_longest(const da_pace *pace, double t, long *at)
{
    double longest = 1e300;
    while (*at + 1 < pace->count && pace->starts[*at + 1] <= t) ++*at;
    for (long k = *at; k < pace->count && pace->starts[k] - t < longest; k++)
        longest = da_min(longest, da_max(pace->starts[k] - t, pace->bounds[k]));
    return longest;
}

/* Whether a run ends here, to be judged; as `_Run._left` in motion/integrate/reference.py. */
DA_FN int da_is_looked_at(const da_pace *pace, long steps, long stiff, double covered, double left)
{
    if (!pace || pace->look == 0.0) return 0;
    const double look = fabs(pace->look);
    const int due = (double)steps == pace->look || ((double)stiff >= look && steps % DA_STIFF_SAMPLE == 0);
    return due && left * (double)steps > look * covered;
}

/* A new state, if it is the fastest. */
DA_FN void da_keep_fastest(const da_pace *pace, double t, const double *y)
{
    double sum = 0.0;
    for (int j = 0; j < DA_N; j++) sum += pace->weights[j] * y[DA_N + j] * y[DA_N + j];
    if (!(sum > pace->fastest[0])) return;
    pace->fastest[0] = sum;
    pace->fastest[1] = t;
    for (int j = 0; j < DA_NY; j++) pace->fastest[2 + j] = y[j];
}

/* Tolerances at a new state. */
DA_FN void da_grow(double share, const double *y, double *atol)
{
    for (int j = 0; j < DA_NE; j++) atol[j] = da_max(atol[j], share * da_min(fabs(y[j]), 1.0));
}

#endif
