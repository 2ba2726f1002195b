"""A large system integrated: an explicit method, each step ended on the constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.kernel.limits import SINGULAR_PIVOT, STALL_STEPS, STIFF_WORTH
from dalembert.methods.table import AUTO, METHODS
from dalembert.motion.integrate.events import EventWatch, Outcome
from dalembert.motion.integrate.inside import InsideJudge
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.scipy_methods import scipy_class, watching_each, worst_norm
from dalembert.motion.integrate.settings import Settings, method_of, share_of, tolerances
from dalembert.motion.integrate.singular import SingularWatch
from dalembert.motion.integrate.stiffness import MOST_COORDINATES, StiffnessWatch
from dalembert.motion.integrate.trajectory import (
    MAY_END,
    STALLED,
    TOO_SHORT,
    Trajectory,
    failure_message,
    in_order,
    is_stalled,
)
from dalembert.motion.large.events import LargeEvents
from dalembert.motion.large.forces import EntriesOf
from dalembert.motion.large.size import LeftToTheSmallWay
from dalembert.motion.large.state import LargeState
from dalembert.motion.large.steps import FEWEST_STEPS, HELD_SHORT, compile_where_worth_it, integrate_by_steps
from dalembert.motion.state.state import State


class _Run:
    def __init__(self, at: LargeState, settings: Settings) -> None:
        self.at, self.settings, self.n = at, settings, at.n
        self.stiffness = StiffnessWatch(method_of(settings), 2 * at.n)
        self.evaluations = self.steps = 0
        self.reached = float(settings.times[0])
        self.points: list[tuple[float, Array]] = []
        self.entries = EntriesOf(at)
        self.watch: EventWatch | None = None  # for the events of the system, where it has any
        self.singular = SingularWatch(self._nearness)
        self.independent = np.zeros(at.m, dtype=bool)  # constraints, at the start
        self.left: tuple[float, Array, Array] | None = None  # where it ended unfinished, having taken too many steps

    def derivative(self, t: float, y: Array) -> Array:
        """d/dt of (q, q̇, work of impressed and ideal forces, 0)."""
        q, v = y[: self.n], y[self.n : 2 * self.n]
        self.evaluations += 1
        a, multipliers = self.at.solve(q, v, t)
        rates = np.zeros(y.size)
        rates[: self.n], rates[self.n : 2 * self.n] = v, a[: self.n]
        if self.at.model.works:
            rates[-3], rates[-2] = self.at.powers(q, v, t, multipliers)
        return rates

    def back(self, t: float, y: Array) -> Array:
        """Back onto the constraints, if that is wanted."""
        if not (self.settings.project and self.at.m):
            return y
        q, v = self.at.return_to_constraints(y[: self.n], y[self.n : 2 * self.n], t)
        return np.concatenate([q, v, y[2 * self.n :]])

    def is_better_stiff(self) -> bool:
        return self.settings.method == AUTO and self.is_small() and self.stiffness.stiff_steps() >= STIFF_WORTH

    def is_small(self) -> bool:
        """Whether the small way takes such a system in little time."""
        return self.n <= MOST_COORDINATES

    def warnings(self) -> tuple[str, ...]:
        shown = self.stiffness.stiff_steps() >= STIFF_WORTH
        return (HELD_SHORT.format(since=self.stiffness.since),) if shown else ()

    def integrate(self, state: State, bar: Progress) -> str | None:
        """Run to the end; a reason where that is impossible."""
        times, end = self.settings.times, float(self.settings.times[-1])
        y, t0 = np.concatenate([state.q, state.v, np.zeros(3)]), state.t
        self.points.append((t0, y))
        if end == t0:
            return None
        atol = np.full(y.size, np.inf)  # works ride along and do not decide the step
        atol[: 2 * self.n] = tolerances(
            self.settings, state.q, state.v, self.at.solve(state.q, state.v, t0)[0][: self.n]
        )
        self.independent = self.at.shares() > SINGULAR_PIVOT
        self._look(t0, y, self.derivative(t0, y), False)
        options: dict[str, Any] = {"rtol": self.settings.rtol, "atol": atol}
        pace, share = self.settings.pace, share_of(self.settings)
        if pace is not None:
            options["max_step"] = pace.longest(t0)
        method = METHODS[method_of(self.settings)]
        steps, inside = watching_each(scipy_class(method)), InsideJudge(method, 2 * self.n, worst_norm)
        solver = steps(self.derivative, t0, y, end, **options)
        if self.at.system.events:
            events: Any = LargeEvents(self.at)
            sizes = atol[: 2 * self.n] / self.settings.rtol
            self.watch = EventWatch(events, sizes, self.settings, self.back, lambda t, y: (y[:0], y[:0]))
            self.watch.start(t0, y)
        pending, mark, longest = 1, t0, 0.0
        while solver.status == "running":
            if pace is not None:
                solver.max_step = pace.longest(float(solver.t))
            inside.hold(solver, float(times[pending]))
            message = solver.step()
            self.reached = t = float(solver.t)
            if solver.status == "failed":
                return f"{TOO_SHORT} {MAY_END}" if message and "step size" in message else str(message)
            due = float(times[pending]) <= t
            dense = solver.dense_output() if due or self.watch is not None else None
            if times[pending] < t and (step := inside.shorter(solver, self.derivative)):
                options |= {"atol": solver.atol, "first_step": step}
                solver = steps(self.derivative, float(solver.t_old), y, end, **options)
                continue
            self.steps += 1
            self.stiffness.look(solver, self.steps)
            if self.is_better_stiff():
                raise LeftToTheSmallWay
            longest = max(longest, float(solver.step_size or 0.0))
            if self.steps % STALL_STEPS == 0:
                if is_stalled(t - mark, longest, end - t0, STALL_STEPS):
                    return STALLED
                mark = t
            try:
                before, y = y, self.back(t, solver.y)
                if y is not solver.y:
                    solver.y, solver.f = y, self.derivative(t, y)
                if names := self.entries.contradicting_constraints(y[: self.n], y[self.n : 2 * self.n], t):
                    if self.is_small():
                        raise LeftToTheSmallWay
                    return f"constraints contradict each other here: {', '.join(names)}. Remove or correct one of them."
                if self.watch is not None and self._ends(float(solver.t_old), before, t, y, dense, pending):
                    return None
                while dense is not None and pending < times.size and times[pending] <= t:
                    at = float(times[pending])
                    self.points.append((at, y.copy() if at == t else self.back(at, dense(at))))
                    pending += 1
            except DalembertError as error:
                return str(error)
            self._look(t, y, solver.f, t == end)
            if 0 < self.settings.most_steps <= self.steps and t < end:
                self.left = t, y[: self.n].copy(), y[self.n : 2 * self.n].copy()
                return None
            if share:
                own = slice(2 * self.n)
                solver.atol[own] = np.maximum(solver.atol[own], share * np.minimum(np.abs(y[own]), 1.0))
            bar.update(t)
        if self.watch is not None:
            self.watch.finish(t, y)
        return None

    def _look(self, t: float, y: Array, rates: Array, last: bool) -> None:
        """For singular configurations passed, at an accepted state."""
        if np.count_nonzero(self.independent) > 1:  # one direction depends on nothing
            q, v = y[: self.n], y[self.n : 2 * self.n]
            self.singular.look(t, q, v, rates[self.n : 2 * self.n], last)

    def _nearness(self, t: float, q: Array, v: Array) -> float:
        """The root of the smallest share that others leave of a constraint."""
        self.at.solve(q, v, t)
        return float(np.sqrt(max(self.at.shares()[self.independent].min(), 0.0)))

    def _ends(self, t: float, y: Array, t_new: float, y_new: Array, dense: Any, pending: int) -> bool:
        """Whether an event ends the motion in the last step; then its time and state are the last point."""
        assert self.watch is not None
        last = self.watch.step(t, y, t_new, y_new, dense)
        if last is None:
            return False
        times = self.settings.times[pending:]
        self.points += [(float(at), self.back(float(at), dense(float(at)))) for at in times[times < last.t]]
        if self.points[-1][0] == last.t:
            self.points.pop()  # at the end of the step before
        self.points.append((last.t, last.y))
        return True


def integrate_large(at: LargeState, settings: Settings, state: State, bar: Progress) -> Trajectory:
    """The trajectory of a large system. Raises `LeftToTheSmallWay` where that will do better."""
    if not at.system.events and (found := integrate_by_steps(at, settings, state, bar)) is not None:
        return found
    compile_where_worth_it(at, settings, FEWEST_STEPS)
    run = _Run(at, settings)
    reason = run.integrate(state, bar)
    at.model.by_table.done += run.evaluations
    outcome = run.watch.outcome if run.watch is not None else Outcome()
    failure = None if reason is None else failure_message(at.system.name, run.reached, reason)
    return Trajectory(
        t=np.array([t for t, _ in run.points]),
        y=np.array([y for _, y in run.points]),
        guesses=None,
        method=METHODS[method_of(settings)].title,
        backend="native",
        steps=run.steps,
        evaluations=run.evaluations,
        compile_s=0.0,
        events=in_order([e for e in run.singular.events if e["t"] <= run.points[-1][0]], outcome.reports(at.system)),
        failure=failure,
        ended=outcome.ended_by(at.system),
        looked=run.left,
        warnings=run.warnings(),
    )
