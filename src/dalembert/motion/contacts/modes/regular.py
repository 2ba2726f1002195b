"""The instant in a mode by plain elimination, where its constraints are independent: most of the time, and quickly.

    M q̈ − (Aᵀ + ∂C/∂λ) λ = Q + C₀,   A q̈ = b

Rank-revealing algebra takes a hundred times as long for some hundred contacts. Where elimination does not serve
(redundant constraints, a singular M that they do not save, work that is not affine in λ), nothing is found here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.mechanics.solve.blocks import block, groups_of
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.contacts.modes.regular_sparse import eliminate_sparsely
from dalembert.motion.state.evaluation import Evaluation

# Equations whose pivots are spread further than this are left to algebra that reveals their rank: four digits short of
# where rounding would decide.
SPREAD = 1e-10
# From this many equations on, most of their coefficients are zero.
SPARSE = 120
# Newton's method for forces that friction follows: a step of this share is the last one, so many at most.
SETTLED, PASSES = 1e-8, 12


@dataclass(frozen=True)
class Equations:
    """M (T, n, n), Q (T, n), A (T, m, n), b (T, m) at T points, and the work of constraints, C₀ + slope λ."""

    M: Array
    Q: Array
    A: Array
    b: Array
    C0: Array
    slope: Array


@dataclass(frozen=True)
class Along:
    """q̈ (T, n) and λ (T, m) at the points of `equations`. served: where elimination did."""

    equations: Equations
    acceleration: Array
    multipliers: Array
    served: NDArray[np.bool_]


def equations_along(evaluation: Evaluation, q: Array, v: Array, t: Array) -> Equations | None:
    """The equations at T points of a mode; None where they are not linear."""
    if not is_linear(evaluation):
        return None
    return Equations(*evaluation.dynamics_along(q, v, t), *evaluation.affine_work_along(q, v, t))


def equations_near(evaluation: Evaluation, q: Array, v: Array, t: Array) -> Equations | None:
    """The same, with work that follows the forces in another way, as friction does that two constraints share: its
    tangent at the forces that solve the equations, by Newton's method from those without it. No value at points where
    that does not settle; None where rows are nonlinear in q̈.
    """
    if evaluation.graph.nonlinear or is_linear(evaluation):
        return equations_along(evaluation, q, v, t)
    M, Q, A, b = evaluation.dynamics_along(q, v, t)
    by_force = np.swapaxes(A, 1, 2)
    of = Equations(M, Q, A, b, np.zeros_like(Q), np.zeros_like(by_force))
    with np.errstate(invalid="ignore"):
        multipliers = eliminate(of).multipliers
        ideal = np.einsum("tni,ti->tn", by_force, multipliers)
        for _ in range(PASSES):
            actual = np.einsum("tni,ti->tn", by_force, multipliers)
            C, by_actual, by_multipliers = evaluation.slopes_of_work_along(q, v, t, ideal, actual, multipliers)
            slope = by_actual @ by_force + by_multipliers
            of = replace(of, C0=C - np.einsum("tni,ti->tn", slope, multipliers), slope=slope)
            before, multipliers = multipliers, eliminate(of).multipliers
            # The next tangent would differ by the square of this.
            moved = np.abs(multipliers - before).max(axis=1, initial=0.0)
            settled = moved <= SETTLED * np.abs(multipliers).max(axis=1, initial=0.0)
            if (settled | np.isnan(moved)).all():
                break
    return replace(of, C0=np.where(settled[:, None], of.C0, np.nan))


def is_linear(evaluation: Evaluation) -> bool:
    """Whether the equations are linear in accelerations and multipliers."""
    graph = evaluation.graph
    return not graph.nonlinear and (not graph.uses_reactions or graph.affine)


def eliminate(of: Equations) -> Along:
    """The instants at T points, all at once. They may be in modes of their own, and a row that does not act at one of
    them reads λ = 0 there.
    """
    acts = np.any(of.A, axis=2)
    rows = np.flatnonzero(acts.any(axis=0))
    multipliers = np.zeros(of.b.shape)
    a, multipliers[:, rows], served = _eliminated(
        of.M, of.Q + of.C0, of.A[:, rows], of.slope[:, :, rows], of.b[:, rows], acts[:, rows]
    )
    return Along(of, a, multipliers, served)


def _eliminated(
    M: Array, pull: Array, A: Array, slope: Array, b: Array, acts: NDArray[np.bool_]
) -> tuple[Array, Array, NDArray[np.bool_]]:
    """q̈ (T, n) and λ (T, m) of M q̈ − (Aᵀ + slope) λ = pull, A q̈ = b, and where they are known to many digits. acts:
    the rows that do; of the others λ = 0.
    """
    T, m, n = A.shape
    if n + m >= SPARSE:
        return eliminate_sparsely(M, pull, A, slope, b, acts, SPREAD)
    root = mass_scale(M)
    length = np.linalg.norm(A / root[:, None, :], axis=2)
    # In rows and columns of like size, so that units do not decide what is solved well.
    every = bool(acts.all())
    scale = np.concatenate([1 / root, 1 / (length if every else np.where(acts, length, 1.0))], axis=1)
    whole = np.zeros((T, n + m, n + m))
    whole[:, :n, :n], whole[:, n:, :n], whole[:, :n, n:] = M, A, -(np.swapaxes(A, 1, 2) + slope)
    right = np.concatenate([pull, b], axis=1)
    if not every:
        whole[:, :n, n:] *= acts[:, None, :]
        right[:, n:] *= acts
    whole *= scale[:, :, None] * scale[:, None, :]
    right *= scale
    if not every:
        idle = np.arange(n, n + m)
        whole[:, idle, idle] += ~acts
    groups = groups_of(whole)
    if groups is None:
        x, least, most = _solved(whole[:, None], right[:, None])
        x = x[:, 0]
    else:
        x, least, most = np.empty_like(right), np.full(T, np.inf), np.zeros(T)
        for own in groups:
            x[:, own], low, high = _solved(block(whole, own, own), right[:, own])
            least, most = np.minimum(least, low), np.maximum(most, high)
    served = np.isfinite(x).all(axis=1) & (least >= SPREAD * most)
    x *= scale
    return x[:, :n], x[:, n:], served


def _solved(matrices: Array, right: Array) -> tuple[Array, Array, Array]:
    """Solutions (T, parts, size), and bounds (T,) between which the pivots lie: as LAPACK's condition estimate would
    say, without loading SciPy for it.
    """
    try:
        inverse = np.linalg.inv(matrices)
    except np.linalg.LinAlgError:
        singular = np.linalg.slogdet(matrices)[0] == 0.0
        inverse = np.linalg.inv(np.where(singular[..., None, None], np.eye(matrices.shape[-1]), matrices))
        inverse[singular] = np.inf
    with np.errstate(invalid="ignore"):
        x = inverse @ right[..., None]
        x = (x + inverse @ (right[..., None] - matrices @ x))[..., 0]
    low = 1 / np.maximum(np.abs(inverse).sum(axis=-1).max(axis=(-2, -1)), 1e-300)
    return x, low, np.abs(matrices).sum(axis=-1).max(axis=(-2, -1))
