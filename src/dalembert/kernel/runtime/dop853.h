/* The explicit Runge–Kutta method of order 8 of Dormand and Prince, with error estimates of orders 5 and 3 and dense output of
   order 7 (Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, section II.10). Only nonzero coefficients appear.

   Needs DA_NY, the number of integrated quantities; DA_NE, how many of them (the first ones) decide the step size; and
   da_rhs(t, y, dy, ctx), which returns 0 where the right-hand side has a value. */
#ifndef DA_DOP853_H
#define DA_DOP853_H

/* Where the last stage of a step stands, at its end. */
DA_FN void da_dop853_last(const double *DA_RESTRICT y, double h, double k[16][DA_NW], double *DA_RESTRICT s)
{
    for (int j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (2.273310147516538 * k[0][j] + -10.53449546673725 * k[3][j] + -2.0008720582248625 * k[4][j]
                         + -17.9589318631188 * k[5][j] + 27.94888452941996 * k[6][j] + -2.8589982771350235 * k[7][j]
                         + -8.87285693353063 * k[8][j] + 12.360567175794303 * k[9][j] + 0.6433927460157636 * k[10][j]);
}

/* One step from (t, y) of size h. k[0] holds the slope at y; on return ynew holds the new state and *norm the error
   relative to the tolerances (at most 1: acceptable). Returns nonzero where a stage had no value. */
DA_FN int da_dop853_step(double t, const double *DA_RESTRICT y, double h, double k[16][DA_NW], double *DA_RESTRICT ynew,
                         double rtol, const double *DA_RESTRICT atol, double *norm, da_context *ctx)
{
    double s[DA_NW];
    int j;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.05260015195876773 * k[0][j]);
    if (da_rhs(t + 0.05260015195876773 * h, s, k[1], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.0197250569845379 * k[0][j] + 0.0591751709536137 * k[1][j]);
    if (da_rhs(t + 0.0789002279381516 * h, s, k[2], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.02958758547680685 * k[0][j] + 0.08876275643042054 * k[2][j]);
    if (da_rhs(t + 0.1183503419072274 * h, s, k[3], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.2413651341592667 * k[0][j] + -0.8845494793282861 * k[2][j] + 0.924834003261792 * k[3][j]);
    if (da_rhs(t + 0.2816496580927726 * h, s, k[4], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.037037037037037035 * k[0][j] + 0.17082860872947386 * k[3][j] + 0.12546768756682242 * k[4][j]);
    if (da_rhs(t + 0.3333333333333333 * h, s, k[5], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.037109375 * k[0][j] + 0.17025221101954405 * k[3][j] + 0.06021653898045596 * k[4][j]
                         + -0.017578125 * k[5][j]);
    if (da_rhs(t + 0.25 * h, s, k[6], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.03709200011850479 * k[0][j] + 0.17038392571223998 * k[3][j] + 0.10726203044637328 * k[4][j]
                         + -0.015319437748624402 * k[5][j] + 0.008273789163814023 * k[6][j]);
    if (da_rhs(t + 0.3076923076923077 * h, s, k[7], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.6241109587160757 * k[0][j] + -3.3608926294469414 * k[3][j] + -0.868219346841726 * k[4][j]
                         + 27.59209969944671 * k[5][j] + 20.154067550477894 * k[6][j] + -43.48988418106996 * k[7][j]);
    if (da_rhs(t + 0.6512820512820513 * h, s, k[8], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.47766253643826434 * k[0][j] + -2.4881146199716677 * k[3][j] + -0.590290826836843 * k[4][j]
                         + 21.230051448181193 * k[5][j] + 15.279233632882423 * k[6][j] + -33.28821096898486 * k[7][j]
                         + -0.020331201708508627 * k[8][j]);
    if (da_rhs(t + 0.6 * h, s, k[9], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (-0.9371424300859873 * k[0][j] + 5.186372428844064 * k[3][j] + 1.0914373489967295 * k[4][j]
                         + -8.149787010746927 * k[5][j] + -18.52006565999696 * k[6][j] + 22.739487099350505 * k[7][j]
                         + 2.4936055526796523 * k[8][j] + -3.0467644718982196 * k[9][j]);
    if (da_rhs(t + 0.8571428571428571 * h, s, k[10], ctx)) return 1;
    da_dop853_last(y, h, k, s);
    if (da_rhs(t + 1.0 * h, s, k[11], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        ynew[j] = y[j] + h * (0.054293734116568765 * k[0][j] + 4.450312892752409 * k[5][j] + 1.8915178993145003 * k[6][j]
                         + -5.801203960010585 * k[7][j] + 0.3111643669578199 * k[8][j] + -0.1521609496625161 * k[9][j]
                         + 0.20136540080403034 * k[10][j] + 0.04471061572777259 * k[11][j]);
    double e5 = 0.0, e3 = 0.0;
    for (j = 0; j < DA_NE; j++) {
        const double scale = 1.0 / (atol[j] + rtol * da_max(fabs(y[j]), fabs(ynew[j])));
        const double a = (0.01312004499419488 * k[0][j] + -1.2251564463762044 * k[5][j] + -0.4957589496572502 * k[6][j]
                         + 1.6643771824549864 * k[7][j] + -0.35032884874997366 * k[8][j] + 0.3341791187130175 * k[9][j]
                         + 0.08192320648511571 * k[10][j] + -0.022355307863886294 * k[11][j]) * scale;
        const double b = (-0.18980075407240762 * k[0][j] + 4.450312892752409 * k[5][j] + 1.8915178993145003 * k[6][j]
                         + -5.801203960010585 * k[7][j] + -0.4226823213237919 * k[8][j] + -0.1521609496625161 * k[9][j]
                         + 0.20136540080403034 * k[10][j] + 0.02265179219836082 * k[11][j]) * scale;
        e5 += a * a;
        e3 += b * b;
    }
    const double denominator = e5 + 0.01 * e3;
    *norm = denominator > 0.0 ? fabs(h) * e5 / sqrt(denominator * DA_NE) : 0.0;
    if (!da_finite(*norm)) ctx->trouble = DA_UNDEFINED;
    return !da_finite(*norm);
}

/* The coefficients of the interpolant on the last step; k[12] holds the slope at the new state. Three more evaluations. */
DA_FN int da_dop853_dense(double t, const double *DA_RESTRICT y, double h, double k[16][DA_NW],
                          const double *DA_RESTRICT ynew, double f[7][DA_NW], da_context *ctx)
{
    double s[DA_NW];
    int j;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.056167502283047954 * k[0][j] + 0.25350021021662483 * k[6][j] + -0.2462390374708025 * k[7][j]
                         + -0.12419142326381637 * k[8][j] + 0.15329179827876568 * k[9][j]
                         + 0.00820105229563469 * k[10][j] + 0.007567897660545699 * k[11][j] + -0.008298 * k[12][j]);
    if (da_rhs_checked(t + 0.1 * h, s, k[13], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.03183464816350214 * k[0][j] + 0.028300909672366776 * k[5][j] + 0.053541988307438566 * k[6][j]
                         + -0.05492374857139099 * k[7][j] + -0.00010834732869724932 * k[10][j]
                         + 0.0003825710908356584 * k[11][j] + -0.00034046500868740456 * k[12][j]
                         + 0.1413124436746325 * k[13][j]);
    if (da_rhs_checked(t + 0.2 * h, s, k[14], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (-0.42889630158379194 * k[0][j] + -4.697621415361164 * k[5][j] + 7.683421196062599 * k[6][j]
                         + 4.06898981839711 * k[7][j] + 0.3567271874552811 * k[8][j]
                         + -0.0013990241651590145 * k[12][j] + 2.9475147891527724 * k[13][j]
                         + -9.15095847217987 * k[14][j]);
    if (da_rhs_checked(t + 0.7777777777777778 * h, s, k[15], ctx)) return 1;
    for (j = 0; j < DA_NW; j++) {
        const double change = ynew[j] - y[j];
        f[0][j] = change;
        f[1][j] = h * k[0][j] - change;
        f[2][j] = 2.0 * change - h * (k[12][j] + k[0][j]);
        f[3][j] = h * (-8.428938276109013 * k[0][j] + 0.5667149535193777 * k[5][j] + -3.0689499459498917 * k[6][j]
                         + 2.38466765651207 * k[7][j] + 2.117034582445028 * k[8][j] + -0.871391583777973 * k[9][j]
                         + 2.2404374302607883 * k[10][j] + 0.6315787787694688 * k[11][j]
                         + -0.08899033645133331 * k[12][j] + 18.148505520854727 * k[13][j]
                         + -9.194632392478356 * k[14][j] + -4.436036387594894 * k[15][j]);
        f[4][j] = h * (10.427508642579134 * k[0][j] + 242.28349177525817 * k[5][j] + 165.20045171727028 * k[6][j]
                         + -374.5467547226902 * k[7][j] + -22.113666853125306 * k[8][j] + 7.733432668472264 * k[9][j]
                         + -30.674084731089398 * k[10][j] + -9.332130526430229 * k[11][j]
                         + 15.697238121770845 * k[12][j] + -31.139403219565178 * k[13][j]
                         + -9.35292435884448 * k[14][j] + 35.81684148639408 * k[15][j]);
        f[5][j] = h * (19.985053242002433 * k[0][j] + -387.0373087493518 * k[5][j] + -189.17813819516758 * k[6][j]
                         + 527.8081592054236 * k[7][j] + -11.57390253995963 * k[8][j] + 6.8812326946963 * k[9][j]
                         + -1.0006050966910838 * k[10][j] + 0.7777137798053443 * k[11][j]
                         + -2.778205752353508 * k[12][j] + -60.19669523126412 * k[13][j] + 84.32040550667716 * k[14][j]
                         + 11.99229113618279 * k[15][j]);
        f[6][j] = h * (-25.69393346270375 * k[0][j] + -154.18974869023643 * k[5][j] + -231.5293791760455 * k[6][j]
                         + 357.6391179106141 * k[7][j] + 93.40532418362432 * k[8][j] + -37.45832313645163 * k[9][j]
                         + 104.0996495089623 * k[10][j] + 29.8402934266605 * k[11][j] + -43.53345659001114 * k[12][j]
                         + 96.32455395918828 * k[13][j] + -39.17726167561544 * k[14][j]
                         + -149.72683625798564 * k[15][j]);
    }
    return 0;
}

/* The interpolant at the share x in [0, 1] of the step. */
DA_FN void da_dop853_at(double x, const double *DA_RESTRICT y, double f[7][DA_NW], double *DA_RESTRICT out)
{
    for (int j = 0; j < DA_NW; j++) {
        double sum = 0.0;
        for (int i = 6; i >= 0; i--) sum = (sum + f[i][j]) * (i % 2 == 0 ? x : 1.0 - x);
        out[j] = y[j] + sum;
    }
}

#endif
