"""One `System` for all modes of a system with contacts: what each contact does is data, the values of parameters.

In a mode a system is smooth: a slipping contact is a law of work with the direction of slipping and the sign of its
reaction fixed, a sticking one is a further constraint on velocities, an open one is no constraint at all. Here all of
them stand side by side, each times a switch that is 1 or 0. A constraint that is switched off reads 0 = 0, and its
multiplier is zero. So all modes share one graph and one kernel, and a mode that was never seen before compiles nothing.
The functions whose zeros end a mode are switched likewise; those of a mode that is not there stay at 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import sympy as sp

from dalembert.graph.contacts import ContactGraph, make_contact_graph
from dalembert.model.constraints import Constraint
from dalembert.model.events import MARK, Event
from dalembert.model.friction.contact import SPEED, Contact, works_of
from dalembert.model.friction.laws import Work
from dalembert.model.language.symbols import Parameter, multiplier
from dalembert.model.system import System
from dalembert.motion.contacts.modes.frames import in_frame, turning_function
from dalembert.motion.contacts.modes.mode_data import (
    DATA,
    SLOW_SPEED,
    OfContact,
    frame_symbols,
    names_of_contact,
    of_contact,
    of_gate,
)
from dalembert.motion.contacts.modes.modes import SLIP, STICK, Ending, Mode
from dalembert.remember import remember_alone

# A contact that slides on a surface has stopped at this share of the speeds of a motion: its direction has no meaning
# at zero.
SLOW = 1e-9


@dataclass(frozen=True)
class Switched:
    """system: with all switches, `multiplier(NAME)` of a constraint is as in the original. contacts: its contacts in
    one or two orthonormal components each. endings: what its own events, which follow the user's, belong to: "contact"
    (stop or break away), "turn", "gate" (open or close), "face", with a number.
    """

    system: System
    contacts: tuple[Contact, ...]
    one_sided: tuple[int, ...]
    carrier: tuple[int | None, ...]
    endings: tuple[tuple[str, int], ...]
    graph: ContactGraph

    def values(self, mode: Mode, slow: float) -> dict[str, float]:
        """The data of a mode by name. slow: the speed at which a contact on a surface has stopped."""
        found: dict[str, float] = {SLOW_SPEED.name: slow}
        unsure, off = self.undetermined_constraints(mode), set(mode.spare if mode.lean else ())
        for k, contact in enumerate(self.contacts):
            slips, sticks = mode.states[k] == SLIP, mode.states[k] == STICK
            watched = sticks and unsure.isdisjoint(contact.constraints)
            idle = not watched and not slips
            sticks = sticks and off.isdisjoint(self.stick_rows(k))
            own = (slips, sticks, watched, idle, not slips, mode.directions[k], mode.pushes[k])
            found.update(zip(names_of_contact(k), map(float, own), strict=True))
        for j, (row, shut) in enumerate(zip(self.one_sided, mode.closed, strict=True)):
            silent = row in mode.shared or self.system.constraints[row].name in unsure
            gate = (shut and row not in off, not shut, shut and not silent, silent)
            found.update((symbol.name, float(x)) for symbol, x in zip(of_gate(j), gate, strict=True))
        places = iter(mode.frames)
        for k in self.framed_contacts:
            found.update((symbol.name, next(places)) for vector in frame_symbols(k) for symbol in vector)
        return found

    def undetermined_constraints(self, mode: Mode) -> set[str]:
        """The constraints of a mode whose reactions are not determined, because what rests on them sticks."""
        return {
            contact.constraints[0]
            for contact, state in zip(self.contacts, mode.states, strict=True)
            if mode.undetermined and state == STICK and contact.signed
        }

    def stick_rows(self, k: int) -> list[int]:
        """The rows that make contact k stick."""
        components = self.graph.components
        own = len(self.system.constraints) - components[-1].stop
        return list(range(own + components[k].start, own + components[k].stop))

    @cached_property
    def framed_contacts(self) -> tuple[int, ...]:
        """The contacts whose directions are data."""
        own = {symbol.name for symbol in self.system.parameter_symbols}
        return tuple(k for k in range(len(self.contacts)) if frame_symbols(k)[0][0].name in own)

    @cached_property
    def on_still_ground(self) -> bool:
        """Whether no contact slides where nothing moves."""
        still = dict.fromkeys(self.system.velocities, sp.S.Zero)
        return all(u.xreplace(still) == 0 for contact in self.contacts for u in contact.slide)

    def ending(self, mode: Mode, number: int) -> Ending:
        """What the event `number`, counted without the user's, means in a mode."""
        what, k = self.endings[number]
        if what == "contact":
            return Ending("stop" if mode.states[k] == SLIP else "break", k)
        if what == "gate":
            return Ending("open" if mode.closed[k] else "close", k)
        return Ending(what, k)


# A motion asks for the same several times, a study for every member.
KEPT = 32
_made: dict[Hashable, Switched] = {}


def switched_modes(system: System, workless: bool) -> Switched:
    """workless: the system's own constraints do no work; otherwise what friction that holds does is told from it.

    Values of parameters are no part of it: it is made once for systems of one structure.
    """
    key = (system.structure, system.name, tuple((e.name, e.direction, e.terminal) for e in system.events))
    return remember_alone(_made, key, lambda: _make(system, workless), KEPT)


def _make(system: System, workless: bool) -> Switched:
    one_sided = tuple(k for k, c in enumerate(system.constraints) if c.one_sided)
    places = {system.constraints[row].name: j for j, row in enumerate(one_sided)}
    contacts = tuple(in_frame(contact, k) for k, contact in enumerate(system.contacts))
    carrier = tuple(next((places[name] for name in c.constraints if name in places), None) for c in contacts)
    gates = [of_gate(j) for j in range(len(one_sided))]
    gate = {name: gates[j].closed for name, j in places.items()}
    constraints = [_gated(constraint, gate) for constraint in system.constraints]
    smooth = zip(works_of(system), system.nonideal, strict=True)
    works = [_while_closed(work, law.constraints, gate) for work, law in smooth if work]
    events: list[tuple[str, int, sp.Expr]] = []
    for k, contact in enumerate(contacts):
        own = of_contact(k)
        speed, work = _slipping(contact, own)
        works.append(work)
        for i, u in enumerate(contact.slide):
            row = Constraint(stick_name(contact, i), own.sticks * u, "velocity", by_friction=not workless)
            constraints.append(replace(row, switch=own.sticks))
        stop = speed if len(contact.slide) == 1 else speed - SLOW_SPEED
        hold = sum(multiplier(stick_name(contact, i)) ** 2 for i in range(len(contact.slide)))
        limit = contact.mu_static.xreplace({SPEED: sp.S.Zero}) * contact.normal
        events.append(("contact", k, own.slips * stop + own.may_break * (limit**2 - hold) + own.idle))
        if contact.signed and carrier[k] is None:
            events.append(("turn", k, own.slips * own.push_sign * contact.normal + own.does_not_slip))
        facing = turning_function(system.contacts[k], k)
        if facing is not None:
            events.append(("face", k, facing))
    for j, number in enumerate(one_sided):
        above = system.constraints[number]
        away = gates[j].pushing * multiplier(above.name) + gates[j].open * above.expression + gates[j].silent
        events.append(("gate", j, away))
    parameters: dict[Any, Any] = dict(system.parameters)
    expressions = [constraint.expression for constraint in constraints] + [g for *_, g in events]
    expressions += [expression for work in works for expression in work.expressions()]
    used = {symbol for expression in expressions for symbol in expression.free_symbols}
    parameters |= {symbol: 1 for symbol in used if symbol.name.startswith(DATA)}
    whole = System(
        system.name,
        coordinates=system.coordinates,
        kinetic=system.kinetic,
        potential=system.potential,
        lagrangian=system.lagrangian,
        mass=system.mass,
        forces=system.forces,
        constraints=constraints,
        nonideal=works if constraints else (),
        parameters=parameters,
        initial=system.initial,
        settings=system.settings,
        events=[*system.events, *(Event(g, -1, 1, f"{what} {k} {MARK}") for what, k, g in events)],
    )
    graph = make_contact_graph(system, contacts, whole.parameter_symbols)
    return Switched(whole, contacts, one_sided, carrier, tuple((what, k) for what, k, _ in events), graph)


def system_of_mode(switched: Switched, values: Mapping[str, float], own: System) -> System:
    """One mode by itself, as a system without switches: what is off is left out. own: the system whose mode it is, of
    which it has parameters, initial state and settings; what is switched belongs to all systems of the structure.
    """
    exact = {Parameter.named(s): sp.Integer(int(x)) if x in (-1, 0, 1) else sp.Float(x) for s, x in values.items()}
    system = switched.system
    constraints = [replace(c, expression=c.expression.xreplace(exact), switch=None) for c in system.constraints]
    works = [Work({q: part.xreplace(exact) for q, part in work.work.items()}, work.constraint) for work in system.works]
    kept = [c for c in constraints if c.expression != 0]
    works = [Work({q: x for q, x in work.work.items() if x != 0}, work.constraint) for work in works]
    return System(
        own.name,
        coordinates=system.coordinates,
        kinetic=system.kinetic,
        potential=system.potential,
        lagrangian=system.lagrangian,
        mass=system.mass,
        forces=system.forces,
        constraints=kept,
        nonideal=[work for work in works if work.work] if kept else (),
        parameters=own.parameters,
        initial=own.initial,
        settings=own.settings,
    )


def _gated(constraint: Constraint, gate: Mapping[str, Parameter]) -> Constraint:
    """A constraint that acts while it is closed."""
    if constraint.name not in gate:
        return constraint
    switch = gate[constraint.name]
    free = replace(constraint, one_sided=False, restitution=None, impact=None)
    return replace(free, expression=switch * constraint.expression, switch=switch)


def _while_closed(work: Work, names: tuple[str, ...], gate: Mapping[str, Parameter]) -> Work:
    """A law of constraints that may be open acts while they are closed."""
    share = sp.Mul(*(gate[name] for name in names if name in gate))
    return Work(
        {q: share * part for q, part in work.work.items()}, None, {name: share * x for name, x in work.heat.items()}
    )


def _slipping(contact: Contact, own: OfContact) -> tuple[sp.Expr, Work]:
    """The speed of a contact while it slips, counted in its direction along a line, and the work of its friction."""
    line = len(contact.slide) == 1
    # Where it does not slip, the root must have a slope.
    root = sp.sqrt(sum(u**2 for u in contact.slide) + own.does_not_slip)
    speed = own.slip_direction * contact.slide[0] if line else root
    ways = [own.slip_direction] if line else [u / speed for u in contact.slide]
    # A step may look past the stop, where a speed counted this way is negative: not for a power of it.
    size = sp.Abs(speed) if line and _has_broken_power(contact.mu) else speed
    normal = own.push_sign * contact.normal if contact.signed else contact.normal
    strength = -own.slips * contact.mu.xreplace({SPEED: size}) * normal
    work: dict[Any, sp.Expr] = {}
    for way, unit in zip(ways, contact.force, strict=True):
        for x, part in unit.items():
            work[x] = work.get(x, sp.S.Zero) + strength * way * part
    return speed, Work(work, heat={contact.name: -strength * speed})


def _has_broken_power(mu: sp.Expr) -> bool:
    return any(power.base.has(SPEED) and not power.exp.is_integer for power in mu.atoms(sp.Pow))


def stick_name(contact: Contact, component: int) -> str:
    return f"{contact.name} sticks {component + 1}"
