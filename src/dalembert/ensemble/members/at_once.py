"""Members that one call of the kernel integrates, some hundred one after the other, while other threads run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.control import Cancelled, Control
from dalembert.ensemble.members.in_lanes import lanes_of
from dalembert.ensemble.members.outcome import STOPPED, Outcome, Status
from dalembert.ensemble.members.series_order import TRIED_STEPS, Tried, order_of_series
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.start.block import Block
from dalembert.ensemble.start.starts import member_tolerances
from dalembert.kernel import kernel as kernels
from dalembert.kernel.events import EventBuffer
from dalembert.kernel.kernel import Kernel, PaceArgument
from dalembert.kernel.lanes.kernel import LaneKernel
from dalembert.kernel.lanes.source import LEFT
from dalembert.kernel.limits import STIFF_LOOK
from dalembert.kernel.members import MembersRun, MembersWatch, integrate_members
from dalembert.kernel.size import MOST_INSTRUCTIONS
from dalembert.methods.table import AUTO
from dalembert.motion.integrate.choose import LATER
from dalembert.motion.integrate.kernel_choice import (
    MEMBER_STEPS,
    Wanted,
    compiled_or_tape,
    steps_worth_compiling,
    wish,
)
from dalembert.motion.integrate.native import AUTO_INSTRUCTIONS, EVENT_ROOM
from dalembert.motion.integrate.pace import Pace
from dalembert.motion.integrate.settings import Settings, method_of, share_of
from dalembert.motion.integrate.stiffness import HIDDEN, is_stiff, step_of
from dalembert.motion.state.evaluation import Evaluation

NONE = np.zeros(0, dtype=int)


@dataclass(frozen=True)
class Group:
    """Members of a block that one kernel serves. at: their places, rows: of constraints that are independent at their
    starts, completion: κ where their mass matrices are singular, else 0.
    """

    at: np.ndarray
    rows: tuple[int, ...]
    completion: float = 0.0


def run_at_once(task: Task, block: Block, group: Group, a: Array, outcome: Outcome, control: Control) -> np.ndarray:
    """Integrate a group into the outcome. a (members, n): accelerations at the starts. Returns the places of those that
    must be run alone.
    """
    at, runs = group.at, Runs(task, block, group, a)
    pending, alone = np.arange(at.size), [NONE]
    for look in _looks(task.settings):
        watched = runs.integrate(pending, look, control)
        if control.cancelled:
            raise Cancelled
        later, unfit = runs.take(watched, pending, at, outcome, control)
        if not later.size and not unfit.size:
            break
        stiff = np.array([runs.is_stiff(watched[0], k, int(pending[k])) for k in later], dtype=bool)
        alone += [pending[unfit], pending[later[stiff]]]
        pending = pending[later[~stiff]]
        if not pending.size:
            break
    return np.sort(at[np.concatenate(alone)])


def _looks(settings: Settings) -> tuple[int, ...]:
    """As in `integrate.choose`: after how many steps a run is looked at, whether it is stiff."""
    if settings.method != AUTO:
        return (0,)
    later = [more * STIFF_LOOK for more in LATER] if settings.rtol < HIDDEN else []
    return (STIFF_LOOK, *later, -STIFF_LOOK, 0)


def kernel_of(task: Task, rows: tuple[int, ...], completion: float) -> Kernel:
    """The kernel for an independent set of constraints: compiled, unless few members are to be run."""
    evaluation = task.switched[0]
    limit = MOST_INSTRUCTIONS if task.settings.backend == "native" else AUTO_INSTRUCTIONS
    with task.lock:
        wanted = Wanted(evaluation.system, evaluation.graph, list(rows), method_of(task.settings), completion, limit)
        kernel = wanted.at_hand()
        if kernel is None:
            return wanted.compiled()
        few = task.values.count * MEMBER_STEPS < steps_worth_compiling(kernel.instructions)
        return kernel if kernel.kind == "compiled" or wish() == "tape" or few else compiled_or_tape(kernel, wanted)


class Runs:
    """The members of one call, ready."""

    def __init__(self, task: Task, whole: Block, group: Group, a: Array) -> None:
        block = whole.at(group.at)
        self.task, self.block, self.rows, self.completion = task, block, group.rows, group.completion
        settings = task.settings
        self.evaluation, self.kinks = task.switched
        ahead = task.ahead(block)
        self.paces = ahead.paces
        self.atol = member_tolerances(settings, block.q, block.v, a, ahead.rates)
        width = 2 * task.n + 3 + len(self.evaluation.graph.heats)
        self.y0 = np.zeros((block.count, width))
        self.y0[:, : task.n], self.y0[:, task.n : 2 * task.n] = block.q, block.v
        self.p = task.kernel_parameters(block.p)
        self.points = settings.times if task.along else settings.times[[0, -1]]
        shift = block.t - settings.times[0]
        self.times = self.points + shift[:, None] if shift.any() else self.points
        self.events = self.evaluation.system.events
        self.in_lanes: np.ndarray | None = None  # which members of the last call of `integrate` were

    @cached_property
    def kernel(self) -> Kernel:
        """What runs one member after the other: where members run in lanes, it may never be needed."""
        return kernel_of(self.task, self.rows, self.completion)

    def integrate(self, at: np.ndarray, look: int, control: Control) -> tuple[MembersRun, np.ndarray]:
        """The members at these places; and how many steps each was granted at the end: 1 where it was stopped."""
        requested = self.events
        settings, paces = self.task.settings, self._paces(at, look)
        left, from_zero = settings.passages_left(requested), settings.from_zero(requested)
        times = self.times if self.times.ndim == 1 else self.times[at]
        lanes = None if self.completion else lanes_of(self.task, self.rows)  # they complete nothing
        if lanes is None:
            return self._call(self.kernel, _of(self.y0, at), at, times, paces, left, from_zero, control)
        run, stop = self._call(lanes, _of(self.y0, at), at, times, paces, left, from_zero, control)
        unfit = np.flatnonzero(run.status == LEFT)
        if unfit.size:
            paces = paces if len(paces) == 1 else [paces[k] for k in unfit]
            times = times if times.ndim == 1 else times[unfit]
            more = self._call(self.kernel, self.y0[at[unfit]], at[unfit], times, paces, left, from_zero, control)
            run.replace(unfit, more[0])
            stop[unfit] = more[1]
        self.in_lanes = np.ones(at.size, dtype=bool)
        self.in_lanes[unfit] = False
        return run, stop

    def _paces(self, at: np.ndarray, look: int) -> list[PaceArgument]:
        """One for all, or one for each."""
        own = self.paces if len(self.paces) == 1 else [self.paces[k] for k in at]
        return [_pace(pace, share_of(self.task.settings), look) for pace in own]

    def _to_try(self, kernel: LaneKernel, block: Block, a: Array) -> Tried:
        """How far members come in lanes by series of some order, and in how many steps."""
        group = Group(np.arange(block.count), self.rows)
        runs, settings = Runs(self.task, block, group, a), self.task.settings
        paces = runs._paces(np.arange(block.count), 0)

        def tried(order: int) -> tuple[Array, Array]:
            watch = MembersWatch(block.count, TRIED_STEPS)
            run = integrate_members(
                kernel, runs.y0, runs.p, runs.atol, runs.times, settings.rtol, method_of(settings), settings.project,
                paces, watch, order=order, along=False,
            )  # fmt: skip
            return run.head["time"] - block.t, run.head["steps"] + run.head["rejected"]

        return tried

    def advance(self, y: Array, at: np.ndarray, begin: Array, end: Array, control: Control) -> MembersRun:
        """From states y (members, Y) at the times `begin` to the times `end`, whatever events there are."""
        paces = self._paces(at, 0)
        never = [0] * len(self.events)
        times = np.column_stack([begin, end])
        return self._call(self.kernel, y, at, times, paces, never, [False] * len(never), control)[0]

    def _call(
        self,
        kernel: Kernel | LaneKernel,
        y: Array,
        at: np.ndarray,
        times: Array,
        paces: list[PaceArgument],
        terminal: list[int],
        from_zero: list[bool],
        control: Control,
    ) -> tuple[MembersRun, np.ndarray]:
        settings, requested, buffer = self.task.settings, self.events, None
        if requested:
            directions = [event.direction for event in requested]
            buffer = EventBuffer(directions, terminal, from_zero, y.shape[1], EVENT_ROOM, self.kinks.places)
        order = 0
        if isinstance(kernel, LaneKernel) and kernel.series is not None:
            order = order_of_series(self.task, kernel, partial(self._to_try, kernel))
        with control.watching(at.size) as watch:
            run = integrate_members(
                kernel, y, _of(self.p, at), _of(self.atol, at), times, settings.rtol, method_of(settings),
                settings.project, paces, watch, buffer, len(requested), order,
                self.task.along or isinstance(kernel, Kernel),
            )  # fmt: skip
        return run, watch.stop

    def take(
        self,
        watched: tuple[MembersRun, np.ndarray],
        pending: np.ndarray,
        at: np.ndarray,
        outcome: Outcome,
        control: Control,
    ) -> tuple[np.ndarray, np.ndarray]:
        """Write what is finished to the outcome. Returns those that were left to be judged, and those that need more
        room than there is; both by their number among the pending.
        """
        run, stop = watched
        if pending.size == outcome.count and self._is_whole(run):
            self._hand_over(run, outcome)
            return NONE, NONE
        head, points = run.head, run.head["points"].astype(np.int64)
        unfit = run.passages > EVENT_ROOM
        good = run.status == kernels.DONE
        complete = good & (points == self.points.size)
        ended = good & (run.ended >= 0)
        steps, granted = head["steps"].astype(np.int64), control.budget.steps
        spent = good & ~complete & ~ended & ((stop == 1) | ((granted > 0) & (steps >= granted)))
        later = good & ~complete & ~ended & ~spent & ~unfit
        there, width = np.flatnonzero(~later & ~unfit), outcome.y.shape[1]
        to, of = _slice(at[pending[there]], outcome.count), _slice(there, len(later))
        stopped = np.where(spent[of], np.int8(Status.BUDGET), np.int8(Status.FAILED))
        outcome.status[to] = np.where(
            ended[of], np.int8(Status.ENDED), np.where(complete[of], np.int8(Status.DONE), stopped)
        )
        outcome.points[to], outcome.t[to] = points[of], head["time"][of]
        outcome.y[to], outcome.steps[to] = run.last[of, :width], steps[of]
        users = outcome.counts.shape[1]  # the others are kinks
        outcome.ended[to] = run.ended[of]
        outcome.counts[to], outcome.first[to] = run.counts[of, :users], run.first[of, :users]
        outcome.latest[to] = run.latest[of, :users]
        if outcome.along is not None:
            reached = np.arange(self.points.size) < points[of, None]
            outcome.along[to] = np.where(reached[:, :, None], run.y[of, :, :width], np.nan)
        outcome.lanes[to] = self.in_lanes[of] if self.in_lanes is not None else False
        self._tell(run, np.flatnonzero(spent | ~good), pending, at, outcome)
        return np.flatnonzero(later), np.flatnonzero(unfit)

    def _is_whole(self, run: MembersRun) -> bool:
        """Whether all came to their end, and there is nothing else to tell."""
        there = not self.events and (run.status == kernels.DONE).all()
        return bool(there and (run.head["points"] == self.points.size).all())

    def _hand_over(self, run: MembersRun, outcome: Outcome) -> None:
        """What `take` writes, of all members of a block, with nothing copied that need not be."""
        width = 2 * self.task.n + 3
        outcome.status = np.full(outcome.count, Status.DONE, dtype=np.int8)
        outcome.points = np.full(outcome.count, self.points.size, dtype=np.int64)
        outcome.t, outcome.y = run.head["time"], run.last[:, :width]
        outcome.steps = run.head["steps"].astype(np.int64)
        outcome.along = run.y[:, :, :width] if self.task.along else None
        if self.in_lanes is not None:
            outcome.lanes = self.in_lanes

    def _tell(self, run: MembersRun, which: np.ndarray, pending: np.ndarray, at: np.ndarray, outcome: Outcome) -> None:
        """Why members did not come to their end."""
        for k in which.tolist():
            when, steps = run.head["time"][k], int(run.head["steps"][k])
            reason = STOPPED.get(int(run.status[k]), f"its budget was spent, after {steps} steps")
            if run.stuck[k] >= 0:
                reason += f", where {self.kinks.text(int(run.stuck[k]))} = 0"
            outcome.reasons[int(at[pending[k]])] = f"t = {when:.6g}: {reason}"

    def is_stiff(self, run: MembersRun, k: int, member: int) -> bool:
        """Whether a fast mode that has died out decides the steps of a run that was left to be judged."""
        n, head = self.task.n, run.head
        t0, t = float(self.block.t[member]), float(head["time"][k])
        step = step_of(t0, t, int(head["steps"][k]), (float(head["stiff_since"][k]), float(head["stiff_steps"][k])))
        evaluation = Evaluation(self.task.system, self.block.p[member])
        q, v = run.last[k, :n], run.last[k, n : 2 * n]
        return is_stiff(evaluation, self.task.settings, q, v, t, step, t - t0, tried=True)


def _slice(at: np.ndarray, count: int) -> slice | np.ndarray:
    """Places in rising order among so many; where these are all, as what copies nothing."""
    return slice(None) if at.size == count else at


def _of(rows: Array, at: np.ndarray) -> Array:
    """The rows at places in rising order."""
    return rows[_slice(at, len(rows))]


def _pace(own: Pace | None, share: float, look: int) -> PaceArgument:
    """As for one run; nobody asks where members were fastest."""
    none = np.empty(0)
    starts, bounds = (none, none) if own is None else (own.starts, own.bounds)
    pace = PaceArgument(starts, bounds, share, look, none, 0)
    pace.fastest = None
    return pace
