"""Accelerations and forces at the output points: equations, virtual work, the minimum of G on the null space of A."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.check import ALONG, GAUSS, KINETIC, RANK, SPEED, check_points
from dalembert.kernel.ready.forces import Forces
from dalembert.kernel.ready.sparse import Pattern
from dalembert.kernel.ready.together import branches_of, together_of
from dalembert.mechanics.solve.blocks import WORTHWHILE, block, parts_of
from dalembert.mechanics.solve.fundamental import MASS_TOLERANCE, RANK_TOLERANCE, null_space
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.along import norm, times
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import Points
from dalembert.remember import changed

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


@dataclass(frozen=True)
class Data:
    """M (T, n, n), Q, C (T, n), A (T, m, n), b (T, m) along the motion, and whether Q_i must be normal to null A.
    closed: A with all its rows, also those of constraints that are open, where there are contacts.
    """

    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    split: bool
    energy: Array | None = None  # E (T,), φ and (φ̇, ψ), where they came with the others
    position: Array | None = None
    velocity: Array | None = None
    pattern: Pattern | None = None  # of M and A, where they are large
    closed: Array | None = None
    dependent: np.ndarray | None = None  # (T, m), constraints that depend on those before them, where that is known
    bend: Array | None = None  # Σ λ ∂²h/∂q̈² (T, n, n) of constraints nonlinear in q̈, where there are such


@dataclass(frozen=True)
class AtPoints:
    """What was measured at single points, relative to the sizes there; the ranks (least, largest) and whether q̈ is
    unique everywhere. scale (T, n): the root of each coordinate's own mass; lengths (T, m): of the rows of A; kinetic
    (T,): the kinetic energy; pushed, pull: the largest q̈ᵀM q̈ and Q²/m.
    """

    measured: dict[str, float]
    ranks: tuple[int, int]
    unique: bool
    scale: Array
    lengths: Array
    kinetic: Array
    pushed: float
    pull: float
    over_time: Mapping[str, Array] = field(default_factory=dict)  # what was measured, (T,) each, where that was kept


def data_along(motion: Motion, evaluation: Evaluation, points: Points | Forces | None = None) -> Data:
    """The numbers of a motion's own system at its output points, from the model's functions. points: evaluated at these
    states already.
    """
    nonlinear = list(evaluation.graph.nonlinear)
    together = together_of(evaluation.graph) or branches_of(evaluation.graph)
    if motion.C is None and together is not None:
        if points is not None and points.position is not None:
            solved = points.solution
            A, b, bend = solved.A, solved.b, None
            if nonlinear:  # what was found for the forces is linear about other accelerations
                A, b = A.copy(), b.copy()
                bend = _at_accelerations(motion, evaluation, A, b)
            along = (points.energy, points.position, points.velocity)
            parts = (solved.M, solved.Q, A, b, solved.C)
            return Data(*parts, True, *along, together.pattern, dependent=solved.dependent, bend=bend)
        q, v, at = (np.ascontiguousarray(x, dtype=float) for x in (motion.q, motion.v, motion.t))
        found = together.at(q, v, at, evaluation.p)
        if found is not None:
            M, Q, A, b, C, energy, _, position, velocity = found
            bend = _at_accelerations(motion, evaluation, A, b) if nonlinear else None
            return Data(M, Q, A, b, C, True, energy, position, velocity, together.pattern, bend=bend)
    if motion.C is not None and points is not None and points.closed is not None:
        of, known = points.solution, (points.energy, points.position, points.velocity)
        pattern = None if together is None else together.pattern
        return Data(of.M, of.Q, of.A, of.b, motion.C, True, *known, pattern, closed=points.closed)
    if motion.C is not None and motion.acting is not None:
        q, v, at = (np.ascontiguousarray(x, dtype=float) for x in (motion.q, motion.v, motion.t))
        found = None if together is None else together.at(q, v, at, evaluation.p)
        M, Q, A, b = evaluation.dynamics_along(q, v, at) if found is None else found[:4]
        acting, b = np.where(motion.acting[:, :, None], A, 0.0), np.where(motion.acting, b, 0.0)
        data = Data(M, Q, acting, b, motion.C, split=True, closed=A)
        return data if found is None else changed(data, energy=found[5], position=found[7], velocity=found[8])
    M, Q, A, b = evaluation.dynamics_along(motion.q, motion.v, motion.t)
    bend = _at_accelerations(motion, evaluation, A, b) if nonlinear else None
    actual = times(np.swapaxes(A, 1, 2), motion.multipliers)
    C = evaluation.work_along(motion.q, motion.v, motion.t, motion.ideal, actual, motion.multipliers)
    # With a constraint nonlinear in q̈ and C ≠ 0, the ideal force belongs to the normals at another acceleration.
    return Data(M, Q, A, b, C, split=not (nonlinear and bool(np.any(C))), bend=bend)


def _at_accelerations(motion: Motion, evaluation: Evaluation, A: Array, b: Array) -> Array:
    """Σ λ ∂²h/∂q̈² along the motion. The rows of A and b that are nonlinear in q̈ become those at its accelerations."""
    rows = list(evaluation.graph.nonlinear)
    h, slope, bend = evaluation.nonlinear_along(motion.q, motion.v, motion.a, motion.t, motion.multipliers[:, rows])
    # An acceleration that is no number has no gradients; b tells of it.
    A[:, rows], b[:, rows] = np.where(np.isfinite(slope), slope, 0.0), times(slope, motion.a) - h
    return bend


def at_points(motion: Motion, data: Data) -> AtPoints:
    """The algebraic residuals relative to their terms, by C (kernel/ready/c/check_points.h); or, for large systems and
    where there is no library, by `at_points_dense`, which has the formulas. Points whose rank is not certain are
    measured as there.
    """
    n, m = data.Q.shape[1], data.b.shape[1]
    forces = (motion.a, motion.impressed, motion.inertial, motion.ideal, motion.nonideal, motion.multipliers)
    checked = None
    if n + m < WORTHWHILE:
        checked = check_points((data.M, data.Q, data.A, data.b, data.C), motion.v, forces, data.split)
    if checked is None:
        return at_points_dense(motion, data)
    numbers, unique = checked.numbers, True
    if checked.open:
        at = np.flatnonzero(numbers[:, RANK] < 0)
        M, Q, A, b, C, a = (x[at] for x in (data.M, data.Q, data.A, data.b, data.C, motion.a))
        forced = _checked_forces(motion, data, at)
        along, best, ranks, unique = _on_null_space(M, Q, A, b, C, checked.scale[at], forced)
        numbers[at, ALONG], numbers[at, RANK] = along, ranks
        numbers[at, GAUSS] = _distance(M, a - best)
    span = float(motion.t[-1] - motion.t[0]) or 1.0
    slowing = float(np.abs(motion.v).max(initial=0.0)) / span
    rows, missed, along, gauss, least, most, pushed, pull = checked.totals(
        float(numbers[:, SPEED].max()) / span, slowing
    ).tolist()
    measured = {"acceleration": rows, "forces": missed, "virtual_work": along, "gauss": gauss}
    return AtPoints(
        measured, (int(least), int(most)), unique, checked.scale, checked.rows[2], numbers[:, KINETIC], pushed, pull
    )


def _checked_forces(motion: Motion, data: Data, at: Any = slice(None)) -> list[Array]:
    """The forces that must do no virtual work."""
    inertia = times(data.M[at], motion.a[at])
    ideal, nonideal = motion.ideal[at], motion.nonideal[at]
    balance = inertia - (motion.impressed[at] + motion.inertial[at]) - ideal - nonideal
    checked = [inertia - data.Q[at] - data.C[at], balance]
    return [*checked, ideal, nonideal - data.C[at]] if data.split else checked


def _distance(M: Array, apart: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(np.einsum("ti,tij,tj->t", apart, M, apart), 0.0)))


def at_points_dense(motion: Motion, data: Data) -> AtPoints:
    """The same by singular values.

    In coordinates scaled by the root of their own mass all terms have the same unit, so that they may be compared.
    Where all terms pass through zero together, or a motion is free or at rest, rounding would be compared with
    rounding. So a size is never taken below a millionth of the largest along the motion, nor of what would stop the
    motion within its duration.
    """
    M, Q, A, b, C, a = data.M, data.Q, data.A, data.b, data.C, motion.a
    scale = mass_scale(M)
    inertia = times(M, a)
    impressed = motion.impressed + motion.inertial
    balance = inertia - impressed - motion.ideal - motion.nonideal
    reaction = inertia - Q - C - times(np.swapaxes(A, 1, 2), motion.multipliers)
    along, gauss, ranks, unique = _of_large(motion, data, scale, inertia)

    span = float(motion.t[-1] - motion.t[0]) or 1.0
    force_size = np.max([norm(f / scale) for f in (inertia, Q, motion.ideal, motion.nonideal, C)], axis=0)
    braking = float(norm(scale * motion.v).max()) / span
    size = np.maximum(force_size, 1e-6 * max(float(force_size.max()), braking))
    size = np.where(size > 0, size, 1.0)

    pulled = (np.abs(Q) + np.abs(motion.ideal) + np.abs(C)) / scale**2
    # What reaches a row through the others carries rounding into it, as in `fundamental`.
    reach = np.linalg.norm(A / scale[:, None, :], axis=2) * (norm(scale * a) + norm(scale * pulled))[:, None]
    terms = times(np.abs(A), np.abs(a) + pulled) + np.abs(b) + 1e-4 * reach
    slowing = float(np.abs(motion.v).max(initial=0.0)) / span
    lengths = np.linalg.norm(A, axis=2)
    floor = np.maximum(terms.max(axis=0, initial=0.0), lengths.max(axis=0, initial=0.0) * slowing)
    # Where the gradient of a constraint passes through zero, its row is rounding divided by nothing: so rows are
    # measured against a tenth of their largest terms.
    terms = np.maximum(terms, 0.1 * floor)
    rows = np.abs(times(A, a) - b) / np.where(terms > 0, terms, 1.0)
    over_time = {
        "acceleration": rows.max(axis=1, initial=0.0),
        "forces": np.max([norm(f / scale) for f in (balance, Q - impressed, reaction)], axis=0) / size,
        "virtual_work": along / size,
        "gauss": gauss / size,
    }
    measured = {name: float(values.max()) for name, values in over_time.items()}
    kinetic = np.abs(np.einsum("ti,ti->t", motion.v, times(M, motion.v))) / 2
    pushed, pull = float(np.einsum("ti,ti->t", a, inertia).max()), float(((Q / scale) ** 2).max(initial=0.0))
    least, most = int(ranks.min()), int(ranks.max())
    return AtPoints(measured, (least, most), unique, scale, lengths, kinetic, pushed, pull, over_time)


def _of_large(motion: Motion, data: Data, scale: Array, inertia: Array) -> tuple[Array, Array, np.ndarray, bool]:
    """Virtual work, distance from the minimum of G, and rank at each point, and whether q̈ is unique: by sparse factors
    where the pattern is known, at points where these do not do by singular values.
    """
    M, Q, A, b, C, a = data.M, data.Q, data.A, data.b, data.C, motion.a
    forces = _checked_forces(motion, data)
    found = None
    if data.pattern is not None:
        found = data.pattern.check(M, A, np.stack(forces), inertia - Q - C, times(A, a) - b)
    if found is None:
        along, best, ranks, unique = _by_parts(M, Q, A, b, C, scale, forces)
        return along, _distance(M, a - best), ranks, unique
    along, distance = found
    ranks, unique = np.full(along.size, b.shape[1]), True
    at = np.flatnonzero(~(along >= 0))
    if at.size:
        own = [force[at] for force in forces]
        along[at], best, ranks[at], unique = _by_parts(M[at], Q[at], A[at], b[at], C[at], scale[at], own)
        distance[at] = _distance(M[at], a[at] - best)
    return along, distance, ranks, unique


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
        x = times(span, times(Vt[at, :rank], b[at] / lengths[at]) / sigma[at, :rank])
        for force in checked:
            part = np.abs(times(np.swapaxes(N, 1, 2), force[at] / scale[at])).max(axis=1, initial=0.0)
            along[at] = np.maximum(along[at], part)
        H = np.swapaxes(N, 1, 2) @ Mw @ N
        if N.shape[2] and np.linalg.eigvalsh(H).min() <= MASS_TOLERANCE * n:
            unique = False
            continue
        pull = times(np.swapaxes(N, 1, 2), (Q + C)[at] / scale[at] - times(Mw, x))
        best[at] = (x + times(N, np.linalg.solve(H, pull[..., None])[..., 0])) / scale[at]
    return along, best, ranks, unique


def is_minimum(motion: Motion, data: Data) -> bool:
    """Whether G is least, not only stationary, on constraints nonlinear in q̈: M − Σ λ ∂²h is positive on null A."""
    assert data.bend is not None
    curvature = data.M - data.bend
    try:
        np.linalg.cholesky(curvature)
        return True  # it is positive everywhere
    except np.linalg.LinAlgError:
        pass
    if not np.isfinite(curvature).all():
        return False
    for k in range(motion.t.size):
        N = null_space(data.A[k])
        if N.shape[1] and not np.linalg.eigvalsh(N.T @ curvature[k] @ N)[0] > 0:
            return False
    return True
