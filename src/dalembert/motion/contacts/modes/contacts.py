"""The contacts and one-sided constraints of a system, ready to be evaluated in any mode."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import hypot

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from dalembert.arrays import Array, largest
from dalembert.graph.contacts import ContactState
from dalembert.kernel.events import Bounces
from dalembert.kernel.ready.bounces import Blows, index_array
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.kernel.ready.modes import Instants, modes_of
from dalembert.kernel.ready.together import together_of
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.model.constraints import is_linear
from dalembert.model.events import MARK
from dalembert.model.friction.contact import SPEED, heat_names
from dalembert.model.language.symbols import t as time
from dalembert.model.system import System
from dalembert.motion.contacts.modes.frames import frame_values
from dalembert.motion.contacts.modes.mode_data import SLOW_SPEED
from dalembert.motion.contacts.modes.modes import (
    OPEN,
    SLIP,
    STICK,
    Ending,
    Mode,
    ModeForces,
    ModeSolution,
    repeat_runs,
    runs_of,
)
from dalembert.motion.contacts.modes.regular import SPREAD, Equations, eliminate, equations_along, equations_near
from dalembert.motion.contacts.modes.regular_instant import fundamental_of, solve_regular
from dalembert.motion.contacts.modes.small_instant import Instant, small_instant, solution_of, with_contacts
from dalembert.motion.contacts.modes.switched import SLOW, Switched, switched_modes, system_of_mode
from dalembert.motion.state.evaluation import Evaluation
from dalembert.remember import changed, remember

# Numbers that differ by this share of the largest are the same but for rounding.
UNCHANGED = 1e-14
# So many coefficients of equations are held at once: 32 MB for each array of them.
MOST_NUMBERS = 4_000_000
# Contacts have stopped below 1e-9 of the speeds of a motion, and squares of such velocities are nothing.
STOPPED = 1e-13
# Modes whose values are kept: a motion goes back and forth between a few. Of instants, only the last.
KEPT, FEW = 64, 8


def is_unchanged(now: Array, before: Array | None) -> bool:
    """Whether what is given at an instant is what was given before."""
    return before is not None and bool(np.abs(now - before).max() <= UNCHANGED * np.abs(now).max())


def are_unchanged(along: Array) -> bool:
    """Whether what is given at T points, (T, …), is what was given at the first of them."""
    return bool((np.abs(along - along[0]).max(axis=1) <= UNCHANGED * np.abs(along).max(axis=1)).all())


def _by_mode(modes: Sequence[Mode]) -> list[tuple[Mode, NDArray[np.int_]]]:
    """Each mode, and the points that are in it."""
    found: dict[Mode, list[int]] = {}
    last, own = None, []
    for k, mode in enumerate(modes):
        if mode is not last:  # points of a leg share theirs
            last, own = mode, found.setdefault(mode, [])
        own.append(k)
    return [(mode, np.array(at)) for mode, at in found.items()]


class Contacts:
    """A system's contacts with values for its parameters: where everything else asks what they do.

    `at` and `along` give the state of all contacts, `solve` and `solve_along` the instant in a mode, `evaluation` a
    mode as a system with values. Nothing here depends on what was asked before: one serves motions, their output points
    and their certificates, in any number of threads. Which mode a state is in is found by `decide`.
    """

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
        self._instants: dict[Hashable, tuple[Fundamental, Instant | None]] = {}
        self._states: dict[Hashable, ContactState] = {}
        self._parts: dict[Hashable, tuple[Array, Array, Array, Array]] = {}
        self._facing: dict[Hashable, Array] = {}
        self._steep: dict[Hashable, Array] = {}
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

    # -- the instant in a mode

    def instant(self, mode: Mode, q: Array, v: Array, t: float) -> Fundamental:
        """The instant in a mode, by elimination where that serves. The last ones are kept: a leg begins with the
        instant that has decided its mode.
        """
        return self._instant(mode, q, v, t)[0]

    def _instant(self, mode: Mode, q: Array, v: Array, t: float) -> tuple[Fundamental, Instant | None]:
        """The same; of a small system with all that its contacts do."""
        # Whether forces are determined is found by it, and changes nothing of it.
        lean = mode.spare if mode.lean else ()
        key = mode.states, mode.directions, mode.pushes, mode.closed, mode.frames, lean, q.tobytes(), v.tobytes(), t
        return remember(self._instants, key, lambda: self._solve_instant(mode, q, v, t), FEW)

    def _solve_instant(self, mode: Mode, q: Array, v: Array, t: float) -> tuple[Fundamental, Instant | None]:
        evaluation = self.evaluation(mode)
        small = small_instant(evaluation, self.graph, q, v, t)
        if small is not None:
            return solution_of(small), small
        found = solve_regular(evaluation, q, v, t)
        return (evaluation.solve(q, v, t) if found is None else found), None

    def state_in(self, mode: Mode, q: Array, v: Array, t: float) -> ContactState:
        """What contacts do at the instant in a mode, as `at` gives it with the acceleration there."""
        found, small = self._instant(mode, q, v, t)
        return self.at(q, v, t, found.acceleration) if small is None else small.state

    def _require_consistent(self, mode: Mode, found: Fundamental, t: float) -> None:
        """As of any system, but for what is rounding against accelerations of all of it: of many contacts that have
        almost stopped, each asks for another acceleration, of the square of what is left of their velocities.
        """
        missed = np.abs(found.A @ found.acceleration - found.b)
        rate = max(largest(found.acceleration), largest(found.unconstrained))
        if (missed > STOPPED * rate * np.abs(found.A).max(axis=1, initial=0.0)).any():
            self.evaluation(mode).require_consistent(found, t)

    def solve(self, mode: Mode, q: Array, v: Array, t: float) -> ModeSolution:
        """The instant in a mode, with all that its contacts do. Where its forces are not determined, they are the
        smallest.
        """
        found, small = self._instant(mode, q, v, t)
        if small is not None:
            friction = self._friction_at(mode, small.state, small.multipliers)
            return with_contacts(found, small, friction, self.m)
        self._require_consistent(mode, found, t)
        a, multipliers = found.acceleration, found.multipliers[: self.m]
        A = self.unconstrained(q, v, t)[2]
        state = self.at(q, v, t, a, multipliers, mode.frames)
        return ModeSolution(
            **vars(state),
            solution=found,
            acceleration=a,
            multipliers=multipliers,
            friction=self._friction_at(mode, state, found.multipliers),
            steep=np.sqrt(np.einsum("ij,ij->i", A, A)),
            redundant=bool(found.rank < np.count_nonzero(found.A.any(axis=1))),
        )

    def solve_without_spare(self, mode: Mode, q: Array, v: Array, t: Array) -> list[ModeSolution] | None:
        """The instants at T points of a mode with undetermined forces, found without constraints that follow from the
        others, at all points at once; with the A of all of them. None where that does not serve.
        """
        given = equations_along(self.evaluation(mode), q, v, t) if mode.spare else None
        if given is None:
            return None
        needed = np.ones(given.b.shape[1])
        needed[list(mode.spare)] = 0.0
        found = eliminate(replace(given, A=given.A * needed[:, None], b=given.b * needed))
        if not found.served.all():
            return None
        a, multipliers, A = found.acceleration, found.multipliers, given.A[:, : self.m]
        state = self.along(mode, q, v, t, a, multipliers[:, : self.m])
        friction, steep = self._friction(mode, state, multipliers), np.sqrt(np.einsum("tmn,tmn->tm", A, A))
        C = given.C0 + np.einsum("tnm,tm->tn", given.slope, multipliers)
        instants = []
        for k in range(t.size):
            of = fundamental_of(
                a[k], multipliers[k], needed == 0.0, given.M[k], given.Q[k], given.A[k], given.b[k], C[k]
            )
            own = {name: values[k] for name, values in vars(state).items()}
            instants.append(
                ModeSolution(
                    **own, solution=of, acceleration=a[k], multipliers=multipliers[k, : self.m], friction=friction[k],
                    steep=steep[k], redundant=True,
                )
            )  # fmt: skip
        return instants

    def solve_along(self, modes: Sequence[Mode], q: Array, v: Array, t: Array) -> ModeForces | None:
        """The forces at T points, each in its mode, by elimination at all of them at once; None where that serves at
        none of them.
        """
        found = self._eliminated(modes, q, v, t)
        if found is None:
            return None
        own = found.multipliers[:, : self.m]
        p = self._given
        if self.switched.framed_contacts:
            p = np.stack([self._parameters(mode.frames) for mode in modes])
        state = contact_states(self.graph, q, v, found.acceleration, t, p, own)
        pulled = np.einsum("tij,tj->ti", found.M, found.acceleration) - found.Q
        C = pulled - np.einsum("tmi,tm->ti", found.A[:, : self.m], own)
        friction = np.zeros_like(state.slide)
        for mode, at in runs_of(modes) if self.contacts else ():
            some = changed(state, slide=state.slide[at], mu=state.mu[at], normal=state.normal[at])
            friction[at] = self._friction(mode, some, found.multipliers[at])
        return ModeForces(C, state.normal, friction, found.served)

    def accelerations(
        self, modes: Sequence[Mode], q: Array, v: Array, t: Array, p: Array | None = None
    ) -> Array | None:
        """q̈ (T, n) at T points, each in its mode; NaN where elimination does not serve, None where it cannot. p: as
        `mode_parameters` gives them, where they are at hand.
        """
        found = self._eliminated(modes, q, v, t, p)
        return None if found is None else np.where(found.served[:, None], found.acceleration, np.nan)

    def stretches(self, modes: Sequence[Mode], p: Array, t: Array, y: Array, length: Array, steps: int) -> Array | None:
        """Where stretches that begin at states y (B, 2n), each in its mode, end after a `length` (B,), see
        `Modes.stretches`; None where that needs other means. p: as `mode_parameters` gives them.
        """
        by_c = modes_of(self.evaluation(modes[0]).graph)
        return None if by_c is None else by_c.stretches(p, t, y, length, steps, SPREAD)

    def stretches_by_halving(
        self,
        mode: Mode,
        p: Array,
        t: Array,
        y: Array,
        length: Array,
        wanted: Array,
        least: Array,
        rules: tuple[float, float, float],
    ) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_]] | None:
        """Stretches as above until two results agree, see `Modes.halved`; mode: of one of them."""
        by_c = modes_of(self.evaluation(mode).graph)
        return None if by_c is None else by_c.halved(p, t, y, length, wanted, least, (SPREAD, *rules))

    def mode_parameters(self, modes: Sequence[Mode]) -> Array:
        """The parameters (T, …) that say in which mode each of T points is."""
        runs = runs_of(modes)
        return repeat_runs(runs, [self.evaluation(mode).p for mode, _ in runs])

    def _eliminated(
        self, modes: Sequence[Mode], q: Array, v: Array, t: Array, p: Array | None = None
    ) -> Instants | None:
        """p: as `mode_parameters` gives them, where they are at hand."""
        by_c = modes_of(self.evaluation(modes[0]).graph)
        if by_c is not None:
            found = by_c.solve(q, v, t, self.mode_parameters(modes) if p is None else p, SPREAD)
            if found is not None:
                return found
        together: dict[str, Array] = {}
        for mode, at in _by_mode(modes):
            part = equations_near(self.evaluation(mode), q[at], v[at], t[at])
            if part is None:
                return None
            for name, values in vars(part).items():
                together.setdefault(name, np.empty((t.size, *values.shape[1:])))[at] = values
        of = eliminate(Equations(**together))
        equations = of.equations
        return Instants(of.acceleration, of.multipliers, of.served, equations.M, equations.Q, equations.A)

    def _friction(self, mode: Mode, state: ContactState, multipliers: Array) -> Array:
        """Friction along the sliding components, at a state or along many: what holds, or against the slipping."""
        friction = np.zeros_like(state.slide)
        for k, at in enumerate(self.components):
            if mode.states[k] == STICK:
                friction[..., at] = multipliers[..., self.m + at.start : self.m + at.stop]
            elif mode.states[k] == SLIP:
                size = state.mu[..., k] * np.abs(state.normal[..., k])
                friction[..., at] = -size[..., None] * self._way(mode, k, state.slide)
        return friction

    def _friction_at(self, mode: Mode, state: ContactState, multipliers: Array) -> Array:
        """The same at one state, by plain numbers."""
        slide, held = state.slide.tolist(), multipliers[self.m :].tolist()
        friction = [0.0] * len(slide)
        for k, (at, mu, normal) in enumerate(
            zip(self.components, state.mu.tolist(), state.normal.tolist(), strict=True)
        ):
            if mode.states[k] == STICK:
                friction[at] = held[at]
            elif mode.states[k] == SLIP:
                own, size = slide[at], -mu * abs(normal)
                if len(own) == 1:
                    friction[at] = [size * mode.directions[k]]
                else:
                    speed = max(hypot(*own), 1e-300)
                    friction[at] = [size * u / speed for u in own]
        return np.array(friction)

    def _way(self, mode: Mode, k: int, slide: Array) -> Array:
        """The direction in which contact k slips."""
        u = slide[..., self.components[k]]
        if u.shape[-1] == 1:
            return np.full(u.shape, float(mode.directions[k]))
        return np.asarray(u / np.maximum(np.linalg.norm(u, axis=-1, keepdims=True), 1e-300))

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
