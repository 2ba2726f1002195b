"""When friction with undetermined forces gives way: no event of one force tells, only that no choice of all is left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.contacts.decide.cone_programs import SOLVED
from dalembert.motion.contacts.decide.undetermined import INSIDE, room
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.contacts_at_states import are_unchanged, is_unchanged
from dalembert.motion.contacts.modes.modes import Mode
from dalembert.motion.integrate.trajectory import Trajectory

# A leg is looked through at so many instants: a cone programme takes longer than a step.
LOOKS = 64
# So often the place of the least room between two looks is narrowed: to 1e-4 of their distance, where a parabola is as
# deep as it gets to 1e-8.
SECTIONS = 20
# So often the instant is narrowed at most, every so often by halves.
MOST_CHORDS, HALVING = 200, 4
# What ended such a leg.
GIVES_WAY = "gives way (contact)"
# Instants closer than this share of the time are one.
SAME = 1e-15

# The leg from a state (time and all of y) through some times.
Onward = Callable[[float, Array, Array], Trajectory]


def times_to_look_at(t: float, times: Array) -> Array:
    """The times of a leg, and as many more as it is looked through at."""
    return np.unique([*times, *np.linspace(t, times[-1], LOOKS + 1)[1:]])


def while_it_holds(contacts: Contacts, mode: Mode, leg: Trajectory, onward: Onward) -> Trajectory:
    """A leg, or as much of it as friction can hold the system in its mode."""
    n = contacts.n
    first = float(leg.t[0])
    last: tuple[Array, float] | None = None  # what is given where it was looked last, and the room there

    def room_at(t: float, y: Array, here: Array | None = None) -> float:
        nonlocal last
        q, v = y[:n], y[n : 2 * n]
        here = contacts.data_at(mode, q, v, t) if here is None else here
        if last is None or not is_unchanged(here, last[0]):
            last = here, room(contacts, mode, q, v, t)
        return last[1]

    def onward_from(i: int, t: float) -> float:
        return room_at(t, onward(float(leg.t[i]), leg.y[i], np.array([t])).y[-1])

    looks = [int(i) for i in np.unique(np.linspace(0, leg.t.size - 1, LOOKS + 1).round())]
    given = contacts.data_along(mode, leg.y[looks, :n], leg.y[looks, n : 2 * n], leg.t[looks])
    if are_unchanged(given):
        return leg  # it was decided where nothing was different
    rooms: list[float] = []
    for k, i in enumerate(looks):
        rooms.append(room_at(float(leg.t[i]), leg.y[i], given[k]))
        good, gives = k - 1, float(leg.t[i]) if k and rooms[-1] < -INSIDE else None
        if gives is None and k >= 2 and _may_dip(rooms[-3:]):
            good = k - 2
            gives = _dip(partial(onward_from, looks[good]), float(leg.t[looks[good]]), float(leg.t[i]))
        if gives is not None:
            break
    else:
        return leg
    a, b = float(leg.t[looks[good]]), gives
    # Where there was no room to begin with, but for rounding, it gives way where it is short of more than that.
    short = 0.0 if rooms[good] > INSIDE else INSIDE
    end = _passage(
        lambda t: onward_from(looks[good], t) + short, a, b, rooms[good] + short, SAME * max(abs(b), b - first)
    )
    inside = leg.t[(leg.t > first) & (leg.t < end)]
    return replace(onward(first, leg.y[0], np.append(inside, end)), ended=GIVES_WAY)


def _passage(room_at: Callable[[float], float], a: float, b: float, room_at_a: float, same: float) -> float:
    """Where a room that is left at a is used up, at b at the latest: along the chord, the value of an end that stays
    halved (Illinois), and by halves where that is slow.
    """
    high, low = room_at_a, room_at(b)
    for turn in range(MOST_CHORDS):
        middle = (a + b) / 2
        if b - a <= same or not a < middle < b or abs(low) <= SOLVED:
            break
        if not low < high:
            break
        chord = b - (b - a) * low / (low - high)
        t = middle if turn % HALVING == HALVING - 1 or not a < chord < b else chord
        value = room_at(t)
        if abs(value) <= SOLVED:
            return t
        if value < 0.0:
            b, low, high = t, value, high / 2 if t == chord else high
        else:
            a, high, low = t, value, low / 2 if t == chord else low
    return b


def _may_dip(rooms: list[float]) -> bool:
    """Whether the room between three instants may come below zero: least in the middle, and by so little away from it
    that what lies between may bend down as far as the three do.
    """
    before, least, after = (0.0 if abs(room) <= INSIDE else room for room in rooms)
    return least <= min(before, after) and 0.0 <= least < max(before, after) - least < float("inf")


def _dip(room_at: Callable[[float], float], a: float, b: float) -> float | None:
    """An instant in (a, b) with no room, if the least that is found there is none: by golden sections."""
    ratio = (np.sqrt(5.0) - 1.0) / 2.0
    inner = [b - ratio * (b - a), a + ratio * (b - a)]
    values = [room_at(t) for t in inner]
    for _ in range(SECTIONS):
        for t, value in zip(inner, values, strict=True):
            if value < -INSIDE:
                return t
        if values[0] < values[1]:
            b, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = b - ratio * (b - a)
            values[0] = room_at(inner[0])
        else:
            a, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = a + ratio * (b - a)
            values[1] = room_at(inner[1])
    return None
