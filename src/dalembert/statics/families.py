"""Which equilibria belong together: the same configuration, or two of one family.

Two are of one family when they have the same verdict and equilibria lead from one to the other without a gap: a step is
taken towards the other along the directions in which the balance persists to first order, the balance is solved again,
and so on; each step must come nearer. Where no such direction leads on, or the solution undoes every step, the two are
apart, at whatever height and with whatever frequencies. A family that winds may be told as several; two are told as one
only over a gap below a step.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.arrays import Array
from dalembert.statics.result import Equilibrium

# Configurations nearer to each other than this, in sizes of the coordinates, are the same: they are solved to rounding.
SAME = 1e-6
# Far from the origin, what a coordinate holds is rounded to this share of it.
ROUNDED = 1e-12
# The end of a walk: of a degenerate equilibrium, such as of x⁴, the place is known to 1e-5.
JOINED = 1e-4
# Steps, in sizes of the coordinates: over the longest the equations hardly change; the shortest is far above JOINED.
LONGEST, SHORTEST = 0.2, 1e-2
# Of a step, this much must come nearer: half a ring away, almost all of it leads around.
NEARER = 1e-3
MOST_STEPS = 400

# Near a configuration, one at rest, and the directions (n, k) in which it stays so to first order, in sizes.
Settle = Callable[[Array], tuple[Array, Array] | None]


def apart(one: Array, other: Array, turns: list[bool]) -> Array:
    """one − other, angles by the shorter way."""
    difference = one - other
    return np.where(turns, np.mod(difference + np.pi, 2 * np.pi) - np.pi, difference)


def gather(families: list[list[Equilibrium]], one: Equilibrium, turns: list[bool], settle: Settle) -> None:
    """Put an equilibrium to its family, or begin one."""
    # The nearest member is the easiest to reach.
    nearest = [(_distance(member, one, turns), k, j) for k, f in enumerate(families) for j, member in enumerate(f)]
    tried: set[int] = set()
    for _, k, j in sorted(nearest):
        if k not in tried and _same(families[k][j], one, turns, settle):
            families[k].append(one)
            return
        tried.add(k)
    families.append([one])


def merge_families(families: list[list[Equilibrium]], turns: list[bool], settle: Settle) -> list[list[Equilibrium]]:
    """The families, those joined into one between which a member found later makes a bridge."""
    found: list[list[Equilibrium]] = []
    for family in families:
        for other in found:
            near = min(((a, b) for a in other for b in family), key=lambda pair: _distance(pair[0], pair[1], turns))
            if (len(family) > 1 or len(other) > 1) and _same(*near, turns, settle):
                other += family
                break
        else:
            found.append(list(family))
    return found


def _distance(one: Equilibrium, other: Equilibrium, turns: list[bool]) -> float:
    return float(np.linalg.norm(apart(one.q, other.q, turns) / one.sizes))


def _same(one: Equilibrium, other: Equilibrium, turns: list[bool], settle: Settle) -> bool:
    allowed = SAME * one.sizes + ROUNDED * np.maximum(np.abs(one.q), np.abs(other.q))
    if np.all(np.abs(apart(one.q, other.q, turns)) <= allowed):
        return True
    several = (_has_neighbours(one) and _has_neighbours(other)) or (one.contacts and other.contacts)
    if not several or one.open != other.open or one.stability.verdict != other.stability.verdict:
        return False
    # Nearer in sizes, or in lengths: of sizes that differ, a ring is an ellipse, and across it nothing is nearer.
    alike = np.where(turns, 1.0, one.sizes[~np.array(turns)].max(initial=0.0))
    units = [one.sizes] if np.array_equal(alike, one.sizes) else [one.sizes, alike]
    return any(_walk(one.q, other.q, one.sizes, unit, turns, settle) for unit in units)


def _has_neighbours(one: Equilibrium) -> bool:
    """Whether other equilibria may lie beside it without a gap."""
    return bool(one.stability.free or one.stability.neutral)


def _walk(q: Array, end: Array, sizes: Array, unit: Array, turns: list[bool], settle: Settle) -> bool:
    def left(place: Array) -> Array:
        return apart(end, place, turns) / unit

    step, here = LONGEST, settle(q)
    for _ in range(MOST_STEPS):
        if here is None:
            return False
        place, along = here
        along = np.linalg.qr((sizes / unit)[:, None] * along)[0]
        way = along @ (along.T @ left(place))
        distance, reach = float(np.linalg.norm(left(place))), float(np.linalg.norm(way))
        if distance <= JOINED:
            return True
        if reach <= NEARER * distance:
            return False
        length = min(step, reach)
        guess = place + unit * way * (length / reach)
        there = settle(guess)
        close = there is not None and float(np.linalg.norm((there[0] - guess) / unit)) <= length
        if there and close and float(np.linalg.norm(left(there[0]))) <= distance - NEARER * length:
            here, step = there, min(LONGEST, 2 * length)
        else:
            step = length / 2
            if step < min(SHORTEST, distance / 4):
                return False
    return False
