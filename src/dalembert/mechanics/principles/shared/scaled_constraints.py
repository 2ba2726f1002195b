"""Constraints at a state, freed of units and of redundant rows: what rank decisions are made on."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr

from dalembert.arrays import Array
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, RANK_TOLERANCE

# Singular values of a scaled system below this are rounding of dependent rows.
DEPENDENT = 1e-12
# Passes of `solve_refined`. Each wins back the digits that a coordinate of little mass lost: the second is enough for
# one of mass 1e-32, and repeats the first elsewhere.
PASSES = 2


def column_scale(M: Array, A: Array) -> Array:
    """d (n), such that z = d y makes y a mass-scaled acceleration: 1/√M_jj. A direction without mass takes the unit in
    which a constraint measures it against the others. Changing the unit of a coordinate changes its d accordingly.
    """
    mass, sizes = np.diag(M), np.abs(A)
    with np.errstate(divide="ignore", invalid="ignore"):
        natural = np.where(mass > 0, 1 / np.sqrt(np.abs(mass)), np.inf)
        weights = np.where((sizes > 0) & np.isfinite(natural), sizes * natural, 0.0)
        largest = np.max(weights, axis=1, initial=0.0)
        largest = np.where(largest > 0, largest, 1.0)
        measured = np.min(np.where(sizes > 0, largest[:, None] / sizes, np.inf), axis=0, initial=np.inf)
    scale = np.where(np.isfinite(natural), natural, measured)
    return np.asarray(np.where(np.isfinite(scale), scale, 1.0))


def solve_refined(solve: Callable[[Array, Array], Array], M: Array, force: Array, A: Array, b: Array) -> Array:
    """The y of least G with A y = b, by the method `solve` applied twice.

    Methods that are accurate in the metric of M give a coordinate of little mass to few digits only. The error shows as
    a residual of A y = b; solving once more for that residual removes it.
    """
    y = solve(force, b)
    for _ in range(PASSES):
        y = y + solve(force - M @ y, b - A @ y)
    return y


def saddle(K: Array, force: Array, A: Array, b: Array, M: Array | None = None) -> tuple[Array, Array]:
    """z and λ with K z = force + Aᵀλ, A z = b. M: the mass matrix, where K is not. Redundant rows leave λ open, not
    Aᵀλ: of all solutions, the smallest.
    """
    n, m = A.shape[1], A.shape[0]
    scale = column_scale(K if M is None else M, A)
    length = np.linalg.norm(A * scale, axis=1)
    length = np.where(length > 0, length, 1.0)
    rows = A * scale / length[:, None]
    matrix = np.block([[K * np.outer(scale, scale), -rows.T], [rows, np.zeros((m, m))]])
    found = np.linalg.lstsq(matrix, np.concatenate([scale * force, b / length]), rcond=DEPENDENT)[0]
    return scale * found[:n], found[n:] / length


def unit_rows(A: Array, b: Array) -> tuple[Array, Array]:
    """The rows of A z = b, each of length one; a row of zeros stays."""
    length = np.linalg.norm(A, axis=1)
    length = np.where(length > 0, length, 1.0)
    return A / length[:, None], b / length


def independent(A: Array) -> list[int]:
    """Indices of rows that span all rows, by QR with pivoting. The rows have length one, or zero."""
    if not A.size:
        return []
    _, R, order = qr(A.T, mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > RANK_TOLERANCE))
    return sorted(int(k) for k in order[:rank])


def require_met(A: Array, b: Array, z: Array) -> None:
    """That A z = b holds in the rows that were left out, too. The rows of A have length one."""
    size = max(float(np.linalg.norm(z)), float(np.max(np.abs(b), initial=0.0)), np.finfo(float).tiny)
    if np.max(np.abs(A @ z - b), initial=0.0) > CONSISTENCY_TOLERANCE * size:
        raise NotHere("the constraints contradict each other at this state")
