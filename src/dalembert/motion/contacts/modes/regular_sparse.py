"""Elimination at many points of a large system, by sparse factors: only coefficients that are somewhere not zero are
looked at.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.mechanics.solve.mass_scale import mass_scale

Flags = NDArray[np.bool_]
# Rows that depend on each other leave a pivot of zero, after which SuperLU calls BLAS with wrong arguments, and that
# prints a complaint. So much in the corner, in rows of size one, is a pivot that is told from those that serve; what it
# does to a solution that serves is taken back when that is refined.
CORNER = 1e-14


def eliminate_sparsely(
    M: Array, pull: Array, A: Array, slope: Array, b: Array, acts: Flags, spread: float
) -> tuple[Array, Array, Flags]:
    """q̈ (T, n) and λ (T, m) of M q̈ − (Aᵀ + slope) λ = pull, A q̈ = b, and where pivots are spread by less than `spread`.
    acts (T, m): the rows that do; of the others λ = 0.
    """
    from scipy import sparse
    from scipy.sparse.linalg import splu

    T, m, n = A.shape
    (i, j), (row, column) = np.nonzero((M != 0.0).any(axis=0)), np.nonzero((A != 0.0).any(axis=0))
    along, by = np.nonzero((A != 0.0).any(axis=0).T | (slope != 0.0).any(axis=0))
    corner = n + np.arange(m)
    rows = np.concatenate([i, n + row, along, corner])
    columns = np.concatenate([j, column, n + by, corner])
    # In rows and columns of like size, so that units do not decide what is solved well.
    root = mass_scale(M)
    steep = A[:, row, column]
    squares = [np.bincount(row, (own / r[column]) ** 2, m) for own, r in zip(steep, root, strict=True)]
    scale = np.concatenate([1 / root, 1 / np.where(acts, np.sqrt(squares), 1.0)], axis=1)
    answers = -(A[:, by, along] + slope[:, along, by]) * acts[:, by]
    values = np.concatenate([M[:, i, j], steep, answers, ~acts], axis=1)
    values *= scale[:, rows] * scale[:, columns]
    shifted = values.copy()
    shifted[:, i.size + row.size + along.size :] += CORNER * acts
    right = np.concatenate([pull, b * acts], axis=1) * scale
    order = np.lexsort((rows, columns))
    places, starts = rows[order], np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=n + m))])
    x, served = np.full((T, n + m), np.nan), np.zeros(T, dtype=bool)
    for k in range(T):
        matrix, near = (
            sparse.csc_matrix((of[k, order], places, starts), shape=(n + m, n + m)) for of in (values, shifted)
        )
        with suppress(RuntimeError):  # exactly singular
            factors = splu(near)
            pivots = np.abs(factors.U.diagonal())
            own = factors.solve(right[k])
            x[k] = own + factors.solve(right[k] - matrix @ own)
            served[k] = pivots.min() >= spread * pivots.max() and np.isfinite(x[k]).all()
    x *= scale
    return x[:, :n], x[:, n:], served
