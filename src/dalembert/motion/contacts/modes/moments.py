"""A moment: a time that is nothing beside a motion, and that its numbers can tell all the same. What jumps at an
instant is on one side of it a moment before and on the other a moment after, wherever time and places begin.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array

# A moment is this share of the motion, …
JUST = 1e-12
# … or so many roundings of the time, or of the places that change; these as long as they are less than this share of
# the motion: what stands almost still takes long to change by a rounding.
ROUNDINGS, MOST = 16, 1e-9
# Of a stretch of the motion a moment is at most this share.
OF_STRETCH = 1e-3
# An instant is located to so many roundings of the time.
LOCATED = 4


def rounding_of(t: float, span: float) -> float:
    """Of times in a motion as long as `span`: near zero they are differences of others."""
    return float(np.spacing(max(abs(t), span)))


def moments_at(t: Array, span: float) -> Array:
    """At T times of a motion as long as `span`."""
    return np.asarray(np.maximum(JUST * span, ROUNDINGS * np.spacing(np.maximum(np.abs(t), span))))


def moment_in(t: float, span: float, q: Array, v: Array) -> float:
    """At a state of a motion as long as `span`: long enough for places to change, too."""
    with np.errstate(divide="ignore", over="ignore"):
        own = ROUNDINGS * np.spacing(np.abs(q)) / np.abs(v)
    longest = float(own.max(where=own <= MOST * span, initial=0.0))
    return max(JUST * span, ROUNDINGS * rounding_of(t, span), longest)


def drawn_in(t: Array, length: Array, start: Array, end: Array, span: float) -> tuple[Array, Array, Array, Array]:
    """Stretches with states (B, 2n) at both ends, begun a moment later and ended a moment sooner. Over short ones all
    that velocities change by counts; in a moment they change by a share of that.
    """
    n, moment = start.shape[1] // 2, np.minimum(moments_at(t + length, span), OF_STRETCH * length)
    gained = (end[:, n:] - start[:, n:]) * (moment / length)[:, None]
    moved = [np.concatenate([moment[:, None] * y[:, n:], gained], axis=1) for y in (start, end)]
    return t + moment, length - 2 * moment, start + moved[0], end - moved[1]
