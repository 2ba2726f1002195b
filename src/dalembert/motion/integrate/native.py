"""The native backend: a compiled kernel integrates; Python watches, and turns its status into words."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.kernel import kernel as kernels
from dalembert.kernel.events import EventBuffer
from dalembert.kernel.kernel import Kernel, KernelRun, PaceArgument, RunWatch
from dalembert.kernel.limits import DRIFT_TOLERANCE, STIFF_WORTH
from dalembert.kernel.size import MOST_INSTRUCTIONS
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.methods.table import AUTO, METHODS, SERIES
from dalembert.motion.integrate.again import lay_out
from dalembert.motion.integrate.events import Crossing, Outcome
from dalembert.motion.integrate.kernel_choice import (
    SERIES_SHARE,
    Choice,
    Wanted,
    choose_kernel,
    compiled_or_tape,
    may_have_series,
    note_steps,
    race_of,
    trial_steps,
    winner_of,
)
from dalembert.motion.integrate.kinks import Kinks, with_switches
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.settings import Settings, above_rounding, method_of, share_of, tolerances
from dalembert.motion.integrate.singular import singular_event
from dalembert.motion.integrate.trajectory import (
    HAS_CORNER,
    MAY_END,
    STALLED,
    TOO_SHORT,
    Trajectory,
    failure_message,
    in_order,
)
from dalembert.motion.state.branches import ENDS, MEET
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.reactions import NOT_FOUND, SINGULAR_FORCE
from dalembert.motion.state.state import State
from dalembert.remember import changed

if TYPE_CHECKING:
    from dalembert.graph.functions import Graph
    from dalembert.model.events import Event

POLL_S = 0.05
# A run looks after some steps whether it is to stop; it is waited for so long, and then ends when it can.
STOPS_S = 5.0
# Unless the native backend is asked for by name, kernels that compile for more than half a minute are left alone.
AUTO_INSTRUCTIONS = 100_000
# Passages of events that a first run has room for; a run with more is repeated with room for all.
EVENT_ROOM = 4096
# A kernel keeps the samples of all events of a step on the stack.
EVENT_BYTES = 9 * 2**10
# Among what is kept for a leg: it was run before from this very start, and ended the motion.
REPEATED = "repeated"
# What a state alone does not show: the reference could add nothing to these.
SAY_ALL = (kernels.STALLED, kernels.BRANCH_ENDS, kernels.BRANCHES_MEET, kernels.CHATTERS, kernels.CORNER)


def integrate_native(
    evaluation: Evaluation,
    settings: Settings,
    state: State,
    solution: Fundamental,
    bar: Progress,
    work: Array | None = None,
    look: int = 0,
) -> Trajectory:
    """Integrate from a consistent state through the output times. `solution` is the instant at that state.

    work: done so far, where a motion is resumed. look: after so many steps, or stiff ones (below zero: only these), it
    stops to be judged, see `integrate.stiffness`.
    """
    t0, before = state.t, settings.kept.get(("native", look))
    setup = _setup_of(evaluation, settings, state, solution, work, look)
    last = settings.kept.get("last") if work is not None else None
    if last is not None and last.wanted is not setup.wanted:
        last = None
    choice = choose_kernel(setup.wanted) if last is None or last.choice.steps else last.choice
    if setup.may_race and choice.kernel.kind == "compiled" and winner_of(setup.wanted, settings.rtol) == SERIES:
        setup = settings.kept["native", look] = _with_series(setup)
        choice = choose_kernel(setup.wanted)
    evaluation, wanted, kinks = setup.evaluation, setup.wanted, setup.kinks
    kernel, seconds = choice.kernel, choice.seconds
    requested, room, width = evaluation.system.events, setup.room, setup.y0.size
    notes: tuple[str, ...] = ()
    if last is not None and last.buffer is not None and not settings.passed and settings.bounces is None:
        buffer: EventBuffer | None = last.buffer.again()
    else:
        buffer = _buffer(requested, settings, width, room, kinks) if requested else None
    if work is not None:
        settings.kept["last"] = _Last(wanted, changed(choice, seconds=0.0), buffer)  # its seconds are told once
    given = (setup.y0, t0, evaluation.p, settings.times, setup.rtol, setup.atol, wanted.method, settings.project)
    points, short = settings.times.size, trial_steps(kernel, settings, evaluation.n, len(requested))
    short = min(filter(None, (short, settings.most_steps)), default=0) if short else 0
    pace = setup.pace if work is not None else setup.pace.again()  # a leg has one of its own
    integrate = partial(kernel.integrate, *given, events=buffer, branch=setup.branch, pace=pace)
    run = None
    if short > settings.kept.get("steps", 0):
        run = integrate(RunWatch(t0, short))
        if run.was_stopped(points, buffer):
            settings.kept["steps"] = run.steps
            run = None  # not that short: from the beginning, with all that a long run needs
        elif (setup is before or settings.kept.get(REPEATED)) and _is_plain(run, setup, buffer):
            # The second of its kind: others will follow.
            complete = partial(_trajectory, setup, settings, kernel, (), 0.0)
            race = race_of(wanted, kernel, settings.rtol) if setup.may_race else None
            start = (setup.as_written, setup.solution)
            more = (run.steps, short, complete, race, buffer)
            settings.kept["again"] = lay_out(start, wanted, choice, given, pace, *more)
    if run is None:
        most = min(filter(None, (settings.most_steps, choice.steps)), default=0)
        run = in_a_thread(integrate, _stack_of(evaluation), t0, bar, most)
    by_tape = run.steps if kernel.kind == "tape" else 0
    if choice.steps and run.was_stopped(points, buffer) and run.steps >= choice.steps:
        kernel = compiled_or_tape(kernel, wanted)
        seconds += kernel.seconds
        integrate = partial(kernel.integrate, *given, events=buffer, branch=setup.branch, pace=pace)
        run = in_a_thread(integrate, _stack_of(evaluation), t0, bar, settings.most_steps)
    if buffer is not None and buffer.count > room:
        notes = (f"{buffer.count} events, more than the {room} there was room for: integrated again to keep all",)
        buffer = _buffer(requested, settings, width, buffer.count, kinks)
        integrate = partial(kernel.integrate, *given, events=buffer, branch=setup.branch, pace=pace)
        run = in_a_thread(integrate, _stack_of(evaluation), t0, bar, settings.most_steps)
    trajectory = _trajectory(setup, settings, kernel, notes, seconds, run, pace.fastest_state, buffer)
    if by_tape:
        note_steps(wanted, by_tape)
    race = race_of(wanted, kernel, settings.rtol) if setup.may_race else None
    if race is not None:
        ahead = 0.0
        if trajectory.looked is not None and (covered := trajectory.looked[0] - t0) > 0:
            ahead = run.steps * (float(settings.times[-1]) - trajectory.looked[0]) / covered
        if race.is_due(run.steps, ahead):
            return replace(trajectory, undecided=True)
    return trajectory


def _is_plain(run: KernelRun, setup: _Setup, buffer: EventBuffer | None) -> bool:
    """Whether a run has come to its end with nothing to be told of it, and none to be told of another like it."""
    if buffer is not None and (buffer.ended_by is not None or buffer.count > setup.room or setup.kinks.places):
        return False
    return run.status == kernels.DONE and setup.branch is None and run.steps < STIFF_WORTH


def _trajectory(
    setup: _Setup,
    settings: Settings,
    kernel: Kernel,
    notes: tuple[str, ...],
    seconds: float,
    run: KernelRun,
    fastest: tuple[float, Array] | None,
    buffer: EventBuffer | None,
) -> Trajectory:
    """What a run has come to. seconds: to choose and compile its kernel."""
    evaluation = setup.evaluation
    unfinished, n, report = run.was_stopped(settings.times.size, buffer), evaluation.n, run.report
    changes, singular = run.changes, run.singular
    bounces = None if buffer is None else buffer.bounces
    outcome = NO_EVENTS if buffer is None else _outcome(buffer, bounces is not None)
    happened = changes or singular or outcome.passages
    times = settings.times[: run.y.shape[0]].copy()
    if outcome.ended is not None:
        times[-1] = report["time"]
    return Trajectory(
        t=times,
        y=run.y,
        guesses=run.branch,
        method=METHODS[setup.wanted.method].title,
        backend="native",
        steps=int(report["steps"]),
        evaluations=int(report["evaluations"]),
        compile_s=seconds,
        events=_events(changes, singular, evaluation, outcome, settings.of_user) if happened else (),
        failure=None if run.status == kernels.DONE else _failure(setup.as_written, run, buffer, setup.kinks),
        ended=None if buffer is None else outcome.ended_by(evaluation.system),
        warnings=notes,
        looked=(report["time"], run.last[:n].copy(), run.last[n : 2 * n].copy()) if unfinished else None,
        stiff=(report["stiff_since"], report["stiff_steps"]),
        fastest=fastest,
        kernel=kernel.kind,
        bounces=bounces,
        corner=(report["time"], run.last.copy()) if run.status == kernels.CORNER else None,
    )


def _events(
    changes: Sequence[tuple[float, int, int]],
    singular: Sequence[tuple[float, float]],
    evaluation: Evaluation,
    outcome: Outcome,
    of_user: int | None,
) -> tuple[Mapping[str, Any], ...]:
    """All that is told of a run, in order of time. of_user: so many events, the first; those that end a mode of
    contacts are not told.
    """
    ranks = []
    if not evaluation.graph.switched:  # straight-line code counts constraints that are switched off
        ranks = [{"name": "rank change", "t": t, "from": before, "to": after} for t, before, after in changes]
    passed = [singular_event(t, pivot) for t, pivot in singular]
    told = outcome if of_user is None else outcome.of_first(of_user)
    if not (ranks or passed):
        return tuple(told.reports(evaluation.system)) if told.passages else ()
    return in_order(ranks, passed, told.reports(evaluation.system) if told.passages else ())


class _Last(NamedTuple):
    """What the leg before had that serves this one too: what its kernel was for, which one it was, and its room for
    events.
    """

    wanted: Wanted
    choice: Choice
    buffer: EventBuffer | None


@dataclass(frozen=True, eq=False)
class _Setup:
    """What a run needs besides its kernel, made of a start and settings once. evaluation: with switches for the kinks.
    room: for so many passages of events. may_race: whether series might take the place of the method.
    """

    as_written: Evaluation
    solution: Fundamental
    evaluation: Evaluation
    kinks: Kinks
    wanted: Wanted
    y0: Array
    rtol: float
    atol: Array
    pace: PaceArgument
    branch: Array | None
    room: int
    may_race: bool


def _setup_of(
    evaluation: Evaluation, settings: Settings, state: State, solution: Fundamental, work: Array | None, look: int
) -> _Setup:
    """The last one is kept with the settings: a system is run from its own start again and again."""
    kept: _Setup | None = settings.kept.get(("native", look))
    if kept is not None and work is None and kept.as_written is evaluation and kept.solution is solution:
        return kept
    made = _make_setup(evaluation, settings, state, solution, work, look)
    if work is None:
        settings.kept["native", look] = made
    return made


def _make_setup(
    as_written: Evaluation, settings: Settings, state: State, solution: Fundamental, work: Array | None, look: int
) -> _Setup:
    q, v = state.q, state.v
    evaluation, kinks = with_switches(as_written) if as_written.system.may_have_kinks else (as_written, Kinks())
    switched = bool(evaluation.graph.switched)
    rows = list(range(evaluation.m))
    if not switched and int(solution.rank) < evaluation.m:  # which of them act is data where they are switched
        # A row without a gradient here may act a moment later.
        vanishing = ~solution.A.any(axis=1)
        rows = [int(k) for k in np.flatnonzero(~solution.dependent | vanishing)]
    elif switched and not _is_worth_writing_out(evaluation.graph):
        rows = []
    M, A = solution.M, solution.A
    digits = ".0e" if switched else ".2g"  # modes differ in A: the fewer digits, the fewer kernels
    regular = not np.isnan(solution.unconstrained).any()  # it has no value where M is singular
    completion = 0.0 if regular else float(f"{np.trace(M) / max(float(np.sum(A * A)), 1e-300):{digits}}")
    limit = MOST_INSTRUCTIONS if settings.backend == "native" else AUTO_INSTRUCTIONS
    y0 = np.concatenate([q, v, np.zeros(3 + len(evaluation.graph.heats)) if work is None else work])
    atol = above_rounding(tolerances(settings, q, v, solution.acceleration), settings, q, solution)
    share = share_of(settings)
    method, before = method_of(settings), settings.kept.get("wanted")
    if before is not None and switched and before.serves(evaluation.graph, method, completion, limit):
        wanted = before  # of a system whose modes are data, all rows are always wanted
    else:
        wanted = Wanted(evaluation.system, evaluation.graph, rows, method, completion, limit, settings.members)
    none = np.empty(0)
    starts, bounds = (none, none) if settings.pace is None else (settings.pace.starts, settings.pace.bounds)
    pace = PaceArgument(starts, bounds, share, look, np.abs(np.diagonal(M)), y0.size)
    may_race = settings.method == AUTO and not settings.members and work is None and may_have_series(wanted)
    # At the start the evaluation has found the branches of least Gauss function; the kernel follows them.
    branch = evaluation.branch_accelerations(solution) if evaluation.graph.nonlinear else None
    events = evaluation.system.events
    # Where each of them ends the run, there is one passage of each at most.
    once = settings.bounces is None and all(event.terminal == 1 for event in events)
    room = len(events) if once else EVENT_ROOM
    if before is not None and before is not wanted:
        wanted = wanted.prefer(before)
    settings.kept["wanted"] = wanted
    rtol = settings.rtol
    return _Setup(as_written, solution, evaluation, kinks, wanted, y0, rtol, atol, pace, branch, room, may_race)


def _is_worth_writing_out(graph: Graph) -> bool:
    if "is worth writing out" not in graph.kept:
        from dalembert.kernel.emit.coupled import is_worth_writing_out  # loads all that writes C

        graph.kept["is worth writing out"] = is_worth_writing_out(graph)
    return bool(graph.kept["is worth writing out"])


def _with_series(setup: _Setup) -> _Setup:
    """The same by Taylor series, which get a part of the tolerance."""
    wanted, pace = replace(setup.wanted, method=SERIES), setup.pace.with_share(SERIES_SHARE)
    rtol, atol = SERIES_SHARE * setup.rtol, SERIES_SHARE * setup.atol
    return replace(setup, wanted=wanted, rtol=rtol, atol=atol, pace=pace, may_race=False)


def stack_bytes(n: int, m: int, events: int) -> int:
    """Bytes for a run. The robust path and the stiff method keep their matrices on the stack: about forty of n × n or
    m × n; and the search for events its samples. What is not used takes no memory.
    """
    return (16 * 2**20 + 320 * (n + m) ** 2 + EVENT_BYTES * events) // 65536 * 65536


def _buffer(events: Sequence[Event], settings: Settings, width: int, room: int, kinks: Kinks) -> EventBuffer:
    """Room for the passages of the system's events, kinks among them."""
    directions, from_zero = [e.direction for e in events], settings.from_zero(events)
    left, bounces = settings.passages_left(events), settings.bounces
    return EventBuffer(directions, left, from_zero, width, room, kinks.places, bounces)


NO_EVENTS = Outcome()


def _outcome(buffer: EventBuffer, bounced: bool) -> Outcome:
    if bounced:  # of which nobody asks as passages
        return Outcome((), buffer.ended_by)
    rows = [Crossing(int(row[0]), float(row[1]), int(row[2]), row[3:].copy()) for row in buffer.rows]
    return Outcome(tuple(rows), buffer.ended_by)


def _stack_of(evaluation: Evaluation) -> int:
    return stack_bytes(evaluation.n, evaluation.m, len(evaluation.system.events))


def in_a_thread(
    integrate: Callable[[RunWatch], KernelRun], stack: int, t0: float, bar: Progress, most: int = 0
) -> KernelRun:
    """Run in a worker thread with a stack of so many bytes, so that the progress bar moves and an interrupt ends the
    run. most: steps; 0: any number.
    """
    watch = RunWatch(t0, most)
    results: list[KernelRun] = []
    errors: list[BaseException] = []

    # A bare lock, freed at the end: an interrupt within a thread's own `join` may take a thread for ended that is still
    # at work, and one within `threading.Event` may leave that locked for ever.
    done = threading.Lock()
    done.acquire()

    def work() -> None:
        try:
            results.append(integrate(watch))
        except BaseException as error:  # handed over to the waiting thread
            errors.append(error)
        finally:
            done.release()

    try:
        start_thread(work, stack)
        while not done.acquire(timeout=POLL_S):
            bar.update(watch.time.value)
    except BaseException:
        watch.stop.value = 1
        done.acquire(timeout=STOPS_S)
        raise
    if errors:
        raise errors[0]
    return results[0]


def start_thread(work: Callable[[], None], stack: int) -> threading.Thread:
    """A thread with a stack of so many bytes, at work. The size of stacks is a setting of the whole process, so that
    only one thread may be changing it.
    """
    worker = threading.Thread(target=work, daemon=True)
    with _stack_size:
        before = threading.stack_size(stack)
        try:
            worker.start()
        finally:
            threading.stack_size(before)
    return worker


def _failure(evaluation: Evaluation, run: KernelRun, buffer: EventBuffer | None, kinks: Kinks) -> str:
    """Why a run could not go on."""
    kink = "" if buffer is None else kinks.text(buffer.stuck_at)
    name, t, n = evaluation.system.name, run.report["time"], evaluation.n
    reasons = {
        kernels.STEP_TOO_SMALL: TOO_SHORT,
        kernels.STALLED: STALLED,
        kernels.UNDEFINED: "the model has no finite value there.",
        kernels.INCONSISTENT: "no acceleration satisfies the constraints together (b not in range of A).",
        kernels.UNDETERMINED: "a direction has neither mass nor constraint, so the motion is not determined.",
        kernels.NO_PROJECTION: "the state could not be returned to the constraints.",
        kernels.NO_METHOD: "the kernel was made without this method.",
        kernels.BRANCH_ENDS: f"{name}, t = {t:.6g}: {evaluation.nonlinear_names()}: {ENDS}",
        kernels.BRANCHES_MEET: f"{name}, t = {t:.6g}: {evaluation.nonlinear_names()}: {MEET}",
        kernels.NO_FORCE: f"{name}, t = {t:.6g}: {NOT_FOUND}",
        kernels.SINGULAR_FORCE: f"{name}, t = {t:.6g}: {SINGULAR_FORCE}",
        kernels.CHATTERS: kinks.chatters(None if buffer is None else buffer.stuck_at),
        kernels.CORNER: HAS_CORNER.format(kink),
    }
    reason = reasons[run.status]
    if run.status == kernels.STEP_TOO_SMALL:
        trouble = reasons.get(int(run.report["trouble"]))
        trouble = trouble or evaluation.trouble_near(run.last[:n], run.last[n : 2 * n], t)
        reason += f" {MAY_END}" if trouble is None else f" Last trouble: {trouble}"
    elif run.status not in SAY_ALL and np.isfinite(run.last).all():
        # The reference backend can say more about this state: which constraint, which direction, which part.
        q, v = run.last[:n], run.last[n : 2 * n]
        try:
            evaluation.require_consistent(evaluation.solve(q, v, t), t, DRIFT_TOLERANCE)
        except DalembertError as error:
            reason = str(error)
    return failure_message(name, t, reason)


_told: set[str] = set()
_stack_size = threading.Lock()


def tell_once(reason: str) -> None:
    """One warning per process when the native backend is not available."""
    if reason not in _told:
        _told.add(reason)
        warnings.warn(f"running on the reference backend: {reason}", stacklevel=3)
