/* Whether friction and one-sided constraints along a motion obey their laws, at all its points in one call: the
 * formulas of `contact_residual` in motion/certificate/friction_laws.py, where the reasons stand. What contacts at rest
 * can hold is told by the smallest forces that do; where these exceed a limit, others may not, and the point is left to
 * motion/certificate/held_friction.py. */
#ifndef DA_READY_CONTACT_LAWS_H
#define DA_READY_CONTACT_LAWS_H

/* found: the largest departure of forces, of sliding, and of gaps from their laws, each relative to its size, the
 * largest force, and how far friction that is told is from what holds, −1 where other means must tell that; the first
 * infinite where something is no number. Returns how many points are left. */
DA_READY long da_contact_laws(const da_laws *of, double *found)
{
    const long T = of->count, n = of->n, m = of->m, K = of->contacts, c = of->components;
    double *root = of->room, largest = 0.0, moving = 0.0, far = 0.0, pull = 0.0, fast = 0.0, gained = 0.0;
    double reacting = 0.0, gaps = 0.0, number = 0.0, forces = 0.0, slips = 0.0, pressed = 0.0, held = 0.0;
    double *values = root + n + m, *force = values + n * c, *f = force + n, *W = f + n, *x = W + n * c;
    long *place = of->places, *owner = place + n * c, *shares = owner + n, *local = shares + n, *listed = local + n;
    long *group = listed + n, *next = group + K, *numbers = next + K;
    const da_sparse_units units = {n, numbers, place, values};
    const da_group_room room = {local, listed, W, f, x, x + c};
    long left = 0;
    for (long i = 0; i < n; i++) local[i] = -1;
    for (long k = 0; k < T; k++) {
        const double *M = of->M + n * n * k, *Q = of->Q + n * k, *A = of->A + m * n * k, *a = of->a + n * k;
        const double *lambda = of->multipliers + m * k;
        double *steep = root + n;
        da_read_roots(n, M, root);
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
        }
        long acting = 0;
        for (long j = 0; j < m; j++) {
            double length = 0.0;
            int some = 0;
            for (long i = 0; i < n; i++) {
                if (A[n * j + i] == 0.0) continue;
                some = 1;
                length += A[n * j + i] / root[i] * (A[n * j + i] / root[i]);
            }
            acting += some && of->acting[m * k + j];
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
            pressed = da_most(pressed, fabs(of->normal[at]));
            number += 0.0 * (of->N[at] + of->mu[at] + of->normal[at] + of->friction[at]);
        }
        of->left[k] = of->rank[k] == acting; /* whether its forces are determined */
    }
    found[0] = INFINITY;
    found[1] = found[2] = found[3] = found[4] = 0.0;
    if (number != 0.0) return 0;
    if (largest == 0.0) largest = 1.0;
    largest = da_most(largest, 1e-6 * moving / (of->span > 0.0 ? of->span : 1.0));
    double reach = da_most(far, 1e-6 * of->span * of->span * pull);
    if (reach == 0.0) reach = 1.0;
    if (fast == 0.0) fast = 1.0;
    for (long k = 0; k < T; k++) {
        double *rest = of->rest + n * k, own = 0.0;
        const int sure = of->left[k];
        of->unsure[k] = 0.0;
        da_read_roots(n, of->M + n * n * k, root);
        for (long i = 0; i < n; i++) own = da_most(own, fabs(of->v[n * k + i]));
        da_read_units(of, k, &units);
        for (long j = 0; j < K; j++) {
            const long at = K * k + j, state = of->state[at], shut = state != DA_OPEN;
            const double rubs = of->mu[at] * fabs(of->N[at]);
            const double limit = da_most(of->mu_static[at], of->mu[at]) * fabs(of->N[at]);
            double speed = 0.0, rate = 0.0, weight = 0.0, wrong = 0.0;
            for (long l = of->first[j]; l < of->first[j + 1]; l++) {
                double length = 0.0;
                for (long e = n * l; e < n * l + numbers[l]; e++) {
                    const double unit = values[e] / root[place[e]];
                    length += unit * unit;
                }
                weight = da_most(weight, sqrt(length));
                speed += of->u[c * k + l] * of->u[c * k + l];
                rate += of->rate[c * k + l] * of->rate[c * k + l];
            }
            speed = sqrt(speed);
            const int moves = shut && speed > of->resting;
            of->limits[at] = limit;
            of->holding[at] = (unsigned char)(shut && !moves);
            if (shut && sure) wrong = fabs(of->normal[at] - of->N[at]);
            if (moves) {
                for (long l = of->first[j]; l < of->first[j + 1]; l++)
                    da_add_unit(&units, l, rubs / speed * of->u[c * k + l], root, rest);
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
        const double beyond = da_beyond(of, k, largest, &units, root, owner, group, next, force, &room);
        of->left[k] = beyond < 0.0;
        left += of->left[k];
        if (!of->left[k]) forces = da_most(forces, beyond - of->unsure[k]);
        if (held >= 0.0) {
            const double off = da_held_off(of, k, &units, owner, shares, force, &room);
            held = off < 0.0 ? off : da_most(held, off);
        }
    }
    forces = da_most(forces, reacting);
    found[0] = forces / largest;
    found[1] = slips;
    found[2] = gaps / reach;
    found[3] = largest;
    found[4] = held < 0.0 || pressed == 0.0 ? held : held / pressed;
    return left;
}

#endif
