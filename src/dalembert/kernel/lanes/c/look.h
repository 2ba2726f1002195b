/* Whether members can start, and how they are accelerated there, as ready/c/member_starts.h asks it of any: most can,
   and then straight-line code says so. The others are looked at again there.

   Needs da_look, da_beside and da_look_rows, made for the system. */
#ifndef DA_LANE_LOOK_H
#define DA_LANE_LOOK_H

/* As the structure in kernel/lanes/look.py. */
typedef struct {
    long count;
    const double *q, *v, *t, *p; /* rows of DA_N, DA_N, 1 and DA_NP numbers */
    /* As in da_start_look. */
    double beside, small, least_size, most_missed;
    double *acceleration;  /* rows of DA_N numbers */
    unsigned char *plain;  /* of each, whether nothing about it needs a closer look */
} da_starts;

/* Of states, and of constants: what is not plain. */
DA_LANE da_mask da_not_plain(const da_starts *all, const da_lane *q, const da_lane *v, da_lane t, const da_lane *c,
                             da_lane *a)
{
    da_lane energy[1], margin[1], gap[DA_AT_LEAST_1(DA_VELOCITY_ROWS + DA_POSITION_ROWS)];
    da_lane length[DA_AT_LEAST_1(DA_ROWS)], near[DA_AT_LEAST_1(DA_ROWS)], q_near[DA_N], v_near[DA_N];
    da_lane places = DA_R(0.0), speeds = DA_R(0.0), sum = DA_R(0.0);
    da_look(q, v, t, c, energy, gap, length);
    da_acceleration(q, v, t, c, a, margin);
    for (int j = 0; j < DA_N; j++) {
        sum += (q[j] - q[j]) + (v[j] - v[j]) + (a[j] - a[j]);
        places = da_lane_max(places, da_lane_fabs(q[j]));
        speeds = da_lane_max(speeds, da_lane_fabs(v[j]));
        q_near[j] = q[j] + all->beside * da_lane_max(DA_R(1.0), da_lane_fabs(q[j]));
        v_near[j] = v[j] + all->beside * da_lane_max(DA_R(1.0), da_lane_fabs(v[j]));
    }
    da_beside(q_near, v_near, t, c, near);
    da_mask other = ~da_equal(sum + (energy[0] - energy[0]), DA_R(0.0)) | ~DA_ABOVE(margin[0], 0.0);
    for (int k = 0; k < DA_ROWS; k++) {
        const da_lane known = da_select(da_lane_finite(near[k]), near[k], DA_R(0.0));
        other |= ~da_lane_finite(length[k]) | ~DA_ABOVE(length[k], 0.0) | da_less(length[k], all->small * known);
    }
    const da_lane least = DA_R(all->least_size);
    const da_lane size_q = da_lane_max(da_lane_max(places, 1e-3 * speeds), least);
    const da_lane size_v = da_lane_max(da_lane_max(speeds, 1e-3 * places), least);
    for (int k = 0; k < DA_VELOCITY_ROWS + DA_POSITION_ROWS; k++) {
        const da_lane reach = length[da_look_rows[k]] * (k < DA_POSITION_ROWS ? size_q : size_v);
        other |= ~da_most(da_lane_fabs(gap[k]), all->most_missed * reach);
    }
    return other;
}

/* Returns how many are not plain. */
DA_API long da_look_at_starts(const da_starts *all)
{
    long others = 0;
    for (long first = 0; first < all->count; first += DA_LANES) {
        da_lane q[DA_N], v[DA_N], a[DA_N], t, c[DA_AT_LEAST_1(DA_NC)];
        double constants[DA_AT_LEAST_1(DA_NC)];
        for (int i = 0; i < DA_LANES; i++) {
            const long k = first + i < all->count ? first + i : all->count - 1;
            da_constants(all->p + k * DA_NP, constants);
            for (int j = 0; j < DA_NC; j++) c[j][i] = constants[j];
            for (int j = 0; j < DA_N; j++) {
                q[j][i] = all->q[k * DA_N + j];
                v[j][i] = all->v[k * DA_N + j];
            }
            t[i] = all->t[k];
        }
        const da_mask other = da_not_plain(all, q, v, t, c, a);
        for (int i = 0; i < DA_LANES && first + i < all->count; i++) {
            for (int j = 0; j < DA_N; j++) all->acceleration[(first + i) * DA_N + j] = a[j][i];
            all->plain[first + i] = !other[i];
            others += other[i] != 0;
        }
    }
    return others;
}

#endif
