"""The actual constraint force f = Aᵀλ, solved together with work C(f, λ) that depends on it.

With M = L Lᵀ and U an orthonormal basis of the columns of L⁻¹Aᵀ, f = L U x. The constraints answer C by taking its part
along U away, x = x₀ − Uᵀ L⁻¹ C(f, λ), x₀ of the ideal force: as many equations as there are independent constraints,
in one unit, whatever the units of the coordinates. Where M is singular, coordinates scaled by the root of their own
mass stand for those of L, and what C moves along the constraints answers too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import InconsistentConstraints
from dalembert.kernel.limits import ACTUAL_PASSES, ACTUAL_SETTLED, ACTUAL_SINGULAR
from dalembert.mechanics.solve.fundamental import RANK_TOLERANCE, Fundamental, is_positive
from dalembert.mechanics.solve.mass_scale import mass_scale

# Where a motion runs into a state at which the equations for the force are singular, steps become too short at some
# distance from it, at most this.
NEARLY_SINGULAR = 1e-6

# Where a work expression holds constraint forces; of friction, its contacts are named instead.
IN_WORK = "(actual(…), multiplier(…))"
NOT_FOUND = f"no constraint force found that agrees with the work it is said to do {IN_WORK}"
SINGULAR_FORCE = (
    f"no constraint force agrees with the work it is said to do {IN_WORK}: the equations for it are "
    "singular here, as in the paradoxes of Painlevé. Less friction, or a compliant contact, determines it."
)

Work = Callable[[Array, Array], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class Directions:
    """The directions of the constraints, r of them independent.

    force (n, r): f = force x. read (r, n): x = read f. answer (r, n): x = x₀ + answer C. multipliers (m, r): λ =
    multipliers x, the smallest where constraints depend on each other, as in `Fundamental`.
    """

    force: Array
    read: Array
    answer: Array
    multipliers: Array


def directions(M: Array, A: Array, rows: Sequence[int] | None = None) -> Directions:
    """rows: an independent set, where others contradict it slightly (off the constraints)."""
    return _directions(M.tobytes(), A.tobytes(), A.shape, None if rows is None else tuple(rows))


@lru_cache(maxsize=4)  # at one state, work and multipliers both ask for them
def _directions(mass: bytes, gradients: bytes, shape: tuple[int, int], rows: tuple[int, ...] | None) -> Directions:
    A, M = np.frombuffer(gradients).reshape(shape), np.frombuffer(mass).reshape(shape[1], shape[1])
    scale = mass_scale(M)
    scaled, regular = M / np.outer(scale, scale), is_positive(M)
    L = scale[:, None] * (np.linalg.cholesky(scaled) if regular else np.eye(scale.size))
    inverse = np.linalg.inv(L)
    columns = inverse @ A.T
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    columns = columns / lengths
    U, sigma, _ = np.linalg.svd(columns if rows is None else columns[:, list(rows)], full_matrices=True)
    rank = int(np.sum(sigma > RANK_TOLERANCE))
    U, N = U[:, :rank], U[:, rank:]
    read = U.T @ inverse
    answer = -read
    if not regular:
        answer = answer + U.T @ scaled @ N @ np.linalg.solve(N.T @ scaled @ N, N.T @ inverse)
    # Expressed in the basis, redundant columns are exact combinations of the others again.
    multipliers = np.linalg.pinv(U.T @ columns, rcond=RANK_TOLERANCE) / lengths[:, None]
    return Directions(L @ U, read, answer, multipliers)


def all_multipliers(solution: Fundamental, A: Array, rows: Sequence[int] | None) -> Array:
    """The multipliers of all constraints, whose rows are A, from a solution with some of them."""
    if rows is None:
        return solution.multipliers
    given = directions(solution.M, A, rows)
    return given.multipliers @ (given.read @ (solution.M @ solution.acceleration - solution.Q - solution.C))


def solve_together(given: Directions, Q: Array, ideal: Array, work: Work, where: str) -> Array:
    """C with f = Aᵀλ = what the constraints answer to it, by Newton's method from the ideal force.

    work(f, λ) gives C and its derivatives with respect to both. One step where C is linear in them.
    """
    start = given.read @ ideal
    x, forces = start, np.abs(given.read) @ (np.abs(Q) + np.abs(ideal))
    for _ in range(ACTUAL_PASSES):
        C, by_force, by_multipliers = work(given.force @ x, given.multipliers @ x)
        miss = start + given.answer @ C - x
        size = np.max(forces + np.abs(given.answer) @ np.abs(C) + np.abs(x), initial=0.0)
        if np.abs(miss).max(initial=0.0) <= ACTUAL_SETTLED * size:
            return C
        matrix, regularity = force_equations(given, by_force, by_multipliers)
        if not regularity > ACTUAL_SINGULAR:
            raise InconsistentConstraints(f"{where}: {SINGULAR_FORCE}")
        x = x + np.linalg.solve(matrix, miss)
    raise InconsistentConstraints(f"{where}: {NOT_FOUND}")


def force_equations(given: Directions, by_force: Array, by_multipliers: Array) -> tuple[Array, float]:
    """The matrix of the equations for x, from the derivatives of C; and how far it is from singular, relative to its
    terms.
    """
    coupling = given.answer @ (by_force @ given.force + by_multipliers @ given.multipliers)
    matrix = np.eye(coupling.shape[0]) - coupling
    least = np.min(np.linalg.svd(matrix, compute_uv=False), initial=np.inf)
    return matrix, float(least / (1 + np.abs(coupling).max(initial=0.0)))


def sizes(M: Array, Q: Array, A: Array, C: Array, acceleration: Array) -> Array:
    """What the multipliers (m,) are made of: they round in proportion to it, also where they pass through zero."""
    root = mass_scale(M)
    forces = np.abs(Q) + np.abs(C) + np.abs(M @ acceleration)
    lengths = np.linalg.norm(A / root, axis=1)
    return np.asarray(np.linalg.norm(forces / root) / np.where(lengths > 0, lengths, 1.0))
