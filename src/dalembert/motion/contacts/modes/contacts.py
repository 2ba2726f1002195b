"""The contacts and one-sided constraints of a system, ready to be evaluated in any mode."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.graph.evaluate import Evaluator
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.model.constraints import is_linear
from dalembert.model.events import MARK
from dalembert.model.friction.contact import heat_names
from dalembert.model.language.symbols import t as time
from dalembert.model.system import System
from dalembert.motion.contacts.modes.frames import frame_values
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Ending, Mode, ModeSolution
from dalembert.motion.contacts.modes.regular import solve_regular
from dalembert.motion.contacts.modes.switched import SLOW, Switched, plain, switched
from dalembert.motion.state.evaluation import Evaluation

# Numbers that differ by this share of the largest are the same but for rounding.
UNCHANGED = 1e-14
# Modes whose values are kept: a motion goes back and forth between a few.
KEPT = 64


def unchanged(now: Array, before: Array | None) -> bool:
    """Whether what is given at an instant is what was given before."""
    return before is not None and bool(np.abs(now - before).max() <= UNCHANGED * np.abs(now).max())


class Contacts:
    """A system's contacts with values for its parameters."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.n, self.m = len(system.coordinates), len(system.constraints)
        self.slow = SLOW  # the speed at which a contact on a surface has stopped; a motion sets it by its own speeds
        self.length = 1.0  # the size of the places of a motion, set likewise
        self.heats = heat_names(system)
        self.switched: Switched = switched(system, self.workless)
        self.contacts, self.carrier = self.switched.contacts, self.switched.carrier
        graph = self.switched.graph
        self.components, self.one_sided = graph.components, graph.one_sided
        self._state, self._forces = Evaluator(graph.state), Evaluator(graph.forces)
        self._normals = Evaluator(graph.normals)
        self.frames: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0) * len(self.switched.framed)
        given = dict(zip(system.parameter_symbols, system.parameter_values(), strict=True))
        self._given = np.array([given.get(symbol, 1.0) for symbol in self.switched.system.parameter_symbols])
        self._places = {symbol.name: k for k, symbol in enumerate(self.switched.system.parameter_symbols)}
        self._modes: dict[tuple[Mode, float], Evaluation] = {}
        self._own_events = len(system.events)
        self._facing: tuple[tuple[float, ...], Array] = (), self._given  # the last directions asked for, as parameters

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

    @cached_property
    def _evaluation(self) -> Evaluation:
        return Evaluation(self.switched.system, self._given)

    # -- modes

    def evaluation(self, mode: Mode) -> Evaluation:
        """The mode as a system with values."""
        key = mode, self.slow
        own = self._modes.get(key)
        if own is None:
            own = Evaluation(self.switched.system, self._with(self.switched.values(mode, self.slow)))
            while len(self._modes) >= KEPT:
                self._modes.pop(next(iter(self._modes)))
            self._modes[key] = own
        return own

    def plain(self, mode: Mode) -> System:
        """The mode as a system by itself."""
        return plain(self.switched, self.switched.values(mode, self.slow))

    def endings(self, mode: Mode) -> dict[str, Ending]:
        """What the names of the internal events of a mode mean."""
        own = self.switched.system.events[self._own_events :]
        return {event.name: self.switched.ending(mode, number) for number, event in enumerate(own)}

    def is_own(self, name: str) -> bool:
        """Whether an event is one that ends a mode."""
        return name.endswith(MARK)

    def face(self, q: Array, v: Array, t: float) -> None:
        """Choose the directions in tangent planes anew, for the normals at a state."""
        if self.frames:
            normals = self._normals(q, v, t, self._given)[0].reshape(-1, 3)
            self.frames = tuple(x for normal in normals for x in frame_values(normal))

    def _with(self, values: Mapping[str, float]) -> Array:
        p = self._given.copy()
        for name, value in values.items():
            place = self._places.get(name)  # what a system does not use, it has no parameter for
            if place is not None:
                p[place] = value
        return p

    def _parameters(self, frames: tuple[float, ...] | None = None) -> Array:
        frames = self.frames if frames is None else frames
        if not frames:
            return self._given
        if frames == self._facing[0]:
            return self._facing[1]
        none = (OPEN,) * len(self.contacts)
        ones, shut = (1,) * len(self.contacts), (True,) * len(self.one_sided)
        self._facing = frames, self._with(self.switched.values(Mode(none, ones, ones, shut, frames), self.slow))
        return self._facing[1]

    # -- numbers at a state

    def look(
        self, q: Array, v: Array, a: Array, t: float, multipliers: Array, frames: tuple[float, ...] | None = None
    ) -> list[Array]:
        """Normal forces, sliding velocities and their rates, μ, μ_s; gaps and their first and second rates."""
        return self._state(q, v, a, t, self._parameters(frames), multipliers)

    def slides(self, q: Array, v: Array, t: float) -> Array:
        """The sliding velocities."""
        return self.look(q, v, np.zeros(self.n), t, np.zeros(self.m))[1]

    def forces(self, q: Array, v: Array, t: float, frames: tuple[float, ...] | None = None) -> Array:
        """The generalized forces of unit forces along the sliding components, (n, components)."""
        (columns,) = self._forces(q, v, t, self._parameters(frames))
        return columns.reshape(self.n, -1)

    def stick_rows(self, k: int) -> list[int]:
        """The rows of the switched system that make contact k stick."""
        at = self.components[k]
        return list(range(self.m + at.start, self.m + at.stop))

    def instant(self, mode: Mode, q: Array, v: Array, t: float) -> Fundamental:
        """The instant in a mode, by elimination where that serves."""
        evaluation = self.evaluation(mode)
        found = solve_regular(evaluation, q, v, t)
        return evaluation.solve(q, v, t) if found is None else found

    def solve(self, mode: Mode, q: Array, v: Array, t: float) -> ModeSolution:
        """The instant in a mode, with all that its contacts do. Where its forces are not determined, they are the
        smallest.
        """
        evaluation = self.evaluation(mode)
        found = solve_regular(evaluation, q, v, t)
        if found is None:
            found = evaluation.solve(q, v, t)
            evaluation.require_consistent(found, t)
        multipliers = found.multipliers[: self.m]
        _, Q, A, _ = self.whole.dynamics(q, v, t)
        C = found.M @ found.acceleration - Q - A.T @ multipliers
        looked = self.look(q, v, found.acceleration, t, multipliers, mode.frames)
        normal, slide, slide_rate, mu, mu_static, gap, gap_rate, gap_acceleration = looked
        friction = np.zeros(slide.size)
        ones = self.look(q, v, found.acceleration, t, np.ones(self.m), mode.frames)[0]
        lever = np.array([one if contact.signed else 0.0 for one, contact in zip(ones, self.contacts, strict=True)])
        for k, at in enumerate(self.components):
            if mode.states[k] == STICK:
                friction[at] = found.multipliers[self.stick_rows(k)]
            elif mode.states[k] == SLIP:
                friction[at] = -mu[k] * abs(normal[k]) * self.way(mode, k, slide)
        return ModeSolution(
            found, found.acceleration, multipliers, C, normal, friction, slide, slide_rate, mu, mu_static,
            gap, gap_rate, gap_acceleration, lever, np.linalg.norm(A, axis=1),
            redundant=int(found.rank) < int(np.any(found.A, axis=1).sum()),
        )  # fmt: skip

    def given(self, mode: Mode, q: Array, v: Array, t: float) -> Array:
        """All that determines the instant in a mode: the equations and the coefficients of friction. At rest nothing of
        it changes, and neither does the solution.
        """
        looked = self.look(q, v, np.zeros(self.n), t, np.zeros(self.m), mode.frames)
        return np.concatenate([part.ravel() for part in (*self.evaluation(mode).dynamics(q, v, t), *looked[3:5])])

    def acceleration(self, mode: Mode, q: Array, v: Array, t: float) -> Array:
        """q̈ in a mode."""
        return self.instant(mode, q, v, t).acceleration

    def look_along(self, mode: Mode, q: Array, v: Array, a: Array, t: Array, multipliers: Array) -> list[Array]:
        """As `look`, at many points of a mode; the first axis is theirs."""
        return self._state.many(t.size, q, v, a, t, self._parameters(mode.frames), multipliers)

    def way(self, mode: Mode, k: int, slide: Array) -> Array:
        """The direction in which contact k slips."""
        u = slide[self.components[k]]
        return np.array([float(mode.directions[k])]) if u.size == 1 else u / max(float(np.linalg.norm(u)), 1e-300)
