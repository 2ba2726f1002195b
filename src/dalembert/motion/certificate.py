"""The certificate: what a computed motion should satisfy, measured on its own numbers at its output points.

Nothing here trusts the integrator or the solver: residuals come from the model's functions at the states of
the motion, the minimum of G from the null space of A (the solver works in its range), and the energy balance
from the work integrals.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any
from unicodedata import combining

import numpy as np

from dalembert.mechanics.blocks import block, parts_of
from dalembert.mechanics.fundamental import MASS_TOLERANCE, RANK_TOLERANCE, Array, null_space
from dalembert.motion.contacts.check import contact_residual
from dalembert.motion.contacts.check_heat import heat_residual
from dalembert.motion.contacts.check_impacts import impact_residual
from dalembert.motion.contacts.repeat import repeat_residual
from dalembert.motion.determined import undetermined_loads
from dalembert.motion.evaluation import Evaluation
from dalembert.motion.project import size_of
from dalembert.motion.repeat import repeated

if TYPE_CHECKING:
    from dalembert.motion.motion import Motion

#: Of motions with contacts only.
CONTACT_MEASURES = ("contact", "impact")
AT_POINTS = ("position", "velocity", "acceleration", "forces", "virtual_work", "gauss")
MEASURES = (*AT_POINTS, "energy", *CONTACT_MEASURES, "repeat", "consistency")

MEANING = {
    "position": "position constraints φ = 0",
    "velocity": "velocity constraints φ̇ = 0, ψ = 0",
    "acceleration": "A q̈ = b",
    "forces": "M q̈ = sum of forces",
    "virtual_work": "virtual work of constraint forces",
    "gauss": "distance from the minimum of G",
    "energy": "energy balance",
    "contact": "laws of friction and contact",
    "repeat": "stretches integrated again",
    "impact": "laws of impacts",
    "consistency": "Δq̇ = ∫ q̈ dt between outputs",
}


@dataclass(frozen=True)
class Certificate:
    """The largest relative residual of each kind along the motion, and whether all are below their thresholds.

    position, velocity: φ; φ̇ and ψ, relative to the gradient times the size of the state.
    acceleration: A q̈ − b (or h), relative to its terms.
    forces: M q̈ − Q − Q_i − Q_ni, and M q̈ − Q − C − Aᵀλ.
    virtual_work: Nᵀ(M q̈ − Q − C), Nᵀ Q_i and Nᵀ(Q_ni − C) on a basis N of null A.
    gauss: distance of q̈ from the minimiser of G_ni in the mass metric.
    energy: E(t) − E(0) − work of everything that is not potential; and the heat of friction: against the integral of
    friction times sliding velocity where outputs are dense and contacts do not change, and in all, where no surface
    moves by itself, against what friction and impacts took.
    contact: how far friction leaves its law (the cone where it sticks, μ|N| against the motion where it slips),
    reactions of one-sided constraints pull, or their gaps are negative.
    repeat: how far stretches between output points, integrated again from the laws by another method, end from the
    motion's own states (with contacts: velocities). A dozen are looked at, those that would need many steps not judged.
    consistency: Δq̇ − ∫ q̈ dt between neighbouring output points, where these are dense enough for a quadrature to judge;
    not with contacts, where friction turns faster than outputs show.
    impact: how far blows leave their laws: the jump of momentum, the cones, the direction of friction, restitution,
    an energy that does not grow, the sum of what they lose.
    unique: whether M and the constraints determine q̈ everywhere, and the reactions that friction depends on;
    undetermined: the constraints whose reactions they do not.
    """

    position: float
    velocity: float
    acceleration: float
    forces: float
    virtual_work: float
    gauss: float
    energy: float
    contact: float
    rank_min: int
    rank_max: int
    unique: bool
    holds: bool
    thresholds: dict[str, float] = field(default_factory=dict)
    repeat: float = 0.0  # not known of motions saved before it was measured
    consistency: float = 0.0  # nor this
    undetermined: tuple[str, ...] = ()
    impact: float = 0.0  # nor is this

    @property
    def failures(self) -> tuple[str, ...]:
        """The measures above their thresholds."""
        failed = [name for name, limit in self.thresholds.items() if not getattr(self, name) <= limit]
        return tuple(failed if self.unique else [*failed, "unique"])

    def text(self) -> str:
        """The verdict and every measure, one to a line."""
        lines = [f"certificate: {'holds' if self.holds else 'does not hold'}"]
        for name, limit in self.thresholds.items():
            value = getattr(self, name)
            beyond = "" if value <= limit else "  ✗"
            lines.append(f"  {_padded(MEANING[name])} {value:.1e}, allowed {limit:.0e}{beyond}")
        ranks = sorted({self.rank_min, self.rank_max})
        lines.append(f"  {_padded('rank of A')} {' … '.join(map(str, ranks))}")
        lines.append(f"  {_padded('acceleration unique')} {'yes' if self.unique else 'no  ✗'}")
        if self.undetermined:
            lines.append(f"  {_padded('reactions not determined')} {', '.join(self.undetermined)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.text()

    def to_dict(self) -> dict[str, object]:
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> Certificate:
        """One that was written as JSON, which has no tuples."""
        return Certificate(**{**values, "undetermined": tuple(values.get("undetermined", ()))})


def _padded(text: str) -> str:
    """To one width; dots over letters take none."""
    return text + " " * (35 - sum(not combining(letter) for letter in text))


def thresholds(rtol: float, steps: int = 0) -> dict[str, float]:
    """What each measure may reach, from the tolerance of the integration and the number of its steps.

    Projection leaves rounding in position and velocity; without it, drift up to a hundred times the tolerance
    is what an accurate integration shows. Accelerations and forces come from algebra at a state, whatever the
    tolerance: rounding times the condition of A, which passes 1e6 only next to singular configurations.
    Energy gathers the error of all steps. Each may change the state by rtol of its size (the tolerance is a mean over
    the components: the largest of them by more), the energy by twice that share, and errors add up in one direction
    where a method loses energy with every step: ten tolerances for each step, of which a thousand are granted. A motion
    of very many steps is not granted more than a thousandth that way: nobody would call that kept.
    A repeated stretch is a few steps long; its ends carry the error of dense output, some ten tolerances. So do the
    velocities that are compared with the integral of the accelerations.
    """
    drift = min(max(100 * rtol, 1e-10), 1e-2)
    algebra = max(1e-8, min(10 * rtol, 1e-6))
    energy = min(max(1e4 * rtol, min(10 * steps * rtol, 1e-3), 1e-9), 5e-2)
    between = min(max(1e3 * rtol, 1e-8), 1e-2)
    return {
        "position": drift,
        "velocity": drift,
        "acceleration": algebra,
        "forces": algebra,
        "virtual_work": algebra,
        "gauss": algebra,
        "energy": energy,
        "contact": algebra,
        "repeat": between,
        "consistency": between,
        "impact": algebra,
    }


def certify(motion: Motion, evaluation: Evaluation | None = None) -> Certificate:
    """Measure a motion against its own system."""
    evaluation = Evaluation(motion.system) if evaluation is None else evaluation
    data, limits = _data(motion, evaluation), thresholds(motion.rtol, motion.timing.steps)
    algebra, ranks, unique = _algebra(motion, data)
    # Where a row nonlinear in q̇ vanishes, branches of the motion meet (`Evaluation.branching`).
    unique = unique and bool(np.any(data.A[:, list(evaluation.graph.curved)], axis=2).all())
    undetermined = undetermined_loads(motion, evaluation, data.A)
    unique = unique and not undetermined
    if evaluation.graph.nonlinear and not _is_minimum(motion, evaluation, data):
        algebra["gauss"] = float("inf")
    if motion.C is not None:
        repeat, consistency = repeat_residual(motion, limits["repeat"]), 0.0
    else:
        repeat, consistency = repeated(motion, evaluation, data.M, data.Q, limits["repeat"])
    measured = {
        **_constraint_residuals(motion, evaluation),
        **algebra,
        "energy": _energy_balance(motion, evaluation, data.M, data.Q),
        "contact": contact_residual(motion) if motion.C is not None else 0.0,
        "repeat": repeat,
        "consistency": consistency,
        "impact": impact_residual(motion),
    }
    holds = unique and all(measured[name] <= limits[name] for name in MEASURES)
    return Certificate(
        **measured,
        rank_min=int(ranks.min()),
        rank_max=int(ranks.max()),
        unique=unique,
        holds=bool(holds),
        thresholds=limits,
        undetermined=undetermined,
    )


@dataclass(frozen=True)
class _Data:
    """M (T, n, n), Q, C (T, n), A (T, m, n), b (T, m) along the motion, and whether Q_i must be normal to null A."""

    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    split: bool


def _data(motion: Motion, evaluation: Evaluation) -> _Data:
    nonlinear = list(evaluation.graph.nonlinear)
    M, Q, A, b = evaluation.dynamics_along(motion.q, motion.v, motion.t)
    if motion.C is not None and motion.acting is not None:
        A, b = np.where(motion.acting[:, :, None], A, 0.0), np.where(motion.acting, b, 0.0)
        return _Data(M, Q, A, b, motion.C, split=True)
    for k in range(motion.t.size if nonlinear else 0):
        q, v, a, t = motion.q[k], motion.v[k], motion.a[k], float(motion.t[k])
        h, slope, _ = evaluation.nonlinear(q, v, a, t, np.zeros(len(nonlinear)))
        A[k, nonlinear], b[k, nonlinear] = slope, slope @ a - h
    actual = _times(np.swapaxes(A, 1, 2), motion.multipliers)
    C = evaluation.work_along(motion.q, motion.v, motion.t, motion.ideal, actual, motion.multipliers)
    # With a constraint nonlinear in q̈ and C ≠ 0, the ideal force belongs to the normals at another acceleration.
    return _Data(M, Q, A, b, C, split=not (nonlinear and bool(np.any(C))))


def _algebra(motion: Motion, data: _Data) -> tuple[dict[str, float], np.ndarray, bool]:
    """The algebraic residuals relative to their terms, the ranks, and whether q̈ is unique everywhere.

    In coordinates scaled by the root of their own mass all terms have the same unit, so that they may be compared.
    Where all terms pass through zero together, or a motion is free or at rest, rounding would be compared with
    rounding. So a size is never taken below a millionth of the largest along the motion, nor of what would stop the
    motion within its duration.
    """
    M, Q, A, b, C, a = data.M, data.Q, data.A, data.b, data.C, motion.a
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=1, axis2=2)))
    scale = np.where(scale > 0, scale, 1.0)
    inertia = _times(M, a)
    impressed = motion.impressed + motion.inertial
    balance = inertia - impressed - motion.ideal - motion.nonideal
    reaction = inertia - Q - C - _times(np.swapaxes(A, 1, 2), motion.multipliers)
    checked = [inertia - Q - C, balance]
    if data.split:
        checked += [motion.ideal, motion.nonideal - C]
    along, best, ranks, unique = _by_parts(M, Q, A, b, C, scale, checked)

    span = float(motion.t[-1] - motion.t[0]) or 1.0
    force_size = np.max([_norm(f / scale) for f in (inertia, Q, motion.ideal, motion.nonideal, C)], axis=0)
    braking = float(_norm(scale * motion.v).max()) / span
    size = np.maximum(force_size, 1e-6 * max(float(force_size.max()), braking))
    size = np.where(size > 0, size, 1.0)
    apart = a - best
    gauss = np.sqrt(np.maximum(np.einsum("ti,tij,tj->t", apart, M, apart), 0.0))

    pulled = (np.abs(Q) + np.abs(motion.ideal) + np.abs(C)) / scale**2
    # What reaches a row through the others carries rounding into it, as in `fundamental`.
    reach = np.linalg.norm(A / scale[:, None, :], axis=2) * (_norm(scale * a) + _norm(scale * pulled))[:, None]
    terms = _times(np.abs(A), np.abs(a) + pulled) + np.abs(b) + 1e-4 * reach
    slowing = float(np.abs(motion.v).max(initial=0.0)) / span
    lengths = np.linalg.norm(A, axis=2)
    floor = np.maximum(terms.max(axis=0, initial=0.0), lengths.max(axis=0, initial=0.0) * slowing)
    # Where the gradient of a constraint passes through zero, its row is rounding divided by nothing: so rows are
    # measured against a tenth of their largest terms.
    terms = np.maximum(terms, 0.1 * floor)
    rows = np.abs(_times(A, a) - b) / np.where(terms > 0, terms, 1.0)
    measured = {
        "acceleration": float(rows.max(initial=0.0)),
        "forces": float((np.max([_norm(f / scale) for f in (balance, Q - impressed, reaction)], axis=0) / size).max()),
        "virtual_work": float((along / size).max()),
        "gauss": float((gauss / size).max()),
    }
    return measured, ranks, unique


def _by_parts(
    M: Array, Q: Array, A: Array, b: Array, C: Array, scale: Array, checked: list[Array]
) -> tuple[Array, Array, np.ndarray, bool]:
    """`_on_null_space` for each part of a large system that falls apart."""
    parts = parts_of(M, A)
    if parts is None:
        return _on_null_space(M, Q, A, b, C, scale, checked)
    T, n = Q.shape
    along, best, ranks, unique = np.zeros(T), np.full((T, n), np.nan), np.zeros(T, dtype=int), True

    def own(values: Array) -> Array:
        """One batch of all points and all parts of a shape."""
        return values.reshape(T * values.shape[1], *values.shape[2:])

    for at, rows in parts:
        found = _on_null_space(
            own(block(M, at, at)), own(Q[:, at]), own(block(A, rows, at)), own(b[:, rows]), own(C[:, at]),
            own(scale[:, at]), [own(force[:, at]) for force in checked],
        )  # fmt: skip
        along = np.maximum(along, found[0].reshape(T, -1).max(axis=1))
        best[:, at] = found[1].reshape(T, *at.shape)
        ranks += found[2].reshape(T, -1).sum(axis=1)
        unique = unique and found[3]
    return along, best, ranks, unique


def _on_null_space(
    M: Array, Q: Array, A: Array, b: Array, C: Array, scale: Array, checked: list[Array]
) -> tuple[Array, Array, np.ndarray, bool]:
    """At each point: the largest part of the checked forces along null A, the minimiser of G_ni, the rank of A.

    Points of equal rank are treated together. The solver of the motion works in the range of A; this is another way.
    """
    T, n = Q.shape
    along, best, ranks, unique = np.zeros(T), np.full((T, n), np.nan), np.zeros(T, dtype=int), True
    weighted = M / (scale[:, :, None] * scale[:, None, :])
    columns = np.swapaxes(A / scale[:, None, :], 1, 2)
    lengths = np.linalg.norm(columns, axis=1)
    lengths = np.where(lengths > 0, lengths, 1.0)
    if A.shape[1]:
        U, sigma, Vt = np.linalg.svd(columns / lengths[:, None, :], full_matrices=True)
        ranks = (sigma > RANK_TOLERANCE).sum(axis=1)
    else:
        U, sigma, Vt = np.broadcast_to(np.eye(n), (T, n, n)), np.zeros((T, 0)), np.zeros((T, 0, 0))
    for rank in sorted(set(ranks.tolist())):  # np.unique would load NumPy's masked arrays
        at = np.flatnonzero(ranks == rank)
        span, N, Mw = U[at, :, :rank], U[at, :, rank:], weighted[at]
        x = _times(span, _times(Vt[at, :rank], b[at] / lengths[at]) / sigma[at, :rank])
        for force in checked:
            part = np.abs(_times(np.swapaxes(N, 1, 2), force[at] / scale[at])).max(axis=1, initial=0.0)
            along[at] = np.maximum(along[at], part)
        H = np.swapaxes(N, 1, 2) @ Mw @ N
        if N.shape[2] and np.linalg.eigvalsh(H).min() <= MASS_TOLERANCE * n:
            unique = False
            continue
        pull = _times(np.swapaxes(N, 1, 2), (Q + C)[at] / scale[at] - _times(Mw, x))
        best[at] = (x + _times(N, np.linalg.solve(H, pull[..., None])[..., 0])) / scale[at]
    return along, best, ranks, unique


def _is_minimum(motion: Motion, evaluation: Evaluation, data: _Data) -> bool:
    """Whether G is least, not only stationary, on constraints nonlinear in q̈: M − Σ λ ∂²h is positive on null A."""
    rows = list(evaluation.graph.nonlinear)
    for k in range(motion.t.size):
        multipliers = motion.multipliers[k, rows]
        _, _, bend = evaluation.nonlinear(motion.q[k], motion.v[k], motion.a[k], float(motion.t[k]), multipliers)
        N = null_space(data.A[k])
        if N.shape[1] and np.linalg.eigvalsh(N.T @ (data.M[k] - bend) @ N)[0] <= 0:
            return False
    return True


def _times(matrices: Array, vectors: Array) -> Array:
    return np.einsum("tij,tj->ti", matrices, vectors)


def _norm(vectors: Array) -> Array:
    return np.sqrt(np.einsum("ti,ti->t", vectors, vectors))


def _constraint_residuals(motion: Motion, evaluation: Evaluation) -> dict[str, float]:
    """φ and (φ̇, ψ) along the motion, each relative to the largest gradient times the largest size of the
    state.
    """
    found = {}
    for name, states, others in (("position", motion.q, motion.v), ("velocity", motion.v, motion.q)):
        value, slope = (
            evaluation.position_along(motion.q, motion.t)
            if name == "position"
            else evaluation.velocity_along(motion.q, motion.v, motion.t)
        )
        if not value.size:
            found[name] = 0.0
            continue
        if motion.acting is not None:
            graph = evaluation.graph
            rows = [*graph.position_rows, *(graph.velocity_rows if name == "velocity" else ())]
            value = np.where(motion.acting[:, rows], value, 0.0)
        gradients = np.linalg.norm(slope, axis=2)
        size = np.max(gradients, axis=0) * size_of(states, others)
        found[name] = float(np.max(np.abs(value) / np.where(size > 0, size, 1.0)))
    return found


def _energy_balance(motion: Motion, evaluation: Evaluation, M: Array, Q: Array) -> float:
    """|E(t) − E(0) − work|, or what the heat errs by, against the largest kinetic energy, change of potential, or work.

    Outputs may miss where a motion is fastest, as a comet is next to the sun. Errors made there are as large as the
    energies that are exchanged there, so the balance must hold there too, and its terms count among the largest.
    """
    q, v, t, works = motion.q, motion.v, motion.t, motion.work
    if motion.fastest is not None:
        n, at = evaluation.n, motion.fastest[None, :]
        q, v = np.concatenate([q, at[:, 1 : n + 1]]), np.concatenate([v, at[:, n + 1 : 2 * n + 1]])
        t, works = np.concatenate([t, at[:, 0]]), np.concatenate([works, at[:, 2 * n + 1 :]])
        M = np.concatenate([M, evaluation.dynamics_along(q[-1:], v[-1:], t[-1:])[0]])
    energy, _ = evaluation.energetics_along(q, v, t)
    moving = np.abs(np.einsum("ti,tij,tj->t", v, M, v)) / 2
    work = works.sum(axis=1)
    rest = energy - moving
    size = max(moving.max(), np.abs(rest - rest[0]).max(), np.abs(works).max(initial=0.0))
    # Outputs may all fall on turning points, as those of a vibration a period apart do: what forces make of the
    # velocity in a step of the integration, which is short against a period, is exchanged in between.
    moment = float(motion.t[-1] - motion.t[0]) / max(motion.timing.steps, 1)
    moment = min(moment, float(np.diff(motion.t).max(initial=0.0)))
    pushed = float(np.einsum("ti,tij,tj->t", motion.a, M[: motion.t.size], motion.a).max())
    size = max(size, pushed / 2 * moment**2)
    # At rest nothing is exchanged: rounding in E itself, 1e-16 of it, must then pass.
    size = max(size, 1e-7 * np.abs(energy).max())
    # Where that is zero too, forces do work on velocities of rounding, 1e-16 of what they would have made in the time.
    inertia = np.abs(np.diagonal(M, axis1=1, axis2=2))
    inertia = np.where(inertia > 0, inertia, 1.0)[: motion.t.size]
    pull = np.sqrt((Q**2 / inertia).max(initial=0.0)) * float(motion.t[-1] - motion.t[0])
    size = max(size, 1e-8 * pull**2)
    missed = np.maximum(np.abs(energy - energy[0] - work).max(), heat_residual(motion))
    return float(missed / size) if size > 0 else 0.0
