"""What happens at the instant between two legs, where neither leg can see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.model.system import System
from dalembert.motion.contacts.decide.agreement import moment_at, state_after
from dalembert.motion.contacts.impacts.impacts import Impact
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, STICK, Ending, Mode
from dalembert.motion.contacts.modes.scale import Scale
from dalembert.motion.integrate.settings import Settings, tolerances

# Where a leg has ended, a function that it ended with is zero to a thousand units of rounding of its terms, whose sizes
# are taken a thousandth of what they are, as tolerances are.
END_NOISE = 1e-9


@dataclass(frozen=True)
class Side:
    """The state on one side of an instant, and the mode that holds there. Velocities differ where there is an impact,
    multipliers wherever the mode changes.
    """

    mode: Mode
    q: Array
    v: Array


@dataclass(frozen=True)
class Passing:
    """Event number `which` of the system passes zero at an instant between legs, rising (1) or falling (-1). `since`:
    how early the leg before may have located this same passage.
    """

    which: int
    direction: int
    since: float


def passings_between(
    contacts: Contacts, scale: Scale, settings: Settings, t: float, before: Side, after: Side
) -> list[Passing]:
    """Events of the system that pass zero together with the change from one side to the other: they jump, or they
    arrive at zero on one side and leave it, or stay, on the other.
    """
    if not contacts.system.events:
        return []
    arriving, end, moment = _approach(contacts, scale, settings, t, before, -1)
    leaving, start, _ = _approach(contacts, scale, settings, t, after, 1)
    found = []
    for k, event in enumerate(contacts.system.events):
        was, becomes = int(end[k] or arriving[k]), int(start[k] or leaving[k])
        if was and becomes != was and event.direction in (0, -was):
            found.append(Passing(k, -was, t - moment))
    return found


def ends_with(contacts: Contacts, scale: Scale, settings: Settings, t: float, side: Side) -> Ending | None:
    """What ends a mode just at an instant at which its leg was ended by an event of the system."""
    try:
        arriving, now, _ = _approach(contacts, scale, settings, t, side, -1, forces=True)
    except DalembertError:
        return None
    own = len(contacts.system.events)
    for ending, was, sign in zip(contacts.endings(side.mode), arriving[own:], now[own:], strict=True):
        if was > 0 and sign <= 0:
            return ending
    return None


def _approach(
    contacts: Contacts, scale: Scale, settings: Settings, t: float, side: Side, way: int, forces: bool = False
) -> tuple[Array, Array, float]:
    """The signs of all events of a mode a moment away, before (-1) or after (1) an instant, and at it; and the moment.
    forces: also of those that depend on constraint forces though none of the system's own does.
    """
    evaluation = contacts.evaluation(side.mode, scale.slow)
    solution = evaluation.solve(side.q, side.v, t)
    a, moment = solution.acceleration, moment_at(scale, side.q, side.v, solution)
    sizes = tolerances(settings, side.q, side.v, a) / settings.rtol
    forces = forces or contacts.whole.graph.events_use_multipliers
    signs = []
    for (q, v), time in ((state_after(side.q, side.v, a, way * moment), t + way * moment), ((side.q, side.v), t)):
        multipliers = evaluation.multipliers_at(q, v, time) if forces else None
        g, sizes_g = evaluation.events(np.concatenate([q, v]), time, sizes, multipliers)
        signs.append(np.where(np.abs(g) > END_NOISE * sizes_g, np.sign(g), 0.0))
    return signs[0], signs[1], moment


def changes(
    contacts: Contacts, t: float, before: Mode, after: Side, met: set[int], halted: set[int]
) -> list[dict[str, Any]]:
    """The entries of `motion.events` about contacts. met: the one-sided constraints in an impact at the instant;
    halted: the contacts that came to rest. Slipping that stops and goes on is a reversal, in a plane whichever way.
    """
    system, mode = contacts.system, after.mode
    found: list[tuple[str, str]] = []
    for k, contact in enumerate(contacts.contacts):
        old, new, planar = before.states[k], mode.states[k], len(contact.slide) > 1
        if old == SLIP and new == STICK:
            found.append(("stick", contact.name))
        elif old == STICK and new == SLIP:
            found.append(("slip", contact.name))
        elif old == new == SLIP and (before.directions[k] != mode.directions[k] or (k in halted and planar)):
            found.append(("reversal", contact.name))
    for k, row in enumerate(contacts.one_sided):
        name = system.constraints[row].name
        if before.closed[k] and not mode.closed[k]:
            found.append(("release", name))
        elif mode.closed[k] and not before.closed[k]:
            found.append(("contact", name))
        elif k in met:
            found.append(("impact", name))
    return _entries(system, t, after, found)


def entries_of_first_impact(contacts: Contacts, t: float, after: Side, met: set[int]) -> list[dict[str, Any]]:
    """The entries about one-sided constraints that have an impact right at the start; there is no leg before."""
    names = [contacts.system.constraints[row].name for row in contacts.one_sided]
    found = [("contact" if after.mode.closed[k] else "impact", names[k]) for k in sorted(met)]
    return _entries(contacts.system, t, after, found)


def entries_of_bounces(contacts: Contacts, blows: Sequence[Impact]) -> list[dict[str, Any]]:
    """The entries about bounces within a leg, each of one contact."""
    symbols = [s.name for s in (*contacts.system.coordinates, *contacts.system.velocities)]
    return [
        {
            "name": "impact",
            "contact": blow.contacts[0].name,
            "t": blow.t,
            "state": dict(zip(symbols, [*blow.q.tolist(), *blow.after.tolist()], strict=True)),
        }
        for blow in blows
    ]


def _entries(system: System, t: float, after: Side, found: list[tuple[str, str]]) -> list[dict[str, Any]]:
    symbols = (*system.coordinates, *system.velocities)
    state = {s.name: float(x) for s, x in zip(symbols, [*after.q, *after.v], strict=True)}
    return [{"name": name, "contact": contact, "t": t, "state": state} for name, contact in found]
