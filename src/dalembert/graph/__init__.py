"""The model as a numeric graph (CasADi): M, Q, A, b, C, energies, residuals as functions."""
