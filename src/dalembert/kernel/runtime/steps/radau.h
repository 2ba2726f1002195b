/* The implicit Runge–Kutta method Radau IIA for stiff motions: three stages, order 5, stage order 3, stiffly accurate
   and L-stable (Hairer, Wanner, Solving Ordinary Differential Equations II, sections IV.5 and IV.8). The unknowns are
   the changes Zᵢ of q̇ at the stages; positions follow from them, Qᵢ = q + h Σ aᵢⱼ (q̇ + Zⱼ), and with B = a⁻¹

       Σ Bᵢⱼ Zⱼ − h q̈(t + cᵢh, Qᵢ, q̇ + Zᵢ) = 0,      block (i, j) of the slopes: Bᵢⱼ − h (δᵢⱼ ∂q̈/∂q̇ + h aᵢⱼ ∂q̈/∂q).

   Each stage has slopes of its own, taken where the last step's interpolant leads: directions of stiffness turn within
   a step (a stiff rod swings), and with those of its start the iteration converges only for steps far shorter than
   accuracy asks for. That gives up the transformation of the 3n equations to n real and n complex ones, which pays for
   large n only. The work integrals feed nothing back: they follow by the same quadrature.

   What a method of its own header offers, here with the name radau, after that of the file: a type da_radau, what it
   keeps from step to step; da_radau_begin at the start of a run, da_radau_forget where the equations have changed,
   da_radau_go_on at a new accepted state; da_radau_step; and da_radau_at, a state inside the last step. */
#ifndef DA_RADAU_H
#define DA_RADAU_H

#define DA_3N (3 * DA_N)
#define DA_RADAU_C1 0.15505102572168219
#define DA_RADAU_C2 0.6449489742783178
#define DA_RADAU_MU 3.6378342527444957 /* the real eigenvalue of B */
#define DA_RADAU_ITERATIONS 10

/* ∂q̈/∂(q, q̇, t) at the start of a step, by columns; kept while the step is tried again with a smaller size. */
#define DA_SLOPE_ARRAYS(ARRAY, PART) ARRAY(double, J, DA_STIFF * DA_N * (2 * DA_N + 1))
typedef struct {
    int known;
    DA_SLOPE_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
} da_slope;
DA_STRUCTURE(da_slope, DA_SLOPE_ARRAYS)

/* One column of the slopes by central differences. */
DA_PIECE void da_column_by_differences(double t, double *DA_RESTRICT s, int j, double step, const double *DA_RESTRICT f,
                                       double *DA_RESTRICT J, da_context *ctx)
{
    const int time = j == 2 * DA_N;
    const double here = time ? t : s[j];
    double up[DA_NY], down[DA_NY], above = here + step, below = here - step;
    int i;
    if (!time) s[j] = above;
    if (da_rhs_checked(time ? above : t, s, up, ctx)) {
        above = here;
        for (i = 0; i < DA_NY; i++) up[i] = f[i];
    }
    if (!time) s[j] = below;
    if (da_rhs_checked(time ? below : t, s, down, ctx)) {
        below = here;
        for (i = 0; i < DA_NY; i++) down[i] = f[i];
    }
    if (!time) s[j] = here;
    for (i = 0; i < DA_N; i++) J[i] = above > below ? (up[DA_N + i] - down[DA_N + i]) / (above - below) : 0.0;
}

/* Central differences of the right-hand side, for states where the straight-line code does not hold. A side without a
   value is replaced by the state itself; a column without any is left zero: the order is lower then, and the error
   estimate sees it. */
DA_PIECE void da_slope_by_differences(double t, const double *DA_RESTRICT y, double h, const double *DA_RESTRICT f,
                                      double rtol, const double *DA_RESTRICT atol, double *DA_RESTRICT J,
                                      da_context *ctx)
{
    double s[DA_NY];
    int j;
    for (j = 0; j < DA_NY; j++) s[j] = y[j];
    for (j = 0; j <= 2 * DA_N; j++) {
        const int time = j == 2 * DA_N;
        /* The cube root of rounding balances truncation and rounding; in time, the step itself says what is smooth. */
        const double size = time ? 0.0 : da_max(da_max(fabs(y[j]), h * fabs(f[j])), atol[j] / rtol);
        double step = time ? 1e-3 * h + 1e-15 * fabs(t) : 6e-6 * size;
        da_column_by_differences(t, s, j, step, f, J + DA_N * j, ctx);
#if DA_WITH_ACTUAL
        /* A law of friction may change over a far smaller velocity: that with which something slips. */
        double finer[DA_N], far, most, a = 0.0;
        for (int i = 0; i < DA_N; i++) a = da_max(a, fabs(f[DA_N + i]));
        for (int pass = 0; DA_USES_ACTUAL && pass < DA_SLOPE_REFINED && j >= DA_N && !time; pass++) {
            step /= DA_SLOPE_FINER;
            da_column_by_differences(t, s, j, step, f, finer, ctx);
            far = most = 0.0;
            for (int i = 0; i < DA_N; i++) {
                far = da_max(far, fabs(finer[i] - J[i + DA_N * j]));
                most = da_max(most, fabs(finer[i]));
            }
            for (int i = 0; i < DA_N; i++) J[i + DA_N * j] = finer[i];
            if (!(far > DA_SLOPE_SMOOTH * most + 4.0 * 2.220446049250313e-16 * a / step)) break;
        }
#endif
    }
}

DA_FN void da_slope_at(double t, const double *DA_RESTRICT y, double h, const double *DA_RESTRICT f, double rtol,
                       const double *DA_RESTRICT atol, da_slope *slope, da_context *ctx)
{
    if (slope->known) return;
    slope->known = 1;
#if DA_WITH_STRAIGHT
    double pivot[1] = {0.0};
    if (DA_STRAIGHT && ctx->fast) {
        da_slopes(y, y + DA_N, t, ctx->p, slope->J, pivot);
        if (pivot[0] > DA_PIVOT && da_all_finite(slope->J, DA_N * (2 * DA_N + 1))) return;
    }
#endif
    da_slope_by_differences(t, y, h, f, rtol, atol, slope->J, ctx);
}

/* What passes from step to step: slopes at the start, and the last step, whose interpolant predicts the next one. */
#define DA_RADAU_ARRAYS(ARRAY, PART) ARRAY(double, y, DA_NY) ARRAY(double, dense, 3 * DA_NW) PART(da_slope, slope)
typedef struct {
    DA_RADAU_ARRAYS(DA_ARRAY_MEMBER, DA_PART_MEMBER)
    double h;
} da_radau;
DA_STRUCTURE(da_radau, DA_RADAU_ARRAYS)

DA_FN void da_radau_forget(da_radau *last)
{
    last->h = 0.0;
    last->slope.known = 0;
}

DA_FN void da_radau_begin(da_radau *last, double rtol)
{
    (void)rtol;
    da_radau_forget(last);
}

DA_FN void da_radau_go_on(da_radau *last) { last->slope.known = 0; }

/* The collocation polynomial at the share x of the step, also beyond it. dense: divided differences on 0, c₁, c₂, 1. */
DA_FN void da_collocation(double x, const double *DA_RESTRICT y, double dense[][DA_NW], double *DA_RESTRICT out)
{
    for (int j = 0; j < DA_NY; j++)
        out[j] = y[j] + x * (dense[0][j] + (x - DA_RADAU_C1) * (dense[1][j] + (x - DA_RADAU_C2) * dense[2][j]));
}

DA_FN void da_radau_at(double x, const double *y, double h, double k[][DA_NW], double dense[][DA_NW],
                       const da_radau *last, double *out)
{
    (void)last;
    da_collocation(x, y, dense, out);
    /* Nothing watches the error of the work: its interpolant also has the power at the start, by a quartic that leaves
       its value at the end and its slopes at the stages alone: B′ = (x − c₁)(x − c₂)(x − 1), B(0) = B(1) = 0. */
    const double start = DA_RADAU_C1 * DA_RADAU_C2, B = x * (-0.1 + x * (0.45 + x * (-0.6 + 0.25 * x)));
    for (int j = DA_NE; j < DA_NY; j++) {
        const double slope = dense[0][j] - DA_RADAU_C1 * (dense[1][j] - DA_RADAU_C2 * dense[2][j]);
        out[j] += (slope - h * k[0][j]) / start * B;
    }
}

#define DA_RADAU_TABLES                                                                              \
    static const double a[3][3] = {{0.19681547722366044, -0.06553542585019838, 0.02377097434822015}, \
                                   {0.39442431473908727, 0.2920734116652285, -0.04154875212599793},  \
                                   {0.37640306270046725, 0.5124858261884216, 0.1111111111111111}};   \
    static const double c[3] = {DA_RADAU_C1, DA_RADAU_C2, 1.0};

/* Changes of q at the stages from those of q̇. */
DA_FN void da_radau_positions(const double *DA_RESTRICT y, double h, double Z[3][DA_NY])
{
    DA_RADAU_TABLES
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < DA_N; j++)
            Z[i][j] = h * (c[i] * y[DA_N + j] + a[i][0] * Z[0][DA_N + j] + a[i][1] * Z[1][DA_N + j] +
                           a[i][2] * Z[2][DA_N + j]);
}

/* The factored slopes of the stage equations at the stages Z. At a stage where the straight-line code does not hold,
   and at the first one until it is known better, the slopes of the start stand in. */
DA_FN int da_radau_matrix(double t, const double *DA_RESTRICT y, double h, double Z[3][DA_NY], int again,
                          const da_slope *slope, double *DA_RESTRICT W, int *DA_RESTRICT exchange, da_context *ctx)
{
    DA_RADAU_TABLES
    static const double B[3][3] = {{3.224744871391589, 1.1678400846904055, -0.25319726474218083},
                                   {-3.5678400846904056, 0.7752551286084109, 1.053197264742181},
                                   {5.531972647421808, -7.531972647421808, 5.0}};
    for (int i = 0; i < 3; i++) {
        const double *J = slope->J;
#if DA_WITH_STRAIGHT
        double s[DA_NE], here[DA_N * (2 * DA_N + 1)], pivot[1];
        if (DA_STRAIGHT && ctx->fast && (i > 0 || again)) {
            for (int j = 0; j < DA_NE; j++) s[j] = y[j] + Z[i][j];
            da_slopes(s, s + DA_N, t + c[i] * h, ctx->p, here, pivot);
            if (pivot[0] > DA_PIVOT && da_all_finite(here, DA_N * (2 * DA_N + 1))) J = here;
        }
#else
        (void)t, (void)y, (void)Z, (void)again, (void)ctx, (void)c;
#endif
        for (int r = 0; r < DA_N; r++)
            for (int l = 0; l < 3; l++)
                for (int j = 0; j < DA_N; j++)
                    W[DA_3N * (i * DA_N + r) + l * DA_N + j] =
                        (r == j) * B[i][l] -
                        h * ((i == l) * J[r + DA_N * (DA_N + j)] + h * a[i][l] * J[r + DA_N * j]);
    }
    return da_lu(W, DA_3N, exchange);
}

/* Newton's iteration for the stages from a first guess of Z; f receives the rates of y there. Slopes are renewed where
   it converges slowly. Returns nonzero where it does not converge. */
DA_FN int da_radau_stages(double t, const double *DA_RESTRICT y, double h, double Z[3][DA_NY], double f[3][DA_NY],
                          double rtol, const double *DA_RESTRICT atol, const da_slope *slope, da_context *ctx)
{
    DA_RADAU_TABLES
    static const double B[3][3] = {{3.224744871391589, 1.1678400846904055, -0.25319726474218083},
                                   {-3.5678400846904056, 0.7752551286084109, 1.053197264742181},
                                   {5.531972647421808, -7.531972647421808, 5.0}};
    const double enough = da_max(2.3e-15 / rtol, da_min(0.03, sqrt(rtol)));
    double W[DA_3N * DA_3N], x[DA_3N], s[DA_NY], last = 0.0;
    int exchange[DA_3N], i, j, l, made = 0;
    for (int pass = 0; pass < DA_RADAU_ITERATIONS; pass++) {
        da_radau_positions(y, h, Z);
        if (made <= 0) {
            if (da_radau_matrix(t, y, h, Z, made < 0, slope, W, exchange, ctx)) return 1;
            made = 1;
        }
        for (i = 0; i < 3; i++) {
            for (j = 0; j < DA_NE; j++) s[j] = y[j] + Z[i][j];
            if (da_rhs_checked(t + c[i] * h, s, f[i], ctx)) return 1;
        }
        for (i = 0; i < 3; i++)
            for (j = 0; j < DA_N; j++)
                x[i * DA_N + j] = h * f[i][DA_N + j] - B[i][0] * Z[0][DA_N + j] - B[i][1] * Z[1][DA_N + j] -
                                  B[i][2] * Z[2][DA_N + j];
        da_lu_solve(W, DA_3N, exchange, x);
        double squares = 0.0;
        for (i = 0; i < 3; i++)
            for (j = 0; j < DA_N; j++) {
                double move = 0.0;
                for (l = 0; l < 3; l++) move += h * a[i][l] * x[l * DA_N + j];
                move /= atol[j] + rtol * fabs(y[j]);
                const double turn = x[i * DA_N + j] / (atol[DA_N + j] + rtol * fabs(y[DA_N + j]));
                squares += move * move + turn * turn;
                Z[i][DA_N + j] += x[i * DA_N + j];
            }
        const double size = sqrt(squares / (3 * DA_NE));
        if (!da_finite(size)) return 1;
        const double rate = pass > 0 ? size / last : 1.0;
        if (size <= 1e-3 * enough || (rate < 1.0 && rate / (1.0 - rate) * size < enough)) {
            da_radau_positions(y, h, Z);
            return 0;
        }
        if (pass > 0 && rate > 0.25) made = -1;
        last = size;
    }
    return 1;
}

/* The error (μ/h − J)⁻¹ (f + Σ eᵢZᵢ/h) of the step, where f is the slope at y: section IV.8, (8.19). */
DA_FN double da_radau_error(const double *DA_RESTRICT y, const double *DA_RESTRICT ynew, const double *DA_RESTRICT f,
                            double h, double Z[3][DA_NY], double rtol, const double *DA_RESTRICT atol,
                            const double *DA_RESTRICT J, const double *DA_RESTRICT W, const int *DA_RESTRICT exchange,
                            double *DA_RESTRICT e)
{
    const double e1 = -10.048809399827414, e2 = 1.3821427331607485, e3 = -0.3333333333333333;
    const double g = h / DA_RADAU_MU;
    double r[DA_NE], squares = 0.0;
    int i, j;
    for (j = 0; j < DA_NE; j++) r[j] = f[j] + (e1 * Z[0][j] + e2 * Z[1][j] + e3 * Z[2][j]) / h;
    for (i = 0; i < DA_N; i++) {
        e[DA_N + i] = r[DA_N + i];
        for (j = 0; j < DA_N; j++) e[DA_N + i] += g * J[i + DA_N * j] * r[j];
        e[DA_N + i] *= g;
    }
    da_lu_solve(W, DA_N, exchange, e + DA_N);
    for (i = 0; i < DA_N; i++) e[i] = g * (r[i] + e[DA_N + i]);
    for (j = 0; j < DA_NE; j++) {
        const double share = e[j] / (atol[j] + rtol * da_max(fabs(y[j]), fabs(ynew[j])));
        squares += share * share;
    }
    return sqrt(squares / DA_NE);
}

/* One step from (t, y) of size h. k[0] holds the rates at y; on return ynew holds the new state, *norm the error
   relative to the tolerances, dense the interpolant. Returns nonzero where the stages had no solution. */
DA_PIECE int da_radau_step(double t, const double *DA_RESTRICT y, double h, double k[DA_SLOPES][DA_NW],
                           double *DA_RESTRICT ynew, double rtol, const double *DA_RESTRICT atol, double *norm,
                           double dense[DA_DENSE][DA_NW], da_radau *last, da_context *ctx)
{
    DA_RADAU_TABLES
    double Z[3][DA_NY], f[3][DA_NY], W[DA_N * DA_N], s[DA_NY], e[DA_NE];
    int exchange[DA_N], i, j, missed = 1;
    da_slope_at(t, y, h, k[0], rtol, atol, &last->slope, ctx);
    const double *J = last->slope.J, g = h / DA_RADAU_MU;
    /* The interpolant of the last step, unless it would have to reach far; then, or where it misleads, no change. */
    if (last->h > 0.0 && h < 5.0 * last->h) {
        for (i = 0; i < 3; i++) {
            da_collocation(1.0 + c[i] * h / last->h, last->y, DA_ROWS(last->dense, DA_NW), s);
            for (j = DA_N; j < DA_NE; j++) Z[i][j] = s[j] - y[j];
        }
        missed = da_radau_stages(t, y, h, Z, f, rtol, atol, &last->slope, ctx);
    }
    if (missed) {
        for (i = 0; i < 3; i++)
            for (j = DA_N; j < DA_NE; j++) Z[i][j] = 0.0;
        if (da_radau_stages(t, y, h, Z, f, rtol, atol, &last->slope, ctx)) return 1;
    }
    for (j = DA_NE; j < DA_NY; j++)
        for (i = 0; i < 3; i++) Z[i][j] = h * (a[i][0] * f[0][j] + a[i][1] * f[1][j] + a[i][2] * f[2][j]);
    for (j = 0; j < DA_NY; j++) {
        const double d1 = Z[0][j] / c[0], d2 = (Z[1][j] - Z[0][j]) / (c[1] - c[0]);
        const double d3 = (Z[2][j] - Z[1][j]) / (1.0 - c[1]);
        ynew[j] = y[j] + Z[2][j];
        dense[0][j] = d1;
        dense[1][j] = (d2 - d1) / c[1];
        dense[2][j] = (d3 - d2) / (1.0 - c[0]) - dense[1][j];
    }
    for (j = 0; j < DA_N; j++)
        for (i = 0; i < DA_N; i++)
            W[DA_N * i + j] = (i == j) - g * (J[i + DA_N * (DA_N + j)] + g * J[i + DA_N * j]);
    if (da_lu(W, DA_N, exchange)) return 1;
    *norm = da_radau_error(y, ynew, k[0], h, Z, rtol, atol, J, W, exchange, e);
    if (*norm >= 1.0) {
        /* Where it is large for the stiff part only, a second filter takes that away. */
        for (j = 0; j < DA_NE; j++) s[j] = y[j] + e[j];
        if (da_rhs_checked(t, s, f[0], ctx)) return 1;
        *norm = da_radau_error(y, ynew, f[0], h, Z, rtol, atol, J, W, exchange, e);
    }
    if (!da_finite(*norm)) return 1;
    if (*norm < 1.0) {
        last->h = h;
        for (j = 0; j < DA_NY; j++) {
            last->y[j] = y[j];
            for (i = 0; i < 3; i++) last->dense[DA_NW * i + j] = dense[i][j];
        }
    }
    return 0;
}

#endif
