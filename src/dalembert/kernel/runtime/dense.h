/* A state inside an accepted step, whatever the method. */
#ifndef DA_DENSE_H
#define DA_DENSE_H

enum { DA_METHOD_DOP853 = 8, DA_METHOD_DOPRI5 = 5, DA_METHOD_STIFF = 4, DA_METHOD_TAYLOR = 9 };

/* What an accepted step of size h from (t, y) has left of it. */
typedef struct {
    int method; /* of this step: where a series does not serve, DOP853 takes it */
    double t, h;
    const double *y;
    double (*k)[DA_NW], (*dense)[DA_NW];
#if DA_TAYLOR
    const da_taylor *series;
#endif
} da_step;

/* The interpolant at the share x in [0, 1] of a step, before its return to the constraints. */
DA_FN void da_interpolate(const da_step *s, double x, double *out)
{
    if (s->method == DA_METHOD_DOPRI5)
        da_dopri5_at(x, s->y, s->h, s->k, out);
#if DA_STIFF
    else if (s->method == DA_METHOD_STIFF)
        da_radau_at(x, s->y, s->dense, out);
#endif
#if DA_TAYLOR
    else if (s->method == DA_METHOD_TAYLOR)
        da_taylor_at(s->series, x * s->h, out);
#endif
    else
        da_dop853_at(x, s->y, s->dense, out);
}

#endif
