"""One instant in a mode by plain elimination: what `regular` does at many points, without the arrays that many take.

Small systems have a function of their own for it (`small_instant`).
"""

from __future__ import annotations

from math import isfinite

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.mechanics.solve.blocks import WORTHWHILE, solve_by_parts
from dalembert.mechanics.solve.fundamental import Fundamental, is_positive
from dalembert.motion.contacts.modes.coupled_equations import coupled_at
from dalembert.motion.contacts.modes.regular import SPREAD, Equations, eliminate, is_linear
from dalembert.motion.state.evaluation import Evaluation

Flags = NDArray[np.bool_]


def solve_regular(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental | None:
    """The instant, or None where elimination does not serve. Ideal and nonideal forces are left as NaN."""
    if not is_linear(evaluation):
        return None
    small = evaluation.n + evaluation.m < WORTHWHILE
    at = coupled_at(evaluation, q, v, t) if small else None
    if at is None:
        return _by_parts(evaluation, q, v, t)
    x = _solution(at.matrix, at.right)
    if x is None:
        return None
    x /= at.scale
    acceleration, multipliers = x[: evaluation.n], x[evaluation.n :]
    C = at.C0 + at.slope @ multipliers
    return fundamental_of(acceleration, multipliers, at.acts == 0.0, at.M, at.Q, at.A, at.b, C)


def _solution(matrix: Array, right: Array) -> Array | None:
    """The solution; None where it is not known to many digits."""
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        return None
    x = inverse @ right
    x += inverse @ (right - matrix @ x)
    spread = float(np.abs(matrix).sum(axis=1).max()) * float(np.abs(inverse).sum(axis=1).max())
    return x if isfinite(spread) and SPREAD * spread <= 1.0 else None


def _by_parts(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental | None:
    """Of a large system, which may fall apart, or where something has no finite value, which is then told."""
    C0, slope = evaluation.affine_work(q, v, t)
    M, Q, A, b = evaluation.dynamics(q, v, t)
    found = eliminate(Equations(*(x[None] for x in (M, Q, A, b, C0, slope))))
    if not found.served[0]:
        return None
    multipliers = found.multipliers[0]
    C = C0 + slope @ multipliers
    return fundamental_of(found.acceleration[0], multipliers, ~np.any(A, axis=1), M, Q, A, b, C)


def fundamental_of(
    acceleration: Array, multipliers: Array, dependent: Flags, M: Array, Q: Array, A: Array, b: Array, C: Array
) -> Fundamental:
    """An instant that elimination has found. Ideal and nonideal forces are left as NaN."""
    nothing, free = np.full(Q.size, np.nan), unconstrained(M, Q)
    rank = np.array(dependent.size - np.count_nonzero(dependent))
    held = np.zeros(dependent.size)
    return Fundamental(acceleration, free, nothing, nothing, multipliers, rank, dependent, held, M, Q, A, b, C)


def unconstrained(M: Array, Q: Array) -> Array:
    """M⁻¹Q; NaN where M is singular to rounding, as it is for quaternions at most attitudes."""
    masses = M.diagonal()
    if masses.all():
        if np.count_nonzero(M) == masses.size:
            return np.asarray(Q / masses)
        if is_positive(M):
            return solve_by_parts(M[None], Q[None])[0]
    return np.full(Q.size, np.nan)
