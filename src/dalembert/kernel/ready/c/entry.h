/* The entries of the runtime that serves every model: as those of a kernel, with the model first. */
#ifndef DA_ENTRY_H
#define DA_ENTRY_H

DA_READY int da_integrate_model(const da_model *model, const double *y0, double t0, const double *p,
                                const double *times, long count, double rtol, const double *atol, int method,
                                int project, double *out, double *report, volatile double *progress,
                                const volatile int *stop, da_requests *events, double *branch, const da_pace *pace)
{
    da_now = model;
    return da_integrate(y0, t0, p, times, count, rtol, atol, method, project, out, report, progress, stop, events,
                        branch, pace);
}

DA_READY int da_slope_of_model(const da_model *model, const double *y, double t, const double *p, int way,
                               const double *branch, double *dy)
{
    da_now = model;
    return da_slope_of(y, t, p, way, branch, dy);
}

DA_READY int da_integrate_block_of_model(const da_model *model, double *numbers)
{
    da_now = model;
    return da_integrate_block(numbers);
}

DA_READY long da_integrate_members_of_model(const da_model *model, const da_members *all)
{
    da_now = model;
    return da_integrate_members(all);
}

#endif
