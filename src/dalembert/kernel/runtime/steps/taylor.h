/* Taylor series of the motion: coefficients order by order, order from the tolerance, step size from the last two
   coefficients (Jorba, Zou, A software package for the numerical integration of ODEs by means of high-order Taylor
   methods, Experimental Mathematics 14, 2005). The polynomial is the dense output.

   Needs da_taylor_start and da_taylor_order, made for the system, and da_settle. */
#ifndef DA_TAYLOR_H
#define DA_TAYLOR_H

/* The order for a tolerance is 1 − share · ln rtol. Jorba and Zou have one half, which is best where the work grows
   as the square of the order; here the products of all orders are a small part of it, and longer steps of higher
   order pay. */
#define DA_TAYLOR_SHARE 0.9
#define DA_TAYLOR_MOST 28 /* orders: enough for rtol 1e-13 */
#define DA_TAYLOR_DROP 0.2 /* a step may be shorter than the last one by this factor */
#define DA_TAYLOR_PIECES 8 /* of a step, for the search for singular configurations */
#define DA_TAYLOR_AGAIN (-1) /* the step was too long for its polynomial */

/* Four numbers at once, see elementary.h, in arrays of any alignment. */
#ifndef __CUDACC__
typedef da_four da_four_there __attribute__((aligned(8), may_alias));
#define DA_FOUR_AT(place) (*(const da_four_there *)(place))
#define DA_FOUR_SET(place, value) (*(da_four_there *)(place) = (value))
#define DA_FOUR_MADD(sum, a, b) ((sum) += DA_FOUR_AT(a) * DA_FOUR_AT(b))
#define DA_FOUR_ZERO ((da_four){0.0, 0.0, 0.0, 0.0})
#endif

/* In run/settle.h. */
DA_FN int da_settle(double t, const double *y, double *dy, da_context *ctx);
DA_FN void da_settled(const double *q, const double *v, double t, const double *size, da_context *ctx);

typedef struct {
    double x[DA_TAYLOR_MOST + 1][DA_NW]; /* normalized coefficients of y */
    double left[DA_TAYLOR_MOST][DA_TAYLOR_PAIRS], right[DA_TAYLOR_MOST][DA_TAYLOR_PAIRS];
    double sum[DA_TAYLOR_PAIRS], kept[DA_TAYLOR_KEPT], factor[DA_TAYLOR_FACTOR];
    double last[DA_TAYLOR_LAST]; /* of the order before, for sums with straight lines */
    int order;
    int started;   /* order 0 is there for the present state */
    int made;      /* so are the others */
    double slope[DA_NW]; /* of the polynomial at the end of the step */
    double defect; /* of this step when it was longer */
    double kinetic, energy; /* kinetic energy; the largest of kinetic energy and work so far */
    double pivot;           /* where order 0 was taken */
} da_taylor;

DA_FN void da_taylor_begin(da_taylor *s, double rtol)
{
    const int order = (int)ceil(1.0 - DA_TAYLOR_SHARE * log(rtol));
    s->order = order < 4 ? 4 : order > DA_TAYLOR_MOST ? DA_TAYLOR_MOST : order;
    s->started = s->made = 0;
    s->defect = s->energy = 0.0;
    /* What fills the arrays up to whole registers is never written again. */
    for (int k = 0; k <= s->order; k++)
        for (int j = DA_NY; j < DA_NW; j++) s->x[k][j] = 0.0;
    for (int k = 0; k < s->order; k++)
        for (int l = DA_TAYLOR_PAIRS - 4; l < DA_TAYLOR_PAIRS; l++) s->left[k][l] = s->right[k][l] = 0.0;
}

/* The equations have changed. */
DA_FN void da_taylor_forget(da_taylor *s) { s->started = s->made = 0; }

DA_FN void da_taylor_go_on(da_taylor *s) { (void)s; }

/* Σ left_j right_{k−j} over 0 < j < k, for pairs from `l` on, so many groups of four. What the order before has just
   left, the first and the last term, is added at the end: the others need not wait for it. */
#ifdef DA_FOUR_AT
DA_HOT void da_taylor_some_sums(da_taylor *s, int k, int l, const int groups)
{
    da_four a = DA_FOUR_ZERO, b = DA_FOUR_ZERO, c = DA_FOUR_ZERO, d = DA_FOUR_ZERO;
    const double *left = s->left[2] + l, *right = s->right[k > 2 ? k - 2 : 0] + l;
#define DA_TAYLOR_TERM                                            \
    DA_FOUR_MADD(a, left, right);                                 \
    if (groups > 1) DA_FOUR_MADD(b, left + 4, right + 4);         \
    if (groups > 2) DA_FOUR_MADD(c, left + 8, right + 8);         \
    if (groups > 3) DA_FOUR_MADD(d, left + 12, right + 12);
    for (int j = 2; j < k - 1; j++) {
        DA_TAYLOR_TERM
        left += DA_TAYLOR_PAIRS;
        right -= DA_TAYLOR_PAIRS;
    }
    if (k > 1) {
        left = s->left[1] + l;
        right = s->right[k - 1] + l;
        DA_TAYLOR_TERM
    }
    if (k > 2) {
        left = s->left[k - 1] + l;
        right = s->right[1] + l;
        DA_TAYLOR_TERM
    }
#undef DA_TAYLOR_TERM
    DA_FOUR_SET(s->sum + l, a);
    if (groups > 1) DA_FOUR_SET(s->sum + l + 4, b);
    if (groups > 2) DA_FOUR_SET(s->sum + l + 8, c);
    if (groups > 3) DA_FOUR_SET(s->sum + l + 12, d);
}
#endif

/* The same for all pairs. */
DA_FN void da_taylor_sums(da_taylor *s, int k)
{
    int l = 0;
#ifdef DA_FOUR_AT
    for (; l + 16 <= DA_TAYLOR_PAIRS; l += 16) da_taylor_some_sums(s, k, l, 4);
    if (DA_TAYLOR_PAIRS % 16 == 12) da_taylor_some_sums(s, k, l, 3);
    if (DA_TAYLOR_PAIRS % 16 == 8) da_taylor_some_sums(s, k, l, 2);
    if (DA_TAYLOR_PAIRS % 16 == 4) da_taylor_some_sums(s, k, l, 1);
#else
    for (; l < DA_TAYLOR_PAIRS; l++) {
        double a = 0.0;
        for (int j = 1; j < k; j++) a += s->left[j][l] * s->right[k - j][l];
        s->sum[l] = a;
    }
#endif
}

/* Order 0 at a state, its slope, and whether straight-line code is good there. */
DA_FN int da_taylor_at_state(da_taylor *s, double t, const double *y, double *dy, double *size, da_context *ctx)
{
    double pivot[1], kinetic[1];
    da_taylor_unknowns u;
    ctx->evaluations++;
    for (int i = 0; i < DA_N; i++) dy[i] = y[DA_N + i];
    da_taylor_start(y, y + DA_N, t, ctx->p, dy + DA_N, dy + 2 * DA_N, kinetic, pivot, size, s->factor, s->kept, &u);
    s->kinetic = kinetic[0];
    s->pivot = pivot[0];
    return pivot[0] > DA_PIVOT && !da_fades(size, ctx) && da_all_finite(dy, DA_NY);
}

/* The mean square of coefficient k in units of the tolerance; not finite where a coefficient is not. scale: DA_NW. */
DA_FN double da_taylor_norm(const da_taylor *s, int k, const double *scale)
{
#ifdef DA_FOUR_AT
    da_four sums = DA_FOUR_ZERO;
    for (int j = 0; j < DA_NW; j += 4) {
        const da_four e = DA_FOUR_AT(s->x[k] + j) * DA_FOUR_AT(scale + j);
        sums += e * e;
    }
    const double sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
#else
    double sum = 0.0;
    for (int j = 0; j < DA_NY; j++) sum += (s->x[k][j] * scale[j]) * (s->x[k][j] * scale[j]);
#endif
    return sum / DA_NE;
}

/* The series at (t, y), f its slope there, and the step it allows; 0 where there is none. */
DA_FN double da_taylor_expand(da_taylor *s, double t, const double *y, const double *f, double last, double span,
                              double rtol, const double *atol, da_context *ctx)
{
    double d[DA_NY], size[DA_AT_LEAST_1(DA_FAST_ROWS)], scale[DA_NW];
    const int p = s->order, started = s->started;
    s->started = 0;
    if (!ctx->fast) return 0.0;
    if (!s->made) {
        if (!started && !da_taylor_at_state(s, t, y, d, size, ctx)) return 0.0;
        for (int j = 0; j < DA_NY; j++) {
            s->x[0][j] = y[j];
            s->x[1][j] = f[j];
        }
        double order = 1.0, over = 1.0;
        for (int l = 0; l < DA_TAYLOR_LAST; l++) s->last[l] = 0.0;
        for (int k = 1; k < p; k++) {
            da_taylor_unknowns u; /* of this order alone, so that they may stay in registers */
            const double over_next = 1.0 / (order + 1.0);
            da_taylor_sums(s, k);
            da_taylor_order(s->x[k], s->x[k] + DA_N, k == 1 ? 1.0 : 0.0, ctx->p, order, over, over_next, s->factor,
                            s->kept, s->sum, s->x[k + 1], s->left[k], s->right[k], s->last, &u);
            order += 1.0;
            over = over_next;
        }
        s->made = 1;
    }
    /* A component that passes through zero has the size it will have at the end of the step. */
    for (int j = 0; j < DA_NE; j++)
        scale[j] = 1.0 / (atol[j] + rtol * da_max(fabs(y[j]), fabs(last * f[j])));
    /* Steps are so long that the work must be looked at: its series may be longer than that of the motion. */
    s->energy = da_max(s->energy, fabs(s->kinetic));
    for (int j = DA_NE; j < DA_NY; j++) s->energy = da_max(s->energy, fabs(y[j]));
    const double of_work = s->energy > 0.0 ? 1.0 / (rtol * s->energy) : 0.0;
    for (int j = DA_NE; j < DA_NW; j++) scale[j] = j < DA_NY ? of_work : 0.0;
    const double a = da_taylor_norm(s, p - 1, scale), b = da_taylor_norm(s, p, scale);
    if (!da_finite(a) || !da_finite(b)) {
        s->made = 0;
        return 0.0;
    }
    /* A polynomial says nothing about what comes later: steps grow at most tenfold, as those of the other methods. */
    const double most = last > 0.0 ? 10.0 * last : span / 16.0;
    if (!(a > 0.0) && !(b > 0.0)) return most;
    /* The longest step for which both terms stay within the tolerance; a and b are squares. */
    const double to_a = a > 0.0 ? log(a) / (p - 1) : -1e300, to_b = b > 0.0 ? log(b) / p : -1e300;
    const double h = exp(-0.5 * da_max(to_a, to_b));
    /* Radii of convergence do not change much within a step. Coefficients that say so have been spoilt by rounding,
       next to a singular configuration where the equations divide by small numbers: DOP853, which takes no
       derivatives, passes it with longer steps. */
    if (h < DA_TAYLOR_DROP * last) {
        s->made = 0;
        return 0.0;
    }
    return da_min(most, h);
}

/* The polynomial, h after its centre, and its derivative where it is asked for: from `j` on, so many groups of four,
   whose sums need not wait for each other. */
#ifdef DA_FOUR_AT
DA_HOT void da_taylor_some_values(const da_taylor *s, double h, int j, const int groups, double *value, double *slope)
{
    const double *x = s->x[s->order] + j;
    da_four a = DA_FOUR_AT(x), b = DA_FOUR_AT(x + (groups > 1 ? 4 : 0)), c = DA_FOUR_AT(x + (groups > 2 ? 8 : 0));
    da_four da = DA_FOUR_ZERO, db = DA_FOUR_ZERO, dc = DA_FOUR_ZERO;
    for (int k = s->order - 1; k >= 0; k--) {
        x -= DA_NW;
        if (slope) {
            da = da * h + a;
            if (groups > 1) db = db * h + b;
            if (groups > 2) dc = dc * h + c;
        }
        a = a * h + DA_FOUR_AT(x);
        if (groups > 1) b = b * h + DA_FOUR_AT(x + 4);
        if (groups > 2) c = c * h + DA_FOUR_AT(x + 8);
    }
    DA_FOUR_SET(value + j, a);
    if (groups > 1) DA_FOUR_SET(value + j + 4, b);
    if (groups > 2) DA_FOUR_SET(value + j + 8, c);
    if (!slope) return;
    DA_FOUR_SET(slope + j, da);
    if (groups > 1) DA_FOUR_SET(slope + j + 4, db);
    if (groups > 2) DA_FOUR_SET(slope + j + 8, dc);
}
#endif

/* The same of all of it: DA_NW numbers each. */
DA_FN void da_taylor_values(const da_taylor *s, double h, double *value, double *slope)
{
    int j = 0;
#ifdef DA_FOUR_AT
    for (; j + 12 <= DA_NW; j += 12) da_taylor_some_values(s, h, j, 3, value, slope);
    if (DA_NW % 12 == 8) da_taylor_some_values(s, h, j, 2, value, slope);
    if (DA_NW % 12 == 4) da_taylor_some_values(s, h, j, 1, value, slope);
#else
    for (; j < DA_NW; j++) {
        double a = s->x[s->order][j], d = 0.0;
        for (int k = s->order - 1; k >= 0; k--) {
            d = d * h + a;
            a = a * h + s->x[k][j];
        }
        value[j] = a;
        if (slope) slope[j] = d;
    }
#endif
}

DA_FN void da_taylor_polynomial(const da_taylor *s, double h, double *out)
{
    double value[DA_NW];
    da_taylor_values(s, h, value, NULL);
    for (int j = 0; j < DA_NY; j++) out[j] = value[j];
}

/* A step along it; the slope at its end will judge it, see da_taylor_settle. ynew has DA_NW numbers. */
DA_FN int da_taylor_step(double t, const double *y, double h, double k[DA_SLOPES][DA_NW], double *ynew, double rtol,
                         const double *atol, double *norm, double dense[DA_DENSE][DA_NW], da_taylor *s,
                         da_context *ctx)
{
    (void)t, (void)y, (void)k, (void)rtol, (void)atol, (void)dense, (void)ctx;
    da_taylor_values(s, h, ynew, s->slope);
    *norm = 0.0;
    return 0;
}

DA_FN void da_taylor_at(double x, const double *y, double h, double k[][DA_NW], double dense[][DA_NW],
                        const da_taylor *s, double *out)
{
    (void)y, (void)k, (void)dense;
    da_taylor_polynomial(s, x * h, out);
}

/* The slope of the polynomial at the end of a step against the model's: the term of order p+1 contributes (p+1)/h
   times the error of the step. In units of the tolerance. */
DA_FN double da_taylor_defect(const da_taylor *s, double h, const double *y, const double *f, double rtol,
                              const double *atol)
{
    double sum = 0.0;
    for (int j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * da_max(fabs(y[j]), fabs(s->x[0][j]));
        const double e = h * (s->slope[j] - f[j]) / (scale * (s->order + 1));
        sum += e * e;
    }
    return sqrt(sum / DA_NE);
}

/* The slope at the end of a step, and whether the step may be accepted. status: of the projection. */
DA_FN int da_taylor_settle(da_taylor *s, int status, double h, double t, const double *y, double *dy, double rtol,
                           const double *atol, da_context *ctx)
{
    double size[DA_AT_LEAST_1(DA_FAST_ROWS)];
    const int good = !status && ctx->fast && da_taylor_at_state(s, t, y, dy, size, ctx) && ctx->independent;
    da_context before;
    if (!good) before = *ctx;
    if (!good && !status) status = da_settle(t, y, dy, ctx);
    /* Half the step divides the defect by 2^p; where it does not, it is rounding. */
    const double defect = status ? 0.0 : da_taylor_defect(s, h, y, dy, rtol, atol), last = s->defect;
    /* A status may only say that the polynomial does not reach so far. */
    if (status || (!(defect <= 1.0) && (last == 0.0 || defect < 0.25 * last))) {
        if (!good) da_return_to(&before, ctx);
        if (status)
            ctx->trouble = status;
        else
            s->defect = defect;
        return DA_TAYLOR_AGAIN;
    }
    s->defect = 0.0;
    s->made = 0;
    s->started = good;
    if (good) {
        if (ctx->fading) ctx->fading--;
        ctx->nearness = sqrt(da_max(s->pivot, 0.0));
        da_settled(y, y + DA_N, t, size, ctx);
    }
    return DA_DONE;
}

/* Steps are longer than the polynomials of degree 5 reach on which singular configurations are followed: they get
   states inside the step too, where one may be near. */
DA_FN void da_taylor_watch(const da_taylor *s, double t, double h, da_singular *watch, da_context *ctx)
{
#if DA_WATCHED
    const double last = ctx->nearness, first = watch->s[watch->seen - 1];
    double y[DA_NW], dy[DA_NW], a[DA_N], power[3 + DA_HEATS], pivot[1], size[DA_FAST_ROWS];
    for (int i = 0; i < DA_TAYLOR_PIECES; i++) {
        /* The middle first: it decides. */
        const double x = h * (i ? i : 0.5 * DA_TAYLOR_PIECES) / DA_TAYLOR_PIECES;
        da_taylor_values(s, x, y, i ? dy : NULL);
        da_fast(y, y + DA_N, t + x, ctx->p, a, power, pivot, size);
        ctx->nearness = sqrt(da_max(pivot[0], 0.0));
        if (i) {
            da_watch_singular(t + x, y, dy, 0, watch, ctx);
        } else if (da_min(ctx->nearness, da_min(first, last)) >= DA_SINGULAR_NEAR) {
            break;
        }
    }
    ctx->nearness = last;
#else
    (void)s, (void)t, (void)h, (void)watch, (void)ctx;
#endif
}

#endif
