"""The contacts of a system, and the instant in any mode: accelerations, reactions and friction as the mode has them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from math import hypot

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array, largest
from dalembert.graph.contacts import ContactState
from dalembert.kernel.ready.contact_states import contact_states
from dalembert.kernel.ready.modes import Instants, modes_of
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.model.system import System
from dalembert.motion.contacts.modes.contacts_at_states import FEW, ContactsAtStates
from dalembert.motion.contacts.modes.modes import (
    SLIP,
    STICK,
    Mode,
    ModeForces,
    ModeSolution,
    repeat_runs,
    runs_of,
)
from dalembert.motion.contacts.modes.regular import SPREAD, Equations, eliminate, equations_along, equations_near
from dalembert.motion.contacts.modes.regular_instant import fundamental_of, solve_regular
from dalembert.motion.contacts.modes.small_instant import Instant, small_instant, solution_of, with_contacts
from dalembert.remember import changed, remember

# Contacts have stopped below 1e-9 of the speeds of a motion, and squares of such velocities are nothing.
STOPPED = 1e-13


def _by_mode(modes: Sequence[Mode]) -> list[tuple[Mode, NDArray[np.int_]]]:
    """Each mode, and the points that are in it."""
    found: dict[Mode, list[int]] = {}
    last, own = None, []
    for k, mode in enumerate(modes):
        if mode is not last:  # points of a leg share theirs
            last, own = mode, found.setdefault(mode, [])
        own.append(k)
    return [(mode, np.array(at)) for mode, at in found.items()]


class Contacts(ContactsAtStates):
    """A system's contacts with values for its parameters: where everything else asks what they do.

    `at` and `along` give the state of all contacts, `solve` and `solve_along` the instant in a mode, `evaluation` a
    mode as a system with values. Nothing here depends on what was asked before: one serves motions, their output points
    and their certificates, in any number of threads. Which mode a state is in is found by `decide`.
    """

    def __init__(self, system: System) -> None:
        super().__init__(system)
        self._instants: dict[Hashable, tuple[Fundamental, Instant | None]] = {}

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
