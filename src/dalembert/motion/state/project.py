"""Back onto the constraints: the nearest state in the mass metric with φ = 0, then φ̇ = 0 and ψ = 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.errors import UndefinedModel
from dalembert.kernel.limits import PROJECT_LEAST_SIZE, PROJECT_ROUNDING
from dalembert.mechanics.solve.fundamental import is_positive, minimum_norm
from dalembert.motion.state.evaluation import Evaluation


def size_of(state: Array, other: Array) -> float:
    """The size of positions (or velocities), at least a thousandth of the other: x = sin t has q̇ = 6e-17 at π/2."""
    return max(largest(state), 1e-3 * largest(other), PROJECT_LEAST_SIZE)


@dataclass(frozen=True)
class Natural:
    """The largest length that the gradient of each position constraint has had, in the mass metric and plainly."""

    metric: Array
    plain: Array


def relative_residual(value: Array, slope: Array, size: float, natural: Array | float = 0.0) -> Array:
    """|g| relative to its gradient times the size of the state: the distance to g = 0, free of the units of g.

    A gradient counts with its natural length where it is shorter.
    """
    with np.errstate(over="ignore", invalid="ignore"):  # NaN where the numbers are too large: nobody takes it for zero
        reach = np.maximum(np.sqrt(np.einsum("ij,ij->i", slope, slope)), natural) * size
        return np.abs(value) / np.where(reach > 0, reach, 1.0)


def metric(M: Array, A: Array) -> Array:
    """M where it is positive definite, M + c AᵀA where it is singular but the constraints complete it, else
    the unit matrix added.
    """
    if is_positive(M):
        return M
    W = M + A.T @ A * (np.trace(M) / max(float(np.sum(A * A)), 1e-300))
    if is_positive(W):
        return W
    return M + np.eye(M.shape[0]) * max(float(np.abs(np.diagonal(M)).max()), 1.0)


def project(
    evaluation: Evaluation,
    q: Array,
    v: Array,
    t: float,
    free: Array | None = None,
    iterations: int = 12,
    natural: Natural | None = None,
) -> tuple[Array, Array, float]:
    """The nearest state on the constraints, and the largest relative residual that is left.

    `free` (2n booleans) marks the entries of (q, q̇) that may change; all where it is None. natural: as along a motion.
    """
    n = evaluation.n
    W: Array | None = None

    def weight() -> Array:
        nonlocal W
        if W is None:
            M, _, A, _ = evaluation.dynamics(q, v, t)
            W = metric(M, A)
        return W

    free_q, free_v = (None, None) if free is None else (free[:n], free[n:])
    left = 0.0
    rows = list(evaluation.graph.position_rows)
    if rows:
        q, left = _newton(lambda x: evaluation.position(x, t), q, v, free_q, weight, iterations, natural, rows)
    rows += evaluation.graph.velocity_rows
    if rows:
        place = q
        v, missed = _newton(
            lambda x: evaluation.velocity(place, x, t), v, place, free_v, weight, iterations, natural, rows
        )
        left = max(left, missed)
    return q, v, left


def nearest(
    evaluation: Evaluation, q: Array, v: Array, t: float, free: Array | None = None
) -> tuple[Array, Array, float]:
    """The state on the constraints nearest to the given one in the mass metric, entries not `free` held.

    Each pass solves: least (x − x₀)ᵀM(x − x₀) on the linearised constraints. It converges where the distance
    is short against the curvature; a last projection makes the residual rounding, and does all the work where
    the passes do not converge.
    """
    n = evaluation.n
    free = np.ones(2 * n, dtype=bool) if free is None else free
    M, _, A, _ = evaluation.dynamics(q, v, t)
    W = metric(M, A)
    if evaluation.graph.position_rows:
        q = _closest(lambda x: evaluation.position(x, t), q, free[:n], W)
    if evaluation.graph.position_rows or evaluation.graph.velocity_rows:
        q, _, _ = project(evaluation, q, v, t, free, iterations=60)
        place = q
        v = _closest(lambda x: evaluation.velocity(place, x, t), v, free[n:], W)
    return project(evaluation, q, v, t, free, iterations=60)


def _closest(residual: Callable[[Array], tuple[Array, Array]], start: Array, free: Array, W: Array) -> Array:
    x = start
    for _ in range(200):
        value, slope = residual(x)
        step = np.zeros_like(x)
        target = value + slope @ (start - x)
        step[free] = minimum_norm(W[np.ix_(free, free)], slope[:, free], target)
        new = start - step
        if not np.isfinite(new).all():
            return start
        change = float(np.abs(new - x).max(initial=0.0))
        x = new
        if change <= 1e-14 * (1.0 + float(np.abs(x).max(initial=0.0))):
            return x
    # Did not settle: leave it to plain projection.
    return start


def _newton(
    residual: Callable[[Array], tuple[Array, Array]],
    x: Array,
    other: Array,
    free: Array | None,
    weight: Callable[[], Array],
    iterations: int,
    natural: Natural | None,
    rows: list[int],
) -> tuple[Array, float]:
    """Newton with least change in the metric; stops when the residual is rounding or no longer falls."""
    lengths = None if natural is None else natural.metric[rows]
    plain = np.zeros(len(rows)) if natural is None else natural.plain[rows]
    value, slope = residual(x)
    if not value.any():
        return x, 0.0
    miss = float(relative_residual(value, slope, size_of(x, other), plain).max(initial=0.0))
    for _ in range(iterations):
        if not np.isfinite(miss):
            raise UndefinedModel("a constraint has no finite value near this state")
        if miss <= PROJECT_ROUNDING:
            break
        W = weight()
        if free is None:
            step = minimum_norm(W, slope, value, lengths)
        else:
            step = np.zeros_like(x)
            step[free] = minimum_norm(W[np.ix_(free, free)], slope[:, free], value, lengths)
        # Far away a full step may overshoot: halve it until the residual falls.
        for shorten in (1.0, 0.5, 0.25, 0.1, 0.02):
            trial = x - shorten * step
            value_new, slope_new = residual(trial)
            miss_new = float(relative_residual(value_new, slope_new, size_of(trial, other), plain).max(initial=0.0))
            if miss_new < miss:
                break
        else:
            break
        x, value, slope, miss = trial, value_new, slope_new, miss_new
    return x, miss
