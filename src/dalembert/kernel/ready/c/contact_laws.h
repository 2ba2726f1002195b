/* Whether friction and one-sided constraints along a motion obey their laws, at all its points in one call: the
 * formulas of `contact_residual` in motion/certificate/friction_laws.py, where the reasons stand. What contacts at rest
 * can hold is told by the smallest forces that do; where these exceed a limit, others may not, and the point is left to
 * motion/certificate/held_friction.py. */
#ifndef DA_READY_CONTACT_LAWS_H
#define DA_READY_CONTACT_LAWS_H

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
    double *rest, *scaled, *limits, *unsure; /* (count, n), units scaled, (count, contacts), (count) */
    unsigned char *holding, *left;           /* (count, contacts), (count): points left to other means */
    unsigned char *idle_before;              /* (contacts), cleared */
    double *room;                /* n + m + (2 n + 2 + components) components numbers */
} da_laws;

enum { DA_SLIPS, DA_STICKS, DA_OPEN };

/* How far the rest of point k is beyond what its contacts at rest can hold; −1 where other means must tell that. */
static double da_beyond(const da_laws *of, long k, double largest)
{
    const long n = of->n, c = of->components;
    const double *units = of->scaled + k * n * c, *rest = of->rest + k * n;
    double *W = of->room, *f = W + n * c, *x = f + n, *room = x + c, found = 0.0;
    long some = 0;
    for (long j = 0; j < of->contacts; j++) {
        if (!of->holding[of->contacts * k + j]) continue;
        for (long l = of->first[j]; l < of->first[j + 1]; l++, some++)
            for (long i = 0; i < n; i++) W[n * some + i] = units[c * i + l];
    }
    for (long i = 0; i < n; i++) f[i] = rest[i];
    if (some && !da_shortest(n, some, W, f, x, room)) return -1.0;
    for (long i = 0; i < n; i++) found = da_most(found, fabs(f[i]));
    some = 0;
    for (long j = 0; j < of->contacts; j++) {
        double force = 0.0, weight = 0.0;
        if (!of->holding[of->contacts * k + j]) continue;
        for (long l = of->first[j]; l < of->first[j + 1]; l++, some++) {
            force += x[some] * x[some];
            for (long i = 0; i < n; i++) weight += units[c * i + l] * units[c * i + l];
        }
        const double excess = sqrt(weight) * (sqrt(force) - of->limits[of->contacts * k + j]);
        if (!(excess <= of->share * largest)) return -1.0;
        found = da_most(found, excess);
    }
    return found;
}

/* found: the largest departure of forces, of sliding, and of gaps from their laws, each relative to its size, and the
 * largest force; the first infinite where something is no number. Returns how many points are left. */
DA_READY long da_contact_laws(const da_laws *of, double *found)
{
    const long T = of->count, n = of->n, m = of->m, K = of->contacts, c = of->components;
    double *root = of->room, largest = 0.0, moving = 0.0, far = 0.0, pull = 0.0, fast = 0.0, gained = 0.0;
    double reacting = 0.0, gaps = 0.0, number = 0.0, forces = 0.0, slips = 0.0;
    long left = 0;
    for (long k = 0; k < T; k++) {
        const double *M = of->M + n * n * k, *Q = of->Q + n * k, *A = of->A + m * n * k, *a = of->a + n * k;
        const double *lambda = of->multipliers + m * k;
        double *steep = root + n;
        for (long i = 0; i < n; i++) {
            const double own = sqrt(fabs(M[n * i + i]));
            root[i] = own > 0.0 ? own : 1.0;
        }
        for (long i = 0; i < n; i++) {
            const double C = of->C[n * k + i], v = of->v[n * k + i], q = of->q[n * k + i];
            double inertia = 0.0;
            for (long j = 0; j < n; j++) inertia += M[n * i + j] * a[j];
            largest = da_most(largest, da_most(fabs(C), da_most(fabs(Q[i]), fabs(inertia))) / root[i]);
            pull = da_most(pull, fabs(Q[i]) / root[i]);
            moving = da_most(moving, fabs(root[i] * v));
            far = da_most(far, fabs(root[i] * q));
            fast = da_most(fast, fabs(v));
            of->rest[n * k + i] = (C - of->smooth[n * k + i]) / root[i];
            number += 0.0 * (C + Q[i] + inertia + v + q + of->smooth[n * k + i]);
            for (long l = 0; l < c; l++) of->scaled[c * (n * k + i) + l] = of->units[c * (n * k + i) + l] / root[i];
        }
        for (long j = 0; j < m; j++) {
            double length = 0.0;
            for (long i = 0; i < n; i++) length += A[n * j + i] / root[i] * (A[n * j + i] / root[i]);
            steep[j] = sqrt(length);
            largest = da_most(largest, fabs(steep[j] * lambda[j]));
            number += 0.0 * (steep[j] + lambda[j]);
        }
        for (long g = 0; g < of->gaps; g++) {
            const double length = steep[of->sided[g]], gap = of->gap[of->gaps * k + g];
            reacting = da_most(reacting, -length * lambda[of->sided[g]]);
            gaps = da_most(gaps, -gap / (length > 0.0 ? length : 1.0));
            number += 0.0 * gap;
        }
        for (long j = 0; j < K; j++) {
            const long at = K * k + j;
            double sum = 0.0;
            for (long l = of->first[j]; l < of->first[j + 1]; l++) {
                sum += of->rate[c * k + l] * of->rate[c * k + l];
                number += 0.0 * of->u[c * k + l];
            }
            gained = da_most(gained, sqrt(sum));
            number += 0.0 * (of->N[at] + of->mu[at] + of->normal[at] + of->friction[at]);
        }
    }
    found[0] = INFINITY;
    found[1] = found[2] = found[3] = 0.0;
    if (number != 0.0) return 0;
    if (largest == 0.0) largest = 1.0;
    largest = da_most(largest, 1e-6 * moving / (of->span > 0.0 ? of->span : 1.0));
    double reach = da_most(far, 1e-6 * of->span * of->span * pull);
    if (reach == 0.0) reach = 1.0;
    if (fast == 0.0) fast = 1.0;
    for (long k = 0; k < T; k++) {
        double *rest = of->rest + n * k, own = 0.0;
        long acting = 0;
        of->unsure[k] = 0.0;
        for (long i = 0; i < n; i++) own = da_most(own, fabs(of->v[n * k + i]));
        for (long j = 0; K && j < m; j++) {
            const double *A = of->A + n * (m * k + j);
            int some = 0;
            for (long i = 0; i < n; i++) some |= A[i] != 0.0;
            acting += some && of->acting[m * k + j];
        }
        for (long j = 0; j < K; j++) {
            const long at = K * k + j, state = of->state[at], shut = state != DA_OPEN;
            const double rubs = of->mu[at] * fabs(of->N[at]);
            const double limit = da_most(of->mu_static[at], of->mu[at]) * fabs(of->N[at]);
            double speed = 0.0, rate = 0.0, weight = 0.0, wrong = 0.0;
            for (long l = of->first[j]; l < of->first[j + 1]; l++) {
                double length = 0.0;
                for (long i = 0; i < n; i++) {
                    const double unit = of->scaled[c * (n * k + i) + l];
                    length += unit * unit;
                }
                weight = da_most(weight, sqrt(length));
                speed += of->u[c * k + l] * of->u[c * k + l];
                rate += of->rate[c * k + l] * of->rate[c * k + l];
            }
            speed = sqrt(speed);
            const int moves = shut && speed > of->resting, sure = of->rank[k] == acting;
            of->limits[at] = limit;
            of->holding[at] = (unsigned char)(shut && !moves);
            if (shut && sure) wrong = fabs(of->normal[at] - of->N[at]);
            if (moves) {
                for (long l = of->first[j]; l < of->first[j + 1]; l++)
                    for (long i = 0; i < n; i++)
                        rest[i] += of->scaled[c * (n * k + i) + l] * (rubs / speed * of->u[c * k + l]);
                of->unsure[k] += weight * rubs / speed * of->rounding * own;
                if (sure) wrong = da_most(wrong, fabs(of->friction[at] - rubs));
                wrong = da_most(wrong, -rubs);
            }
            forces = da_most(forces, weight * wrong);
            if (state == DA_STICKS && speed > of->seen * of->resting) slips = da_most(slips, speed / fast);
            /* Told to slip and at rest, at two points in a row. */
            const int idle = state == DA_SLIPS && !moves && weight * limit > of->idle * largest &&
                             sqrt(rate) <= of->idle * gained;
            if (idle && of->idle_before[j]) slips = da_most(slips, 1.0);
            of->idle_before[j] = (unsigned char)idle;
        }
        const double beyond = da_beyond(of, k, largest);
        of->left[k] = beyond < 0.0;
        left += of->left[k];
        if (!of->left[k]) forces = da_most(forces, beyond - of->unsure[k]);
    }
    forces = da_most(forces, reacting);
    found[0] = forces / largest;
    found[1] = slips;
    found[2] = gaps / reach;
    found[3] = largest;
    return left;
}

#endif
