"""Rates of states near a motion, from the model alone; and what errors within the tolerance make of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.kernel.ready.together import together_of
from dalembert.mechanics.solve.fundamental import solve
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# d/dt of B states at once: times (B,) and states (B, w) to rates (B, w).
Slope = Callable[[Array, Array], Array]

# Errors of so many tolerances may be made in each step, and grow as the motion lets them grow.
TOLERANCES = 10.0


def is_simple(evaluation: Evaluation) -> bool:
    """Whether many states can be solved at once."""
    return not (evaluation.graph.nonlinear or evaluation.graph.uses_reactions)


def all_slopes(evaluation: Evaluation) -> Slope:
    n, together = evaluation.n, together_of(evaluation.graph)

    def slope(t: Array, y: Array) -> Array:
        q, v = y[:, :n], y[:, n:]
        found = None if together is None else together.solve(q, v, t, evaluation.p)
        if found is not None:
            return np.concatenate([v, found.acceleration], axis=1)
        M, Q, A, b = evaluation.dynamics_along(q, v, t)
        C = np.zeros_like(Q)
        if evaluation.system.works:
            C = evaluation.work_along(q, v, t, C, C, np.zeros_like(b))
        return np.concatenate([v, solve(M, Q, A, b, C).acceleration], axis=1)

    return slope


def slope_of_one(motion: Motion, evaluation: Evaluation, k: int) -> Slope:
    """One stretch by itself, with the constraints that are independent at its start: off them, redundant ones
    contradict each other slightly.
    """
    n = evaluation.n
    start = evaluation.solve(motion.q[k], motion.v[k], float(motion.t[k]), None, motion.a[k])
    rows, near = [int(j) for j in np.flatnonzero(~start.dependent)], evaluation.branch_accelerations(start)
    some = None if len(rows) == evaluation.m or evaluation.graph.nonlinear else rows

    def slope(t: Array, y: Array) -> Array:
        q, v = y[0, :n], y[0, n:]
        a = evaluation.solve(q, v, float(t[0]), some, near).acceleration
        return np.concatenate([v, a])[None, :]

    return slope


def errors_within(motion: Motion, at: np.ndarray) -> tuple[Array, Array]:
    """Changes of the states at these points by one tolerance, (B, 2n), of two kinds."""
    return errors_of(motion, np.concatenate([motion.q[at], motion.v[at]], axis=1))


def errors_of(motion: Motion, y: Array) -> tuple[Array, Array]:
    """The same of any states (B, 2n) on the way."""
    most = np.abs(np.concatenate([motion.q, motion.v], axis=1)).max(axis=0)
    tolerance = motion.rtol * (np.abs(y) + 1e-3 * most)
    signs = np.where(np.arange(y.shape[1]) % 2, -1.0, 1.0)
    return tolerance, signs * tolerance


def errors_of_accelerations(motion: Motion, evaluation: Evaluation, at: np.ndarray) -> Array:
    """What accelerations at these points may be off by, (B, n), where states err within the tolerance: of stiff
    motions, whose accelerations are differences of large forces, far more than the states themselves.
    """
    t, y, n = motion.t[at], np.concatenate([motion.q, motion.v], axis=1)[at], evaluation.n
    found = np.zeros((at.size, n))
    for change in errors_within(motion, at):
        try:
            there = _slopes_of(motion, evaluation, at, t, y + change) - _slopes_of(motion, evaluation, at, t, y)
        except (DalembertError, np.linalg.LinAlgError):
            continue
        found = np.maximum(found, np.abs(there[:, n:]))
    return TOLERANCES * np.where(np.isfinite(found), found, 0.0)


def _slopes_of(motion: Motion, evaluation: Evaluation, at: np.ndarray, t: Array, y: Array) -> Array:
    if is_simple(evaluation) and bool((motion.rank[at] == evaluation.m).all()):
        return all_slopes(evaluation)(t, y)
    each = [slope_of_one(motion, evaluation, int(k))(t[i : i + 1], y[i : i + 1]) for i, k in enumerate(at)]
    return np.concatenate(each)
