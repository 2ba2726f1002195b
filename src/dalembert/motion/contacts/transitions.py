"""Which mode a system with contacts takes at a state: the one whose own solution agrees with its assumptions.

A contact at rest sticks while the force that holds it lies within the cone of friction; otherwise it slips the way its
own acceleration goes. A reaction has the sign that was assumed for it. A closed one-sided constraint pushes, an open
one moves apart. All combinations are tried: none agreeing, or several that accelerate differently, is what Painlevé
found, and is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
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
# A short time, as a share of that in which a motion changes: long enough for forces to change by more than AGREES.
MOMENT = 1e-5
# So often the direction is improved in which a contact in a plane breaks away.
MOST_TURNS = 100
# Beyond this many combinations a state is not looked through.
MOST_COMBINATIONS = 20_000


@dataclass
class Rest:
    """What counts as rest: the largest sliding speed and gap speed so far. moving: contacts that must not stick now."""

    speed: float = 0.0
    leaving: set[int] = field(default_factory=set)  # contacts that break away
    pushes: dict[int, int] = field(default_factory=dict)  # signs of reactions that have just turned
    opening: set[int] = field(default_factory=set)  # one-sided constraints that let go
    given: Mode | None = None  # the mode with undetermined forces that has just given way


def decide(
    contacts: Contacts, t: float, q: Array, v: Array, rest: Rest, stopped: set[int], touching: set[int]
) -> tuple[Mode, ModeSolution, Array]:
    """The mode at a state, and the velocity with which it begins. stopped: contacts at rest; touching: one-sided
    constraints that may be closed.
    """
    found: list[tuple[int, Mode, ModeSolution, Array]] = []
    trouble: DalembertError | None = None
    for count, mode in enumerate(_candidates(contacts, t, q, v, rest, stopped, touching)):
        if count == MOST_COMBINATIONS:
            raise InconsistentConstraints(
                f"{contacts.system.name}, t = {t:.6g}: too many contacts at rest at once to find out which of them "
                "stick"
            )
        if rest.given is not None and (mode.states, mode.closed) == (rest.given.states, rest.given.closed):
            continue
        try:
            begin = _set_off(contacts, mode, t, q, v, stopped)
            solution = solved(contacts, mode, q, begin, t)
        except DalembertError as error:
            trouble = error
            continue
        if _agrees(contacts, mode, solution, stopped, touching):
            found.append((sum(state == STICK for state in mode.states), mode, solution, begin))
    names = ", ".join(repr(contact.name) for contact in contacts.contacts) or ", ".join(
        repr(contacts.system.constraints[row].name) for row in contacts.one_sided
    )
    if not found:
        reason = f" ({trouble})" if trouble is not None else ""
        raise InconsistentConstraints(
            f"{contacts.system.name}, t = {t:.10g}: no motion agrees with the friction of {names}: neither sticking "
            f"nor slipping either way satisfies its law here (Painlevé's paradox, or an impact){reason}"
        )
    if len(found) > 1:
        # Some may be at their limit here, and beyond it right after.
        found = [one for one in found if _goes_on(contacts, *one[1:], t, q, stopped, touching)] or found
    # Static friction holds what it can hold.
    most = max(held for held, *_ in found)
    best = [(mode, solution, begin) for held, mode, solution, begin in found if held == most]
    first = best[0][1].acceleration
    size = max(_rate(s) for _, s, _ in best)
    if any(np.abs(s.acceleration - first).max() > 1e-5 * size for _, s, _ in best[1:]):
        raise InconsistentConstraints(
            f"{contacts.system.name}, t = {t:.10g}: several motions agree with the friction of {names} here, so that "
            "its law does not determine what happens (Painlevé's paradox); a smaller coefficient or a compliant model "
            "would"
        )
    return best[0]


def solved(contacts: Contacts, mode: Mode, q: Array, v: Array, t: float) -> ModeSolution:
    """The instant in a mode, its forces inside the cones of friction where they are not determined."""
    solution = contacts.solve(mode, q, v, t)
    if STICK in mode.states and solution.solution.dependent.any():
        return within_cones(contacts, mode, solution) or solution
    return solution


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
            pushes = (rest.pushes[k],) if k in rest.pushes else pushes
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


def _set_off(contacts: Contacts, mode: Mode, t: float, q: Array, v: Array, stopped: set[int]) -> Array:
    """The velocity with which contacts at rest in a plane begin to slip in a mode: slowly, the way they accelerate.

    Friction against the slipping and the acceleration along it depend on each other. First guess: against the force
    that would hold the contact.
    """
    starting = [
        k
        for k in sorted(stopped)
        if mode.states[k] == SLIP and contacts.components[k].stop - contacts.components[k].start > 1
    ]
    if not starting:
        return v
    holding = tuple(STICK if k in starting else state for k, state in enumerate(mode.states))
    held = contacts.solve(replace(mode, states=holding), q, v, t).friction
    ways = [-_unit(held[contacts.components[k]]) for k in starting]
    A = contacts.evaluation(mode).dynamics(q, v, t)[2]
    F = contacts.forces(q, v, t)
    rows = np.vstack([A, *(F[:, contacts.components[k]].T for k in starting)])
    slide = contacts.look(q, v, np.zeros(contacts.n), t, np.zeros(contacts.m))[1]
    for _ in range(MOST_TURNS):
        aims = [contacts.slow / 2 * way - slide[contacts.components[k]] for k, way in zip(starting, ways, strict=True)]
        begin = v + np.linalg.lstsq(rows, np.concatenate([np.zeros(A.shape[0]), *aims]), rcond=1e-10)[0]
        s = contacts.solve(mode, q, begin, t)
        rate = _rate(s)
        turned = [
            _unit(way + s.slide_rate[contacts.components[k]] / rate) for k, way in zip(starting, ways, strict=True)
        ]
        far = max(float(np.abs(a - b).max()) for a, b in zip(ways, turned, strict=True))
        ways = turned
        if far < AGREES:
            break
    return begin


def _unit(vector: Array) -> Array:
    return vector / max(float(np.linalg.norm(vector)), 1e-300)


def _agrees(contacts: Contacts, mode: Mode, s: ModeSolution, stopped: set[int], touching: set[int]) -> bool:
    force = max(float(np.abs(s.normal).max(initial=0.0)), float(np.abs(s.friction).max(initial=0.0)))
    force = max(force, float(np.abs(s.steep * s.multipliers).max(initial=0.0)))
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
        if mode.closed[k] and s.steep[row] * s.multipliers[row] < -AGREES * force:
            return False
        if not mode.closed[k] and k in touching and s.gap_acceleration[k] < -AGREES * rate * s.steep[row]:
            return False
    return True


def _goes_on(
    contacts: Contacts,
    mode: Mode,
    s: ModeSolution,
    v: Array,
    t: float,
    q: Array,
    stopped: set[int],
    touching: set[int],
) -> bool:
    """Whether a mode agrees with its assumptions a moment later too."""
    moment = moment_at(q, v, s.acceleration)
    later, faster = ahead(q, v, s.acceleration, moment)
    try:
        return _agrees(contacts, mode, solved(contacts, mode, later, faster, t + moment), stopped, touching)
    except DalembertError:
        return False


def moment_at(q: Array, v: Array, a: Array) -> float:
    """A short time: MOMENT of what it takes for the motion to change."""
    reach, speed, rate = (float(np.abs(x).max(initial=0.0)) for x in (q, v, a))
    return MOMENT * ((speed + np.sqrt(rate * (reach or 1.0))) / rate if rate else 1.0)


def ahead(q: Array, v: Array, a: Array, moment: float) -> tuple[Array, Array]:
    """The state a moment later, or before."""
    return q + v * moment + a * moment**2 / 2, v + a * moment


def _rate(s: ModeSolution) -> float:
    """The size of accelerations. Where friction balances the rest, they are rounding of what they would be without."""
    free = np.nan_to_num(s.solution.unconstrained)
    return max(float(np.abs(x).max(initial=0.0)) for x in (s.slide_rate, s.acceleration, free))
