/* Steps of a large system's program as data: what they compute is told by a number, where by places behind it in the
   table. Each function does one step and returns where the next one begins. Made by kernel/rolled/by_table.py; a place
   that is written for the first time stands as ~place. */
#ifndef DA_TABLE_STEPS_H
#define DA_TABLE_STEPS_H

#include <string.h>

static inline void da_add_at(double *w, int place, double value)
{
    if (place < 0)
        w[~place] = value;
    else
        w[place] += value;
}

/* Three int: a place, or −1 and a number. */
static inline double da_factor(const double *w, const int *s)
{
    double value;
    if (*s >= 0) return w[*s];
    memcpy(&value, s + 1, sizeof value);
    return value;
}

/* Solving for an unknown with d neighbours. Behind d and whether there is a right-hand side: places of the pivot, the
   right-hand side, d entries; then targets. */
static const int *da_step_solve(double *w, const int *s)
{
    const int d = s[1], r = s[2], *e = s + 4 + r, *g = e + d;
    const double i = 1.0 / w[s[3]];
    if (r) {
        const double f = w[s[4]] * i;
        for (int a = 0; a < d; a++) da_add_at(w, *g++, -(w[e[a]] * f));
    }
    for (int a = 0; a < d; a++) {
        const double u = w[e[a]] * i;
        for (int b = 0; b <= a; b++) da_add_at(w, *g++, -(u * w[e[b]]));
    }
    w[s[3]] = i;
    return g;
}

/* The way back. Behind d and whether there is a right-hand side: places of the inverse pivot, the right-hand side, d
   entries, d unknowns that are known by now, and the one that is found. */
static const int *da_step_back(double *w, const int *s)
{
    const int d = s[1], r = s[2], *e = s + 4 + r, *x = e + d;
    double sum = r ? w[s[4]] : 0.0;
    for (int a = 0; a < d; a++) sum -= w[e[a]] * w[x[a]];
    w[x[d]] = sum * w[s[3]];
    return x + d + 1;
}

/* J z + γ in place of an unknown. Behind d slopes, e neighbours, what there is (1: γ; 2: an entry of its own; 4: a
   right-hand side; 8: something for the right-hand sides of what defines it) and how many neighbours are also among
   what defines it: J, γ, the own entry, the right-hand side, entries; then targets. */
static const int *da_step_replace(double *w, const int *s)
{
    const int d = s[1], e = s[2], has = s[3], twice = s[4];
    const int *J = s + 5, *own_at = J + 3 * d + 3, *entry = own_at + 2, *g = entry + e;
    const double gamma = has & 1 ? da_factor(w, J + 3 * d) : 0.0;
    const double own = has & 2 ? w[own_at[0]] : 0.0, right = has & 4 ? w[own_at[1]] : 0.0;
    if (has & 8)
        for (int a = 0; a < d; a++) da_add_at(w, *g++, da_factor(w, J + 3 * a) * (right - own * gamma));
    if (has & 1)
        for (int b = 0; b < e; b++) da_add_at(w, *g++, -(w[entry[b]] * gamma));
    if (has & 2)
        for (int a = 0; a < d; a++) {
            const double u = da_factor(w, J + 3 * a) * own;
            for (int c = 0; c <= a; c++) da_add_at(w, *g++, u * da_factor(w, J + 3 * c));
        }
    for (int a = 0; a < d; a++) {
        const double u = da_factor(w, J + 3 * a);
        for (int b = 0; b < e; b++) da_add_at(w, *g++, u * w[entry[b]]);
    }
    for (int k = 0; k < twice; k++, g += 3) da_add_at(w, g[2], da_factor(w, J + 3 * g[0]) * w[entry[g[1]]]);
    return g;
}

/* What was replaced, from what defines it. Behind the number of slopes: J, γ, the unknowns, and the one that is
   found. */
static const int *da_step_follow(double *w, const int *s)
{
    const int d = s[1], *J = s + 2, *x = J + 3 * d + 3;
    double sum = da_factor(w, J + 3 * d);
    for (int a = 0; a < d; a++) sum += da_factor(w, J + 3 * a) * w[x[a]];
    w[x[d]] = sum;
    return x + d + 1;
}

static const int *da_step_clear(double *w, const int *s)
{
    w[s[1]] = 0.0;
    return s + 2;
}

static const int *da_step_copy(double *w, const int *s)
{
    w[s[2]] = w[s[1]];
    return s + 3;
}

/* What a pivot would be once its d neighbours are gone, each by itself. Behind d: the pivot, d entries, the pivots of
   the neighbours; the target. */
static const int *da_step_gauge(double *w, const int *s)
{
    const int d = s[1], *e = s + 3, *own = e + d;
    double sum = w[s[2]];
    for (int a = 0; a < d; a++) sum -= w[e[a]] * w[e[a]] / w[own[a]];
    w[own[d]] = sum;
    return own + d + 1;
}

#endif
