"""When friction with undetermined forces gives way: no event of one force tells, only that no choice of all is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dalembert.mechanics.fundamental import Array
from dalembert.motion.contacts.contacts import Contacts, unchanged
from dalembert.motion.contacts.modes import Mode
from dalembert.motion.contacts.undetermined import gives_way
from dalembert.motion.trajectory import Trajectory

# A leg is looked through at so many instants: a linear programme takes longer than a step.
LOOKS = 64
# What ended such a leg.
GIVES_WAY = "gives way (contact)"
# Instants closer than this share of the time are one.
SAME = 1e-15

# The leg from a state (time and all of y) through some times.
Onward = Callable[[float, Array, Array], Trajectory]


def looked_at(t: float, times: Array) -> Array:
    """The times of a leg, and as many more as it is looked through at."""
    return np.unique([*times, *np.linspace(t, times[-1], LOOKS + 1)[1:]])


def while_it_holds(contacts: Contacts, mode: Mode, leg: Trajectory, onward: Onward) -> Trajectory:
    """A leg, or as much of it as friction can hold the system in its mode."""
    n = contacts.n
    held: Array | None = None  # what is given at the last instant that was looked at and holds

    def beyond(t: float, y: Array) -> bool:
        nonlocal held
        q, v = y[:n], y[n : 2 * n]
        here = contacts.given(mode, q, v, t)
        if unchanged(here, held):
            return False
        gives = gives_way(contacts, mode, q, v, t)
        held = held if gives else here
        return gives

    looks = [int(i) for i in np.unique(np.linspace(0, leg.t.size - 1, LOOKS + 1).round())]
    bad = next((k for k, i in enumerate(looks) if k and beyond(float(leg.t[i]), leg.y[i])), None)
    if bad is None:
        return leg
    good, first = looks[bad - 1], float(leg.t[0])
    start, a, b = float(leg.t[good]), float(leg.t[good]), float(leg.t[looks[bad]])
    while b - a > SAME * max(abs(b), b - first) and a < (a + b) / 2 < b:
        middle = (a + b) / 2
        a, b = (a, middle) if beyond(middle, onward(start, leg.y[good], np.array([middle])).y[-1]) else (middle, b)
    inside = leg.t[(leg.t > first) & (leg.t < b)]
    return replace(onward(first, leg.y[0], np.append(inside, b)), ended=GIVES_WAY)
