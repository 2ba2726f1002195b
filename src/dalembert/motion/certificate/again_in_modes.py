"""Stretches with contacts integrated again from the laws, in ever more steps of the classical Runge–Kutta method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.graph.timed import timed_of
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import Mode

# d/dt of B states at once, which are some of all stretches: numbers (B,), times (B,) and states (B, 2n) to rates.
Slope = Callable[[np.ndarray, Array, Array], Array]
# Where they are after some lengths of time (B,), in so many steps: numbers, times, states, lengths, steps to states.
Advance = Callable[[np.ndarray, Array, Array, Array, int], Array]

# A stretch is divided into at most so many steps; one that needs more is not judged.
MOST_STEPS = 32
# RK4 errs by 1/15 of its distance from the result with half the steps, once that distance falls like the fourth power
# of the step: by at least this much of sixteen. Slow slipping in a plane is stiff, and while steps are too long for
# that, two results are near each other because friction is bounded, and both wrong.
RICHARDSON, CONVERGES = 15.0, 8.0
# Where friction changes with the speed or the place, two results in few steps may be near each other by chance. There
# they have to converge as well, down to this share of what is wanted: below it differences are rounding.
SETTLED = 1e-3
# What would move by this share of what is wanted over a whole stretch rests there, where nothing depends on time: one
# look tells that, and what rests on more feet than it needs is what elimination does not serve.
RESTS = 1e-3


def again_in_modes(
    contacts: Contacts, modes: Sequence[Mode], t: Array, start: Array, length: Array, wanted: Array, least: Array,
    most: int = MOST_STEPS,
) -> tuple[Array, Array, np.ndarray]:  # fmt: skip
    """The states (B, 2n) at the ends of stretches that begin at times t and states `start`, each in its mode, how far
    they may be from right, and which are judged: all at once, and those that elimination does not serve one by one.
    wanted (B, 2n): how near two results must be. least: of steps, for each; fewer might pass over what the motion has
    seen. most: steps into which a stretch is divided.
    """
    n, p = contacts.n, contacts.mode_parameters(modes)
    advance = advance_of(contacts, modes, p)

    def alone(some: np.ndarray, t: Array, y: Array) -> Array:
        a = contacts.instant(modes[int(some[0])], y[0, :n], y[0, n:], float(t[0])).acceleration
        return np.concatenate([y[:, n:], a[None]], axis=1)

    every = np.arange(t.size)
    by_c = contacts.stretches_by_halving(modes[0], p, t, start, length, wanted, least, (most, RICHARDSON, CONVERGES))
    try:
        end, left, judged, lost = by_c or by_halving(advance, every, t, start, length, wanted, least, most)
    except DalembertError:  # at one of them a trial state without a value; which one shows below
        end, left, judged, lost = start.copy(), wanted.copy(), every < 0, every >= 0
    lasts = lost.any() and timed_of(contacts.system) is None
    for k in np.flatnonzero(lost):
        one = slice(k, k + 1)
        try:
            rate = alone(every[one], t[one], start[one]) if lasts else None
            if rate is not None and (np.abs(rate) * length[k] <= RESTS * wanted[one]).all():
                end[one], left[one], judged[one] = start[one], 0.0, True
                continue
            end[one], left[one], judged[one], _ = by_halving(
                partial(runge_kutta, alone), every[one], t[one], start[one], length[one], wanted[one], least[one], most
            )
        except DalembertError:
            continue  # a trial state for which the mode has no solution
    return end, left, judged


def advance_of(contacts: Contacts, modes: Sequence[Mode], p: Array) -> Advance:
    """What leads stretches on, each in its mode, by the classical Runge–Kutta method in so many steps. p: as
    `mode_parameters` gives them.
    """
    n = contacts.n

    def together(some: np.ndarray, t: Array, y: Array) -> Array:
        if np.isfinite(y).all():
            found = contacts.accelerations([modes[k] for k in some.tolist()], y[:, :n], y[:, n:], t, p[some])
            return np.concatenate([y[:, n:], np.full((t.size, n), np.nan) if found is None else found], axis=1)
        known, a = np.isfinite(y).all(axis=1), np.full((t.size, n), np.nan)
        if known.any():
            own = some[known]
            found = contacts.accelerations([modes[k] for k in own], y[known, :n], y[known, n:], t[known], p[own])
            a[known] = np.nan if found is None else found
        return np.concatenate([y[:, n:], a], axis=1)

    def advance(some: np.ndarray, t: Array, y: Array, length: Array, steps: int) -> Array:
        found = contacts.stretches([modes[int(some[0])]], p[some], t, y, length, steps)
        return runge_kutta(together, some, t, y, length, steps) if found is None else found

    return advance


def by_halving(
    advance: Advance, which: np.ndarray, t: Array, start: Array, length: Array, wanted: Array, least: Array,
    most: int = MOST_STEPS,
) -> tuple[Array, Array, np.ndarray, np.ndarray]:  # fmt: skip
    """As `again_in_modes`, in 1, 2, 4, … steps until two results agree; and where no acceleration is on the way."""
    end, allowed = start.copy(), wanted.copy()
    judged, lost = np.zeros(t.size, dtype=bool), np.zeros(t.size, dtype=bool)
    before, last = np.full_like(end, np.nan), np.zeros_like(end)  # the result before, and the distance to that before
    rest, steps = np.arange(t.size), 1
    while rest.size and steps <= most:
        y = advance(which[rest], t[rest], start[rest], length[rest], steps)
        lost[rest] = ~np.isfinite(y).all(axis=1)
        if steps > 1:
            apart = np.abs(y - before[rest])
            left = np.where(CONVERGES * apart <= last[rest], apart / RICHARDSON, apart)
            converges = (CONVERGES * apart <= np.maximum(last[rest], SETTLED * wanted[rest])).all(axis=1)
            done = (steps >= least[rest]) & (left <= wanted[rest]).all(axis=1) & (converges | (least[rest] == 0.0))
            end[rest[done]], allowed[rest[done]], judged[rest[done]] = y[done], left[done], True
            last[rest] = apart
        else:
            done = np.zeros(rest.size, dtype=bool)
        before[rest], rest, steps = y, rest[~done & ~lost[rest]], 2 * steps
    return end, allowed, judged, lost


def runge_kutta(slope: Slope, which: np.ndarray, t: Array, y: Array, length: Array, steps: int) -> Array:
    """States a `length` (B,) after (t, y), by so many steps of the classical method."""
    h = length[:, None] / steps
    for k in range(steps):
        at = t + k * h[:, 0]
        k1 = slope(which, at, y)
        k2 = slope(which, at + h[:, 0] / 2, y + h / 2 * k1)
        k3 = slope(which, at + h[:, 0] / 2, y + h / 2 * k2)
        k4 = slope(which, at + h[:, 0], y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y
