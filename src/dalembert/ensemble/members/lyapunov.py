"""The largest Lyapunov exponent of members, by a nearby twin that is led back along its own direction again and again
(Benettin's method): the mean rate at which neighbouring motions part.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.at_once import Group, Runs
from dalembert.ensemble.members.control import Cancelled, Control
from dalembert.ensemble.members.outcome import Outcome
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.start.block import Block
from dalembert.graph.timed import spread
from dalembert.kernel import kernel as kernels

# How far the twin begins, relative to the size of the state: far above what the tolerance leaves, near enough that
# both motions part as the linearised one does.
APART = 1e-6
# The twin is led back after about so many steps of the motion, at least so often in all and at most so often: in so
# few steps no motion parts by more than a few powers of e.
STEPS, LEAST, MOST = 8, 32, 20_000


def apart(states: Array) -> Array:
    """How far from states (K, 2n) their twins begin: a motion may grow, and the rounding of its states with it."""
    return APART * np.maximum(np.abs(states).max(axis=1), 1.0)


def length(x: Array) -> Array:
    """Of each row. Squares of what has grown for long would have no value."""
    return np.asarray(np.hypot.reduce(x, axis=-1))


def exponents(task: Task, block: Block, group: Group, a: Array, outcome: Outcome, control: Control) -> Array:
    """(members,) of a group that has come to its ends; NaN where the twin does not come so far."""
    at, runs = group.at, Runs(task, block, group, a)
    n, count = task.n, at.size
    pieces = int(np.clip(outcome.steps[at].max() // STEPS, LEAST, MOST))
    begin, span = block.t[at], outcome.t[at] - block.t[at]
    both = np.concatenate([np.arange(count)] * 2)
    y = runs.y0[both]
    y[count:, : 2 * n] += apart(y[:count, : 2 * n])[:, None] * spread(2 * n, 1)
    total, good = np.zeros(count), span > 0
    for piece in range(pieces):
        start, end = (begin + span * (k / pieces) for k in (piece, piece + 1))
        run = runs.advance(y, both, np.tile(start, 2), np.tile(np.maximum(end, start), 2), control)
        if control.cancelled:
            raise Cancelled
        arrived = (run.status == kernels.DONE) & (run.head["points"] == 2)
        good &= arrived[:count] & arrived[count:]
        # The first output is the start as it was led back to the constraints: from there the distance counts.
        before, after = ((run.y[count:, k] - run.y[:count, k])[:, : 2 * n] for k in (0, 1))
        near, far = length(before), length(after)
        with np.errstate(divide="ignore", invalid="ignore"):
            total += np.log(far / near)
            ends = run.y[:count, 1, : 2 * n]
            back = ends + after * (apart(ends) / far)[:, None]
        y[:count] = run.y[:count, 1]
        y[count:] = run.y[count:, 1]
        y[count:, : 2 * n] = back
        y[~np.isfinite(y).all(axis=1)] = 0.0  # no longer good; whatever it does is not looked at
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(good & np.isfinite(total), total / span, np.nan)
