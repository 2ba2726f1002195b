"""The reference backend: SciPy's adaptive integrators, stepped by hand so that each step ends on the constraints."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from math import inf
from typing import Any

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.errors import DalembertError, MotionFailed, UndefinedModel
from dalembert.kernel.limits import (
    DRIFT_TOLERANCE,
    EDGE_LEAST,
    EDGE_MOST,
    EDGE_NEAR,
    EDGE_TOLERANCES,
    FADED,
    KINK_AGAIN,
    KINK_CORNER,
    KINK_NEAR,
    KINK_ZENO,
    SINGULAR_PIVOT,
    STALL_STEPS,
    STALL_STEPS_STIFF,
    STIFF_SAMPLE,
    UNDEFINED_STEPS,
)
from dalembert.mechanics.solve.fundamental import Fundamental, row_lengths
from dalembert.methods.table import METHODS
from dalembert.motion.integrate.events import EventWatch, Outcome, Turn
from dalembert.motion.integrate.inside import InsideJudge
from dalembert.motion.integrate.kinks import Kinks, Sides, with_switches
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.scipy_methods import InsideStiff, scipy_class
from dalembert.motion.integrate.settings import Settings, above_rounding, method_of, share_of, tolerances
from dalembert.motion.integrate.singular import SingularWatch, nearness
from dalembert.motion.integrate.stiffness import StiffnessWatch, is_stiff, step_of
from dalembert.motion.integrate.trajectory import (
    HAS_CORNER,
    HAS_EDGE,
    MAY_END,
    STALLED,
    TOO_SHORT,
    Trajectory,
    failure_message,
    in_order,
    is_stalled,
)
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.powers import powers
from dalembert.motion.state.project import Natural, metric, project
from dalembert.motion.state.state import State


def integrate_reference(
    evaluation: Evaluation,
    settings: Settings,
    state: State,
    bar: Progress,
    work: Array | None = None,
    look: int = 0,
) -> Trajectory:
    """Integrate from a consistent state through the output times. `work`: done so far, where a motion is resumed.
    `look`: as for the native backend.
    """
    evaluation, kinks = with_switches(evaluation)
    run = _Run(evaluation, settings, kinks, look)
    failure = run.integrate(state.q, state.v, state.t, bar, work)
    outcome = run.watch.outcome if run.watch is not None else Outcome()
    return Trajectory(
        t=np.array([point[0] for point in run.points]),
        y=np.array([point[1] for point in run.points]),
        guesses=np.array([point[2] for point in run.points]),
        method=METHODS[method_of(settings)].title,
        backend="reference",
        steps=run.steps,
        evaluations=run.evaluations,
        compile_s=0.0,
        events=in_order(run.events, run.singular.events, outcome.reports(evaluation.system)),
        failure=failure,
        ended=outcome.ended_by(evaluation.system),
        looked=run.looked,
        stiff=(run.stiffness.since, run.stiffness.stiff_steps()),
        fastest=run.fastest,
        corner=run.corner,
    )


@dataclass(frozen=True)
class _Known:
    """What a run knows at an accepted state besides it, see `_Run`; of its events, how many."""

    rows: Sequence[int] | None
    natural: Natural
    longest: Array
    guess: Array | None
    rank: int | None
    events: int


@dataclass(frozen=True)
class _Anchor:
    """The state at which sides of kinks changed last, and all that must be as it was there if another is taken."""

    t: float
    y: Array
    pending: int
    points: int
    known: _Known
    watch: Any
    singular: SingularWatch
    passed: list[dict[str, Any]]


class _Run:
    """One integration: steps the integrator, returns to the constraints, records the output points."""

    def __init__(self, evaluation: Evaluation, settings: Settings, kinks: Kinks, look: int) -> None:
        self.evaluation, self.settings, self.kinks, self.look = evaluation, settings, kinks, look
        self.n = evaluation.n
        self.rows: Sequence[int] | None = None  # independent constraints, used between accepted states
        self.natural = Natural(np.zeros(evaluation.m), np.zeros(evaluation.m))
        self.longest = np.zeros(evaluation.m)  # the largest length of each row of A so far
        self.guess: Array | None = None  # what the last acceleration selects branches by
        self.evaluations = 0
        self.trouble: DalembertError | None = None  # the last reason why a trial state had no acceleration
        self.last: Array  # the last accepted state
        self.points: list[tuple[float, Array, Array]] = []
        self.events: list[dict[str, Any]] = []
        self.watch: EventWatch | None = None  # for the events of the system, where it has any
        self.sides: Sides | None = None  # of its kinks, where it has any
        self.anchor: _Anchor | None = None  # where sides changed last
        self.last_turn: Turn | None = None
        self.again = 0  # so many times the step was shortened to end at a kink
        self.atol: Array | None = None
        self.rank: int | None = None
        self.steps = 0
        self.singular = SingularWatch(self._nearness)
        self.watched: list[int] = []  # constraints independent at the start, linear in q̈
        self.stiffness = StiffnessWatch(method_of(settings), 2 * self.n)
        self.weights = np.zeros(self.n)  # the masses of the start
        self.fastest: tuple[float, Array] | None = None  # a time and state, by these
        self.corner: tuple[float, Array] | None = None  # where a constraint asks for another velocity
        self.edge = -inf  # where the last step began that led over a corner of the constraints
        self.looked: tuple[float, Array, Array] | None = None  # where it was left to another method
        self.inside = InsideJudge(METHODS[method_of(settings)], 2 * self.n)

    # -- the equations

    def rates(self, t: float, q: Array, v: Array, solution: Fundamental) -> Array:
        """d/dt of (q, q̇, work of impressed, ideal, nonideal forces, heat)."""
        return np.concatenate([v, solution.acceleration, powers(self.evaluation, q, v, t, solution, self.rows)])

    def derivative(self, t: float, y: Array) -> Array:
        """The right-hand side at a trial state. Where the model has no value there, NaN makes the integrator shorten
        the step.
        """
        q, v = y[: self.n], y[self.n : 2 * self.n]
        if not np.isfinite(y).all():
            return np.full(y.size, np.nan)
        self.evaluations += 1
        try:
            return self.rates(t, q, v, self.evaluation.solve(q, v, t, self.rows, self.guess, self._lengths()))
        except (DalembertError, np.linalg.LinAlgError) as error:
            if isinstance(error, DalembertError):
                self.trouble = error
            return np.full(y.size, np.nan)

    def _lengths(self) -> Array:
        """Natural lengths of the rows in use."""
        return self.natural.metric if self.rows is None else self.natural.metric[list(self.rows)]

    def _multipliers(self, t: float, y: Array) -> tuple[Array, Array]:
        q, v = y[: self.n], y[self.n : 2 * self.n]
        return self.evaluation.multipliers_at(q, v, t, self.rows, self.guess, self._lengths())

    def jacobian(self, t: float, y: Array) -> Array:
        n = self.n
        q, v = y[:n], y[n : 2 * n]
        matrix = np.zeros((y.size, y.size))
        matrix[:n, n : 2 * n] = np.eye(n)
        self.evaluations += 1
        solution = self.evaluation.solve(q, v, t, None, self.guess)
        matrix[n : 2 * n, : 2 * n] = self.evaluation.slopes(solution, q, v, t)
        return matrix

    def settle(self, t: float, q: Array, v: Array) -> Fundamental:
        """The acceleration at an accepted state; also the place where rank, redundancy and contradictions are seen."""
        self.evaluations += 1
        solution = self.evaluation.solve(q, v, t, None, self.guess, self.natural.metric)
        rank = int(solution.rank)
        lengths = row_lengths(metric(solution.M, solution.A), solution.A)
        plain = np.linalg.norm(solution.A, axis=1)
        self.longest = np.maximum(self.longest, plain)
        # Rounding in a position constraint reaches the accelerations divided by the square of a fading gradient; in
        # one on velocities only by the gradient itself, which integration bears: it keeps its own length.
        at = list(self.evaluation.graph.position_rows)
        for natural, length in ((self.natural.metric, lengths), (self.natural.plain, plain)):
            natural[at] = np.maximum(natural[at], length[at])
        self.rows = None
        if rank < self.evaluation.m:
            # A row whose gradient vanishes here may act a moment later; one that repeats others would contradict them.
            faded = plain <= FADED * self.longest
            rounding = np.abs(solution.b) <= DRIFT_TOLERANCE * self.longest * np.abs(solution.acceleration).max()
            checked = replace(solution, residual=np.where(faded & rounding, 0.0, solution.residual))
            self.evaluation.require_consistent(checked, t, DRIFT_TOLERANCE)
            if not self.evaluation.graph.nonlinear:
                self.rows = [int(k) for k in np.flatnonzero(~solution.dependent | faded)]
        if self.rank is not None and rank != self.rank:
            flags = zip(self.evaluation.system.constraints, solution.dependent, strict=True)
            names = [constraint.name for constraint, flag in flags if flag]
            self.events.append({"name": "rank change", "t": t, "from": self.rank, "to": rank, "dependent": names})
        self.rank = rank
        self.guess = self.evaluation.branch_accelerations(solution)
        return solution

    # -- the integration

    def integrate(self, q: Array, v: Array, t0: float, bar: Progress, work: Array | None = None) -> str | None:
        """Run to the end; a message where that is impossible."""
        end = float(self.settings.times[-1])
        if self.kinks.places:
            self.sides = Sides(self.evaluation, self.kinks)
            self.sides.start(t0, np.concatenate([q, v]))
        solution = self.settle(t0, q, v)
        self.weights = np.abs(np.diagonal(solution.M))
        y = self.last = np.concatenate([q, v, np.zeros(3 + len(self.evaluation.graph.heats)) if work is None else work])
        self.points.append((t0, y, self.evaluation.branch_accelerations(solution)))
        graph = self.evaluation.graph
        if not (graph.nonlinear or graph.uses_actual):
            switched = {row for row, _ in graph.switched}
            vanishing = [not row.any() and k not in switched for k, row in enumerate(solution.A)]
            self.watched = [int(k) for k in np.flatnonzero(~solution.dependent | np.array(vanishing, dtype=bool))]
        self.singular.look(t0, q, v, solution.acceleration, False)
        if end == t0:
            return None
        solver = self._solver(t0, y, end)
        if self.evaluation.system.events:
            sizes = solver.atol[: 2 * self.n] / self.settings.rtol
            now = self.sides.now if self.sides is not None else []
            self.watch = EventWatch(self.evaluation, sizes, self.settings, self._return, self._multipliers, now)
            if self.sides is not None:
                self.sides.sizes = sizes
            self.watch.start(t0, y)
            self.anchor = self._anchor(t0, y, 1)
        pending, mark, longest = 1, t0, 0.0
        window = STALL_STEPS_STIFF if METHODS[method_of(self.settings)].stiff else STALL_STEPS
        pace, share = self.settings.pace, share_of(self.settings)
        while solver.status == "running":
            if pace is not None:
                solver.max_step = pace.longest(float(solver.t))
            self.inside.hold(solver, self._next_time(pending))
            rates = solver.f
            message = solver.step()
            t = float(solver.t)
            self.steps += 1
            if solver.status == "failed":
                if self.last_turn is not None and t - self.last_turn.t < KINK_ZENO * 10 * float(np.spacing(t)):
                    return self._failure(t, self._chatters(self.last_turn))
                return self._failure(t, TOO_SHORT if message and "step size" in message else str(message))
            dense = solver.dense_output() if self.watch is not None or self._due(pending, t) else None
            if dense is not None and METHODS[method_of(self.settings)].stiff:
                dense = InsideStiff(dense, rates, 2 * self.n)
            taken = t - float(solver.t_old)
            if self._next_time(pending) < t and (shorter := self.inside.shorter(solver, self.derivative)):
                self.steps -= 1
                solver = self._solver(float(solver.t_old), y, end, shorter)
                continue
            self.stiffness.look(solver, self.steps)
            longest = max(longest, float(solver.step_size or 0.0))
            if self.steps % window == 0:
                if is_stalled(t - mark, longest, end - t0, window):
                    return self._failure(t, STALLED)
                mark = t
            try:
                try:
                    returned = self._return(t, solver.y)
                    if self._leads_over(float(solver.t_old), y, solver.y, returned, solver.atol):
                        self.edge, self.steps = float(solver.t_old), self.steps - 1
                        if 0.2 * taken < 10 * float(np.spacing(t)):
                            return self._failure(t, TOO_SHORT)
                        solver = self._solver(float(solver.t_old), y, end, 0.2 * taken)
                        continue
                    before, y = y, returned
                except UndefinedModel:
                    if self.watch is None or taken <= UNDEFINED_STEPS * 10 * float(np.spacing(t)):
                        raise
                    solver = self._solver(float(solver.t_old), y, end, 0.2 * taken)
                    continue
                known = self._snapshot() if self.sides is not None else None
                self.last = y
                solution = self.settle(t, y[: self.n], y[self.n : 2 * self.n])
                solver.y, solver.f = y, self.rates(t, y[: self.n], y[self.n : 2 * self.n], solution)
                turn = None
                if self.watch is not None and self.sides is not None and dense is not None:
                    turn = self.watch.turn(float(solver.t_old), before, t, y, dense)
                if turn is not None and known is not None:
                    t_old = float(solver.t_old)
                    self._recall(known)
                    if end - turn.t < 20 * float(np.spacing(end)):
                        turn = replace(turn, t=end)  # what is left may be too short for a step
                    t = turn.t  # where it is said to fail
                    t, y, pending, step, ended = self._turn(turn, t_old, before, dense, pending)
                    if ended:
                        return None
                    if t == end:
                        break
                    if step is None:
                        return self._failure(t, self._chatters(turn))
                    solver = self._solver(t, y, end, step)
                    continue
                if self.watch is not None and self._ends(float(solver.t_old), before, t, y, dense, pending):
                    return None
                self.again = 0
                self._grow(solver.atol, y, share)
                self._keep_fastest(t, y)
                self.singular.look(t, y[: self.n], y[self.n : 2 * self.n], solution.acceleration, t == end)
                if dense is not None:
                    pending = self._record(pending, t, y, dense)
            except DalembertError as error:
                return self._failure(t, str(error))
            bar.update(t)
            if self._gives_up(t0, t, y, end):
                return None
        if self.watch is not None:
            self.watch.finish(t, y)
        return None

    # -- kinks

    def _turn(
        self, turn: Turn, t: float, y: Array, dense: Any, pending: int
    ) -> tuple[float, Array, int, float | None, bool]:
        """Go on after a step from (t, y) in which a kink is passed: from where, with which output time next, and with
        which first step (0: choose one; None: no side is right). Then whether an event ended the motion before.
        """
        assert self.watch is not None
        assert self.sides is not None
        assert self.anchor is not None
        if turn.left:
            others = len(self.watch.kinks_at_zero) - 1
            at, y, pending = self._return_to(self.anchor)
            if not self.sides.try_another_side(turn, others):
                return at, y, pending, None, False
            self.settle(at, y[: self.n], y[self.n : 2 * self.n])
            self.watch.go_on_from(at, y)
            return at, y, pending, 0.0, False
        if KINK_NEAR < turn.share < 1 - KINK_NEAR and self.again < KINK_AGAIN:
            self.again += 1
            return t, y, pending, turn.t - t, False
        self.again, self.last_turn = 0, turn
        if turn.t > t and self._ends(t, y, turn.t, turn.y, dense, pending):
            return turn.t, turn.y, pending, 0.0, True
        pending = self._record(pending, turn.t, turn.y, dense)
        self.sides.cross(turn)
        y = self.last = self._return(turn.t, turn.y)
        self._require_no_corner(turn, y)
        q, v = y[: self.n], y[self.n : 2 * self.n]
        solution = self.settle(turn.t, q, v)
        self.singular.look(turn.t, q, v, solution.acceleration, False)
        self.watch.go_on_from(turn.t, y)
        self.anchor = self._anchor(turn.t, y, pending)
        return turn.t, y, pending, 0.0, False

    def _require_no_corner(self, turn: Turn, y: Array) -> None:
        v = turn.y[self.n : 2 * self.n]
        share = max(KINK_CORNER, 1e3 * self.settings.rtol)
        if float(np.abs(y[self.n : 2 * self.n] - v).max()) > share * float(np.abs(v).max()):
            self.corner = turn.t, turn.y.copy()
            raise MotionFailed(HAS_CORNER.format(self.kinks.text(turn.which)))

    def _leads_over(self, t: float, y: Array, reached: Array, returned: Array, atol: Array) -> bool:
        """Whether a step from y has led over a corner of the constraints; as `da_leads_over` in runtime/run/step.h."""
        own = slice(self.n, 2 * self.n)
        share = max(EDGE_LEAST, min(EDGE_TOLERANCES * self.settings.rtol, EDGE_MOST))
        size = max(largest(reached[own]), largest(y[own]))
        beyond = np.abs(returned[own] - reached[own]) > share * size + EDGE_TOLERANCES * atol[own]
        return bool(beyond.any()) and self._rows_are_apart(t, y)

    def _rows_are_apart(self, t: float, y: Array) -> bool:
        """As `da_rows_are_apart` there."""
        M, _, A, _ = self.evaluation.dynamics(y[: self.n], y[self.n : 2 * self.n], t)
        return nearness(metric(M, A), A[A.any(axis=1)]) ** 2 > SINGULAR_PIVOT

    def _chatters(self, turn: Turn) -> str:
        return self.kinks.chatters(turn.which)

    def _snapshot(self) -> _Known:
        natural = Natural(self.natural.metric.copy(), self.natural.plain.copy())
        return _Known(self.rows, natural, self.longest, self.guess, self.rank, len(self.events))

    def _recall(self, known: _Known) -> None:
        self.rows, self.longest, self.guess, self.rank = known.rows, known.longest, known.guess, known.rank
        self.natural = Natural(known.natural.metric.copy(), known.natural.plain.copy())
        del self.events[known.events :]

    def _anchor(self, t: float, y: Array, pending: int) -> _Anchor:
        assert self.watch is not None
        return _Anchor(
            t,
            y,
            pending,
            len(self.points),
            self._snapshot(),
            self.watch.snapshot(),
            copy(self.singular),
            self.singular.events[:],
        )

    def _return_to(self, anchor: _Anchor) -> tuple[float, Array, int]:
        assert self.watch is not None
        self._recall(anchor.known)
        self.watch.back_to(anchor.watch)
        self.singular = copy(anchor.singular)
        self.singular.events = anchor.passed[:]
        del self.points[anchor.points :]
        self.last = anchor.y
        if self.fastest is not None and self.fastest[0] > anchor.t:
            self.fastest = None
        return anchor.t, anchor.y, anchor.pending

    def _ends(self, t: float, y: Array, t_new: float, y_new: Array, dense: Any, pending: int) -> bool:
        """Whether an event ends the motion in the last step; then its time and state are the last point."""
        assert self.watch is not None
        last = self.watch.step(t, y, t_new, y_new, dense)
        if last is None:
            return False
        times, followed = self.settings.times, np.asarray(self.guess)
        before = times[pending:][times[pending:] < last.t]
        for at in before:
            self.points.append((float(at), self._return(float(at), dense(float(at))), followed))
        if self.points[-1][0] == last.t:
            self.points.pop()  # at the end of the step before
        self.points.append((last.t, last.y, followed))
        self.events = [event for event in self.events if event["t"] <= last.t]
        return True

    def _solver(self, t0: float, y: Array, end: float, step: float = 0.0) -> Any:
        if self.atol is None:
            # The work integrals ride along: they must not decide the step size, so their own tolerance is infinite.
            self.atol = np.full(y.size, np.inf)
            q, v = y[: self.n], y[self.n : 2 * self.n]
            atol = tolerances(self.settings, q, v, np.asarray(self.guess)[: self.n])
            start = self.evaluation.solve(q, v, t0, self.rows, self.guess, self._lengths())
            self.atol[: 2 * self.n] = above_rounding(atol, self.settings, q, start)
        options: dict[str, Any] = {"rtol": self.settings.rtol, "atol": self.atol}
        if step:
            options["first_step"] = min(step, end - t0)
        method = METHODS[method_of(self.settings)]
        if method.stiff:
            options["jac"] = self.jacobian
        return scipy_class(method)(self.derivative, t0, y, end, **options)

    def _gives_up(self, t0: float, t: float, y: Array, end: float) -> bool:
        """Whether the run ends here, unfinished, for another method or because it takes too long; as
        `da_is_looked_at` in runtime/run/pace.h, but that judges nothing itself.
        """
        look, most = abs(self.look), self.settings.most_steps
        shown = self.stiffness.steps >= look and self.steps % STIFF_SAMPLE == 0
        due = look and (self.steps == look or shown) and (end - t) * self.steps > look * (t - t0)
        q, v = y[: self.n], y[self.n : 2 * self.n]
        step = step_of(t0, t, self.steps, (self.stiffness.since, self.stiffness.stiff_steps()))
        stiff = due and is_stiff(self.evaluation, self.settings, q, v, t, step, t - t0)
        if (stiff or 0 < most <= self.steps) and t < end:
            self.looked = (t, q.copy(), v.copy())
        return self.looked is not None

    def _grow(self, atol: Array, y: Array, share: float) -> None:
        """Absolute tolerances follow the largest size that each component has had; as `da_grow` there."""
        if share:
            own = slice(2 * self.n)
            atol[own] = np.maximum(atol[own], share * np.minimum(np.abs(y[own]), 1.0))

    def _keep_fastest(self, t: float, y: Array) -> None:
        """As `da_keep_fastest` in runtime/run/pace.h."""
        own = slice(self.n, 2 * self.n)
        most = 0.0 if self.fastest is None else self.weights @ self.fastest[1][own] ** 2
        if self.weights @ y[own] ** 2 > most:
            self.fastest = (t, y.copy())

    def _nearness(self, t: float, q: Array, v: Array) -> float:
        if len(self.watched) < 2:
            return 1.0  # one direction depends on nothing
        M, _, A, _ = self.evaluation.dynamics(q, v, t)
        return nearness(metric(M, A), A[self.watched])

    def _due(self, pending: int, t: float) -> bool:
        return self._next_time(pending) <= t

    def _next_time(self, pending: int) -> float:
        return float(self.settings.times[pending]) if pending < self.settings.times.size else inf

    def _return(self, t: float, y: Array) -> Array:
        """Back onto the constraints, if that is wanted."""
        if not self.settings.project:
            return y
        q, v, _ = project(self.evaluation, y[: self.n], y[self.n : 2 * self.n], t, natural=self.natural)
        return np.concatenate([q, v, y[2 * self.n :]])

    def _record(self, pending: int, t: float, y: Array, dense: Any) -> int:
        """Output points inside the last step; returns the index of the next one."""
        times = self.settings.times
        while self._due(pending, t):
            at = float(times[pending])
            here = y if at == t else self._return(at, dense(at))
            self.points.append((at, here.copy(), np.asarray(self.guess)))
            pending += 1
        return pending

    def _failure(self, t: float, reason: str) -> str:
        if reason == TOO_SHORT and t - self.edge < EDGE_NEAR * 10 * float(np.spacing(t)):
            reason = HAS_EDGE
        if reason == TOO_SHORT:
            q, v = self.last[: self.n], self.last[self.n : 2 * self.n]
            trouble = self.trouble or self.evaluation.trouble_near(q, v, t)
            reason += f" Last trouble: {trouble}" if trouble is not None else f" {MAY_END}"
        return failure_message(self.evaluation.system.name, t, reason)
