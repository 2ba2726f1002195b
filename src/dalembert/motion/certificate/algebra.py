"""Accelerations and forces at the output points: equations, virtual work, the minimum of G on the null space of A."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.blocks import block, parts_of
from dalembert.mechanics.solve.fundamental import MASS_TOLERANCE, RANK_TOLERANCE, null_space
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.certificate.along import norm, times
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


@dataclass(frozen=True)
class Data:
    """M (T, n, n), Q, C (T, n), A (T, m, n), b (T, m) along the motion, and whether Q_i must be normal to null A."""

    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    split: bool


def data_along(motion: Motion, evaluation: Evaluation) -> Data:
    """The numbers of a motion's own system at its output points, from the model's functions."""
    nonlinear = list(evaluation.graph.nonlinear)
    M, Q, A, b = evaluation.dynamics_along(motion.q, motion.v, motion.t)
    if motion.C is not None and motion.acting is not None:
        A, b = np.where(motion.acting[:, :, None], A, 0.0), np.where(motion.acting, b, 0.0)
        return Data(M, Q, A, b, motion.C, split=True)
    for k in range(motion.t.size if nonlinear else 0):
        q, v, a, t = motion.q[k], motion.v[k], motion.a[k], float(motion.t[k])
        h, slope, _ = evaluation.nonlinear(q, v, a, t, np.zeros(len(nonlinear)))
        A[k, nonlinear], b[k, nonlinear] = slope, slope @ a - h
    actual = times(np.swapaxes(A, 1, 2), motion.multipliers)
    C = evaluation.work_along(motion.q, motion.v, motion.t, motion.ideal, actual, motion.multipliers)
    # With a constraint nonlinear in q̈ and C ≠ 0, the ideal force belongs to the normals at another acceleration.
    return Data(M, Q, A, b, C, split=not (nonlinear and bool(np.any(C))))


def algebraic_residuals(motion: Motion, data: Data) -> tuple[dict[str, float], np.ndarray, bool]:
    """The algebraic residuals relative to their terms, the ranks, and whether q̈ is unique everywhere.

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
    checked = [inertia - Q - C, balance]
    if data.split:
        checked += [motion.ideal, motion.nonideal - C]
    along, best, ranks, unique = _by_parts(M, Q, A, b, C, scale, checked)

    span = float(motion.t[-1] - motion.t[0]) or 1.0
    force_size = np.max([norm(f / scale) for f in (inertia, Q, motion.ideal, motion.nonideal, C)], axis=0)
    braking = float(norm(scale * motion.v).max()) / span
    size = np.maximum(force_size, 1e-6 * max(float(force_size.max()), braking))
    size = np.where(size > 0, size, 1.0)
    apart = a - best
    gauss = np.sqrt(np.maximum(np.einsum("ti,tij,tj->t", apart, M, apart), 0.0))

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
    measured = {
        "acceleration": float(rows.max(initial=0.0)),
        "forces": float((np.max([norm(f / scale) for f in (balance, Q - impressed, reaction)], axis=0) / size).max()),
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


def is_minimum(motion: Motion, evaluation: Evaluation, data: Data) -> bool:
    """Whether G is least, not only stationary, on constraints nonlinear in q̈: M − Σ λ ∂²h is positive on null A."""
    rows = list(evaluation.graph.nonlinear)
    for k in range(motion.t.size):
        multipliers = motion.multipliers[k, rows]
        _, _, bend = evaluation.nonlinear(motion.q[k], motion.v[k], motion.a[k], float(motion.t[k]), multipliers)
        N = null_space(data.A[k])
        if N.shape[1] and np.linalg.eigvalsh(N.T @ (data.M[k] - bend) @ N)[0] <= 0:
            return False
    return True
