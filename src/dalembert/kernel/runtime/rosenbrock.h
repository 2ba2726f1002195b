/* The Rosenbrock–Wanner method Rodas5P for stiff motions: eight stages, order 5, stiffly accurate and L-stable, with an
   embedded method of order 4 and an interpolant of order 4 (G. Steinebach, Construction of Rosenbrock–Wanner method
   Rodas5P and numerical benchmarks within the Julia Differential Equations package, BIT Numerical Mathematics 63, 27,
   2023). No iteration: each stage is one linear system, and all stages share one matrix. In the form of Hairer and
   Wanner (Solving Ordinary Differential Equations II, section IV.7), with f = (q̇, q̈) and J = ∂f/∂(q, q̇) at (t, y),

       (I/(γh) − J) uᵢ = f(t + cᵢh, y + Σ aᵢⱼuⱼ) + Σ kᵢⱼuⱼ/h + dᵢh ∂f/∂t,      y₁ = y + Σ a₆ⱼuⱼ + u₆ + u₇ + u₈,

   and u₈ is the error of the embedded method. The upper half of f is q̇ itself, so that for a right-hand side (r, s)

       (I − γh ∂q̈/∂q̇ − (γh)² ∂q̈/∂q) u_v = γh (s + γh ∂q̈/∂q r),      u_q = γh (r + u_v):

   systems of DA_N equations, not 2 DA_N. The work integrals feed nothing back: quadrature along the step gives them. */
#ifndef DA_ROSENBROCK_H
#define DA_ROSENBROCK_H

#define DA_STIFF_STAGES 8
#define DA_STIFF_GAMMA 0.21193756319429014

/* ∂q̈/∂(q, q̇, t) at the start of a step, by columns; kept while the step is tried again with a smaller size. */
typedef struct {
    int known;
    double J[DA_N * (2 * DA_N + 1)];
} da_slope;

/* Central differences of the right-hand side, for states where the straight-line code does not hold. A side without a
   value is replaced by the state itself; a column without any is left zero: the order is lower then, and the error
   estimate sees it. */
DA_PIECE void da_slope_by_differences(double t, const double *DA_RESTRICT y, double h, const double *DA_RESTRICT f,
                                      double rtol, const double *DA_RESTRICT atol, double *DA_RESTRICT J,
                                      da_context *ctx)
{
    double s[DA_NY], up[DA_NY], down[DA_NY];
    int i, j;
    for (j = 0; j < DA_NY; j++) s[j] = y[j];
    for (j = 0; j <= 2 * DA_N; j++) {
        const int time = j == 2 * DA_N;
        /* The cube root of rounding balances truncation and rounding; in time, the step itself says what is smooth. */
        const double here = time ? t : y[j];
        const double size = time ? 0.0 : da_max(da_max(fabs(y[j]), h * fabs(f[j])), atol[j] / rtol);
        const double step = time ? 1e-3 * h + 1e-15 * fabs(t) : 6e-6 * size;
        double above = here + step, below = here - step;
        if (!time) s[j] = above;
        if (da_rhs(time ? above : t, s, up, ctx)) {
            above = here;
            for (i = 0; i < DA_NY; i++) up[i] = f[i];
        }
        if (!time) s[j] = below;
        if (da_rhs(time ? below : t, s, down, ctx)) {
            below = here;
            for (i = 0; i < DA_NY; i++) down[i] = f[i];
        }
        if (!time) s[j] = here;
        for (i = 0; i < DA_N; i++)
            J[i + DA_N * j] = above > below ? (up[DA_N + i] - down[DA_N + i]) / (above - below) : 0.0;
    }
}

DA_FN void da_slope_at(double t, const double *DA_RESTRICT y, double h, const double *DA_RESTRICT f, double rtol,
                       const double *DA_RESTRICT atol, da_slope *slope, da_context *ctx)
{
    double margin[1] = {0.0};
    if (slope->known) return;
    slope->known = 1;
    if (ctx->fast) {
        da_slopes(y, y + DA_N, t, ctx->p, slope->J, margin);
        if (margin[0] > 0.0 && da_all_finite(slope->J, DA_N * (2 * DA_N + 1))) return;
    }
    da_slope_by_differences(t, y, h, f, rtol, atol, slope->J, ctx);
}

/* W = L U in place with row exchanges; nonzero where W is singular. */
DA_FN int da_lu(double W[DA_N][DA_N], int *DA_RESTRICT exchange)
{
    for (int k = 0; k < DA_N; k++) {
        int best = k;
        for (int i = k + 1; i < DA_N; i++)
            if (fabs(W[i][k]) > fabs(W[best][k])) best = i;
        exchange[k] = best;
        if (!(fabs(W[best][k]) > 0.0)) return 1;
        for (int j = 0; best != k && j < DA_N; j++) {
            const double other = W[best][j];
            W[best][j] = W[k][j];
            W[k][j] = other;
        }
        const double inverse = 1.0 / W[k][k];
        for (int i = k + 1; i < DA_N; i++) {
            const double factor = W[i][k] *= inverse;
            for (int j = k + 1; j < DA_N; j++) W[i][j] -= factor * W[k][j];
        }
    }
    return 0;
}

DA_FN void da_lu_solve(double W[DA_N][DA_N], const int *DA_RESTRICT exchange, double *DA_RESTRICT x)
{
    for (int k = 0; k < DA_N; k++) {
        const double other = x[exchange[k]];
        x[exchange[k]] = x[k];
        x[k] = other;
    }
    for (int i = 1; i < DA_N; i++)
        for (int k = 0; k < i; k++) x[i] -= W[i][k] * x[k];
    for (int i = DA_N - 1; i >= 0; i--) {
        for (int k = i + 1; k < DA_N; k++) x[i] -= W[i][k] * x[k];
        x[i] /= W[i][i];
    }
}

/* The interpolant at the share x in [0, 1] of the step. */
DA_FN void da_rosenbrock_at(double x, const double *DA_RESTRICT y, double dense[7][DA_NY], double *DA_RESTRICT out)
{
    for (int j = 0; j < DA_NY; j++)
        out[j] = y[j] + x * (dense[0][j] + (1.0 - x) * (dense[1][j] + x * (dense[2][j] + x * dense[3][j])));
}

/* The interpolant of q and q̇, and the work done within the step. The powers are known at its start, and at its end by
   the last stage, whose state is the embedded solution; with two points of the interpolant between, Lobatto's rule is
   exact to degree 5, and the cubic through the four powers gives the work inside the step. Returns nonzero where a
   power has no value. */
DA_FN int da_rosenbrock_dense(double t, const double *DA_RESTRICT y, double h, double k[16][DA_NY],
                              const double *DA_RESTRICT end, double *DA_RESTRICT ynew, double dense[7][DA_NY],
                              da_context *ctx)
{
    static const double H[3][DA_STIFF_STAGES] = {
        {25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204, 0.524948541321073,
         1.1241088310450404, 0.4272876194431874, -0.17202221070155493},
        {-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796, 20.176138334709044,
         15.98066361424651, -6.789040303419874, -6.710236069923372},
        {11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643, -52.072871366152654,
         -59.78993625266729, -0.15582684282751913, 4.883087185713722},
    };
    const double away = 0.22360679774997896; /* of the points between from the middle: √5/10 */
    double s[DA_NY], first[DA_NY], second[DA_NY];
    int i, j, l;
    for (l = 0; l < 4; l++)
        for (j = 0; j < DA_NY; j++) dense[l][j] = 0.0;
    for (j = 0; j < DA_NE; j++) dense[0][j] = ynew[j] - y[j];
    for (l = 0; l < 3; l++)
        for (i = 0; i < DA_STIFF_STAGES; i++)
            for (j = 0; j < DA_NE; j++) dense[l + 1][j] += H[l][i] * k[1 + i][j];
    da_rosenbrock_at(0.5 - away, y, dense, s);
    if (da_rhs(t + (0.5 - away) * h, s, first, ctx)) return 1;
    da_rosenbrock_at(0.5 + away, y, dense, s);
    if (da_rhs(t + (0.5 + away) * h, s, second, ctx)) return 1;
    for (j = DA_NE; j < DA_NY; j++) {
        /* w = x (d₀ + (1−x)(d₁ + x(d₂ + x d₃))) with w′ equal to h times the power at the four points. */
        const double work = h * (k[0][j] + 5.0 * first[j] + 5.0 * second[j] + end[j]) / 12.0;
        const double d1 = h * k[0][j] - work;
        const double both = work - d1 - h * end[j];
        const double d3 = (h * (second[j] - first[j]) / away + 4.0 * d1 + 2.0 * both) / 1.6;
        dense[0][j] = work;
        dense[1][j] = d1;
        dense[2][j] = both - d3;
        dense[3][j] = d3;
        ynew[j] = y[j] + work;
    }
    return 0;
}

/* One step from (t, y) of size h. k[0] holds the slope at y and is left as it is, k[1] … k[8] become the stages u; on
   return ynew holds the new state, *norm the error relative to the tolerances and, where that is below 1, dense the
   interpolant. Returns nonzero where a stage had no value or no solution. */
DA_PIECE int da_rosenbrock_step(double t, const double *DA_RESTRICT y, double h, double k[16][DA_NY],
                                double *DA_RESTRICT ynew, double rtol, const double *DA_RESTRICT atol, double *norm,
                                double dense[7][DA_NY], da_slope *slope, da_context *ctx)
{
    static const double A[6][5] = {
        {0.0},
        {3.0},
        {2.849394379747939, 0.45842242204463923},
        {-6.954028509809101, 2.489845061869568, -10.358996098473584},
        {2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641},
        {-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256, 0.030198172008377946},
    };
    static const double K[DA_STIFF_STAGES][7] = {
        {0.0},
        {-14.155112264123755},
        {-17.97296035885952, -2.859693295451294},
        {147.12150275711716, -1.41221402718213, 71.68940251302358},
        {165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306},
        {24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125, -0.6610691825249471},
        {30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783, -19.097331116725623,
         -28.087943162872662},
        {37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047, -40.06618937091002,
         -54.66780262877968, -9.48861652309627},
    };
    static const double c[DA_STIFF_STAGES] = {
        0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0};
    static const double d[DA_STIFF_STAGES] = {
        DA_STIFF_GAMMA,    -0.42387512638858027, -0.3384627126235924, 1.8046452872882734,
        2.325825639765069, 0.0,                  0.0,                 0.0};
    const double g = DA_STIFF_GAMMA * h, per_h = 1.0 / h;
    double W[DA_N][DA_N], f[DA_NY], sum[DA_NE], x[DA_N];
    int exchange[DA_N], i, j, stage;
    da_slope_at(t, y, h, k[0], rtol, atol, slope, ctx);
    const double *Jq = slope->J, *Jv = slope->J + DA_N * DA_N, *Jt = slope->J + 2 * DA_N * DA_N;
    for (j = 0; j < DA_N; j++)
        for (i = 0; i < DA_N; i++) W[i][j] = (i == j) - g * (Jv[i + DA_N * j] + g * Jq[i + DA_N * j]);
    if (da_lu(W, exchange)) return 1;
    for (j = 0; j < DA_NY; j++) {
        ynew[j] = y[j];
        f[j] = k[0][j];
    }
    for (stage = 0; stage < DA_STIFF_STAGES; stage++) {
        double *u = k[1 + stage];
        for (j = 0; j < DA_NE; j++) sum[j] = 0.0;
        for (i = 0; i < stage; i++)
            for (j = 0; j < DA_NE; j++) sum[j] += K[stage][i] * per_h * k[1 + i][j];
        if (stage < 6) {
            for (j = 0; j < DA_NE; j++) ynew[j] = y[j];
            for (i = 0; i < stage; i++)
                for (j = 0; j < DA_NE; j++) ynew[j] += A[stage][i] * k[1 + i][j];
        } else
            for (j = 0; j < DA_NE; j++) ynew[j] += k[stage][j];
        if (stage > 0 && da_rhs(t + c[stage] * h, ynew, f, ctx)) return 1;
        for (i = 0; i < DA_N; i++) {
            u[i] = f[i] + sum[i];
            x[i] = f[DA_N + i] + sum[DA_N + i] + d[stage] * h * Jt[i];
        }
        for (j = 0; j < DA_N; j++)
            for (i = 0; i < DA_N; i++) x[i] += g * Jq[i + DA_N * j] * u[j];
        for (i = 0; i < DA_N; i++) x[i] *= g;
        da_lu_solve(W, exchange, x);
        for (i = 0; i < DA_N; i++) {
            u[DA_N + i] = x[i];
            u[i] = g * (u[i] + x[i]);
        }
    }
    double squares = 0.0;
    for (j = 0; j < DA_NE; j++) {
        ynew[j] += k[DA_STIFF_STAGES][j];
        const double e = k[DA_STIFF_STAGES][j] / (atol[j] + rtol * da_max(fabs(y[j]), fabs(ynew[j])));
        squares += e * e;
    }
    *norm = sqrt(squares / DA_NE);
    if (!da_finite(*norm)) return 1;
    return *norm < 1.0 ? da_rosenbrock_dense(t, y, h, k, f, ynew, dense, ctx) : 0;
}

#endif
