/* A state inside an accepted step, whatever the method. */
#ifndef DA_DENSE_H
#define DA_DENSE_H

enum { DA_METHOD_DOP853 = 8, DA_METHOD_DOPRI5 = 5, DA_METHOD_STIFF = 4 };

/* The interpolant at the share x in [0, 1] of a step of size h from y, before its return to the constraints. */
DA_FN void da_interpolate(int method, double x, const double *y, double h, double k[16][DA_NW], double dense[7][DA_NW],
                          double *out)
{
    if (method == DA_METHOD_DOPRI5)
        da_dopri5_at(x, y, h, k, out);
#if DA_STIFF
    else if (method == DA_METHOD_STIFF)
        da_radau_at(x, y, dense, out);
#endif
    else
        da_dop853_at(x, y, dense, out);
}

#endif
