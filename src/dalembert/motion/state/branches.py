"""Constraints nonlinear in q̈: the acceleration of least Gauss function on h(q̈) = 0.

    minimise ½ (z − a)ᵀ M (z − a),  M a = Q + C,   subject to  h(z) = 0  and  A z = b        (49) of Flannery 2011

`rows(z, k)` gives h, ∂h/∂q̈ and ∂²(kᵀh)/∂q̈² of the `count` nonlinear rows. Newton's method on the
stationarity conditions; from many starting points when the branch of least G is sought, from the last
acceleration when a branch is followed in time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import BranchError
from dalembert.mechanics.solve.fundamental import null_space

# Why a branch cannot be followed further.
ENDS = "the branch of accelerations that was followed ends here; the constraint has no solution nearby"
MEET = (
    "two branches of accelerations meet here, so that the constraint no longer determines the motion. "
    "Stop before this time, or state a constraint that is linear in the accelerations."
)

Rows = Callable[[Array, Array], tuple[Array, Array, Array]]


@dataclass(frozen=True)
class Branch:
    """A stationary point of G on h = 0: acceleration z, h and ∂h/∂q̈ there, G, and whether it is a strict
    local minimum.
    """

    z: Array
    h: Array
    slope: Array
    gauss: float
    minimum: bool


def follow_branch(
    M: Array, force: Array, A: Array, b: Array, rows: Rows, count: int, near: Array, where: str
) -> Branch:
    """The branch through a nearby acceleration."""
    found = _newton(M, force, A, b, rows, near, count)
    if found is None:
        raise BranchError(f"{where}: {ENDS}")
    if not found.minimum:
        raise BranchError(f"{where}: {MEET}")
    return found


def least_branch(M: Array, force: Array, A: Array, b: Array, rows: Rows, count: int, where: str) -> Branch:
    """The branch of least G, found from many starting points; an error where there is none or the least is
    not unique.
    """
    rng = np.random.default_rng(0)
    a: Any = np.linalg.lstsq(M, force, rcond=None)[0]
    size = float(np.linalg.norm(a)) or 1.0
    starts = [a]
    for radius in (1e-3, 0.1, 1.0, 10.0):
        directions = rng.normal(size=(6, a.size))
        starts += [a + radius * size * d / np.linalg.norm(d) for d in directions]
    found = [branch for start in starts if (branch := _newton(M, force, A, b, rows, start, count)) is not None]
    if not found:
        raise BranchError(
            f"{where}: no acceleration that satisfies this constraint was found (nonlinear in the accelerations). "
            "There is none, or it has no gradient where it holds: write u = 0 for u^2 = 0"
        )
    best = min(found, key=lambda branch: branch.gauss)
    # Newton leaves relative errors near 1e-12 in z, so equal minima agree in G to about that; distinct ones
    # are far apart in z.
    scale = float(np.abs(best.z).max()) or size
    for other in found:
        same_gauss = other.gauss - best.gauss <= 1e-9 * (abs(best.gauss) + float(a @ M @ a))
        if same_gauss and np.abs(other.z - best.z).max() > 1e-5 * scale:
            raise BranchError(
                f"{where}: several accelerations have the same least Gauss function, so the motion is not "
                "determined here. Change the state or add a force that distinguishes them."
            )
    if not best.minimum:
        raise BranchError(f"{where}: the acceleration of least Gauss function is not unique here")
    return best


def _newton(M: Array, force: Array, A: Array, b: Array, rows: Rows, start: Array, count: int) -> Branch | None:
    """Newton on M z − force = Aᵀκ + (∂h/∂z)ᵀk, A z = b, h(z) = 0. None where it does not converge."""
    z = np.array(start, dtype=float)
    n, linear = z.size, A.shape[0]
    unit = float(np.linalg.norm(z)) or 1.0  # what counts as a large acceleration here
    k = np.zeros(count)
    multipliers = np.zeros(linear + count)
    for _ in range(60):
        h, slope, curvature = rows(z, k)
        if not (np.isfinite(h).all() and np.isfinite(slope).all() and np.isfinite(curvature).all()):
            return None
        J = np.vstack([A, slope])
        g = np.concatenate([A @ z - b, h])
        matrix = np.block([[M - curvature, -J.T], [J, np.zeros((J.shape[0],) * 2)]])
        step = np.linalg.lstsq(matrix, np.concatenate([force - M @ z, -g]), rcond=1e-13)[0]
        dz, multipliers = step[:n], step[n:]
        # A long step leaves the region where the linearisation means anything.
        limit = 2.0 * (unit + np.linalg.norm(z))
        length = np.linalg.norm(dz)
        if length > limit:
            dz = dz * (limit / length)
        z = z + dz
        k = multipliers[linear:]
        if length <= 1e-13 * np.linalg.norm(z) + 1e-15 * unit:
            break
    h, slope, curvature = rows(z, k)
    J = np.vstack([A, slope])
    reaction = M @ z - force - J.T @ np.concatenate([multipliers[:linear], k])
    size = 1e-3 * unit + np.abs(z).max()
    feasible = np.abs(h).max() <= 1e-10 * np.abs(slope).max() * size
    feasible = feasible and np.abs(A @ z - b).max(initial=0.0) <= 1e-9 * size * np.abs(A).max(
        initial=0.0
    ) + 1e-9 * np.abs(b).max(initial=0.0)
    stationary = np.abs(reaction).max() <= 1e-8 * (np.abs(force).max() + np.abs(M @ z).max())
    if not (feasible and stationary):
        return None
    N = null_space(J)
    bend = N.T @ (M - curvature) @ N
    minimum = N.shape[1] == 0 or float(np.linalg.eigvalsh(bend)[0]) > 1e-9 * np.abs(M).max()
    miss = z - np.linalg.lstsq(M, force, rcond=None)[0]
    return Branch(z, h, slope, float(miss @ M @ miss), bool(minimum))
