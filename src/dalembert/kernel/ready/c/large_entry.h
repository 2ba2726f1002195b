/* The entry of the runtime of large systems: as that of a kernel, with the system first. A system has no parameters of
   its own here, since its programs hold them, and neither events nor branches. */
#ifndef DA_LARGE_ENTRY_H
#define DA_LARGE_ENTRY_H

DA_READY int da_integrate_large(da_large *system, const double *y0, double t0, const double *p, const double *times,
                                long count, double rtol, const double *atol, int method, int project, double *out,
                                double *report, volatile double *progress, const volatile int *stop,
                                da_requests *events, double *branch, const da_pace *pace)
{
    da_now = system;
    return da_integrate(y0, t0, p, times, count, rtol, atol, method, project, out, report, progress, stop, events,
                        branch, pace);
}

#endif
