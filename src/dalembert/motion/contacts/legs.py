"""Motions with contacts: one smooth leg after the other, each in its mode, ended by what ends the mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.errors import DalembertError, InconsistentState
from dalembert.mechanics.fundamental import Array, Fundamental, solve
from dalembert.motion.consistent import require_consistent_state
from dalembert.motion.contacts.history import ContactHistory, Held
from dalembert.motion.contacts.modes import OPEN, SLIP, STICK, Contacts, Ending, Mode
from dalembert.motion.contacts.transitions import REST, Rest, decide, impact
from dalembert.motion.evaluation import Evaluation
from dalembert.motion.project import project
from dalembert.motion.settings import Settings
from dalembert.motion.trajectory import Trajectory, failure_message, in_order

# A leg: evaluation of the mode, settings, q, q̇, t, the instant there, and the work done so far.
Integrate = Callable[[Evaluation, Settings, Array, Array, float, Fundamental, Array], Trajectory]
# So many modes within this share of the motion: they follow each other without end.
MOST_AT_ONCE, AT_ONCE = 200, 1e-9
# A one-sided constraint that parts at less than this share of the fastest approach so far stays closed: it would rise
# by the square of it, which must stay above what counts as zero for an event.
BOUNCES = 1e-5
UNDETERMINED = (
    "more contacts stick than are needed to hold the system, so that their forces are not determined: those given are "
    "one choice inside the cones of friction, and when they would give way is not seen"
)
# A gap below this share of the size of the state is closed at the start.
GAP = 1e-9


@dataclass(frozen=True)
class Legs:
    """A motion with contacts. modes: of each output point; `of` its own trajectory."""

    trajectory: Trajectory
    modes: tuple[Mode, ...]
    contacts: Contacts


def integrate_legs(contacts: Contacts, settings: Settings, q: Array, v: Array, t0: float, integrate: Integrate) -> Legs:
    return _Run(contacts, settings, integrate).integrate(q, v, t0)


class _Run:
    def __init__(self, contacts: Contacts, settings: Settings, integrate: Integrate) -> None:
        self.contacts, self.settings, self.leg = contacts, settings, integrate
        self.rest = Rest()
        self.undetermined = False
        self.approach = 0.0  # the fastest at which a one-sided constraint closed
        self.t: list[Array] = []
        self.y: list[Array] = []
        self.modes: list[Mode] = []
        self.events: list[dict[str, Any]] = []
        self.legs: list[Trajectory] = []

    def integrate(self, q: Array, v: Array, t: float) -> Legs:
        contacts, times = self.contacts, self.settings.times
        end = float(times[-1])
        v, work, touching = self._start(q, v, t)
        stopped = self._stopped(q, v, t, set())
        failure, ended, mark, at_once = None, None, t, 0
        before: Mode | None = None
        why: Ending | None = None
        while True:
            try:
                q, v, mode = self._enter(t, q, v, stopped, touching)
            except DalembertError as error:
                failure = failure_message(contacts.system.name, t, str(error))
                if not self.t:
                    raise
                break
            self._tell(t, q, v, before, mode, why)
            evaluation = contacts.evaluation(mode)
            start = evaluation.solve(q, v, t)
            later = times[times > t]
            if not later.size and self.t:
                break
            leg = self.leg(evaluation, replace(self.settings, times=np.concatenate([[t], later])), q, v, t, start, work)
            self.legs.append(leg)
            ending = contacts.endings(mode).get(leg.ended or "")
            self._keep(leg, mode, ending is not None)
            if leg.failure is not None or ending is None:
                failure, ended = leg.failure, leg.ended
                break
            n = contacts.n
            t, q, v, work = (
                float(leg.t[-1]),
                leg.y[-1, :n].copy(),
                leg.y[-1, n : 2 * n].copy(),
                leg.y[-1, 2 * n :].copy(),
            )
            at_once = at_once + 1 if t - mark <= AT_ONCE * (end - float(times[0])) else 0
            mark = t if at_once == 0 else mark
            if at_once > MOST_AT_ONCE:
                failure = failure_message(
                    contacts.system.name, t, "its contacts change between sticking, slipping and opening without end."
                )
                break
            v, work, stopped, touching = self._transition(mode, ending, t, q, v, work)
            before, why = mode, ending
        return Legs(self._trajectory(failure, ended), tuple(self.modes), contacts)

    def _start(self, q: Array, v: Array, t: float) -> tuple[Array, Array, set[int]]:
        """Velocity and work after impacts at the start, and the one-sided constraints that touch. Refuses a state off
        the constraints, or beyond a one-sided one.
        """
        contacts, system = self.contacts, self.contacts.system
        gap, rate = self._gaps(q, v, t)
        small, slow = GAP * self._reach(q), REST * max(float(np.abs(v).max(initial=0.0)), 1e-300)
        beyond = [
            system.constraints[contacts.one_sided[k]].name for k in range(gap.size) if gap[k] < -1e-6 * self._reach(q)
        ]
        if beyond:
            raise InconsistentState(
                f"{system.name}: the initial state violates the one-sided {', '.join(map(repr, beyond))}, which must "
                "not be negative"
            )
        touching = {k for k in range(gap.size) if gap[k] <= small and rate[k] <= slow}
        ones = (1,) * len(contacts.contacts)
        resting = Mode(
            (OPEN,) * len(ones), ones, ones, tuple(k in touching and rate[k] >= -slow for k in range(gap.size))
        )
        require_consistent_state(contacts.evaluation(resting), q, v, t)
        work = np.zeros(3)
        for k in sorted(touching):
            if rate[k] < -slow:
                v, work, _, closed = self._transition(resting, Ending("close", k), t, q, v, work)
                touching = touching if k in closed else touching - {k}
        return v, work, touching

    # -- between legs

    def _enter(self, t: float, q: Array, v: Array, stopped: set[int], touching: set[int]) -> tuple[Array, Array, Mode]:
        """The mode at a state, and the state returned to its constraints."""
        v = self._nudged(t, q, v, stopped)
        mode, found = decide(self.contacts, t, q, v, self.rest, stopped, touching)
        self.undetermined |= found.undetermined
        self.rest.leaving, self.rest.opening = set(), set()
        if self.settings.project:
            q, v, _ = project(self.contacts.evaluation(mode), q, v, t)
        return q, v, mode

    def _nudged(self, t: float, q: Array, v: Array, stopped: set[int]) -> Array:
        """Contacts that break away in a plane get a direction: against the force that held them."""
        for k in self.rest.leaving & stopped:
            at = self.contacts.components[k]
            if at.stop - at.start == 1:
                continue
            states = tuple(STICK if j in stopped else SLIP for j in range(len(self.contacts.contacts)))
            ones = (1,) * len(states)
            held = self.contacts.solve(Mode(states, ones, ones, (True,) * len(self.contacts.one_sided)), q, v, t)
            way = -held.friction[at] / max(float(np.linalg.norm(held.friction[at])), 1e-300)
            _, _, A, _ = self.contacts.whole.dynamics(q, v, t)
            rows = np.vstack([A, self.contacts.forces(q, v, t)[:, at].T])
            right = np.concatenate([np.zeros(A.shape[0]), 1e-6 * REST * way])
            v = v + np.linalg.lstsq(rows, right, rcond=1e-10)[0]
        return v

    def _transition(
        self, mode: Mode, ending: Ending, t: float, q: Array, v: Array, work: Array
    ) -> tuple[Array, Array, set[int], set[int]]:
        """Velocity and work after what ended a mode, the contacts at rest, and the one-sided constraints that touch."""
        k = ending.which
        closed = {j for j, shut in enumerate(mode.closed) if shut}
        stopped = self._stopped(q, v, t, closed) | {j for j, s in enumerate(mode.states) if s == STICK}
        if ending.kind == "stop":
            stopped |= {k}
        elif ending.kind == "break":
            self.rest.leaving = {k}
        elif ending.kind == "open":
            self.rest.opening = {k}
        elif ending.kind == "close":
            row = self.contacts.one_sided[k]
            speed = -float(self._gaps(q, v, t)[1][k])
            self.approach = max(self.approach, speed)
            e = self.contacts.system.constraints[row].restitution
            e = 0.0 if e is None else float(e.xreplace(dict(self.contacts.system.parameters)))
            if e * speed <= BOUNCES * self.approach:
                e = 0.0
            after = impact(self.contacts, mode, k, e, t, q, v)
            whole = self.contacts.whole
            lost = whole.energetics(q, after, t).energy - whole.energetics(q, v, t).energy
            work = work + np.array([0.0, 0.0, lost])
            v = after
            if e == 0.0:
                closed |= {k}
            stopped = self._stopped(q, v, t, closed) | {j for j, s in enumerate(mode.states) if s == STICK}
        return v, work, stopped, closed

    def _stopped(self, q: Array, v: Array, t: float, closed: set[int]) -> set[int]:
        slide = self.contacts.look(q, v, np.zeros(self.contacts.n), t, np.zeros(self.contacts.m))[1]
        self.rest.speed = max(self.rest.speed, float(np.abs(slide).max(initial=0.0)))
        limit = REST * max(self.rest.speed, 1e-3 * float(np.abs(v).max(initial=0.0)))
        return {k for k, at in enumerate(self.contacts.components) if np.linalg.norm(slide[at]) <= limit}

    def _gaps(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        found = self.contacts.look(q, v, np.zeros(self.contacts.n), t, np.zeros(self.contacts.m))
        return found[5], found[6]

    def _reach(self, q: Array) -> float:
        return max(float(np.abs(q).max(initial=0.0)), 1.0)

    # -- results

    def _keep(self, leg: Trajectory, mode: Mode, inner: bool) -> None:
        """The output points of a leg: its start was the end of the one before, its end is none unless asked for."""
        wanted = np.isin(leg.t, self.settings.times)
        if self.t:
            wanted[0] = False
        if not inner and leg.ended is not None:
            wanted[-1] = True
        self.t.append(leg.t[wanted])
        self.y.append(leg.y[wanted])
        self.modes += [mode] * int(wanted.sum())

    def _tell(self, t: float, q: Array, v: Array, before: Mode | None, mode: Mode, why: Ending | None) -> None:
        """Reports of what changed."""
        if before is None:
            return
        system = self.contacts.system
        symbols = (*system.coordinates, *system.velocities)
        state = {s.name: float(x) for s, x in zip(symbols, [*q, *v], strict=True)}
        for k, contact in enumerate(self.contacts.contacts):
            old, new = before.states[k], mode.states[k]
            name = None
            if old == SLIP and new == STICK:
                name = "stick"
            elif old == STICK and new == SLIP:
                name = "slip"
            elif old == new == SLIP and before.directions[k] != mode.directions[k]:
                name = "reversal"
            if name:
                self.events.append({"name": name, "contact": contact.name, "t": t, "state": state})
        for k, row in enumerate(self.contacts.one_sided):
            name = system.constraints[row].name
            if before.closed[k] and not mode.closed[k]:
                self.events.append({"name": "release", "contact": name, "t": t, "state": state})
            elif mode.closed[k] and not before.closed[k]:
                self.events.append({"name": "contact", "contact": name, "t": t, "state": state})
            elif why == Ending("close", k):
                self.events.append({"name": "impact", "contact": name, "t": t, "state": state})

    def _trajectory(self, failure: str | None, ended: str | None) -> Trajectory:
        legs = self.legs
        inner = {name for mode in set(self.modes) for name in self.contacts.endings(mode)}
        reports = [e for leg in legs for e in leg.events if e["name"] not in inner]
        if not legs:
            raise InconsistentState(failure or "no motion")
        return Trajectory(
            t=np.concatenate(self.t),
            y=np.concatenate(self.y),
            guesses=None,
            method=legs[0].method,
            backend=legs[0].backend,
            steps=sum(leg.steps for leg in legs),
            evaluations=sum(leg.evaluations for leg in legs),
            compile_s=sum(leg.compile_s for leg in legs),
            events=in_order(reports, self.events),
            failure=failure,
            ended=ended,
            warnings=(
                *dict.fromkeys(w for leg in legs for w in leg.warnings),
                *((UNDETERMINED,) if self.undetermined else ()),
            ),
        )


def points_of(legs: Legs) -> Held:
    """What holds and rubs along the output points."""
    contacts, trajectory, n = legs.contacts, legs.trajectory, legs.contacts.n
    T = trajectory.t.size
    C, acting = np.zeros((T, n)), np.ones((T, contacts.m), dtype=bool)
    normal, friction = np.zeros((len(contacts.contacts), T)), np.zeros((len(contacts.contacts), T))
    for i, mode in enumerate(legs.modes):
        y = trajectory.y[i]
        found = contacts.solve(mode, y[:n], y[n : 2 * n], float(trajectory.t[i]))
        C[i] = found.C
        acting[i, list(contacts.one_sided)] = mode.closed
        for k in range(len(contacts.contacts)):
            normal[k, i] = 0.0 if mode.states[k] == OPEN else found.normal[k]
            friction[k, i] = np.linalg.norm(found.friction[contacts.components[k]])
    own = {
        contact.name: ContactHistory(np.array([mode.states[k] for mode in legs.modes]), normal[k], friction[k])
        for k, contact in enumerate(contacts.contacts)
    }
    return Held(C, acting, own)


def resting_or_moving(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental:
    """The instant of a system with contacts at a state, in the mode that it takes there."""
    contacts = Contacts(evaluation.system)
    times = np.array([t, t])
    run = _Run(contacts, Settings(times, 1e-9, None, "auto", True, "reference"), _no_leg)
    v, _, touching = run._start(q, v, t)
    mode, found = decide(contacts, t, q, v, run.rest, run._stopped(q, v, t, set()), touching)
    M, Q, A, b = evaluation.dynamics(q, v, t)
    acting = np.ones(contacts.m, dtype=bool)
    acting[list(contacts.one_sided)] = mode.closed
    return solve(M, Q, np.where(acting[:, None], A, 0.0), np.where(acting, b, 0.0), found.C)


def _no_leg(*_: Any) -> Trajectory:
    raise NotImplementedError  # an instant takes no time
