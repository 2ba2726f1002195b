"""Which mode a system with contacts takes at a state: the one whose own solution agrees with its assumptions.

A contact at rest sticks while the force that holds it lies within the cone of friction; otherwise it slips the way its
own acceleration goes. A reaction has the sign that was assumed for it. A closed one-sided constraint pushes, an open
one moves apart. All combinations are tried: none agreeing, or several that accelerate differently, is what Painlevé
found, and is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from dalembert.errors import DalembertError, InconsistentConstraints
from dalembert.mechanics.fundamental import Array
from dalembert.motion.contacts.indeterminate import within_cones
from dalembert.motion.contacts.modes import OPEN, SLIP, STICK, Contacts, Mode, ModeSolution

# Forces and accelerations agree with an assumption to this share of their size: rounding, and the tolerance to which
# events are located.
AGREES = 1e-7
# Velocities below this share of the fastest ones of the motion so far count as rest.
REST = 1e-9
# Beyond this many combinations a state is not looked through.
MOST_COMBINATIONS = 20_000


@dataclass
class Rest:
    """What counts as rest: the largest sliding speed and gap speed so far. moving: contacts that must not stick now."""

    speed: float = 0.0
    leaving: set[int] = field(default_factory=set)  # contacts that break away
    opening: set[int] = field(default_factory=set)  # one-sided constraints that let go


def decide(
    contacts: Contacts, t: float, q: Array, v: Array, rest: Rest, stopped: set[int], touching: set[int]
) -> tuple[Mode, ModeSolution]:
    """The mode at a state. stopped: contacts at rest; touching: one-sided constraints that may be closed."""
    found: list[tuple[int, Mode, ModeSolution]] = []
    trouble: DalembertError | None = None
    for count, mode in enumerate(_candidates(contacts, t, q, v, rest, stopped, touching)):
        if count == MOST_COMBINATIONS:
            raise InconsistentConstraints(
                f"{contacts.system.name}, t = {t:.6g}: too many contacts at rest at once to find out which of them "
                "stick"
            )
        try:
            solution = contacts.solve(mode, q, v, t)
        except DalembertError as error:
            trouble = error
            continue
        if STICK in mode.states and solution.solution.dependent.any():
            solution = within_cones(contacts, mode, solution) or solution
        if _agrees(contacts, mode, solution, stopped, touching):
            found.append((sum(state == STICK for state in mode.states), mode, solution))
    names = ", ".join(repr(contact.name) for contact in contacts.contacts) or ", ".join(
        repr(contacts.system.constraints[row].name) for row in contacts.one_sided
    )
    if not found:
        reason = f" ({trouble})" if trouble is not None else ""
        raise InconsistentConstraints(
            f"{contacts.system.name}, t = {t:.10g}: no motion agrees with the friction of {names}: neither sticking "
            f"nor slipping either way satisfies its law here (Painlevé's paradox, or an impact){reason}"
        )
    # Static friction holds what it can hold.
    most = max(held for held, _, _ in found)
    best = [(mode, solution) for held, mode, solution in found if held == most]
    first = best[0][1].acceleration
    size = max(_rate(s) for _, s in best)
    if any(np.abs(s.acceleration - first).max() > 1e-5 * size for _, s in best[1:]):
        raise InconsistentConstraints(
            f"{contacts.system.name}, t = {t:.10g}: several motions agree with the friction of {names} here, so that "
            "its law does not determine what happens (Painlevé's paradox); a smaller coefficient or a compliant model "
            "would"
        )
    return best[0]


def _candidates(
    contacts: Contacts, t: float, q: Array, v: Array, rest: Rest, stopped: set[int], touching: set[int]
) -> Iterator[Mode]:
    slide = contacts.look(q, v, np.zeros(contacts.n), t, np.zeros(contacts.m))[1]
    sided = []
    for k in range(len(contacts.one_sided)):
        sided.append([False] if k not in touching or k in rest.opening else [True, False])
    for closed in product(*sided):
        options = []
        for k, contact in enumerate(contacts.contacts):
            carrier = contacts.carrier[k]
            if carrier is not None and not closed[carrier]:
                options.append([(OPEN, 1, 1)])
                continue
            pushes = (1,) if carrier is not None or not contact.signed else (1, -1)
            line = len(contact.slide) == 1
            if k in stopped:
                ways = (1, -1) if line else (0,)
                slips = [(SLIP, way, push) for way in ways for push in pushes]
                options.append(slips if k in rest.leaving else [(STICK, 1, 1), *slips])
            else:
                way = int(np.sign(slide[contacts.components[k]][0])) if line else 0
                options.append([(SLIP, way, push) for push in pushes])
        for choice in product(*options):
            yield Mode(
                tuple(c[0] for c in choice), tuple(c[1] for c in choice), tuple(c[2] for c in choice), tuple(closed)
            )


def _agrees(contacts: Contacts, mode: Mode, s: ModeSolution, stopped: set[int], touching: set[int]) -> bool:
    force = max(float(np.abs(s.normal).max(initial=0.0)), float(np.abs(s.friction).max(initial=0.0)))
    force = max(force, float(np.abs(s.multipliers).max(initial=0.0)))
    rate = _rate(s)
    for k, contact in enumerate(contacts.contacts):
        at = contacts.components[k]
        if mode.states[k] == STICK:
            if np.linalg.norm(s.friction[at]) > s.mu_static[k] * abs(s.normal[k]) + AGREES * force:
                return False
        elif mode.states[k] == SLIP:
            if contact.signed and mode.pushes[k] * s.normal[k] < -AGREES * force:
                return False
            if k in stopped and at.stop - at.start == 1:
                if mode.directions[k] * s.slide_rate[at][0] < -AGREES * rate:
                    return False
            # In a plane, the start of slipping is given a direction beforehand: it must be the one it takes.
            elif k in stopped and s.slide[at] @ s.slide_rate[at] < -AGREES * rate * np.linalg.norm(s.slide[at]):
                return False
    for k, row in enumerate(contacts.one_sided):
        if mode.closed[k] and s.multipliers[row] < -AGREES * force:
            return False
        if not mode.closed[k] and k in touching and s.gap_acceleration[k] < -AGREES * rate:
            return False
    return True


def _rate(s: ModeSolution) -> float:
    """The size of accelerations. Where friction balances the rest, they are rounding of what they would be without."""
    free = np.nan_to_num(s.solution.unconstrained)
    return max(float(np.abs(x).max(initial=0.0)) for x in (s.slide_rate, s.acceleration, free))


def impact(contacts: Contacts, mode: Mode, which: int, e: float, t: float, q: Array, v: Array) -> Array:
    """The velocity after a one-sided constraint has closed: it parts with e times the speed at which it closed, and all
    constraints that act keep acting. Without friction.
    """
    row = contacts.one_sided[which]
    M, _, A, _ = contacts.whole.dynamics(q, v, t)
    opened = {r for r, closed in zip(contacts.one_sided, mode.closed, strict=True) if not closed} - {row}
    rows = [k for k in range(contacts.m) if k not in opened]
    R = A[rows]
    speed = contacts.look(q, v, np.zeros(contacts.n), t, np.zeros(contacts.m))[6][which]
    change = np.zeros(len(rows))
    change[rows.index(row)] = -(1.0 + e) * speed
    Y = np.linalg.solve(M, R.T)
    return v + Y @ np.linalg.lstsq(R @ Y, change, rcond=1e-12)[0]
