"""Motions with contacts: one smooth leg after the other, each in its mode, ended by what ends the mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.errors import DalembertError, InconsistentConstraints, MotionFailed
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.methods.table import STIFF
from dalembert.motion.contacts.decide.agreement import moment_at
from dalembert.motion.contacts.decide.decide import REST
from dalembert.motion.contacts.decide.spare import spare_rows_hold
from dalembert.motion.contacts.impacts.impacts import Impact
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, STICK, Ending, Mode
from dalembert.motion.contacts.run.between_legs import (
    Side,
    changes,
    ends_with,
    entries_of_bounces,
    entries_of_first_impact,
    passings_between,
)
from dalembert.motion.contacts.run.bounces import bounces_in, bounces_of
from dalembert.motion.contacts.run.creep import LONGER, contacts_that_creep, has_set_off
from dalembert.motion.contacts.run.entering import enter_mode
from dalembert.motion.contacts.run.giving_way import GIVES_WAY, times_to_look_at, while_it_holds
from dalembert.motion.contacts.run.jumping_surfaces import JUMPS, Jumps, ended_by_jump
from dalembert.motion.contacts.run.record import Record
from dalembert.motion.contacts.run.small_sizes import small_sizes, small_sizes_of_leg
from dalembert.motion.contacts.run.standing import standing, stays
from dalembert.motion.contacts.run.transitions import ALMOST, GAP, Mark, Transitions
from dalembert.motion.integrate.again import Again
from dalembert.motion.integrate.events import Crossing, Outcome
from dalembert.motion.integrate.native import REPEATED
from dalembert.motion.integrate.pace import no_longer
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.integrate.trajectory import Trajectory, failure_message
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.reactions import IN_WORK
from dalembert.one_core import on_one_core
from dalembert.remember import changed, remember

# A leg: evaluation of the mode, settings, q, q̇, t, the instant there, and the work done so far.
Integrate = Callable[[Evaluation, Settings, Array, Array, float, Fundamental, Array], Trajectory]
# So many modes within this share of the motion: they follow each other without end.
MOST_AT_ONCE, AT_ONCE = 200, 1e-9
# What slips off slowly begins with an acceleration of next to nothing: this share of what it would be without friction
# and constraints says more of the size it will have, and is far above the rounding of forces that balance.
BALANCED = 1e-2
# The share of its rise after which a bounce is seen to be open: not the apex, where users look for events.
RISING = 0.7
# What parts more slowly than this share of the slowest bounce has not bounced.
SLOWER = 0.1
# What a leg knows of kernels: the next one wants the same, but for its values.
LASTING = ("wanted", "last")
# Of a beginning: the motion from there is one leg, which its end ends.
ONE_LEG = "one leg"
# So many beginnings of motions are kept with their settings.
OPENINGS = 4
# No step is as short as this share of the time.
SOON = 1e-15
# What ends a leg besides the events of its mode.
OWN_ENDINGS = {GIVES_WAY: Ending("give", -1), JUMPS: Ending("jump", -1)}


@dataclass(frozen=True)
class Legs:
    """A motion with contacts. modes: of each output point. impacts: its blows, in order."""

    trajectory: Trajectory
    modes: tuple[Mode, ...]
    contacts: Contacts
    impacts: tuple[Impact, ...] = ()


@on_one_core()
def integrate_legs(contacts: Contacts, settings: Settings, q: Array, v: Array, t0: float, integrate: Integrate) -> Legs:
    """The motion from a state, each leg by `integrate`."""
    return _Run(contacts, settings, integrate).integrate(q, v, t0)


def legs_of_one(contacts: Contacts, settings: Settings, q: Array, v: Array, t0: float, leg: Trajectory) -> Legs:
    """The motion from a state, of which it is known that it is this one leg to its end."""
    run = _Run(contacts, settings, _no_other)
    begins = run.begin(q, v, t0).first
    run.take(begins.mode, contacts.evaluation(begins.mode, run.between.scale.slow), leg, run.between.ledger.empty())
    return run.end(None, None)


def _no_other(*_: object) -> Trajectory:
    raise AssertionError("a motion of one leg has no other")


@dataclass(frozen=True)
class _Beginning:
    """How a leg begins: its mode, state and instant; rising: see `_rising`; creeps: the contacts that creep."""

    mode: Mode
    q: Array
    v: Array
    start: Fundamental
    rising: float
    creeps: tuple[int, ...]


@dataclass(frozen=True)
class _Opening:
    """How a motion begins. between: what is known after the first mode was found, to be copied. masses: of each
    coordinate. least: small sizes of (q, q̇). kept: ONE_LEG, once that is known of it.
    """

    between: Transitions
    first: _Beginning
    masses: Array
    least: Array
    kept: dict[str, bool]


class _Wedged(Exception):
    """A leg whose contacts are held closed by nothing but each other, and cannot stay so."""


class _Run:
    def __init__(self, contacts: Contacts, settings: Settings, integrate: Integrate) -> None:
        self.contacts, self.settings, self.leg = contacts, settings, integrate
        self.between = Transitions(contacts)
        self.record = Record(contacts, settings.times)
        self.jumps = Jumps(contacts, float(settings.times[-1] - settings.times[0]))
        self.kept: dict[str, Any] = settings.kept.get("leg", {})  # of a leg, what serves the next one too
        self.least = np.empty(0)  # small sizes of (q, q̇), known from the start on
        self.steps = 0  # of all legs so far
        self.is_repeated = False  # whether it is known from before to be one leg
        self.again: Again | None = None  # that leg once more
        self.is_new = True  # whether nothing of the present leg is written down yet

    def integrate(self, q: Array, v: Array, t: float) -> Legs:
        contacts, times, record = self.contacts, self.settings.times, self.record
        origin = q, v
        opening = self.begin(q, v, t)
        between = self.between
        end, work = float(times[-1]), between.ledger.empty()
        failure, ended, mark, at_once = None, None, t, 0
        before: Mode | None = None
        stopped: set[int] = set()
        touching: set[int] = set()
        begins, stands = opening.first, False
        q, v, mode = begins.q, begins.v, begins.mode
        while True:
            arrived = q, v, work, between.mark(), len(record.events)
            if before is not None:
                try:
                    parting = v
                    q, v, mode, decided = self._enter(t, q, v, stopped, touching, before)
                except DalembertError as error:
                    failure = failure_message(contacts.system.name, t, str(error))
                    break
                if between.met or between.caught:
                    work = between.work_after_settling(t, q, parting, v, work)
                record.events += changes(contacts, t, before, Side(mode, q, v), between.met, between.halted)
                stands = self._stands(decided)
                if not stands:
                    try:
                        begins = self._begins(mode, t, q, v)
                    except DalembertError as error:
                        if between.loose or not any(mode.closed):
                            failure = failure_message(contacts.system.name, t, str(error))
                            break
                        q, v, work = self._back(arrived)
                        continue
            soon = int(times.searchsorted(t, side="right"))
            if before is not None:
                ended = self._passed_between(t, q, v, before, mode)
                if ended is not None:
                    record.add(np.array([t]), q, v, work, mode)
                    break
                # Times that follow so soon that no step fits between.
                soon = int(times.searchsorted(t + SOON * abs(t), side="right"))
                record.add(times[record.count : soon], q, v, work, mode)
            later = times[soon:]
            if not later.size and not record.is_empty:
                break
            if stands:
                record.keep(standing(record.legs[-1], np.append(t, later), q, work), mode, inner=False)
                break
            try:
                leg = self._integrate_leg(begins, later, t, work)
            except _Wedged:
                if before is None:
                    record.events.clear()
                    opening = self.begin(*origin, t, loose=True)
                    between, begins = self.between, opening.first
                    q, v, mode = begins.q, begins.v, begins.mode
                else:
                    q, v, work = self._back(arrived)
                continue
            except DalembertError as error:  # it has no first step; what was computed before is kept
                if record.is_empty:
                    raise
                said = isinstance(error, MotionFailed)
                failure = str(error) if said else failure_message(contacts.system.name, t, str(error))
                break
            ending = OWN_ENDINGS.get(leg.ended or "") or contacts.ending(mode, leg.ended)
            if leg.failure is None and leg.ended is None:
                ending = self._ended_by_jump(Side(mode, *self._parts(leg)[:2]), end)
            if leg.failure is not None or ending is None:
                failure, ended = self._named(leg.failure, mode), leg.ended
                if ended is not None:
                    self._tell_coincidence(mode, float(leg.t[-1]), *self._parts(leg))
                break
            if self._is_spent():
                break
            t, (q, v, work) = float(leg.t[-1]), self._parts(leg)
            jumped = t < end and self._lets_go(mode, t, q, v)
            # Whatever ended the leg, what follows a jump just here is decided beyond it.
            if leg.ended == JUMPS or (t < end and self.jumps.are_at(q, v, t)):
                q, t = self.jumps.beyond(q, v, t)
            at_once = at_once + 1 if t - mark <= AT_ONCE * (end - float(times[0])) else 0
            mark = t if at_once == 0 else mark
            if at_once > MOST_AT_ONCE:
                failure = failure_message(
                    contacts.system.name, t, "its contacts change between sticking, slipping and opening without end."
                )
                break
            # Where a force jumps, the mode that it ends is over a rounding later, with the output at the jump in it. A
            # stop belongs to the mode before, but not where a surface jumps past: what slips has turned there.
            stops = ending.kind == "stop" and not between.is_passed(ending.which, q, v, t)
            to_next = jumped or not (stops or ending.kind == "close")
            handed_over = t - SOON * abs(t) if to_next and t > float(leg.t[0]) else None
            if handed_over is not None:
                handed_over = self.jumps.first_beyond(times, q, v, t, handed_over)
                record.hand_over(handed_over)
                record.add(times[record.count : int(times.searchsorted(handed_over))], q, v, work, mode)
            if ending.kind == "stop" and leg.fastest is not None:
                between.see_speed(*leg.fastest)
            try:
                v, work, stopped, touching = between.after(mode, ending, t, q, v, work, jumped)
            except DalembertError as error:
                failure = failure_message(contacts.system.name, t, str(error))
                break
            before = mode
        self.settings.kept["leg"] = {"wanted": self.kept["wanted"]} if "wanted" in self.kept else {}
        if before is None and failure is None and ended is None and len(record.legs) == 1:
            opening.kept[ONE_LEG] = True
            if self.again is not None:
                self.settings.kept["again"] = replace(self.again, start=(contacts, None))
        return self.end(failure, ended)

    def _back(self, arrived: tuple[Array, Array, Array, Mark, int]) -> tuple[Array, Array, Array]:
        """Where the last leg ended, for another mode than was decided there."""
        q, v, work, known, told = arrived
        del self.record.events[told:]
        self.between.decide_anew(known)
        return q, v, work

    def begin(self, q: Array, v: Array, t: float, loose: bool = False) -> _Opening:
        """How the motion begins, written down. loose: nothing is closed that need not be."""
        opening = self._opened(q, v, t, loose)
        self.between, self.least = opening.between.copy(), opening.least
        self.record.masses, self.is_repeated = opening.masses, ONE_LEG in opening.kept
        after = Side(opening.first.mode, opening.first.q, opening.first.v)
        self.record.events += entries_of_first_impact(self.contacts, t, after, self.between.met)
        return opening

    def end(self, failure: str | None, ended: str | None) -> Legs:
        """All that was written down, as a motion."""
        between, record = self.between, self.record
        trajectory = record.trajectory(failure, ended, between.impacts, between.undetermined, self._is_spent())
        return Legs(trajectory, tuple(record.modes), self.contacts, tuple(between.impacts))

    def _opened(self, q: Array, v: Array, t: float, loose: bool) -> _Opening:
        """How the motion begins. It is kept with the settings: a system is run from its own start again and again."""
        key, kept = (self.contacts, q.tobytes(), v.tobytes(), t, loose), self.settings.kept.setdefault("opening", {})
        return remember(kept, key, lambda: self._opening(q, v, t, loose), OPENINGS)

    def _opening(self, q: Array, v: Array, t: float, loose: bool) -> _Opening:
        contacts, times = self.contacts, self.settings.times
        between = self.between = Transitions(contacts)
        between.loose = loose
        masses = np.abs(contacts.unconstrained(q, v, t)[0].diagonal())
        least = small_sizes(contacts, self.settings, q, v, t)
        v, touching = between.start(q, v, t, float(times[-1]) - float(times[0]))
        begin = q
        if self.jumps.are_at(q, v, t):  # a surface may set off just at the start
            q, t = self.jumps.beyond(q, v, t)
        moved = q - begin
        q, v, mode, _ = self._enter(t, q, v, between.contacts_at_rest(q, v, t), touching, None)
        between.caught = []  # the ledger begins after it
        begins = self._begins(mode, t, q, v)
        return _Opening(between, replace(begins, q=q - moved), masses, least, {})

    def _begins(self, mode: Mode, t: float, q: Array, v: Array) -> _Beginning:
        start, rising = self.contacts.instant(mode.without_spare, q, v, t), self._rising(mode, t, q, v)
        creeps = () if rising else contacts_that_creep(self.contacts, mode, self.between.scale.slow, t, q, v, start)
        return _Beginning(mode, q, v, start, rising, creeps)

    def _enter(
        self, t: float, q: Array, v: Array, stopped: set[int], touching: set[int], last: Mode | None
    ) -> tuple[Array, Array, Mode, Fundamental]:
        return enter_mode(self.between, self.settings, t, q, v, stopped, touching, last)

    def _stands(self, decided: Fundamental) -> bool:
        """Whether the motion has come to its end, in a state that never changes. The first leg is integrated: it says
        how the others are.
        """
        asked = self.record.legs and self.settings.project and not self.contacts.system.events
        return bool(asked) and stays(self.contacts, decided)

    def _ended_by_jump(self, side: Side, end: float) -> Ending | None:
        """What ends a mode at the end of the motion: a force may jump just there, or the speed of a surface."""
        contacts, mode, between = self.contacts, side.mode, self.between
        if not self.jumps.are_at(side.q, side.v, end):
            return None
        if mode.sticking - between.contacts_at_rest(side.q, side.v, end, ALMOST):
            return OWN_ENDINGS[JUMPS]
        # Of forces that are not determined, none ends a mode by itself: `while_it_holds` has looked at the end too.
        return None if mode.undetermined else ends_with(contacts, between.scale, self.settings, end, side)

    def _lets_go(self, mode: Mode, t: float, q: Array, v: Array) -> bool:
        """Whether something that sticks moves on its surface just after a leg has ended, by the jump that ended it."""
        if not mode.sticking or not self.jumps.are_at(q, v, t):
            return False
        q, t = self.jumps.beyond(q, v, t)
        return bool(mode.sticking - self.between.contacts_at_rest(q, v, t, ALMOST))

    def _named(self, failure: str | None, mode: Mode) -> str | None:
        """A failure about constraint forces in the words of the model: which friction they disagree with."""
        names = [c.name for c, state in zip(self.contacts.contacts, mode.states, strict=True) if state == SLIP]
        if failure is None or not names:
            return failure
        return failure.replace(IN_WORK, f"(friction of {', '.join(map(repr, names))})")

    # -- a leg

    def _integrate_leg(self, begins: _Beginning, later: Array, t: float, work: Array) -> Trajectory:
        """A leg to the last of the times or to what ends it. Returns the last of its parts."""
        contacts, scale = self.contacts, self.between.scale
        mode, q, v, start, creeps = begins.mode, begins.q, begins.v, begins.start, begins.creeps
        evaluation = contacts.evaluation(mode.without_spare, scale.slow)
        self.is_new = True
        if not creeps:
            return self._part(mode, evaluation, later, t, q, v, start, work, None, begins.rising)
        since, moment = t, moment_at(scale, q, v, start)
        while since + moment < later[-1]:
            until = np.array([*later[later < since + moment], since + moment])
            leg = self._part(mode, evaluation, until, t, q, v, start, work, STIFF)
            if leg.failure is not None or leg.ended is not None or self._is_spent():
                return leg
            t, (q, v, work) = float(leg.t[-1]), self._parts(leg)
            start, later = contacts.instant(mode, q, v, t), later[later > t]
            if has_set_off(contacts, creeps, scale.slow, t, q, v, start, since):
                return self._part(mode, evaluation, later, t, q, v, start, work)
            moment *= LONGER
        return self._part(mode, evaluation, later, t, q, v, start, work, STIFF)

    def _part(
        self,
        mode: Mode,
        evaluation: Evaluation,
        times: Array,
        t: float,
        q: Array,
        v: Array,
        start: Fundamental,
        work: Array,
        method: str | None = None,
        rising: float = 0.0,
    ) -> Trajectory:
        """A leg over the given times, kept. method: in place of the one asked for. rising: as `_rising` gives it; where
        a bounce is short against a step, the first ones end where it is seen to be open.
        """
        during = changed(
            self.settings,
            pace=no_longer(self.settings.pace, t, rising) if rising else self.settings.pace,
            times=_from(t, times_to_look_at(t, times) if mode.undetermined else times),
            passed=self.record.passage_counts(),
            of_user=len(self.contacts.system.events),
            rates=BALANCED * np.fmax(np.abs(start.unconstrained), 0.0),
            least=small_sizes_of_leg(self.least, self.settings, self.record.masses, start.unconstrained),
            method=method or self.settings.method,
            most_steps=max(self.settings.most_steps - self.steps, 1) if self.settings.most_steps else 0,
            kept={**self.kept, REPEATED: self.is_repeated and method is None},
            bounces=None if method else bounces_in(self.contacts, mode, self.between.fastest_approach),
        )
        integrate, n, ledger = self.leg, self.contacts.n, self.between.ledger

        def onward(t: float, y: Array, times: Array) -> Trajectory:
            q, v, work = y[:n], y[n : 2 * n], y[2 * n :]
            then = changed(during, times=_from(t, times), kept={**self.kept})
            return integrate(evaluation, then, q, v, t, self.contacts.instant(mode.without_spare, q, v, t), work)

        try:
            leg = integrate(evaluation, during, q, v, t, start, work[ledger.columns(evaluation.graph.heats)])
        except DalembertError as error:  # it has no first step
            if self._is_wedged(mode, str(error)):
                raise _Wedged from error
            raise
        if self._is_wedged(mode, leg.failure):
            raise _Wedged
        self.kept = {key: during.kept[key] for key in LASTING if key in during.kept}
        if not (mode.spare or mode.undetermined):
            self.again = during.kept.get("again")
        if mode.spare and not spare_rows_hold(self.contacts, mode, leg):
            mode = replace(mode, spare=())
            evaluation, start = (
                self.contacts.evaluation(mode, self.between.scale.slow),
                self.contacts.instant(mode, q, v, t),
            )
            return self._part(mode, evaluation, times, t, q, v, start, work, method, rising)
        if mode.undetermined:
            leg = while_it_holds(self.contacts, mode, leg, onward)
        if leg.corner is not None and self._jumps(mode, *leg.corner):
            leg = ended_by_jump(leg, *leg.corner)
        return self.take(mode, evaluation, leg, work)

    def _is_wedged(self, mode: Mode, failure: str | None) -> bool:
        """Whether contacts cannot stay closed together along a leg that was decided with them, and that may be decided
        anew without those that need not push: discs in a row between walls are held by friction just while they are in
        line.
        """
        contradicted = failure is not None and InconsistentConstraints.SAYS in failure
        return contradicted and self.is_new and any(mode.closed) and not self.between.loose

    def _jumps(self, mode: Mode, t: float, y: Array) -> bool:
        """Whether a surface jumps to another speed here under contacts that stick to it: they slip right after."""
        v = y[self.contacts.n : 2 * self.contacts.n]
        q, t = self.jumps.beyond(y[: self.contacts.n], v, t)
        resting = self.between.contacts_at_rest(q, v, t)
        return any(state == STICK and k not in resting for k, state in enumerate(mode.states))

    def take(self, mode: Mode, evaluation: Evaluation, leg: Trajectory, work: Array) -> Trajectory:
        """Write down a leg. Returns it with the entries of the ledger in the place of its own integrals."""
        n, ledger = self.contacts.n, self.between.ledger
        entries = ledger.along(work, evaluation.graph.heats, leg.y[:, 2 * n :])
        if STICK in mode.states and self.contacts.is_workless:
            entries = ledger.held_as_friction(work, entries)
        if leg.bounces is not None:
            leg = self._take_bounces(mode, leg, leg.bounces, entries)
        leg = changed(leg, y=np.concatenate([leg.y[:, : 2 * n], entries], axis=1))
        self.steps += leg.steps
        self.is_new, self.between.loose = False, False
        inner = leg.ended in OWN_ENDINGS or self.contacts.ending(mode, leg.ended) is not None
        self.record.keep(leg, mode, inner)
        return leg

    def _take_bounces(self, mode: Mode, leg: Trajectory, rows: Array, entries: Array) -> Trajectory:
        """Write down the bounces of a leg, whose work, the entries, changes with each of them. The fastest state of a
        leg is one after a step, or after a bounce.
        """
        contacts, between, ledger = self.contacts, self.between, self.between.ledger
        found, times = bounces_of(contacts, mode, rows), rows[:, 0, 1]
        changes = [ledger.change(some.gained, some.lost) for some in found]
        so_far = np.concatenate([ledger.empty()[None], *changes]).cumsum(axis=0)
        entries += so_far[times.searchsorted(leg.t)]
        for some in found:
            between.take_bounces(some)
            self.record.events += entries_of_bounces(contacts, some.impacts)
        if leg.fastest is None:
            return leg
        t, y = leg.fastest
        y[2 * contacts.n :] += so_far[times.searchsorted(t, side="right")][: y.size - 2 * contacts.n]
        return changed(leg, fastest=(t, y))

    def _is_spent(self) -> bool:
        """Whether the legs have taken all steps that were granted: the motion ends unfinished."""
        return 0 < self.settings.most_steps <= self.steps

    def _parts(self, leg: Trajectory) -> tuple[Array, Array, Array]:
        """q, q̇ and the work at the end of a leg."""
        n, y = self.contacts.n, leg.y[-1]
        return y[:n].copy(), y[n : 2 * n].copy(), y[2 * n :].copy()

    def _rising(self, mode: Mode, t: float, q: Array, v: Array) -> float:
        """How long an open one-sided constraint that has just closed and bounces will surely stay open: not quite half
        of its flight; 0 where none has.
        """
        if all(mode.closed):
            return 0.0
        found = self.contacts.state_in(mode, q, v, t)
        # Slower is no bounce: rounding, of a body that has just stopped at the height of one, too.
        slowest = max(REST * largest(v), SLOWER * self.between.slowest_bounce(t, q, v))
        slow = slowest * self.contacts.steepness(q, v, t)
        flights = [
            (k, RISING * rate / -acceleration)
            for k, (rate, acceleration) in enumerate(
                zip(found.gap_rate.tolist(), found.gap_acceleration.tolist(), strict=True)
            )
            if rate > slow[k] and acceleration < 0 and not mode.closed[k]
        ]
        if not flights:
            return 0.0
        gap, near = self.between.gaps(q, v, t)[0], GAP * self.between.reach(q)
        return min((flight for k, flight in flights if abs(gap[k]) <= near), default=0.0)

    # -- events of the system between legs

    def _passed_between(self, t: float, q: Array, v: Array, before: Mode, mode: Mode) -> str | None:
        """Report the events of the system that pass zero between the last leg and the next. Returns the one that ends
        the motion.
        """
        system, n, record = self.contacts.system, self.contacts.n, self.record
        if not system.events:
            return None
        last = record.legs[-1].y[-1]
        sides = Side(before, last[:n], last[n : 2 * n]), Side(mode, q, v)
        for passing in passings_between(self.contacts, self.between.scale, self.settings, t, *sides):
            event, passed = system.events[passing.which], record.passage_counts()[passing.which]
            (report,) = Outcome((Crossing(passing.which, t, passing.direction, np.concatenate([q, v])),)).reports(
                system
            )
            if record.is_reported(report, passing.since):
                continue
            record.passages.append(report)
            if event.terminal and passed + 1 >= event.terminal:
                return event.name
        return None

    def _tell_coincidence(self, mode: Mode, t: float, q: Array, v: Array, work: Array) -> None:
        """Reports of what ends a mode at the very instant at which an event of the system ends the motion."""
        between = self.between
        ending = ends_with(self.contacts, between.scale, self.settings, t, Side(mode, q, v))
        if ending is None:
            return
        try:
            v, _, stopped, touching = between.after(mode, ending, t, q, v, work)
            q, v, after, _ = self._enter(t, q, v, stopped, touching, mode)
        except DalembertError:
            return  # what would come next is not asked for
        self.record.events += changes(self.contacts, t, mode, Side(after, q, v), between.met, between.halted)


def _from(t: float, times: Array) -> Array:
    """A time, and those that follow it."""
    both = np.empty(times.size + 1)
    both[0], both[1:] = t, times
    return both
