/* Dense systems of linear equations without symmetry. */
#ifndef DA_LU_H
#define DA_LU_H

/* W = L U in place with row exchanges, W of size × size by rows; nonzero where it is singular. */
DA_FN int da_lu(double *W, int size, int *DA_RESTRICT exchange)
{
    for (int k = 0; k < size; k++) {
        double *pivot = W + size * k;
        int best = k;
        for (int i = k + 1; i < size; i++)
            if (fabs(W[size * i + k]) > fabs(W[size * best + k])) best = i;
        exchange[k] = best;
        if (!(fabs(W[size * best + k]) > 0.0)) return 1;
        for (int j = 0; best != k && j < size; j++) {
            const double other = W[size * best + j];
            W[size * best + j] = pivot[j];
            pivot[j] = other;
        }
        const double inverse = 1.0 / pivot[k];
        for (int i = k + 1; i < size; i++) {
            double *row = W + size * i;
            const double factor = row[k] *= inverse;
            if (factor != 0.0)
                for (int j = k + 1; j < size; j++) row[j] -= factor * pivot[j];
        }
    }
    return 0;
}

DA_FN void da_lu_solve(const double *W, int size, const int *DA_RESTRICT exchange, double *DA_RESTRICT x)
{
    for (int k = 0; k < size; k++) {
        const double other = x[exchange[k]];
        x[exchange[k]] = x[k];
        x[k] = other;
    }
    for (int i = 1; i < size; i++)
        for (int k = 0; k < i; k++) x[i] -= W[size * i + k] * x[k];
    for (int i = size - 1; i >= 0; i--) {
        for (int k = i + 1; k < size; k++) x[i] -= W[size * i + k] * x[k];
        x[i] /= W[size * i + i];
    }
}

#endif
