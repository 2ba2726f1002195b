"""States between two output points, on the cubics through the states at both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready import again

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# The weights of both ends, and of what their rates make in the time of a stretch: 1 − 3x² + 2x³, and so on.
HERMITE = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [-3, 3, -2, -1], [2, -2, 1, 1]])
POWERS = np.arange(4)
# Times of a motion that differ by less than this share of the latest, or of its length, are the same.
SAME_TIME = 1e-12


def between_changes(t: Array, changes: Array) -> tuple[np.ndarray, np.ndarray]:
    """The part that each output point belongs to, as changes at some instants, in order, divide the motion; and the
    stretches from one point to the next in which there is none. A point at the very instant of a change may belong to
    either side: no stretch begins or ends there.
    """
    part, first = changes.searchsorted(t, side="right"), changes.searchsorted(t)
    apart = part == first
    return part, (part[1:] == part[:-1]) & apart[1:] & apart[:-1]


def rounding_of_times(t: Array) -> float:
    """By less than this do times differ that are the same: an output at the very time of a change may belong to either
    side of it, though the change is told a rounding later.
    """
    return SAME_TIME * max(float(np.abs(t).max()), float(t[-1] - t[0]))


def cubic(x: Array, a: Array, b: Array, da: Array, db: Array) -> Array:
    """The cubic from a to b at shares x of the way. da, db: its rates there, in the time of the whole way."""
    return np.asarray(a + x * da + x**2 * (3 * (b - a) - 2 * da - db) + x**3 * (2 * (a - b) + da + db))


def states_inside(motion: Motion, shares: Array | float) -> tuple[Array, Array, Array]:
    """Times (S · (T − 1)), q and q̇ at shares (S) of every stretch from one output point to the next, all stretches at
    the first share first.
    """
    x, h = np.reshape(np.asarray(shares, dtype=float), -1), np.diff(motion.t)
    at = (motion.t[:-1] + x[:, None] * h).reshape(-1)
    by_c = again.states_inside(motion.t, motion.q, motion.v, motion.a, x)
    if by_c is not None:
        return at, by_c[:, : motion.q.shape[1]], by_c[:, motion.q.shape[1] :]
    weights = x[:, None] ** POWERS @ HERMITE
    n = motion.q.shape[1]
    ends = np.empty((4, h.size, 2 * n))
    for own, values, rates in ((slice(n), motion.q, motion.v), (slice(n, 2 * n), motion.v, motion.a)):
        ends[0, :, own], ends[1, :, own] = values[:-1], values[1:]
        ends[2, :, own], ends[3, :, own] = h[:, None] * rates[:-1], h[:, None] * rates[1:]
    inside = (weights @ ends.reshape(4, -1)).reshape(-1, 2 * n)
    return at, inside[:, :n], inside[:, n:]
