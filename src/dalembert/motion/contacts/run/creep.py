"""The first moments in which a contact slips in a plane from rest, with next to no acceleration.

Friction turns the direction of slipping to that of the force within |u|/a, where u is the sliding velocity and a what
friction could do to it. With μ_s = μ the force exceeds friction by nothing at first, so that u grows with the square of
the time: an explicit method, bound to steps of a few |u|/a, needs tens of thousands of them. The motion itself is
smooth there, which an implicit method makes use of.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, Mode

# What begins with more than this share of the acceleration without constraints takes a hundred explicit steps at most
# to gain the speed at which it is no longer stiff: ln(1e9) / 6 of its inverse.
GENTLE = 0.03
# Slipping has begun where its speed is this share of what that acceleration would have made it: some sixty steps are
# left of those that stability asks for.
BEGUN = 0.003
# Beside what moves fast, the direction of slow slipping is rounding of large velocities. Up to this share of it that
# does not disturb the implicit method: |u| grows, and with it what a step adds becomes large against the rounding.
QUIET = 1e-5
# The first moment is a hundred-thousandth of the time in which the motion changes; each that follows is so much longer.
LONGER = 4.0


def contacts_that_creep(
    contacts: Contacts, mode: Mode, slow: float, t: float, q: Array, v: Array, start: Fundamental
) -> tuple[int, ...]:
    """The contacts that begin to slip in this way. slow: the speed at which one has stopped."""
    on_planes = [k for k in contacts.on_surfaces if mode.states[k] == SLIP]
    if not on_planes:
        return ()
    state, found = contacts.at(q, v, t, start.acceleration, frames=mode.frames), []
    u, rate = state.slide, state.slide_rate
    for k in on_planes:
        at = contacts.components[k]
        speed = float(np.linalg.norm(u[at]))
        quiet = 2.0**-52 * largest(v) <= QUIET * speed
        if quiet and speed <= slow and np.linalg.norm(rate[at]) < GENTLE * largest(start.unconstrained):
            found.append(k)
    return tuple(found)


def has_set_off(
    contacts: Contacts,
    which: tuple[int, ...],
    slow: float,
    t: float,
    q: Array,
    v: Array,
    start: Fundamental,
    since: float,
) -> bool:
    """Whether the contacts, which set off at the time `since`, slip so fast that stability asks for no short steps. The
    speed that they were given to have a direction at all is none that they gained.
    """
    u = contacts.at(q, v, t).slide
    gained = [float(np.linalg.norm(u[contacts.components[k]])) - slow for k in which]
    return all(speed >= BEGUN * largest(start.unconstrained) * (t - since) for speed in gained)
