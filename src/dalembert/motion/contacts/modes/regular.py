"""The instant in a mode by plain elimination, where its constraints are independent: most of the time, and quickly.

    M q̈ − (Aᵀ + ∂C/∂λ) λ = Q + C₀,   A q̈ = b

Rank-revealing algebra takes a hundred times as long for some hundred contacts. Where elimination does not serve
(redundant constraints, a singular M that they do not save, work that is not affine in λ), nothing is found here.
"""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.state.evaluation import Evaluation

# Equations whose pivots are spread further than this are left to algebra that reveals their rank: four digits short of
# where rounding would decide.
SPREAD = 1e-10
# From this many equations on, most of their coefficients are zero.
SPARSE = 120


def solve_regular(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental | None:
    """The instant, or None where elimination does not serve. Ideal and nonideal forces are left as NaN."""
    graph, n, m = evaluation.graph, evaluation.n, evaluation.m
    if graph.nonlinear or (graph.uses_reactions and not graph.affine):
        return None
    M, Q, A, b = evaluation.dynamics(q, v, t)
    none = np.zeros(n)
    C0, _, slope = evaluation.work(q, v, t, none, none, np.zeros(m))
    rows = np.flatnonzero(np.any(A, axis=1))
    root = np.sqrt(np.abs(np.diagonal(M)))
    root = np.where(root > 0, root, 1.0)
    lengths = np.linalg.norm(A[rows] / root, axis=1)
    scale = np.concatenate([1 / root, 1 / lengths])
    size = n + rows.size
    whole = np.zeros((size, size))
    whole[:n, :n], whole[:n, n:], whole[n:, :n] = M, -(A[rows].T + slope[:, rows]), A[rows]
    whole *= scale[:, None] * scale
    x = _solved(whole, np.concatenate([Q + C0, b[rows]]) * scale)
    if x is None:
        return None
    multipliers = np.zeros(m)
    multipliers[rows] = x[n:] * scale[n:]
    free = np.full(n, np.nan)
    if np.diagonal(M).all():
        with suppress(np.linalg.LinAlgError):
            free = np.linalg.solve(M, Q)
    nothing = np.full(n, np.nan)
    dependent = np.ones(m, dtype=bool)
    dependent[rows] = False
    return Fundamental(
        x[:n] * scale[:n], free, nothing, nothing, multipliers, np.array(rows.size), dependent, np.zeros(m),
        M, Q, A, b, C0 + slope @ multipliers,
    )  # fmt: skip


def _solved(whole: Array, right: Array) -> Array | None:
    """The solution, where the pivots say that it has one to many digits."""
    if whole.shape[0] >= SPARSE:
        from scipy import sparse
        from scipy.sparse.linalg import splu

        try:
            factors = splu(sparse.csc_matrix(whole))
        except RuntimeError:
            return None  # exactly singular
        pivots = np.abs(factors.U.diagonal())
        x = np.asarray(factors.solve(right))
    else:
        # As LAPACK's condition estimate would say, without loading SciPy for it.
        try:
            inverse = np.linalg.inv(whole)
        except np.linalg.LinAlgError:
            return None
        least = 1.0 / max(float(np.abs(inverse).sum(axis=1).max()), 1e-300)
        pivots = np.array([least, float(np.abs(whole).sum(axis=1).max())])
        x = inverse @ right
        x = x + inverse @ (right - whole @ x)
    if not np.isfinite(x).all() or pivots.min() < SPREAD * pivots.max():
        return None
    return x
