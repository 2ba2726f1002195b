"""The contacts and one-sided constraints of a system: what they do at states, and the modes as systems with values."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from functools import cached_property

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.graph.contacts import ContactState
from dalembert.kernel.events import Bounces
from dalembert.kernel.ready.bounces import Blows, index_array
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.kernel.ready.many import Many
from dalembert.kernel.ready.together import together_of
from dalembert.model.constraints import is_linear
from dalembert.model.events import MARK
from dalembert.model.friction.contact import SPEED, heat_names
from dalembert.model.language.symbols import t as time
from dalembert.model.system import System
from dalembert.motion.contacts.modes.frames import frame_values
from dalembert.motion.contacts.modes.mode_data import SLOW_SPEED, of_contact, of_gate
from dalembert.motion.contacts.modes.modes import (
    OPEN,
    Ending,
    Mode,
)
from dalembert.motion.contacts.modes.switched import SLOW, Switched, switched_modes, system_of_mode
from dalembert.motion.state.evaluation import Evaluation
from dalembert.remember import remember

# Which of several are so.
Marks = NDArray[np.bool_]
# Numbers that differ by this share of the largest are the same but for rounding.
UNCHANGED = 1e-14
# So many coefficients of equations are held at once: 32 MB for each array of them.
MOST_NUMBERS = 4_000_000
# Modes whose values are kept: a motion goes back and forth between a few. Of instants, only the last.
KEPT, FEW = 64, 8


def is_unchanged(now: Array, before: Array | None) -> bool:
    """Whether what is given at an instant is what was given before."""
    return before is not None and bool(np.abs(now - before).max() <= UNCHANGED * np.abs(now).max())


def are_unchanged(along: Array) -> bool:
    """Whether what is given at T points, (T, …), is what was given at the first of them."""
    return bool((np.abs(along - along[0]).max(axis=1) <= UNCHANGED * np.abs(along).max(axis=1)).all())


class ContactsAtStates:
    """A system's contacts with values for its parameters, as far as no accelerations are asked for: see `Contacts`."""

    def __init__(self, system: System) -> None:
        self.system = system = system.expanded
        self.n, self.m = len(system.coordinates), len(system.constraints)
        self.heats = heat_names(system)
        self.rows = {constraint.name: row for row, constraint in enumerate(system.constraints)}
        self.switched: Switched = switched_modes(system, self.is_workless)
        self.contacts, self.carrier = self.switched.contacts, self.switched.carrier
        self.graph = self.switched.graph
        self.components, self.one_sided = self.graph.components, self.graph.one_sided
        given = dict(zip(system.parameter_symbols, system.parameter_values(), strict=True))
        self._given = np.array([given.get(symbol, 1.0) for symbol in self.switched.system.parameter_symbols])
        self._places = {symbol.name: k for k, symbol in enumerate(self.switched.system.parameter_symbols)}
        self._modes: dict[Hashable, Evaluation] = {}
        self._states: dict[Hashable, ContactState] = {}
        self._parts: dict[Hashable, tuple[Array, Array, Array, Array]] = {}
        self._facing: dict[Hashable, Array] = {}
        self._steep: dict[Hashable, Array] = {}
        self.kept_programs: dict[Hashable, Many | None] = {}  # of `many_modes`
        self.kept_bounces: dict[Hashable, Bounces] = {}  # of `run.bounces`
        own = self.switched.system.events[len(system.events) :]
        self._endings = {event.name: number for number, event in enumerate(own)}
        #: The contacts that slide in a plane, not along a line.
        self.on_surfaces = tuple(k for k, at in enumerate(self.components) if at.stop - at.start > 1)
        self._still, self._unloaded = np.zeros(self.n), np.zeros(self.m)

    @cached_property
    def is_workless(self) -> bool:
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
    def coefficients_vary(self) -> bool:
        """Whether a coefficient of friction depends on the place, on velocities or on time."""
        places = {*self.system.coordinates, *self.system.velocities, SPEED, time}
        return any(places & contact.mu.free_symbols for contact in self.contacts)

    @cached_property
    def restitutions(self) -> tuple[float, ...]:
        """The coefficient of restitution of each one-sided constraint, 0 where it has none."""
        given, own = dict(self.system.parameters), [self.system.constraints[row].restitution for row in self.one_sided]
        return tuple(0.0 if e is None else float(e.xreplace(given)) for e in own)

    @cached_property
    def gap_numbers(self) -> dict[str, int]:
        """The number of each one-sided constraint by its name."""
        return {self.system.constraints[row].name: k for k, row in enumerate(self.one_sided)}

    @cached_property
    def always(self) -> list[int]:
        """The rows of the two-sided constraints."""
        return [k for k in range(self.m) if k not in self.one_sided]

    @cached_property
    def blow_rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """As `Blows` asks for them: of each one-sided constraint its row, and the place of its rate; the rows of the
        two-sided ones.
        """
        places = [self.whole.graph.position_rows.index(row) for row in self.one_sided]
        return index_array([*self.one_sided]), index_array(places), index_array([*self.always, 0])

    @cached_property
    def rubbing(self) -> tuple[int | None, ...]:
        """For each one-sided constraint the contact whose friction takes part in its impacts: its law of sliding, if
        it carries it alone. Resistance to rolling and spinning has no time to act in a blow.
        """
        signed = {contact.name: k for k, contact in reversed([*enumerate(self.contacts)]) if contact.signed}
        return tuple(signed.get(self.system.constraints[row].name) for row in self.one_sided)

    @cached_property
    def sliding_guides(self) -> list[int]:
        """The contacts that slide along a line, on two-sided constraints alone, with a coefficient that does not change
        with the speed. Resistance to rolling and spinning has no time to act in a blow.
        """
        sided = {self.system.constraints[row].name for row in self.one_sided}
        return [
            k
            for k, contact in enumerate(self.contacts)
            if contact.name == " + ".join(contact.constraints)
            and sided.isdisjoint(contact.constraints)
            and self.components[k].stop - self.components[k].start == 1
            and SPEED not in contact.mu.free_symbols
        ]

    @cached_property
    def whole(self) -> Evaluation:
        """The system without friction, all constraints closed."""
        return Evaluation(self.system)

    def unconstrained(self, q: Array, v: Array, t: float) -> tuple[Array, Array, Array, Array]:
        """M, Q, A, b of the whole: at an instant between legs they are asked for again and again."""
        key = q.tobytes(), v.tobytes(), t
        return remember(self._parts, key, lambda: self.whole.dynamics(q, v, t), FEW)

    def unconstrained_along(self, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
        """M (T, n, n) and A (T, m, n) of the whole at T points."""
        together = together_of(self.whole.graph)
        found = None if together is None else together.at(q, v, t, self.whole.p)
        if found is not None:
            return found[0], found[2]
        each = [self.unconstrained(*point) for point in zip(q, v, t.tolist(), strict=True)]
        return np.array([M for M, *_ in each]), np.array([A for _, _, A, _ in each])

    def blows_at(self, which: list[int], t: Array, q: Array, before: Array, after: Array) -> Blows | None:
        """Blows of single gaps, by number, for C; None where it has no form of the system."""
        together = together_of(self.whole.graph)
        if together is None or together.pattern is not None:
            return None
        row, place, guide = self.blow_rows
        return Blows(together, self.whole.p, t, q, before, after, row[which], place[which], guide)

    @property
    def points_at_once(self) -> int:
        """At so many points the equations of all constraints are held at once."""
        return max(1, MOST_NUMBERS // (self.n + self.m) ** 2)

    def steepness(self, q: Array, v: Array, t: float) -> Array:
        """The lengths of the gradients of the one-sided constraints, 1 where they vanish. They depend on the place."""
        return remember(self._steep, (q.tobytes(), t), lambda: self._steepness(q, v, t), FEW)

    def _steepness(self, q: Array, v: Array, t: float) -> Array:
        A = self.unconstrained(q, v, t)[2][list(self.one_sided)]
        steep = np.sqrt(np.einsum("ij,ij->i", A, A))
        steep[steep == 0.0] = 1.0
        return np.asarray(steep)

    def free(self, q: Array, v: Array, t: float) -> Array:
        """Accelerations that impressed forces alone would make, none in directions without mass."""
        M, Q, _, _ = self.unconstrained(q, v, t)
        masses = M.diagonal()
        if np.count_nonzero(M) == masses.size and masses.all():
            return np.asarray(Q / masses)
        return np.asarray(np.linalg.lstsq(M, Q, rcond=None)[0], dtype=np.float64)

    # -- modes

    def evaluation(self, mode: Mode, slow: float = SLOW) -> Evaluation:
        """The mode as a system with values. slow: the speed at which a contact on a surface has stopped, which only
        the event of stopping asks for.
        """
        key = mode, slow if SLOW_SPEED.name in self._places else SLOW
        return remember(self._modes, key, lambda: self._evaluation(mode, key[1]), KEPT)

    def _evaluation(self, mode: Mode, slow: float) -> Evaluation:
        if slow == SLOW:
            p = self._with(self.switched.values(mode, slow))
        else:
            p = self.evaluation(mode).p.copy()
            p[self._places[SLOW_SPEED.name]] = slow
        return Evaluation(self.switched.system, p)

    def plain(self, mode: Mode) -> System:
        """The mode as a system by itself."""
        return system_of_mode(self.switched, self.switched.values(mode, SLOW), self.system)

    def ending(self, mode: Mode, name: str | None) -> Ending | None:
        """What an event that has ended a leg in a mode means; None where it is not one that ends a mode."""
        number = self._endings.get(name or "")
        return None if number is None else self.switched.ending(mode, number)

    def endings(self, mode: Mode) -> list[Ending]:
        """What all internal events of a mode mean."""
        return [self.switched.ending(mode, number) for number in self._endings.values()]

    def is_own(self, name: str) -> bool:
        """Whether an event is one that ends a mode."""
        return name.endswith(MARK)

    def frames_at(self, q: Array, v: Array, t: float) -> tuple[float, ...]:
        """Directions in tangent planes that fit the normals at a state: data of a mode, see `frames`."""
        if not self.switched.framed_contacts:
            return ()
        normals = self.graph.unit_normals(q, v, t, self._given)
        return tuple(x for normal in normals for x in frame_values(normal))

    def _with(self, values: Mapping[str, float]) -> Array:
        p = self._given.copy()
        for name, value in values.items():
            place = self._places.get(name)  # what a system does not use, it has no parameter for
            if place is not None:
                p[place] = value
        return p

    def parameters_of_modes(self, first: Mode, slips: Marks, sticks: Marks, ways: Array, closed: Marks) -> Array:
        """The parameters (T, …) of modes with determined forces and the pushes and frames of the first one. slips,
        sticks, ways (T, contacts), closed (T, gaps): what they do.
        """
        p = np.tile(self._with(self.switched.values(first, SLOW)), (ways.shape[0], 1))
        for k in range(len(self.contacts)):
            own = (slips[:, k], sticks[:, k], sticks[:, k], ~(slips | sticks)[:, k], ~slips[:, k], ways[:, k])
            for symbol, values in zip(of_contact(k), own, strict=False):
                if symbol.name in self._places:
                    p[:, self._places[symbol.name]] = values
        for j in range(len(self.one_sided)):
            shut = closed[:, j]
            for symbol, values in zip(of_gate(j), (shut, ~shut, shut), strict=False):
                if symbol.name in self._places:
                    p[:, self._places[symbol.name]] = values
        return p

    def _parameters(self, frames: tuple[float, ...]) -> Array:
        if not frames:
            return self._given
        return remember(self._facing, frames, lambda: self._facing_so(frames), KEPT)

    def _facing_so(self, frames: tuple[float, ...]) -> Array:
        none = (OPEN,) * len(self.contacts)
        mode = Mode(none, (1,) * len(none), (1,) * len(none), (True,) * len(self.one_sided), frames)
        return self._with(self.switched.values(mode, SLOW))

    # -- the state of all contacts

    def at(
        self,
        q: Array,
        v: Array,
        t: float,
        a: Array | None = None,
        multipliers: Array | None = None,
        frames: tuple[float, ...] | None = None,
    ) -> ContactState:
        """What contacts do at a state, with an acceleration and multipliers (none where not given). frames: directions
        in tangent planes; those that fit here where not given, which change along a motion.
        """
        frames = self.frames_at(q, v, t) if frames is None else frames
        if a is None and multipliers is None:
            key = q.tobytes(), v.tobytes(), t, frames
            return remember(self._states, key, lambda: self._at(q, v, t, self._still, self._unloaded, frames), FEW)
        a = self._still if a is None else a
        return self._at(q, v, t, a, self._unloaded if multipliers is None else multipliers, frames)

    def _at(self, q: Array, v: Array, t: float, a: Array, l: Array, frames: tuple[float, ...]) -> ContactState:
        return self.graph.at(q, v, a, t, self._parameters(frames), l)

    def along(
        self, mode: Mode, q: Array, v: Array, t: Array, a: Array | None = None, multipliers: Array | None = None
    ) -> ContactState:
        """The same at T points of a mode: q, v, a (T, n), t (T,), multipliers (T, m)."""
        a = np.zeros((t.size, self.n)) if a is None else a
        multipliers = np.zeros((t.size, self.m)) if multipliers is None else multipliers
        return contact_states(self.graph, q, v, a, t, self._parameters(mode.frames), multipliers)

    def slides_along(self, q: Array, v: Array, t: Array) -> Array | None:
        """The sliding velocities at T points; None where their directions follow normals in space."""
        if self.switched.framed_contacts:
            return None
        none = np.zeros((t.size, max(self.n, self.m)))
        return contact_states(self.graph, q, v, none[:, : self.n], t, self._given, none[:, : self.m]).slide

    def gaps_along(self, q: Array, v: Array, t: Array) -> tuple[Array, Array]:
        """The one-sided constraints and their rates at T points, each (T, gaps)."""
        none = np.zeros((t.size, max(self.n, self.m)))
        found = contact_states(self.graph, q, v, none[:, : self.n], t, self._given, none[:, : self.m])
        return found.gap, found.gap_rate

    def gap_rates(self, q: Array, v: Array, t: Array) -> Array:
        """The rates of the one-sided constraints at T points, (T, gaps)."""
        return self.gaps_along(q, v, t)[1]

    def forces(self, q: Array, v: Array, t: float, frames: tuple[float, ...]) -> Array:
        """The generalized forces of unit forces along the sliding components, (n, components)."""
        return self.graph.unit_forces(q, v, t, self._parameters(frames))

    def stick_rows(self, k: int) -> list[int]:
        """The rows of the switched system that make contact k stick."""
        return self.switched.stick_rows(k)

    def data_at(self, mode: Mode, q: Array, v: Array, t: float) -> Array:
        """All that determines the instant in a mode: the equations, the coefficients of friction and the velocities of
        sliding, whose directions friction has. At rest nothing of it changes, and neither does the solution.
        """
        return np.asarray(self.data_along(mode, q[None], v[None], np.array([t]))[0])

    def data_along(self, mode: Mode, q: Array, v: Array, t: Array) -> Array:
        """The same at T points, (T, …)."""
        state = self.along(mode, q, v, t)
        parts = (*self.evaluation(mode).dynamics_along(q, v, t), state.mu, state.mu_static, state.slide)
        return np.concatenate([part.reshape(t.size, -1) for part in parts], axis=1)
