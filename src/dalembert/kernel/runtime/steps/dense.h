/* A state inside an accepted step, whatever the method. */
#ifndef DA_DENSE_H
#define DA_DENSE_H

/* What an accepted step of size h from (t, y) has left of it. */
typedef struct {
    int method; /* of this step: where the one asked for cannot go, another takes it */
    double t, h;
    const double *y;
    double *k, *dense; /* by rows of DA_NW */
    const da_own *own;
} da_step;

/* The interpolant at the share x in [0, 1] of a step, before its return to the constraints. */
DA_FN void da_interpolate(const da_step *s, double x, double *out)
{
    da_inside_by(s->method, x, s->y, s->h, DA_ROWS(s->k, DA_NW), DA_ROWS(s->dense, DA_NW), s->own, out);
}

#endif
