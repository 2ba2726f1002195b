/* Along the definitions of a large system, each made of those before it: J by rows, its columns counted among the
   defined quantities; a column before the first, a coordinate, is passed over. */
#ifndef DA_READY_ALONG_H
#define DA_READY_ALONG_H

/* x = (I − J)⁻¹ x: of each, what those that define it bring along. */
DA_READY long da_along(long count, const long *start, const long *column, const double *J, double *x)
{
    for (long k = 0; k < count; k++) {
        double sum = x[k];
        for (long e = start[k]; e < start[k + 1]; e++)
            if (column[e] >= 0) sum += J[e] * x[column[e]];
        x[k] = sum;
    }
    return 0;
}

/* x = (I − J)⁻ᵀ x: to each, what acts on those that it defines. */
DA_READY long da_along_back(long count, const long *start, const long *column, const double *J, double *x)
{
    for (long k = count - 1; k >= 0; k--)
        for (long e = start[k]; e < start[k + 1]; e++)
            if (column[e] >= 0) x[column[e]] += J[e] * x[k];
    return 0;
}

#endif
