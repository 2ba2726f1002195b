/* How a run is paced: the longest steps along the time, as motion/pace.py; tolerances that follow the size of the motion; and
   when a run ends because another method would do it better. */
#ifndef DA_PACE_H
#define DA_PACE_H

typedef struct {
    const double *starts, *bounds; /* from starts[k] to the next start no step is longer than bounds[k] */
    long count;
    double share;  /* atol grows to this share of the largest size, up to one unit, that a component has had; 0: it is fixed */
    double worth;  /* so many steps that stability asked for, with as many ahead at this pace, end the run; 0: none do */
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

/* Tolerances at a new state. */
DA_FN void da_grow(double share, const double *y, double *atol)
{
    for (int j = 0; j < DA_NE; j++) atol[j] = da_max(atol[j], share * da_min(fabs(y[j]), 1.0));
}

#endif
