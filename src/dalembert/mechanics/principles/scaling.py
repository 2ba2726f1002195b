"""Constraints at a state, freed of units and of redundant rows: what rank decisions are made on."""

from __future__ import annotations

import numpy as np
from scipy.linalg import qr

from dalembert.mechanics.fundamental import CONSISTENCY_TOLERANCE, RANK_TOLERANCE
from dalembert.mechanics.principles.formulation import NotHere
from dalembert.mechanics.sample import Array


def column_scale(M: Array, A: Array) -> Array:
    """d (n), such that z = d y makes y a mass-scaled acceleration: 1/√M_jj. A direction without mass takes the unit in
    which the constraints measure it.
    """
    mass = np.abs(np.diag(M))
    lengths = np.max(np.abs(A), axis=0, initial=0.0)
    heaviest = float(np.max(mass, initial=0.0))
    # Rounding leaves up to 1e-16 of the largest entry where there is no mass.
    scale = np.where(mass > 1e-14 * heaviest, np.sqrt(mass), np.where(lengths > 0, lengths, 1.0))
    return np.asarray(1 / scale)


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
