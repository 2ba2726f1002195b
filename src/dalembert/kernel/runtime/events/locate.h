/* Where inside a step a function passes zero, has arrived there, leaves it, or turns back beyond it. */
#ifndef DA_LOCATE_H
#define DA_LOCATE_H

#if DA_WITH_EVENTS
/* Where g, of opposite signs at a and b, has just become zero or of the given sign, that at b: Chandrupatla's
   method. */
DA_PIECE double da_root(const da_span *s, int which, double a, double b, int sign)
{
    const double resolution = da_resolution(s);
    double x1 = b, x2 = a, x3, f1 = da_value_at(s, which, b, 0), f2 = da_value_at(s, which, a, 0), f3, part = 0.5;
    for (int pass = 0; pass < 120; pass++) {
        const double x = x1 + part * (x2 - x1), f = da_value_at(s, which, x, 0);
        if ((f > 0.0) == (f1 > 0.0)) {
            x3 = x1;
            f3 = f1;
        } else {
            x3 = x2;
            f3 = f2;
            x2 = x1;
            f2 = f1;
        }
        x1 = x;
        f1 = f;
        if (f1 == 0.0) return x1;
        const double least = resolution / fabs(x2 - x1);
        if (least > 0.5) break;
        part = 0.5;
        if (f3 != f2 && f3 != f1) {
            const double xi = (x1 - x2) / (x3 - x2), phi = (f1 - f2) / (f3 - f2);
            if (phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi)
                part = f1 / (f2 - f1) * f3 / (f2 - f3) + (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2);
        }
        part = da_min(da_max(part, least), 1.0 - least);
    }
    return (f1 > 0.0) == (sign > 0) ? x1 : x2;
}

/* Where g, of a sign at a, has become zero, as it is at b: by halving. */
DA_PIECE double da_arrival(const da_span *s, int which, double a, double b, int sign)
{
    const double resolution = da_resolution(s);
    while (b - a > resolution) {
        const double x = (a + b) / 2.0;
        int here;
        if (!(a < x && x < b)) break;
        da_value_at(s, which, x, &here);
        if (here == sign)
            a = x;
        else
            b = x;
    }
    return b;
}

/* Where g, zero since the start at a, has fallen below it, as it is at b: by halving. */
DA_PIECE double da_departure(const da_span *s, int which, double a, double b)
{
    const double resolution = da_resolution(s);
    double g[DA_NG], level[DA_NG];
    int signs[DA_NG];
    while (b - a > resolution) {
        const double x = (a + b) / 2.0;
        if (!(a < x && x < b)) break;
        da_look(s, x, g, level, signs);
        if (da_away(g[which], level[which]) == -1)
            b = x;
        else
            a = x;
    }
    return b;
}

/* Where sign·g, which has its least value between a and b, is negative; -1 where it is nowhere: Brent's
   minimisation. */
DA_PIECE double da_beyond(const da_span *s, int which, double a, double x, double b, double fx, int sign)
{
    double w = x, v = x, fw = fx, fv = fx, step = 0.0, before = 0.0;
    for (int pass = 0; pass < 60; pass++) {
        const double middle = (a + b) / 2.0;
        int golden = 1, here;
        if (fabs(x - middle) <= 2.0 * DA_EVENT_FLAT - (b - a) / 2.0) return -1.0;
        if (fabs(before) > DA_EVENT_FLAT) {
            const double r = (x - w) * (fx - fv);
            double q = (x - v) * (fx - fw), p = (x - v) * q - (x - w) * r;
            q = 2.0 * (q - r);
            if (q > 0.0) p = -p;
            q = fabs(q);
            if (fabs(p) < fabs(q * before / 2.0) && p > q * (a - x) && p < q * (b - x)) {
                before = step;
                step = p / q;
                golden = 0;
                if (x + step - a < 2.0 * DA_EVENT_FLAT || b - (x + step) < 2.0 * DA_EVENT_FLAT)
                    step = copysign(DA_EVENT_FLAT, middle - x);
            }
        }
        if (golden) {
            before = (x >= middle ? a : b) - x;
            step = 0.3819660112501051 * before;
        }
        const double u = x + (fabs(step) >= DA_EVENT_FLAT ? step : copysign(DA_EVENT_FLAT, step));
        const double fu = sign * da_value_at(s, which, u, &here);
        if (here == -sign) return u;
        if (fu <= fx) {
            if (u < x)
                b = x;
            else
                a = x;
            v = w;
            fv = fw;
            w = x;
            fw = fx;
            x = u;
            fx = fu;
        } else {
            if (u < x)
                a = u;
            else
                b = u;
            if (fu <= fw || w == x) {
                v = w;
                fv = fw;
                w = u;
                fw = fu;
            } else if (fu <= fv || v == x || v == w) {
                v = u;
                fv = fu;
            }
        }
    }
    return -1.0;
}
#endif

#endif
