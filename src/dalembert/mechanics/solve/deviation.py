"""The principle of Udwadia and Kalaba 1993: what constraints make of the acceleration a system would have without them.

    q̈ − a = K e,   K = M^(−1/2) B⁺,   B = A M^(−1/2),   e = b − A a                                   (17)–(19)

The deviation from the free motion is proportional to the extent e to which that motion misses the constraints. With
work of constraints C, c = M⁻¹C, it is K (e − A c) + c. All accelerations that satisfy A z = b are, with any y,

    z = M^(−1/2) (B⁺ b + (I − B⁺B) y)                                                                             (7)

In place of B⁺ any {1,4}-inverse G will do, B G B = B and (G B)ᵀ = G B (Udwadia 2005, after (22) and (26)): G B is the
same projection for all of them, and e − A c = B r for some r, so that G (e − A c) = G B r is the same, too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from dalembert.arrays import Array
from dalembert.errors import ModelError, UndeterminedMotion, counted
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, RANK_TOLERANCE, is_positive


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
    return np.asarray(inverse_root(M) @ inverse_of(M, A))


def inverse_of(M: Array, A: Array, Z: ArrayLike | None = None) -> Array:
    """A {1,4}-inverse of B, (n, m): the Moore-Penrose one, or B⁺ + Z (I − B B⁺), which are all there are."""
    B = constraint_matrix(M, A)
    inverse = np.linalg.pinv(B, rcond=RANK_TOLERANCE)
    if Z is None:
        return np.asarray(inverse)
    given = matrix(Z, inverse.shape, "Z")
    return np.asarray(inverse + given @ (np.eye(B.shape[0]) - B @ inverse))


def require_14(B: Array, inverse: ArrayLike) -> Array:
    """An inverse that has been given, if it is a {1,4}-inverse of B."""
    G = matrix(inverse, (B.shape[1], B.shape[0]), "inverse")
    size = max(1.0, float(np.linalg.norm(G) * np.linalg.norm(B)))
    off = np.linalg.norm(B @ G @ B - B) / max(float(np.linalg.norm(B)), 1e-300), np.linalg.norm(G @ B - (G @ B).T)
    # Products of two and three matrices round to some 1e-16 of their factors.
    for residual, what in zip(off, ("B G B = B", "(G B)ᵀ = G B"), strict=True):
        if not residual <= CONSISTENCY_TOLERANCE * size:
            raise ModelError(
                "inverse", [f"this is no {{1,4}}-inverse of B: {what} does not hold (residual {residual:.2g})"]
            )
    return G


def possible(M: Array, A: Array, b: Array, y: ArrayLike, inverse: ArrayLike | None = None) -> Array:
    """An acceleration that satisfies A z = b, one for each y."""
    y = vector(y, M.shape[0], "y")
    root = inverse_root(M)
    B = A @ root
    G = inverse_of(M, A) if inverse is None else require_14(B, inverse)
    return np.asarray(root @ (G @ b + y - G @ (B @ y)))


def relative_miss(A: Array, b: Array, z: Array) -> Array:
    """|A z − b| of each constraint, relative to its terms. Where its terms are themselves rounding (a row that holds
    one component of z, which should be zero), a millionth of |row| |z| is taken as their size.
    """
    terms = np.maximum(np.abs(A) @ np.abs(z) + np.abs(b), 1e-6 * np.linalg.norm(A, axis=1) * np.linalg.norm(z))
    return np.abs(A @ z - b) / np.where(terms > 0, terms, 1.0)


def is_possible(A: Array, b: Array, z: ArrayLike) -> bool:
    """Whether an acceleration satisfies the constraints."""
    return bool(np.all(relative_miss(A, b, vector(z, A.shape[1], "z")) <= CONSISTENCY_TOLERANCE))


def vector(given: ArrayLike, size: int, name: str) -> Array:
    """Numbers in the order of the coordinates, or a message that says what is wrong with them."""
    found = _numbers(given, name, f"{counted(size, 'number')} wanted")
    if found.shape != (size,):
        raise ModelError(
            name, [f"{counted(size, 'number')} wanted, one for each coordinate; its shape is {found.shape}"]
        )
    return found


def matrix(given: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    """The same of a matrix."""
    found = _numbers(given, name, f"a matrix of shape {shape} is wanted")
    if found.shape != shape:
        raise ModelError(name, [f"a matrix of shape {shape} is wanted, coordinates by constraints; got {found.shape}"])
    return found


def _numbers(given: ArrayLike, name: str, wanted: str) -> Array:
    try:
        found = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ModelError(name, [f"{wanted}, got {given!r}"]) from None
    if not np.isfinite(found).all():
        raise ModelError(name, [f"finite numbers are wanted, got {found}"])
    return found
