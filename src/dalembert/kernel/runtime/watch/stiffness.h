/* Whether an explicit method takes steps that stability asks for, not accuracy: the last stage of a step and the
   state it leads to belong to the same time, so the slopes there differ by a Jacobian times the difference of the
   states, and that times the step size is compared with the region of stability (Hairer, Wanner, Solving Ordinary
   Differential Equations II, section IV.2). As motion/integrate/stiffness.py. */
#ifndef DA_STIFFNESS_H
#define DA_STIFFNESS_H

DA_FN void da_watch_stiffness(int method, double t, const double *y, double h, double k[DA_SLOPES][DA_NW],
                              const double *ynew, const double *fnew, double rtol, const double *atol,
                              da_stiffness *watch, long steps)
{
    const int sample = steps % DA_STIFF_SAMPLE == 0, known = watch->hits == DA_STIFF_HITS;
    if (!sample && (known || watch->hits == 0)) return;
    double s[DA_NW], turn = 0.0, move = 0.0, least = 0.0;
    const double *f = k[0], limit = da_last_stage(method, y, h, k, s, &f);
    if (limit == 0.0) return;
    for (int j = 0; j < DA_NE; j++) {
        const double scale = atol[j] + rtol * fabs(ynew[j]);
        turn += (fnew[j] - f[j]) / scale * ((fnew[j] - f[j]) / scale);
        move += (ynew[j] - s[j]) / scale * ((ynew[j] - s[j]) / scale);
        least += y[j] / scale * (y[j] / scale);
    }
    /* A difference made of rounding says nothing. */
    const int told = move > DA_STIFF_ROUNDING * DA_STIFF_ROUNDING * least;
    const int stiff = told && h * h * turn > limit * limit * move;
    if (sample && stiff) watch->steps += DA_STIFF_SAMPLE;
    if (known) return;
    if (stiff) {
        if (watch->hits == 0) watch->since = t;
        watch->hits++;
        watch->calm = 0;
    } else if (watch->hits > 0 && ++watch->calm == DA_STIFF_CALM) {
        watch->hits = watch->calm = 0;
    }
}

#endif
