/* Corners, edges and cusps of the constraints, where a motion cannot go on without an impact. */
#ifndef DA_EDGE_H
#define DA_EDGE_H

/* Whether velocities that the constraints move by so much tell of a corner. What rounding in the forces of the step at
   hand makes does not: all that moves what is at rest. Nor where a constraint that acts there is nearly a combination
   of others: velocities along such rows are not returned in full, and what they begin to hold may move. Lengths by the
   masses of coordinates. */
DA_COLD int da_tells_of_a_corner(const da_run *r, double moved)
{
    double M[DA_N * DA_N], Q[DA_N], A[DA_MM * DA_N], b[DA_MM], u[DA_MM][DA_N], pull = 0.0;
    int count = 0;
    da_dynamics(r->y, r->y + DA_N, r->t, r->ctx.p, M, Q, A, b);
    for (int i = 0; i < DA_N; i++)
        if (M[i + DA_N * i] > 0.0) pull = da_max(pull, fabs(Q[i]) / M[i + DA_N * i]);
    if (!(moved > DA_EDGE_ROUNDING * r->step * pull)) return 0;
    for (int k = 0; k < DA_M; k++) {
        for (int i = 0; i < DA_N; i++) {
            const double mass = fabs(M[i + DA_N * i]);
            u[count][i] = A[i + DA_N * k] / (mass > 0.0 ? sqrt(mass) : 1.0);
        }
        const double length = sqrt(da_dot(u[count], u[count], DA_N));
        if (!(length > 0.0)) continue; /* it is switched off */
        for (int i = 0; i < DA_N; i++) u[count][i] /= length;
        da_remove(u[count], u, count);
        const double rest = da_dot(u[count], u[count], DA_N);
        if (!(rest > DA_SINGULAR_PIVOT)) return 0;
        for (int i = 0; i < DA_N; i++) u[count][i] /= sqrt(rest);
        if (++count == DA_N) break;
    }
    return 1;
}

/* Whether the step at hand has led over such a place: the velocities v that it came to err by about a tolerance, and
   the constraints there, which left `now` of them, ask for quite others. */
DA_FN int da_leads_over(const da_run *r, const double *v, const double *now)
{
    const double share = da_max(DA_EDGE_LEAST, da_min(DA_EDGE_TOLERANCES * r->rtol, DA_EDGE_MOST));
    double size = 0.0, moved = 0.0;
    for (int i = 0; i < DA_N; i++) size = da_max(size, da_max(fabs(v[i]), fabs(r->y[DA_N + i])));
    for (int i = 0; i < DA_N; i++) {
        const double change = fabs(now[i] - v[i]);
        if (change > share * size + DA_EDGE_TOLERANCES * r->atol[DA_N + i]) moved = da_max(moved, change);
    }
    return moved > 0.0 && da_tells_of_a_corner(r, moved);
}

#endif
