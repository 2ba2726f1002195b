/* Position constraints whose own gradient fades along the motion. Rounding in such a constraint reaches the
   accelerations divided by the square of the gradient, so the robust path and the projections scale it by its natural
   length instead: the largest it has had. The gradient of a constraint on velocities keeps its own length, by which
   alone its rounding is divided.

   A row whose gradient has vanished may act a moment later: it stays among those that trial states use. */
#ifndef DA_FADING_H
#define DA_FADING_H

/* The lower Cholesky factor of M, completed where it is singular: by the rows J, or else by the unit matrix. */
DA_FN int da_metric(const double *mass, const double *J, int count, double L[DA_N][DA_N])
{
    double M[DA_N][DA_N], largest = 0.0, trace = 0.0, rows = 0.0;
    for (int i = 0; i < DA_N; i++) {
        trace += mass[i + DA_N * i];
        largest = da_max(largest, fabs(mass[i + DA_N * i]));
    }
    for (int k = 0; k < count * DA_N; k++) rows += J[k] * J[k];
    for (int attempt = DA_SINGULAR_MASS; attempt < 3; attempt++) {
        for (int i = 0; i < DA_N; i++)
            for (int j = 0; j < DA_N; j++) {
                M[i][j] = mass[i + DA_N * j];
                for (int k = 0; attempt == 1 && k < count; k++)
                    M[i][j] += J[i + DA_N * k] * J[j + DA_N * k] * trace / da_max(rows, 1e-300);
                if (attempt == 2 && i == j) M[i][j] += da_max(largest, 1.0);
            }
        if (da_cholesky(DA_N, M, L, DA_MASS_TOLERANCE)) return 0;
    }
    return 1;
}

/* At an accepted state: the lengths of the rows of A, where they are longer than before. */
DA_PIECE void da_note_lengths(const double *mass, const double *A, da_context *ctx)
{
    const int *position = da_position_rows;
    double L[DA_N][DA_N], row[DA_N];
    for (int j = 0; j < DA_M; j++) {
        const double length = sqrt(da_dot(A + DA_N * j, A + DA_N * j, DA_N));
        ctx->longest[j] = da_max(ctx->longest[j], length);
    }
    if (!DA_POSITION_ROWS || da_metric(mass, A, DA_M, L)) return;
    for (int k = 0; k < DA_POSITION_ROWS; k++) {
        const int j = position[k];
        for (int i = 0; i < DA_N; i++) row[i] = A[i + DA_N * j];
        da_forward(DA_N, L, row);
        ctx->natural[j] = da_max(ctx->natural[j], sqrt(da_dot(row, row, DA_N)));
    }
}

/* After straight-line code at an accepted state: notes lengths that have grown by a tenth, which a scale need not
   follow closer. */
DA_FN void da_note_growth(const double *q, const double *v, double t, const double *size, da_context *ctx)
{
    const int *fast = da_fast_rows;
    const int *position = da_position_rows;
    int grown = 0;
    for (int k = 0, l = 0; k < DA_FAST_ROWS; k++) {
        if (!(size[k] > 1.21 * ctx->seen[k])) continue;
        grown = 1;
        ctx->seen[k] = size[k];
        while (l < DA_POSITION_ROWS && position[l] < fast[k]) l++;
        if (l < DA_POSITION_ROWS && position[l] == fast[k]) ctx->square[k] = size[k];
    }
    if (grown) {
        double M[DA_N * DA_N], Q[DA_N], A[DA_MM * DA_N], b[DA_MM];
        da_dynamics(q, v, t, ctx->p, M, Q, A, b);
        da_note_lengths(M, A, ctx);
    }
}

/* Scales for the residuals of a projection: first the position constraints, then those on velocities, which have
   none. */
DA_FN void da_natural_lengths(const da_context *ctx, double *natural, double *plain)
{
    const int *position = da_position_rows;
    for (int j = 0; j < DA_M; j++) natural[j] = plain[j] = 0.0;
    for (int j = 0; j < DA_POSITION_ROWS; j++) {
        natural[j] = ctx->natural[position[j]];
        plain[j] = ctx->longest[position[j]];
    }
}

#endif
