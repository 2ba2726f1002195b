/* Accelerations of a planar chain of N point masses on massless links, in the angles of the links, written by hand: from
   the tip to the root, then back. What a generated evaluation is measured against. */
#include <math.h>

void chain(int N, double m, double l, double g, const double *a, const double *v, double *out, double *work)
{
    double *s = work, *c = work + N, *px = work + 2 * N, *py = work + 3 * N, *inverse = work + 4 * N, *pull = work + 5 * N;
    double xx = m, xy = 0.0, yy = m, fx = 0.0, fy = -m * g;
    for (int k = 0; k < N; k++) {
        s[k] = sin(a[k]);
        c[k] = cos(a[k]);
    }
    for (int k = N - 1; k >= 0; k--) {
        const double jx = l * c[k], jy = l * s[k], bx = -l * s[k] * v[k] * v[k], by = l * c[k] * v[k] * v[k];
        const double hx = fx - xx * bx - xy * by, hy = fy - xy * bx - yy * by;
        px[k] = xx * jx + xy * jy;
        py[k] = xy * jx + yy * jy;
        inverse[k] = 1.0 / (jx * px[k] + jy * py[k]);
        pull[k] = jx * hx + jy * hy;
        const double share = pull[k] * inverse[k], ux = px[k] * inverse[k], uy = py[k] * inverse[k];
        fx = hx - px[k] * share;
        fy = hy - py[k] * share - m * g;
        xx += m - ux * px[k];
        xy -= ux * py[k];
        yy += m - uy * py[k];
    }
    double ax = 0.0, ay = 0.0;
    for (int k = 0; k < N; k++) {
        out[k] = (pull[k] - px[k] * ax - py[k] * ay) * inverse[k];
        ax += l * c[k] * out[k] - l * s[k] * v[k] * v[k];
        ay += l * s[k] * out[k] + l * c[k] * v[k] * v[k];
    }
}
