"""Surfaces that jump to another speed, as a belt that is switched on does: what sticks to them slips from there on.

Sticking is a constraint on velocities, and a leg ends where its constraints ask for another velocity than the motion
has. If it is a contact that asks, its friction is finite, and nothing strikes.
"""

from __future__ import annotations

from math import inf, nextafter

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.integrate.trajectory import Trajectory
from dalembert.remember import changed

JUMPS = "jumps (contact)"
# So many roundings after the time of a jump, its condition is surely met.
ROUNDINGS = 4


def right_after(t: float) -> float:
    """A time just beyond another."""
    for _ in range(ROUNDINGS):
        t = nextafter(t, inf)
    return t


def ended_by_jump(leg: Trajectory, t: float, y: Array) -> Trajectory:
    """A leg that failed at a corner, ended there."""
    before = int(leg.t.searchsorted(t))
    times, states = np.append(leg.t[:before], t), np.concatenate([leg.y[:before], y[None, : leg.y.shape[1]]])
    return changed(leg, t=times, y=states, failure=None, ended=JUMPS)
