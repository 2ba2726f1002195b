"""Whether the instant in a mode agrees with what the mode assumes, and what contradicts it."""

from __future__ import annotations

from collections.abc import Callable, Set
from math import hypot, sqrt
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.errors import DalembertError
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, STICK, Mode, ModeSolution
from dalembert.motion.contacts.modes.scale import Scale

if TYPE_CHECKING:
    from dalembert.motion.contacts.decide.decide import Situation

# Forces and accelerations agree with an assumption to this share of their size: rounding, and the tolerance to which
# events are located.
AGREES = 1e-7
# At the limit of its cone a contact sets off with next to no acceleration, whose direction is not known to more than
# this: it need not be, for friction turns the slipping to the force at once.
SETS_OFF = 1e-3
# A short time, as a share of that in which a motion changes: long enough for forces to change by more than AGREES.
MOMENT = 1e-5

#: What contradicts a mode: the force of contact k leaves its "cone", its reaction has the other sign ("push"), it slips
#: against its own acceleration ("way"); one-sided constraint k pulls ("open") or is entered ("close").
Objection = tuple[str, int]


def objections(
    contacts: Contacts,
    mode: Mode,
    s: ModeSolution,
    stopped: Set[int],
    touching: Set[int],
    opening: Set[int] = frozenset(),
    released: Set[int] = frozenset(),
) -> list[Objection]:
    """All that contradicts a mode. opening: one-sided constraints that must not close again at once. released: contacts
    whose cones were left; on a surface, the way in which they set off is then looked for, and not whether they do.
    """
    force, rate = s.force_size, rate_of(s)
    found: list[Objection] = []
    held, limits = lengths(contacts, s.friction), (s.mu_static * np.abs(s.normal)).tolist()
    for k, contact in enumerate(contacts.contacts):
        at = contacts.components[k]
        if mode.states[k] == STICK:
            if held[k] > limits[k] + AGREES * force:
                found.append(("cone", k))
        elif mode.states[k] == SLIP:
            if contact.signed and contacts.carrier[k] is None and mode.pushes[k] * s.normal[k] < -AGREES * force:
                found.append(("push", k))
            elif k in stopped and at.stop - at.start == 1:
                if mode.directions[k] * s.slide_rate[at][0] < -AGREES * rate:
                    found.append(("way", k))
            elif k in stopped:
                # The start of slipping is given a direction beforehand: it must be the one it takes.
                share = SETS_OFF if k in released else AGREES
                if s.slide[at] @ s.slide_rate[at] < -share * rate * np.linalg.norm(s.slide[at]):
                    found.append(("way", k))
    for k, row in enumerate(contacts.one_sided):
        if mode.closed[k] and s.steep[row] * s.multipliers[row] < -AGREES * force:
            found.append(("open", k))
        away = s.gap_acceleration[k] < -AGREES * rate * s.steep[row]
        if not mode.closed[k] and k in touching and k not in opening and away:
            found.append(("close", k))
    return found


def held_by_others(contacts: Contacts, mode: Mode, s: ModeSolution, stopped: Set[int]) -> list[Objection]:
    """Contacts along lines that are said to slip, and neither do so nor begin to: what else holds the body holds them,
    and they stick.
    """
    rate = rate_of(s)
    return [
        ("way", k)
        for k, at in enumerate(contacts.components)
        if k in stopped
        and mode.states[k] == SLIP
        and at.stop - at.start == 1
        and abs(s.slide_rate[at][0]) <= AGREES * rate
    ]


def lengths(contacts: Contacts, vectors: Array) -> list[float]:
    """The length of each contact's own vector among sliding components."""
    parts = vectors.tolist()
    return [hypot(*parts[at]) for at in contacts.components]


def agrees(contacts: Contacts, mode: Mode, s: ModeSolution, stopped: Set[int], touching: Set[int]) -> bool:
    return not objections(contacts, mode, s, stopped, touching)


def goes_on(
    here: Situation,
    mode: Mode,
    s: ModeSolution,
    v: Array,
    solved: Callable[[Contacts, Mode, Array, Array, float], ModeSolution],
) -> bool:
    """Whether a mode agrees with its assumptions a moment later too."""
    moment = moment_at(here.scale, here.q, v, s.solution)
    later, faster = state_after(here.q, v, s.acceleration, moment)
    try:
        then = solved(here.contacts, mode, later, faster, here.t + moment)
    except DalembertError:
        return False
    return agrees(here.contacts, mode, then, here.stopped, here.touching)


def moment_at(scale: Scale, q: Array, v: Array, s: Fundamental) -> float:
    """A short time: MOMENT of what it takes for the motion to change, over the lengths that it has. Where forces
    balance, the acceleration is rounding, and what it would be without constraints tells the time.
    """
    rate = max(largest(s.acceleration), largest(s.unconstrained))
    return MOMENT * ((largest(v) + sqrt(rate * max(largest(q), scale.length))) / rate if rate else 1.0)


def state_after(q: Array, v: Array, a: Array, moment: float) -> tuple[Array, Array]:
    """The state a moment later, or before."""
    return q + v * moment + a * moment**2 / 2, v + a * moment


def rate_of(s: ModeSolution) -> float:
    """The size of accelerations. Where friction balances the rest, they are rounding of what they would be without."""
    return max(largest(x) for x in (s.slide_rate, s.acceleration, s.solution.unconstrained))
