"""Udwadia and Kalaba's principle: what constraints make of the acceleration that a system would have without them.

    q̈ − a = K e,   K = M^(−1/2) B⁺,   B = A M^(−1/2),   e = b − A a                        (17)–(19) of their paper

The deviation from the free motion is proportional to the extent e to which that motion misses the constraints. With
work of constraints C, c = M⁻¹C, it is K (e − A c) + c. All accelerations that satisfy A z = b are, with any y,

    z = M^(−1/2) (B⁺ b + (I − B⁺B) y)                                                                             (7)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.errors import ModelError, UndeterminedMotion
from dalembert.mechanics.fundamental import CONSISTENCY_TOLERANCE, RANK_TOLERANCE, Array, is_positive


def inverse_root(M: Array) -> Array:
    """M^(−1/2), symmetric."""
    if not is_positive(M):
        raise UndeterminedMotion(
            "M is singular here, so that there is no free motion, and neither M^(−1/2), B, K nor e; q̈ and the forces "
            "are known all the same"
        )
    scale = 1.0 / np.sqrt(np.trace(M) / M.shape[0])  # so that the root is taken of numbers of size one
    values, vectors = np.linalg.eigh(M * scale**2)
    return np.asarray((vectors / np.sqrt(values)) @ vectors.T * scale)


def constraint_matrix(M: Array, A: Array) -> Array:
    """B = A M^(−1/2), (m, n)."""
    return A @ inverse_root(M)


def gain(M: Array, A: Array) -> Array:
    """K = M^(−1/2) B⁺, (n, m). Where constraints depend on each other it is the smallest of many with the same K e."""
    root = inverse_root(M)
    return np.asarray(root @ np.linalg.pinv(A @ root, rcond=RANK_TOLERANCE))


def possible(M: Array, A: Array, b: Array, y: ArrayLike) -> Array:
    """An acceleration that satisfies A z = b, one for each y."""
    y = vector(y, M.shape[0], "y")
    root = inverse_root(M)
    B = A @ root
    inverse = np.linalg.pinv(B, rcond=RANK_TOLERANCE)
    return np.asarray(root @ (inverse @ b + y - inverse @ (B @ y)))


def missed(A: Array, b: Array, z: Array) -> Array:
    """|A z − b| of each constraint, relative to its terms. Where those are rounding beside all of z (a row that holds
    one component, which should be zero) they are no measure, and a millionth of what z could make of them is.
    """
    terms = np.maximum(np.abs(A) @ np.abs(z) + np.abs(b), 1e-6 * np.linalg.norm(A, axis=1) * np.linalg.norm(z))
    return np.abs(A @ z - b) / np.where(terms > 0, terms, 1.0)


def is_possible(A: Array, b: Array, z: ArrayLike) -> bool:
    """Whether an acceleration satisfies the constraints."""
    return bool(np.all(missed(A, b, vector(z, A.shape[1], "z")) <= CONSISTENCY_TOLERANCE))


def vector(given: ArrayLike, size: int, name: str) -> Array:
    """Numbers in the order of the coordinates, or a message that says what is wrong with them."""
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(name, [f"{size} numbers are wanted, got {given!r}"]) from None
    if found.shape != (size,):
        raise ModelError(name, [f"{size} numbers are wanted, one for each coordinate; its shape is {found.shape}"])
    if not np.isfinite(found).all():
        raise ModelError(name, [f"finite numbers are wanted, got {found}"])
    return found
