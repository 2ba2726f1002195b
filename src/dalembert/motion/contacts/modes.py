"""Modes of a system with contacts: which slip and which way, which stick, which one-sided constraints are open.

In a mode a system is smooth: a slipping contact is a law of work with the direction of slipping and the sign of its
reaction fixed, a sticking one is a further constraint on velocities, an open one is no constraint at all. So a mode is
a `System` like any other, with events where it ends.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from dalembert.graph.contacts import contact_graph
from dalembert.graph.evaluate import Evaluator
from dalembert.mechanics.fundamental import Array, Fundamental
from dalembert.model.constraints import Constraint, is_linear
from dalembert.model.contact import SPEED, Contact, heat_names, work_of
from dalembert.model.events import Event
from dalembert.model.laws import Law, Work
from dalembert.model.symbols import Parameter, multiplier
from dalembert.model.symbols import t as time
from dalembert.model.system import System
from dalembert.motion.contacts.history import STATES
from dalembert.motion.evaluation import Evaluation

SLIP, STICK, OPEN = STATES


@dataclass(frozen=True)
class Mode:
    """states: of each contact. directions: of those that slip along a line, the sign of the velocity. pushes: the sign
    of each reaction. closed: of each one-sided constraint. undetermined: more contacts stick than hold the system, so
    that no event of their forces can say when they give way.
    """

    states: tuple[str, ...]
    directions: tuple[int, ...]
    pushes: tuple[int, ...]
    closed: tuple[bool, ...]
    undetermined: bool = False


@dataclass(frozen=True)
class Ending:
    """What ends a mode: contact or one-sided constraint number `which` stops, breaks away, turns, opens or closes; or
    all that sticks gives way.
    """

    kind: str
    which: int


@dataclass(frozen=True)
class ModeSolution:
    """The instant in a mode, in terms of the whole system.

    multipliers: of its constraints, zero where open. C: all that is not impressed and not Aᵀλ. The contacts: normal
    force N, friction along the sliding components, sliding velocity u and its rate, coefficients; gaps and their rates.
    """

    solution: Fundamental
    acceleration: Array
    multipliers: Array
    C: Array
    normal: Array
    friction: Array
    slide: Array
    slide_rate: Array
    mu: Array
    mu_static: Array
    gap: Array
    gap_rate: Array
    gap_acceleration: Array
    lever: Array  # of each contact with one constraint: N = lever · λ
    steep: Array  # |a| of each constraint with gradient a: |a| λ is a force however its equation is scaled
    undetermined: bool = False  # more friction holds than is needed: its forces are one choice among many


class Contacts:
    """The contacts and one-sided constraints of a system, ready to be evaluated in any mode."""

    def __init__(self, system: System) -> None:
        self.system, self.contacts = system, system.contacts
        graph = contact_graph(system)
        self.components, self.one_sided = graph.components, graph.one_sided
        self._state, self._forces = Evaluator(graph.state), Evaluator(graph.forces)
        self.p = system.parameter_values()
        self.heats = heat_names(system)
        self.slow = SLOW  # the speed at which a contact in a plane has stopped; a motion sets it by its own speeds
        self.n, self.m = len(system.coordinates), len(system.constraints)
        # The one-sided constraint that a contact belongs to, by its place among them.
        places = {system.constraints[row].name: k for k, row in enumerate(self.one_sided)}
        self.carrier = tuple(
            next((places[name] for name in contact.constraints if name in places), None) for contact in self.contacts
        )
        self._kinds: dict[tuple[Any, ...], tuple[Evaluation, tuple[Ending, ...]]] = {}

    @cached_property
    def workless(self) -> bool:
        """Whether the ideal forces of the system's own constraints can do no work: none of them moves by itself."""
        v = dict.fromkeys(self.system.velocities, sp.S.Zero)
        for constraint in self.system.constraints:
            expression = constraint.expression
            if constraint.level == "position":
                still = not expression.has(time)
            else:
                linear = constraint.level == "velocity" and is_linear([expression], self.system.velocities)
                still = linear and expression.xreplace(v) == 0
            if not still:
                return False
        return True

    @cached_property
    def whole(self) -> Evaluation:
        """The system without friction, all constraints closed."""
        return Evaluation(self.system)

    def smooth(self, closed: tuple[bool, ...]) -> Evaluation:
        """The system without dry friction, and without the laws of one-sided constraints that are open."""
        laws = acting(self.system, closed, self.one_sided)[1]
        return self.whole if len(laws) == len(self.system.nonideal) else Evaluation(self.system.replace(nonideal=laws))

    def evaluation(self, mode: Mode) -> Evaluation:
        """The mode as a system with values."""
        made, _ = self._kind(mode)
        values = dict(zip(self.system.parameter_symbols, self.p, strict=True))
        for k in range(len(self.contacts)):
            values |= {_direction(k): float(mode.directions[k]), _push(k): float(mode.pushes[k])}
        values |= {_slow(): self.slow, _nothing(): 0.0}
        p = np.array([values[symbol] for symbol in made.system.parameter_symbols])
        own = copy(made)  # modes of a kind differ in these values only: each keeps its own
        own.p = p
        return own

    def endings(self, mode: Mode) -> dict[str, Ending]:
        """What the names of the internal events of a mode mean."""
        made, endings = self._kind(mode)
        own = made.system.events[len(self.system.events) :]
        return {event.name: ending for event, ending in zip(own, endings, strict=True)}

    def _kind(self, mode: Mode) -> tuple[Evaluation, tuple[Ending, ...]]:
        key = (mode.states, mode.closed, mode.undetermined)
        if key not in self._kinds:
            system, endings = mode_system(self.system, mode, self.one_sided, self.workless)
            self._kinds[key] = Evaluation(system, np.zeros(len(system.parameter_symbols))), endings
        return self._kinds[key]

    def look(self, q: Array, v: Array, a: Array, t: float, multipliers: Array) -> list[Array]:
        return self._state(q, v, a, t, self.p, multipliers)

    def forces(self, q: Array, v: Array, t: float) -> Array:
        """The generalized forces of unit forces along the sliding components, (n, components)."""
        (columns,) = self._forces(q, v, t, self.p)
        return columns.reshape(self.n, -1)

    def solve(self, mode: Mode, q: Array, v: Array, t: float) -> ModeSolution:
        evaluation = self.evaluation(mode)
        found = evaluation.solve(q, v, t)
        evaluation.require_consistent(found, t)
        names = {c.name: k for k, c in enumerate(evaluation.system.constraints)}
        multipliers = np.array(
            [found.multipliers[names[c.name]] if c.name in names else 0.0 for c in self.system.constraints]
        )
        _, Q, A, _ = self.whole.dynamics(q, v, t)
        C = found.M @ found.acceleration - Q - A.T @ multipliers
        normal, slide, slide_rate, mu, mu_static, gap, gap_rate, gap_acceleration = self.look(
            q, v, found.acceleration, t, multipliers
        )
        friction, lever = np.zeros(slide.size), np.zeros(len(self.contacts))
        ones = self.look(q, v, found.acceleration, t, np.ones(self.m))[0]
        for k, contact in enumerate(self.contacts):
            at = self.components[k]
            lever[k] = ones[k] if contact.signed else 0.0
            if mode.states[k] == STICK:
                rows = [names[stick_name(contact, i)] for i in range(len(contact.slide))]
                friction[at] = found.multipliers[rows]
            elif mode.states[k] == SLIP:
                u = slide[at]
                way = (
                    np.array([float(mode.directions[k])]) if u.size == 1 else u / max(float(np.linalg.norm(u)), 1e-300)
                )
                friction[at] = -mu[k] * abs(normal[k]) * way
        return ModeSolution(
            found, found.acceleration, multipliers, C, normal, friction, slide, slide_rate, mu, mu_static,
            gap, gap_rate, gap_acceleration, lever, np.linalg.norm(A, axis=1),
        )  # fmt: skip


def acting(system: System, closed: tuple[bool, ...], one_sided: tuple[int, ...]) -> tuple[list[Constraint], list[Law]]:
    """The constraints and laws that act where some one-sided constraints are open."""
    opened = {system.constraints[row].name for row, shut in zip(one_sided, closed, strict=True) if not shut}
    constraints = [constraint for constraint in system.constraints if constraint.name not in opened]
    return constraints, [law for law in system.nonideal if opened.isdisjoint(law.constraints)]


def mode_system(
    system: System, mode: Mode, one_sided: tuple[int, ...], workless: bool
) -> tuple[System, tuple[Ending, ...]]:
    """The system of a mode, and what its own events, which follow those of the user, mean.

    workless: as in `Contacts`. Otherwise what friction that holds does is told from what the constraints do.
    """
    closed, laws = acting(system, mode.closed, one_sided)
    constraints = [replace(constraint, one_sided=False, restitution=None, impact=None) for constraint in closed]
    kept = {constraint.name for constraint in closed}
    # An open constraint has no reaction. Written as 0·t, for an event must not be a constant.
    absent = {multiplier(c.name): _nothing() * time for c in system.constraints if c.name not in kept}
    smooth = [work for law in laws if (work := work_of(system, law)) is not None]
    works = [replace(work, constraint=None) for work in smooth]
    by_friction = not workless
    events: list[Event] = []
    endings: list[Ending] = []
    unsure = {
        contact.constraints[0]
        for contact, state in zip(system.contacts, mode.states, strict=True)
        if mode.undetermined and state == STICK and contact.signed
    }

    def end(kind: str, which: int, expression: sp.Expr) -> None:
        events.append(Event(expression, -1, 1, f"{kind} {which}"))
        endings.append(Ending(kind, which))

    for k, contact in enumerate(system.contacts):
        if mode.states[k] == OPEN:
            continue
        line = len(contact.slide) == 1
        if mode.states[k] == SLIP:
            speed = _direction(k) * contact.slide[0] if line else sp.sqrt(sum(u**2 for u in contact.slide))
            ways = [_direction(k)] if line else [u / speed for u in contact.slide]
            # A step may look past the stop, where a speed counted this way is negative: not for a power of it.
            size = sp.Abs(speed) if line and _has_broken_power(contact.mu) else speed
            strength = -contact.mu.xreplace({SPEED: size}) * (
                _push(k) * contact.normal if contact.signed else contact.normal
            )
            works.append(_slip(contact, strength, ways, speed))
            end("stop", k, speed if line else speed - _slow())
        else:
            for i, u in enumerate(contact.slide):
                constraints.append(Constraint(stick_name(contact, i), u, "velocity", by_friction=by_friction))
            hold = sum(multiplier(stick_name(contact, i)) ** 2 for i in range(len(contact.slide)))
            limit = contact.mu_static.xreplace({SPEED: sp.S.Zero}) * contact.normal
            if not unsure & set(contact.constraints):
                end("break", k, limit**2 - hold)
        if contact.signed and mode.states[k] == SLIP:
            end("turn", k, _push(k) * contact.normal)
    for k, row in enumerate(one_sided):
        constraint = system.constraints[row]
        if constraint.name in unsure:
            continue
        end(*(("open", k, multiplier(constraint.name)) if mode.closed[k] else ("close", k, constraint.expression)))
    parameters: dict[Any, Any] = dict(system.parameters)
    parameters |= {_direction(k): 1 for k in range(len(system.contacts))}
    parameters |= {_push(k): 1 for k in range(len(system.contacts))} | {_slow(): SLOW, _nothing(): 0}
    changed = System(
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
        events=[
            *(_with(event, absent) for event in system.events),
            *(replace(event, name=f"{event.name} (contact)") for event in events),
        ],
    )
    return changed, tuple(endings)


# A contact that slides in a plane has stopped at this share of the speeds of a motion: its direction has no meaning at
# zero.
SLOW = 1e-9


def _has_broken_power(mu: sp.Expr) -> bool:
    return any(power.base.has(SPEED) and not power.exp.is_integer for power in mu.atoms(sp.Pow))


def _with(event: Event, values: dict[sp.Symbol, sp.Expr]) -> Event:
    return replace(event, expression=event.expression.xreplace(values))


def _slip(contact: Contact, strength: sp.Expr, ways: list[sp.Expr], speed: sp.Expr) -> Work:
    work: dict[Any, sp.Expr] = {}
    for way, unit in zip(ways, contact.force, strict=True):
        for x, part in unit.items():
            work[x] = work.get(x, sp.S.Zero) + strength * way * part
    return Work(work, heat={contact.name: -strength * speed})


def stick_name(contact: Contact, component: int) -> str:
    return f"{contact.name} sticks {component + 1}"


def _direction(k: int) -> Parameter:
    return Parameter.named(f"dalembert_slip_direction_{k}")


def _push(k: int) -> Parameter:
    return Parameter.named(f"dalembert_push_sign_{k}")


def _nothing() -> Parameter:
    return Parameter.named("dalembert_nothing")


def _slow() -> Parameter:
    return Parameter.named("dalembert_slow_speed")
