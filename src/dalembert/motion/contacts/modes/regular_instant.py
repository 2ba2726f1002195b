"""One instant in a mode by plain elimination: what `regular` does at many points, without the arrays that many take."""

from __future__ import annotations

from contextlib import suppress
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.mechanics.solve.blocks import WORTHWHILE, solve_by_parts
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.contacts.modes.regular import SPREAD, Equations, eliminate, is_linear
from dalembert.motion.state.evaluation import Evaluation

Rows = NDArray[np.int_]


def solve_regular(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental | None:
    """The instant, or None where elimination does not serve. Ideal and nonideal forces are left as NaN."""
    if not is_linear(evaluation):
        return None
    C0, slope = evaluation.affine_work(q, v, t)
    M, Q, A, b = evaluation.dynamics(q, v, t)
    dependent = ~np.any(A, axis=1)
    if evaluation.n + evaluation.m < WORTHWHILE:
        found = _eliminated(M, Q + C0, A, b, slope, np.flatnonzero(~dependent))
    else:
        found = _by_parts(M, Q, A, b, C0, slope)
    if found is None:
        return None
    acceleration, multipliers = found
    nothing = np.full(evaluation.n, np.nan)
    free = nothing
    masses = M.diagonal()
    if masses.all():
        if np.count_nonzero(M) == masses.size:
            free = Q / masses
        else:
            with suppress(np.linalg.LinAlgError):
                free = solve_by_parts(M[None], Q[None])[0]
    rank = np.array(evaluation.m - np.count_nonzero(dependent))
    C = C0 + slope @ multipliers
    held = np.zeros(evaluation.m)
    return Fundamental(acceleration, free, nothing, nothing, multipliers, rank, dependent, held, M, Q, A, b, C)


def _by_parts(M: Array, Q: Array, A: Array, b: Array, C0: Array, slope: Array) -> tuple[Array, Array] | None:
    found = eliminate(Equations(*(x[None] for x in (M, Q, A, b, C0, slope))))
    return (found.acceleration[0], found.multipliers[0]) if found.served[0] else None


def _eliminated(M: Array, pull: Array, A: Array, b: Array, slope: Array, rows: Rows) -> tuple[Array, Array] | None:
    """q̈ (n,) and λ (m,) of M q̈ − (Aᵀ + slope) λ = pull, A q̈ = b; None where they are not known to many digits. rows:
    those of A that act; of the others λ = 0.
    """
    n, size = M.shape[0], M.shape[0] + rows.size
    multipliers = np.zeros(b.size)
    if rows.size < b.size:
        A, slope, b = A[rows], slope[:, rows], b[rows]
    scale = np.empty(size)
    np.sqrt(np.abs(M.diagonal()), out=scale[:n])
    scale[:n][scale[:n] == 0.0] = 1.0
    whole, right = np.zeros((size, size)), np.empty(size)
    whole[:n, :n], whole[n:, :n], whole[:n, n:] = M, A, -(A.T + slope)
    right[:n], right[n:] = pull, b
    # In rows and columns of like size, so that units do not decide what is solved well.
    short = A / scale[:n]
    np.sqrt(np.einsum("ij,ij->i", short, short), out=scale[n:])
    whole /= scale
    whole /= scale[:, None]
    right /= scale
    try:
        inverse = np.linalg.inv(whole)
    except np.linalg.LinAlgError:
        return None
    x = inverse @ right
    x += inverse @ (right - whole @ x)
    most = float(np.abs(whole).sum(axis=1).max()) * float(np.abs(inverse).sum(axis=1).max())
    if not (isfinite(x.sum()) and SPREAD * most <= 1.0):
        return None
    x /= scale
    multipliers[rows] = x[n:]
    return x[:n], multipliers
