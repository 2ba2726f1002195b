"""The certificate: what a computed motion should satisfy, measured on its own numbers at its output points.

Nothing here trusts the integrator or the solver: residuals come from the model's functions at the states of
the motion, the minimum of G from the null space of A (the solver works in its range), and the energy balance
from the work integrals.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from dalembert.errors import UndeterminedMotion
from dalembert.mechanics.fundamental import Array, null_space, on_null_space
from dalembert.motion.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.motion import Motion

MEASURES = ("position", "velocity", "acceleration", "forces", "virtual_work", "gauss", "energy")


@dataclass(frozen=True)
class Certificate:
    """The largest relative residual of each kind along the motion, and whether all are below their
    thresholds.

    position, velocity: φ; φ̇ and ψ, relative to the gradient times the size of the state. acceleration: A q̈
    − b (or h), relative to its terms. forces: M q̈ − Q − Q_i − Q_ni. virtual_work: Nᵀ(M q̈ − Q − C), Nᵀ Q_i
    and Nᵀ(Q_ni − C) on a basis N of null A. gauss: distance of q̈ from the minimiser of G_ni in the mass
    metric. energy: E(t) − E(0) − work of everything that is not potential. unique: whether M and the
    constraints determine q̈ everywhere.
    """

    position: float
    velocity: float
    acceleration: float
    forces: float
    virtual_work: float
    gauss: float
    energy: float
    rank_min: int
    rank_max: int
    unique: bool
    holds: bool
    thresholds: dict[str, float] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[str, ...]:
        """The measures above their thresholds."""
        failed = [name for name in MEASURES if not getattr(self, name) <= self.thresholds[name]]
        return tuple(failed if self.unique else [*failed, "unique"])

    def to_dict(self) -> dict[str, object]:
        return asdict(self)


def thresholds(rtol: float) -> dict[str, float]:
    """What each measure may reach, from the tolerance of the integration.

    Projection leaves rounding in position and velocity; without it, drift up to a hundred times the tolerance
    is what an accurate integration shows. Accelerations and forces come from algebra at a state, whatever the
    tolerance: rounding times the condition of A, which passes 1e6 only next to singular configurations.
    Energy gathers the error of all steps, typically hundreds to thousands.
    """
    drift = min(max(100 * rtol, 1e-10), 1e-2)
    algebra = max(1e-8, min(10 * rtol, 1e-6))
    energy = min(max(1e4 * rtol, 1e-9), 5e-2)
    return {
        "position": drift,
        "velocity": drift,
        "acceleration": algebra,
        "forces": algebra,
        "virtual_work": algebra,
        "gauss": algebra,
        "energy": energy,
    }


def certify(motion: Motion, evaluation: Evaluation | None = None) -> Certificate:
    """Measure a motion against its own system."""
    evaluation = Evaluation(motion.system) if evaluation is None else evaluation
    measured = _constraint_residuals(motion, evaluation)
    points: list[_Point] = []
    unique = True
    for k in range(motion.t.size):
        try:
            points.append(_at_point(motion, evaluation, k))
        except UndeterminedMotion:
            unique = False
        unique = unique and not evaluation.branching(motion.q[k], motion.v[k], float(motion.t[k]))
    measured |= _algebra(points, motion)
    measured["energy"] = _energy_balance(motion, evaluation)
    limits = thresholds(motion.rtol)
    holds = unique and all(measured[name] <= limits[name] for name in MEASURES)
    ranks = [point.rank for point in points]
    return Certificate(
        **measured,
        rank_min=min(ranks, default=0),
        rank_max=max(ranks, default=0),
        unique=unique,
        holds=bool(holds),
        thresholds=limits,
    )


@dataclass(frozen=True)
class _Point:
    """Residuals at one output point with the sizes of their terms: rows of A q̈ = b, and forces in
    mass-weighted coordinates.
    """

    rows: Array
    row_terms: Array
    row_lengths: Array
    forces: float
    virtual_work: float
    gauss: float
    force_size: float
    weighted_speed: float
    rank: int


def _algebra(points: list[_Point], motion: Motion) -> dict[str, float]:
    """The algebraic residuals relative to their terms.

    Where all terms pass through zero together, or a motion is free or at rest, rounding would be compared
    with rounding. So a size is never taken below a millionth of the largest along the motion, nor of what
    would stop the motion within its duration.
    """
    if not points:
        return dict.fromkeys(("acceleration", "forces", "virtual_work", "gauss"), float("nan"))
    span = float(motion.t[-1] - motion.t[0]) or 1.0
    braking = max(point.weighted_speed for point in points) / span
    size = np.array([point.force_size for point in points])
    size = np.maximum(size, 1e-6 * max(float(size.max()), braking))
    size = np.where(size > 0, size, 1.0)
    terms = np.array([point.row_terms for point in points])
    lengths = np.array([point.row_lengths for point in points])
    slowing = float(np.abs(motion.v).max(initial=0.0)) / span
    floor = np.maximum(terms.max(axis=0, initial=0.0), lengths.max(axis=0, initial=0.0) * slowing)
    terms = np.maximum(terms, 1e-6 * floor)
    rows = np.array([point.rows for point in points]) / np.where(terms > 0, terms, 1.0)
    measured = {"acceleration": float(rows.max(initial=0.0))}
    for name in ("forces", "virtual_work", "gauss"):
        measured[name] = float((np.array([getattr(point, name) for point in points]) / size).max())
    return measured


def _constraint_residuals(motion: Motion, evaluation: Evaluation) -> dict[str, float]:
    """φ and (φ̇, ψ) along the motion, each relative to the largest gradient times the largest size of the
    state.
    """
    found = {}
    for name, states in (("position", motion.q), ("velocity", motion.v)):
        values, gradients = [], []
        for q, v, t in zip(motion.q, motion.v, motion.t, strict=True):
            value, slope = evaluation.position(q, t) if name == "position" else evaluation.velocity(q, v, t)
            values.append(np.abs(value))
            gradients.append(np.linalg.norm(slope, axis=1))
        if not values[0].size:
            found[name] = 0.0
            continue
        size = np.max(gradients, axis=0) * max(float(np.abs(states).max(initial=0.0)), 1e-3)
        found[name] = float(np.max(np.array(values) / np.where(size > 0, size, 1.0)))
    return found


def _at_point(motion: Motion, evaluation: Evaluation, k: int) -> _Point:
    q, v, a, t = motion.q[k], motion.v[k], motion.a[k], float(motion.t[k])
    M, Q, A, b = evaluation.dynamics(q, v, t)
    nonlinear = list(evaluation.graph.nonlinear)
    if nonlinear:
        h, slope, _ = evaluation.nonlinear(q, v, a, t, np.zeros(len(nonlinear)))
        A[nonlinear], b[nonlinear] = slope, slope @ a - h
    C, _ = evaluation.work(q, v, t, motion.ideal[k], A.T @ motion.multipliers[k])
    impressed = motion.impressed[k] + motion.inertial[k]
    ideal, nonideal = motion.ideal[k], motion.nonideal[k]

    # In coordinates scaled by the root of their own mass all terms have the same unit, so that they may be
    # compared.
    scale = np.sqrt(np.abs(np.diagonal(M)))
    scale = np.where(scale > 0, scale, 1.0)
    inertia = M @ a
    N = null_space(A / scale)

    def along(force: Array) -> float:
        return float(np.abs(N.T @ (force / scale)).max(initial=0.0))

    balance = inertia - impressed - ideal - nonideal
    split = [along(inertia - Q - C), along(balance)]
    if not (nonlinear and np.any(C)):
        # With a constraint nonlinear in q̈ and C ≠ 0, the ideal force belongs to the normals at another
        # acceleration.
        split += [along(ideal), along(nonideal - C)]
    best = on_null_space(M, Q, A, b, C)
    apart = a - best.acceleration
    pulled = (np.abs(Q) + np.abs(ideal) + np.abs(C)) / scale**2
    reach = np.linalg.norm(A / scale, axis=1) * (np.linalg.norm(scale * a) + np.linalg.norm(scale * pulled))
    return _Point(
        rows=np.abs(A @ a - b),
        # The last term: rounding that reaches a row through the others, as in `fundamental`.
        row_terms=np.abs(A) @ (np.abs(a) + pulled) + np.abs(b) + 1e-4 * reach,
        row_lengths=np.linalg.norm(A, axis=1),
        forces=float(np.linalg.norm(balance / scale)) + float(np.linalg.norm((Q - impressed) / scale)),
        virtual_work=max(split),
        gauss=float(np.sqrt(max(apart @ M @ apart, 0.0))),
        force_size=max(float(np.linalg.norm(f / scale)) for f in (inertia, Q, ideal, nonideal, C)),
        weighted_speed=float(np.linalg.norm(scale * v)),
        rank=int(best.rank),
    )


def _energy_balance(motion: Motion, evaluation: Evaluation) -> float:
    """|E(t) − E(0) − work| against the largest kinetic energy, change of potential, or work."""
    energies, kinetic = [], []
    for q, v, t in zip(motion.q, motion.v, motion.t, strict=True):
        M = evaluation.dynamics(q, v, t)[0]
        kinetic.append(abs(float(v @ M @ v)) / 2)
        energies.append(evaluation.energetics(q, v, t).energy)
    energy, moving = np.array(energies), np.array(kinetic)
    work = motion.work.sum(axis=1)
    rest = energy - moving
    size = max(moving.max(), np.abs(rest - rest[0]).max(), np.abs(motion.work).max(initial=0.0))
    # At rest nothing is exchanged: rounding in E itself, 1e-16 of it, must then pass.
    size = max(size, 1e-7 * np.abs(energy).max())
    return float(np.abs(energy - energy[0] - work).max() / size) if size > 0 else 0.0
