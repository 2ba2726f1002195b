/* The explicit Runge–Kutta pair 5(4) of Dormand and Prince with its interpolant of order 4 (Hairer, Nørsett, Wanner, Solving
   Ordinary Differential Equations I, section II.5): cheaper than order 8 at loose tolerances. Conventions as in dop853.h. */
#ifndef DA_DOPRI5_H
#define DA_DOPRI5_H

/* Where the last stage of a step stands, at its end. */
DA_FN void da_dopri5_last(const double *DA_RESTRICT y, double h, double k[16][DA_NW], double *DA_RESTRICT s)
{
    for (int j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (2.8462752525252526 * k[0][j] + -10.757575757575758 * k[1][j] + 8.906422717743473 * k[2][j] +
                        0.2784090909090909 * k[3][j] + -0.2735313036020583 * k[4][j]);
}

DA_FN int da_dopri5_step(double t, const double *DA_RESTRICT y, double h, double k[16][DA_NW], double *DA_RESTRICT ynew,
                         double rtol, const double *DA_RESTRICT atol, double *norm, da_context *ctx)
{
    double s[DA_NW];
    int j;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.2 * k[0][j]);
    if (da_rhs(t + 0.2 * h, s, k[1], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.075 * k[0][j] + 0.225 * k[1][j]);
    if (da_rhs(t + 0.3 * h, s, k[2], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (0.9777777777777777 * k[0][j] + -3.7333333333333334 * k[1][j] + 3.5555555555555554 * k[2][j]);
    if (da_rhs(t + 0.8 * h, s, k[3], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        s[j] = y[j] + h * (2.9525986892242035 * k[0][j] + -11.595793324188385 * k[1][j] + 9.822892851699436 * k[2][j] +
                        -0.2908093278463649 * k[3][j]);
    if (da_rhs(t + 0.8888888888888888 * h, s, k[4], ctx)) return 1;
    da_dopri5_last(y, h, k, s);
    if (da_rhs(t + 1.0 * h, s, k[5], ctx)) return 1;
    for (j = 0; j < DA_NW; j++)
        ynew[j] = y[j] + h * (0.09114583333333333 * k[0][j] + 0.44923629829290207 * k[2][j] + 0.6510416666666666 * k[3][j] +
                        -0.322376179245283 * k[4][j] + 0.13095238095238096 * k[5][j]);
    if (da_rhs(t + h, ynew, k[6], ctx)) return 1;
    double sum = 0.0;
    for (j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * da_max(fabs(y[j]), fabs(ynew[j]));
        const double e = (-0.0012326388888888888 * k[0][j] + 0.0042527702905061394 * k[2][j] + -0.03697916666666667 *
                        k[3][j] + 0.05086379716981132 * k[4][j] + -0.0419047619047619 * k[5][j] + 0.025 * k[6][j]) / scale;
        sum += e * e;
    }
    *norm = fabs(h) * sqrt(sum / DA_NE);
    if (!da_finite(*norm)) ctx->trouble = DA_UNDEFINED;
    return !da_finite(*norm);
}

/* The interpolant at the share x in [0, 1] of the step; k[6] is the slope at the end of the step, before projection. */
DA_FN void da_dopri5_at(double x, const double *DA_RESTRICT y, double h, double k[16][DA_NW], double *DA_RESTRICT out)
{
    static const double P[7][4] = {
        {1.0, -2.8535800653862835, 3.0717434641059005, -1.1270175653862835},
        {0.0, 0.0, 0.0, 0.0},
        {0.0, 4.023133379230305, -6.249321565289, 2.675424484351598},
        {0.0, -3.7324019615885042, 10.068970589843675, -5.685526961588504},
        {0.0, 2.5548038301849423, -6.399112377351017, 3.5219323679207912},
        {0.0, -1.3744241142186024, 3.272657752246729, -1.7672812570757455},
        {0.0, 1.3824689317781436, -3.764937863556287, 2.382468931778144},
    };
    for (int j = 0; j < DA_NW; j++) {
        double sum = 0.0;
        for (int i = 0; i < 7; i++) sum += k[i][j] * (P[i][0] + x * (P[i][1] + x * (P[i][2] + x * P[i][3])));
        out[j] = y[j] + h * x * sum;
    }
}

#endif
