"""What an event function is inside a step: its samples, and whether they show what it does. As runtime/events/sample.h.

Within an accepted step g is sampled on the interpolant, each point returned to the constraints, on a grid fine enough
that half of the samples foretell the others.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import EVENT_ALOOF, EVENT_FORETOLD, EVENT_NOISE, EVENT_SHIFT, EVENT_START_NOISE

UNKNOWN = 2  # the sign of g where it has no value


@dataclass(frozen=True)
class Sample:
    """All event functions at one state, below which level each counts as zero, and their signs."""

    g: Array
    level: Array
    signs: list[int]

    def far(self, levels: float) -> bool:
        """Whether all functions are farther from zero than so many levels."""
        return bool((np.abs(self.g) > levels * self.level).all())

    def away(self, which: int) -> int:
        """The sign of a function that began at zero: it has left where that is seen in the same way."""
        return sign_of(float(self.g[which]), float(self.level[which]) * (EVENT_START_NOISE / EVENT_NOISE))


def sign_of(value: float, level: float) -> int:
    if not math.isfinite(value):
        return UNKNOWN
    return 0 if abs(value) <= level else 1 if value > 0 else -1


def states_inside(
    t: float,
    y: Array,
    t_new: float,
    y_new: Array,
    at: Callable[[float], Array],
    settle: Callable[[float, Array], Array],
) -> Callable[[float], Array]:
    """The states at shares of a step, on the constraints."""

    def state(x: float) -> Array:
        time = t + x * (t_new - t)
        return y if x == 0.0 else y_new if x == 1.0 else settle(time, at(time))

    return state


def is_resolved(samples: list[Sample]) -> bool:
    """Whether cubics through the even samples foretell the odd ones."""
    g = np.array([sample.g for sample in samples])
    last = len(samples) - 1
    for i in range(1, last, 2):
        start = min(max(i - 3, 0), last - 6)
        u = (i + EVENT_SHIFT - start) / 2
        a, b, c, d = g[start : start + 7 : 2]
        foretold = (u * (u - 1) * (u - 2) * d - (u - 1) * (u - 2) * (u - 3) * a) / 6
        foretold += (u * (u - 2) * (u - 3) * b - u * (u - 1) * (u - 3) * c) / 2
        near = np.array([a, b, c, d, g[i]])
        span = near.max(axis=0) - near.min(axis=0)
        # Written so that a function without a value somewhere is left as it is.
        missed = np.abs(foretold - g[i]) > EVENT_FORETOLD * span + 4 * samples[i].level
        if (missed & (np.abs(near).min(axis=0) < EVENT_ALOOF * span)).any():
            return False
    return True
