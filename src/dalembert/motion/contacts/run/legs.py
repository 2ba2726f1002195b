"""Motions with contacts: one smooth leg after the other, each in its mode, ended by what ends the mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, InconsistentState
from dalembert.mechanics.solve.fundamental import Fundamental, solve
from dalembert.methods.table import STIFF
from dalembert.model.system import System
from dalembert.motion.contacts.decide.decide import REST, Rest, decide
from dalembert.motion.contacts.impacts.corners import require_no_corner
from dalembert.motion.contacts.impacts.impacts import Impact, impacts_at, left_out, with_impulses
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Ending, Mode, ModeSolution
from dalembert.motion.contacts.modes.scale import Scale, scale_of
from dalembert.motion.contacts.modes.switched import SLOW
from dalembert.motion.contacts.run.between_legs import Side, changes, ends_with, passed_between, struck
from dalembert.motion.contacts.run.creep import LONGER, begun, creeping, first_moment
from dalembert.motion.contacts.run.giving_way import GIVES_WAY, looked_at, while_it_holds
from dalembert.motion.contacts.run.ledger import Ledger
from dalembert.motion.integrate.events import Outcome, Passage
from dalembert.motion.integrate.settings import Settings, share_of, tolerances
from dalembert.motion.integrate.trajectory import Trajectory, failure_message, fastest_of, in_order
from dalembert.motion.state.consistent import require_consistent_state
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import project
from dalembert.motion.state.reactions import IN_WORK

# A leg: evaluation of the mode, settings, q, q̇, t, the instant there, and the work done so far.
Integrate = Callable[[Evaluation, Settings, Array, Array, float, Fundamental, Array], Trajectory]
# So many modes within this share of the motion: they follow each other without end.
MOST_AT_ONCE, AT_ONCE = 200, 1e-9
# A one-sided constraint that parts at less than this share of the fastest approach so far stays closed: it would rise
# by the square of it, which must stay above what counts as zero for an event.
BOUNCES = 1e-5
UNDETERMINED = (
    "more contacts stick than are needed to hold the system, so that their forces are not determined: those given are "
    "one choice inside the cones of friction, and they hold while there is one"
)
# What slips off slowly begins with an acceleration of next to nothing: this share of what it would be without friction
# and constraints says more of the size it will have, and is far above the rounding of forces that balance.
BALANCED = 1e-2
# The share of its rise after which a bounce is seen to be open: not the apex, where users look for events.
RISING = 0.7
# A bounce rises at least by this share of the coordinates: events take less than 1e-12 of their terms for zero.
RISE = 1e-11
# A leg may be short, and something turn in it by rounding only: components need not be known to less than what the
# tolerance is of this share of the size they have in the whole motion.
SMALL = 1e-3
# No step is as short as this share of the time.
SOON = 1e-15
# Contacts this much faster than what counts as rest stop together with one that has stopped, if all then stick.
ALMOST = 100.0
# On a surface that moves, slipping below so many tolerances of its velocity cannot be told from none.
CARRIED = 20.0
# A gap below this share of the size of the state is closed at the start.
GAP = 1e-9


@dataclass(frozen=True)
class Legs:
    """A motion with contacts. modes: of each output point; `of` its own trajectory. impacts: its blows, in order."""

    trajectory: Trajectory
    modes: tuple[Mode, ...]
    contacts: Contacts
    impacts: tuple[Impact, ...] = ()


def integrate_legs(contacts: Contacts, settings: Settings, q: Array, v: Array, t0: float, integrate: Integrate) -> Legs:
    return _Run(contacts, settings, integrate).integrate(q, v, t0)


class _Run:
    def __init__(self, contacts: Contacts, settings: Settings, integrate: Integrate | None = None) -> None:
        self.contacts, self.settings, self.leg = contacts, settings, integrate
        self.ledger = Ledger(contacts.heats)
        self.scale = Scale(1.0, 1.0, 1.0)  # known from the start on
        self.least: Array | None = None  # small sizes of (q, q̇), likewise
        self.rest = Rest()
        self.undetermined = False
        self.met: set[int] = set()  # the one-sided constraints in the impact that ended the last leg
        self.halted: set[int] = set()  # the contacts at rest where one of them has ended the last leg by stopping
        self.reach = 0.0  # the largest coordinate at the impacts so far
        self.approach = 0.0  # the fastest at which a one-sided constraint closed
        self.t: list[Array] = []
        self.y: list[Array] = []
        self.modes: list[Mode] = []
        self.events: list[dict[str, Any]] = []
        self.passages: list[dict[str, Any]] = []  # events of the system just between legs
        self.legs: list[Trajectory] = []
        self.impacts: list[Impact] = []

    def integrate(self, q: Array, v: Array, t: float) -> Legs:
        contacts, times = self.contacts, self.settings.times
        end = float(times[-1])
        self.contacts.face(q, v, t)
        v, work, touching = self._start(q, v, t)
        stopped = self._stopped(q, v, t)
        failure, ended, mark, at_once = None, None, t, 0
        before: Mode | None = None
        while True:
            try:
                parting = v
                q, v, mode = self._enter(t, q, v, stopped, touching, before)
            except DalembertError as error:
                failure = failure_message(contacts.system.name, t, str(error))
                if not self.t:
                    raise
                break
            if before is not None and self.met:
                work = self._settled(t, q, parting, v, work)
            if before is None:
                self.events += struck(contacts, t, Side(mode, q, v), self.met)
            else:
                self.events += changes(contacts, t, before, Side(mode, q, v), self.met, self.halted)
            evaluation = contacts.evaluation(mode)
            start = contacts.instant(mode, q, v, t)
            if before is not None:
                ended = self._passed_between(t, q, v, before, mode)
                if ended is not None:
                    self._add(np.array([t]), q, v, work, mode)
                    break
                # Times that follow so soon that no step fits between.
                self._add(times[(times > t) & (times <= t + SOON * abs(t))], q, v, work, mode)
            later = times[times > t + (0.0 if before is None else SOON * abs(t))]
            if not later.size and self.t:
                break
            leg = self._integrate_leg(mode, evaluation, later, t, q, v, start, work)
            ending = Ending("give", -1) if leg.ended == GIVES_WAY else contacts.endings(mode).get(leg.ended or "")
            if leg.failure is not None or ending is None:
                failure, ended = self._named(leg.failure, mode), leg.ended
                if ended is not None:
                    self._tell_coincidence(mode, float(leg.t[-1]), *self._parts(leg))
                break
            t, (q, v, work) = float(leg.t[-1]), self._parts(leg)
            at_once = at_once + 1 if t - mark <= AT_ONCE * (end - float(times[0])) else 0
            mark = t if at_once == 0 else mark
            if at_once > MOST_AT_ONCE:
                failure = failure_message(
                    contacts.system.name, t, "its contacts change between sticking, slipping and opening without end."
                )
                break
            try:
                v, work, stopped, touching = self._transition(mode, ending, t, q, v, work)
            except DalembertError as error:
                failure = failure_message(contacts.system.name, t, str(error))
                break
            before = mode
        return Legs(self._trajectory(failure, ended), tuple(self.modes), contacts, tuple(self.impacts))

    def _named(self, failure: str | None, mode: Mode) -> str | None:
        """A failure about constraint forces in the words of the model: which friction they disagree with."""
        names = [c.name for c, state in zip(self.contacts.contacts, mode.states, strict=True) if state == SLIP]
        if failure is None or not names:
            return failure
        return failure.replace(IN_WORK, f"(friction of {', '.join(map(repr, names))})")

    def _start(self, q: Array, v: Array, t: float) -> tuple[Array, Array, set[int]]:
        """Velocity after impacts at the start, no work, and the one-sided constraints that touch. Refuses a state off
        the constraints, or beyond a one-sided one.
        """
        contacts, system, times = self.contacts, self.contacts.system, self.settings.times
        self.scale = scale_of(contacts, q, v, t, float(times[-1] - times[0]))
        contacts.slow, contacts.length = SLOW * self.scale.slide, self.scale.length
        self.least = SMALL * self._sizes(q, v, t)
        gap, rate = self._gaps(q, v, t)
        small, slow = GAP * self._reach(q), REST * max(float(np.abs(v).max(initial=0.0)), 1e-300)
        beyond = [
            system.constraints[contacts.one_sided[k]].name for k in range(gap.size) if gap[k] < -1e-6 * self._reach(q)
        ]
        if beyond:
            raise InconsistentState(
                f"{system.name}: the initial state violates the one-sided {', '.join(map(repr, beyond))}, which must "
                "not be negative: use system.consistent(…), or 'dalembert run --repair'"
            )
        touching = {k for k in range(gap.size) if gap[k] <= small and rate[k] <= slow}
        require_no_corner(contacts, sorted(touching), q, t, self._reach(q))
        ones = (1,) * len(contacts.contacts)
        shut = tuple(k in touching and rate[k] >= -slow for k in range(gap.size))
        resting = Mode((OPEN,) * len(ones), ones, ones, shut, contacts.frames)
        require_consistent_state(contacts.evaluation(resting), q, v, t)
        if any(rate[k] < -slow for k in touching):
            v, _, touching = self._impact(t, q, v, self.ledger.empty())
        return v, self.ledger.empty(), touching  # the motion, and its ledger, begin after an impact

    def _sizes(self, q: Array, v: Array, t: float) -> Array:
        """The sizes of (q, q̇) over the whole motion, as a motion without contacts would have them."""
        M, Q, _, _ = self.contacts.whole.dynamics(q, v, t)
        free = np.asarray(np.linalg.lstsq(M, Q, rcond=None)[0], dtype=np.float64)
        sizes = np.array(tolerances(self.settings, q, v, free) / max(share_of(self.settings), 1e-300))
        # An angle that begins at zero says nothing of its size, and lengths in small units would say far too little:
        # one as large in the metric of the masses.
        weight = np.sqrt(np.abs(np.diagonal(M)))
        silent = (q == 0.0) & (v == 0.0) & (np.abs(free) <= 1e-12 * np.abs(free).max(initial=0.0)) & (weight > 0)
        for part in np.split(sizes, 2):
            largest = float((weight * part)[~silent].max(initial=0.0))
            part[silent] = np.maximum(part[silent], np.minimum(largest / weight[silent], 1.0))
        return sizes

    def _integrate_leg(
        self,
        mode: Mode,
        evaluation: Evaluation,
        later: Array,
        t: float,
        q: Array,
        v: Array,
        start: Fundamental,
        work: Array,
    ) -> Trajectory:
        """A leg to the last of the times or to what ends it. Returns the last of its parts."""
        rising = self._rising(mode, t, q, v, start.acceleration)
        creeps = creeping(self.contacts, mode, t, q, v, start)
        since, moment, method = t, first_moment(self.contacts, q, v, start), STIFF
        if rising is not None:
            # A bounce may be short against a step: first to where it is seen to be open.
            moment, method = rising, self.settings.method
        while (rising is not None or creeps) and since + moment < later[-1]:
            until = [*later[later < since + moment], since + moment]
            leg = self._part(mode, evaluation, until, t, q, v, start, work, method)
            if leg.failure is not None or leg.ended is not None:
                return leg
            t, (q, v, work) = float(leg.t[-1]), self._parts(leg)
            start, later = self.contacts.instant(mode, q, v, t), later[later > t]
            if rising is not None or begun(self.contacts, creeps, t, q, v, start, since):
                return self._part(mode, evaluation, later, t, q, v, start, work)
            moment *= LONGER
        return self._part(mode, evaluation, later, t, q, v, start, work, STIFF if creeps else None)

    def _part(
        self,
        mode: Mode,
        evaluation: Evaluation,
        times: Any,
        t: float,
        q: Array,
        v: Array,
        start: Fundamental,
        work: Array,
        method: str | None = None,
    ) -> Trajectory:
        """A leg over the given times, kept. method: in place of the one asked for."""
        during = replace(
            self.settings,
            times=np.concatenate([[t], looked_at(t, times) if mode.undetermined else times]),
            passed=self._passed(),
            of_user=len(self.contacts.system.events),
            rates=BALANCED * np.abs(np.nan_to_num(start.unconstrained)),
            least=self.least,
            method=method or self.settings.method,
        )
        integrate, n = self.leg, self.contacts.n
        assert integrate is not None  # only an instant, which takes no time, does without

        def onward(t: float, y: Array, times: Array) -> Trajectory:
            q, v, work = y[:n], y[n : 2 * n], y[2 * n :]
            then = replace(during, times=np.concatenate([[t], times]))
            return integrate(evaluation, then, q, v, t, self.contacts.instant(mode, q, v, t), work)

        heats = evaluation.graph.heats
        leg = integrate(evaluation, during, q, v, t, start, work[self.ledger.columns(heats)])
        if mode.undetermined:
            leg = while_it_holds(self.contacts, mode, leg, onward)
        states, integrals = np.split(leg.y, [2 * n], axis=1)
        entries = self.ledger.along(work, heats, integrals)
        if STICK in mode.states and self.contacts.workless:
            entries = self.ledger.held_as_friction(work, entries)
        leg = replace(leg, y=np.hstack([states, entries]))
        self.legs.append(leg)
        self._keep(leg, mode, leg.ended == GIVES_WAY or (leg.ended or "") in self.contacts.endings(mode))
        return leg

    def _parts(self, leg: Trajectory) -> tuple[Array, Array, Array]:
        """q, q̇ and the work at the end of a leg."""
        n, y = self.contacts.n, leg.y[-1]
        return y[:n].copy(), y[n : 2 * n].copy(), y[2 * n :].copy()

    def _rising(self, mode: Mode, t: float, q: Array, v: Array, a: Array) -> float | None:
        """How long an open one-sided constraint that has just closed and bounces will surely stay open: not quite half
        of its flight.
        """
        gap, _ = self._gaps(q, v, t)
        found = self.contacts.look(q, v, a, t, np.zeros(self.contacts.m))
        flights = [
            RISING * found[6][k] / -found[7][k]
            for k, closed in enumerate(mode.closed)
            if not closed and abs(gap[k]) <= GAP * self._reach(q) and found[6][k] > 0 and found[7][k] < 0
        ]
        return min(flights, default=None)

    def _add(self, times: Array, q: Array, v: Array, work: Array, mode: Mode) -> None:
        """Output points at a state between legs."""
        times = times[times > (self.t[-1][-1] if self.t and self.t[-1].size else -np.inf)]
        self.t.append(times)
        self.y.append(np.tile(np.concatenate([q, v, work]), (times.size, 1)))
        self.modes += [mode] * times.size

    def _passed_between(self, t: float, q: Array, v: Array, before: Mode, mode: Mode) -> str | None:
        """Report the events of the system that pass zero between the last leg and the next. Returns the one that ends
        the motion.
        """
        system, n, leg = self.contacts.system, self.contacts.n, self.legs[-1]
        sides = Side(before, leg.y[-1, :n], leg.y[-1, n : 2 * n]), Side(mode, q, v)
        for passing in passed_between(self.contacts, self.settings, t, *sides):
            event, passed = system.events[passing.which], self._passed()[passing.which]
            (report,) = Outcome((Passage(passing.which, t, passing.direction, np.concatenate([q, v])),)).reports(system)
            if any(_same(report, told, passing.since) for told in leg.events):
                continue
            self.passages.append(report)
            if event.terminal and passed + 1 >= event.terminal:
                return event.name
        return None

    def _tell_coincidence(self, mode: Mode, t: float, q: Array, v: Array, work: Array) -> None:
        """Reports of what ends a mode at the very instant at which an event of the system ends the motion."""
        ending = ends_with(self.contacts, self.settings, t, Side(mode, q, v))
        if ending is None:
            return
        try:
            v, _, stopped, touching = self._transition(mode, ending, t, q, v, work)
            q, v, after = self._enter(t, q, v, stopped, touching, mode)
        except DalembertError:
            return  # what would come next is not asked for
        self.events += changes(self.contacts, t, mode, Side(after, q, v), self.met, self.halted)

    def _passed(self) -> tuple[int, ...]:
        """How often each event of the system was passed in the legs so far."""
        names = [event["name"] for leg in self.legs for event in leg.events]
        names += [event["name"] for event in self.passages]
        return tuple(names.count(event.name) for event in self.contacts.system.events)

    # -- between legs

    def _enter(
        self, t: float, q: Array, v: Array, stopped: set[int], touching: set[int], last: Mode | None
    ) -> tuple[Array, Array, Mode]:
        """The mode at a state, and the state returned to its constraints."""
        self.contacts.face(q, v, t)
        self.contacts.slow = self._slow(q, v, t)
        mode, found, v = self._decided(t, q, v, stopped, touching, last)
        self.undetermined |= found.undetermined
        mode = replace(mode, undetermined=found.undetermined)
        self.rest.leaving, self.rest.opening, self.rest.pushes, self.rest.given = set(), set(), {}, None
        if self.settings.project:
            q, v, _ = project(self.contacts.evaluation(mode), q, v, t)
        return q, v, mode

    def _slow(self, q: Array, v: Array, t: float) -> float:
        """The speed at which a contact on a surface has stopped. On a surface that moves, slow slipping is the
        difference of large velocities, which are known to the tolerance.
        """
        carried = self.contacts.slides(q, v, t) - self.contacts.forces(q, v, t).T @ v
        moving = CARRIED * self.settings.rtol * float(np.abs(carried).max(initial=0.0))
        return max(SLOW * self.scale.slide, moving)

    def _decided(
        self, t: float, q: Array, v: Array, stopped: set[int], touching: set[int], last: Mode | None
    ) -> tuple[Mode, ModeSolution, Array]:
        """The mode, its instant and the velocity with which it begins. Contacts that have almost stopped when another
        one stops stop with it, if then all of them stick: those of a body that only translates stop at one instant.
        """
        if self.halted:
            together = self._stopped(q, v, t, ALMOST) - self.rest.leaving
            if together - stopped:
                held = v.copy()
                try:
                    found = decide(self.contacts, t, q, held, self.rest, stopped | together, touching, last)
                except DalembertError:
                    found = None
                if found is not None and all(found[0].states[k] in (STICK, OPEN) for k in stopped | together):
                    self.halted |= together
                    return found
        return decide(self.contacts, t, q, v, self.rest, stopped, touching, last)

    def _transition(
        self, mode: Mode, ending: Ending, t: float, q: Array, v: Array, work: Array
    ) -> tuple[Array, Array, set[int], set[int]]:
        """Velocity and work after what ended a mode, the contacts at rest, and the one-sided constraints that touch."""
        k, self.met, self.halted = ending.which, set(), set()
        closed = {j for j, shut in enumerate(mode.closed) if shut}
        stopped = self._stopped(q, v, t) | {j for j, s in enumerate(mode.states) if s == STICK}
        if ending.kind == "stop":
            stopped |= {k}
            self.halted = stopped
        elif ending.kind == "break":
            self.rest.leaving = {k}
        elif ending.kind == "turn":
            self.rest.pushes = {k: -mode.pushes[k]}
        elif ending.kind == "open":
            self.rest.opening = {k}
        elif ending.kind == "give":
            self.rest.given = mode
        elif ending.kind == "close":
            v, work, closed = self._impact(t, q, v, work)
            stopped = self._stopped(q, v, t)
        return v, work, stopped, closed

    def _impact(self, t: float, q: Array, v: Array, work: Array) -> tuple[Array, Array, set[int]]:
        """Velocity and work after an impact of all one-sided constraints that now meet, and those that then touch."""
        gap, rate = self._gaps(q, v, t)
        slow = REST * max(float(np.abs(v).max(initial=0.0)), 1e-300)
        touching = [j for j in range(gap.size) if gap[j] <= GAP * self._reach(q)]
        require_no_corner(self.contacts, touching, q, t, self._reach(q))
        self.approach = max(self.approach, *(-rate[j] for j in touching))
        blows, met = impacts_at(self.contacts, touching, t, q, v, slow, self._slowest(t, q, v))
        self.met |= met
        self.impacts += blows
        before, v = v, blows[-1].after if blows else v
        rate = self._gaps(q, v, t)[1]
        work = self.ledger.after_impact(self.contacts, work, t, q, before, v, sum(blow.loss for blow in blows))
        # What would part more slowly than the slowest bounce stays closed, if forces keep it so.
        slow = max(slow, self._slowest(t, q, v))
        return v, work, {j for j in touching if rate[j] <= slow}

    def _settled(self, t: float, q: Array, before: Array, after: Array, work: Array) -> Array:
        """The work after an impact with bounces that are left out."""
        if not self.impacts or self.impacts[-1].t != t:
            return work
        work, lost = self.ledger.after_settling(self.contacts, work, t, q, before, after)
        self.impacts[-1] = replace(self.impacts[-1], left_out=lost)
        return work

    def _slowest(self, t: float, q: Array, v: Array) -> float:
        """The speed of the slowest bounce: a share of the fastest impact, and so fast that it rises visibly."""
        M, Q, _, _ = self.contacts.whole.dynamics(q, v, t)
        rate = float(np.abs(np.linalg.lstsq(M, Q, rcond=None)[0]).max())
        self.reach = max(self.reach, float(np.abs(q).max()))
        return max(BOUNCES * self.approach, float(np.sqrt(2 * RISE * self.reach * rate)))

    def _stopped(self, q: Array, v: Array, t: float, almost: float = 1.0) -> set[int]:
        """The contacts at rest. almost: how much faster than what counts as rest they may be."""
        slide = self.contacts.slides(q, v, t)
        self.rest.speed = max(self.rest.speed, float(np.abs(slide).max(initial=0.0)))
        limit = REST * max(self.rest.speed, 1e-3 * float(np.abs(v).max(initial=0.0)))
        found = set()
        for k, at in enumerate(self.contacts.components):
            # On a surface, a leg has ended at `slow`; others beside it are as slow but for rounding.
            least = limit if at.stop - at.start == 1 else max(limit, 2 * self.contacts.slow)
            if np.linalg.norm(slide[at]) <= almost * least:
                found.add(k)
        return found

    def _gaps(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The gaps and their rates, as lengths and velocities of the coordinates however the equation is scaled."""
        found = self.contacts.look(q, v, np.zeros(self.contacts.n), t, np.zeros(self.contacts.m))
        A = self.contacts.whole.dynamics(q, v, t)[2][list(self.contacts.one_sided)]
        steep = np.linalg.norm(A, axis=1)
        steep[steep == 0.0] = 1.0
        return found[5] / steep, found[6] / steep

    def _reach(self, q: Array) -> float:
        return max(float(np.abs(q).max(initial=0.0)), self.scale.length)

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

    def _trajectory(self, failure: str | None, ended: str | None) -> Trajectory:
        legs = self.legs
        reports = [e for leg in legs for e in leg.events if not self.contacts.is_own(e["name"])]
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
            events=with_impulses(in_order(reports, self.passages, self.events), self.impacts),
            failure=failure,
            ended=ended,
            fastest=fastest_of(legs, self.contacts.whole),
            warnings=(
                *dict.fromkeys(w for leg in legs for w in leg.warnings),
                *((UNDETERMINED,) if self.undetermined else ()),
                *left_out(self.contacts, self.impacts),
            ),
        )


def _same(report: Mapping[str, Any], told: Mapping[str, Any], since: float) -> bool:
    """Whether a passage was told already by the leg that ended with it, where it was located by itself."""
    return told["t"] >= since and report["name"] == told["name"] and report["direction"] == told["direction"]


def resting_or_moving(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental:
    """The instant of a system with contacts at a state, in the mode that it takes there."""
    contacts = Contacts(evaluation.system)
    v, mode, found = _here(contacts, q, v, t)
    M, Q, A, b = evaluation.dynamics(q, v, t)
    acting = np.ones(contacts.m, dtype=bool)
    acting[list(contacts.one_sided)] = mode.closed
    return solve(M, Q, np.where(acting[:, None], A, 0.0), np.where(acting, b, 0.0), found.C)


def mode_at(system: System) -> System:
    """The mode that a system with contacts takes at its initial state, as a system with values of its own."""
    contacts = Contacts(system)
    q, v, t = system.initial_values()
    v, mode, _ = _here(contacts, q, v, t)
    return contacts.plain(mode).replace(initial=dict(zip(system.velocities, v, strict=True)))


def _here(contacts: Contacts, q: Array, v: Array, t: float) -> tuple[Array, Mode, ModeSolution]:
    """The velocity after what happens at once, the mode at a state, and its instant."""
    run = _Run(contacts, Settings(np.array([t, t]), 1e-9, None, "auto", True, "reference"))
    v, _, touching = run._start(q, v, t)
    contacts.face(q, v, t)
    mode, found, _ = decide(contacts, t, q, v, run.rest, run._stopped(q, v, t), touching)
    return v, mode, found
