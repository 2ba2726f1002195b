"""A run of a large system from a state, and the motion made of it, with its forces and its certificate."""

from __future__ import annotations

import time as clock
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.errors import InconsistentConstraints, InconsistentState, MotionFailed
from dalembert.kernel.waited import waited, working_time
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.large.ahead import look_ahead
from dalembert.motion.large.certificate import certify_large
from dalembert.motion.large.forces import EntriesOf, forces_at
from dalembert.motion.large.integrate import integrate_large
from dalembert.motion.large.state import LargeState
from dalembert.motion.result.motion import Motion, Timing
from dalembert.motion.run import Run
from dalembert.motion.state.consistent import INITIAL_TOLERANCE
from dalembert.motion.state.project import size_of
from dalembert.motion.state.state import State

# A message names so many constraints at most.
NAMED = 5


def starts(at: LargeState, state: State) -> bool:
    """Whether every coordinate has a mass at the start and all has a value there: where not, the small way knows what
    to do, or what to say.
    """
    a, multipliers = at.solve(state.q, state.v, state.t)
    known = np.isfinite(a).all() and np.isfinite(multipliers).all()
    return bool(known) and at.has_masses() and bool(np.isfinite(at.energies(state.q, state.v, state.t)).all())


def run_large(
    at: LargeState, settings: Settings, state: State, bar: Progress, spent: Timing, started: float, before: float
) -> Run:
    """Integrate from a state. spent: on making it ready; started, before: when the run began, and what had been waited
    for compilers by then.
    """
    require_consistent(at, state)
    if settings.project:
        state = State(*at.return_to_constraints(state.q, state.v, state.t), state.t)
    settings = look_ahead(at, settings, state)
    derived = working_time()
    trajectory = integrate_large(at, settings, state, bar)
    timing = Timing(
        derive_s=spent.derive_s + derived - started,
        compile_s=spent.compile_s + waited.seconds - before,
        integrate_s=working_time() - derived,
        steps=trajectory.steps,
        evaluations=trajectory.evaluations,
        kernel=at.model.kernel,
    )
    return LargeRun(at, trajectory, settings, trajectory.warnings, timing)


def require_consistent(at: LargeState, state: State) -> None:
    """Raises where a motion cannot begin: the state is off the constraints, or no acceleration satisfies them."""
    _require_consistent_state(at, state)
    at.solve(state.q, state.v, state.t)
    if names := EntriesOf(at).contradicting_constraints(state.q, state.v, state.t):
        raise InconsistentConstraints(
            f"{at.system.name}: at the initial state no acceleration satisfies all constraints: {', '.join(names)} "
            "depend on others and contradict them. Remove or correct one of them."
        )


@dataclass(frozen=True, eq=False)
class LargeRun(Run):
    """What an integration of a large system gave."""

    evaluation: LargeState

    def motion(self) -> Motion:
        motion = _certified(self.evaluation, self)
        if self.failure is not None:
            raise MotionFailed(self.failure, motion)
        return motion


def _certified(at: LargeState, run: Run) -> Motion:
    started, trajectory = clock.perf_counter(), run.trajectory
    n, t, y = at.n, trajectory.t, trajectory.y
    entries, kept = EntriesOf(at), _arrays_of_points(t.size, n, at.m)
    at.stay()
    for some in entries.chunks(t.size):
        states = list(zip(y[some, :n], y[some, n : 2 * n], t[some].tolist(), strict=True))
        every = np.empty((len(states), at.nz))
        for k, (q, v, when) in enumerate(states):
            every[k], kept["multipliers"][some.start + k] = at.solve(q, v, when)
            kept["rank"][some.start + k] = at.rank()
            kept["energy"][some.start + k] = at.energies(q, v, when)[0]
        here = entries.at_points(y[some, :n], y[some, n : 2 * n], t[some])
        forces = forces_at(here, entries.in_order(every), kept["multipliers"][some].ravel())
        kept["a"][some] = every[:, :n]
        for name in ("impressed", "inertial", "ideal"):
            kept[name][some] = getattr(forces, name).reshape(len(states), n)
    motion = Motion(
        system=run.system_as_it_started(),
        t=t,
        q=y[:, :n].copy(),
        v=y[:, n : 2 * n].copy(),
        **kept,
        nonideal=np.zeros((t.size, n)),
        work=y[:, 2 * n : 2 * n + 3].copy(),
        impact_loss=np.zeros(t.size),
        rtol=run.settings.rtol,
        method=trajectory.method,
        backend=trajectory.backend,
        events=trajectory.events,
        ended_by=trajectory.ended,
        warnings=run.warnings,
        timing=replace(run.timing, forces_s=clock.perf_counter() - started),
    )
    certified = clock.perf_counter()
    certificate = certify_large(motion, at)
    timing = replace(motion.timing, certify_s=clock.perf_counter() - certified)
    return replace(motion, certificate=certificate, timing=timing)


def _arrays_of_points(points: int, coordinates: int, constraints: int) -> dict[str, Any]:
    """What a motion keeps of every point, to be filled in one by one: all that is computed there is several times as
    much.
    """
    names = ("a", "impressed", "inertial", "ideal")
    found: dict[str, Any] = {name: np.empty((points, coordinates)) for name in names}
    found["multipliers"], found["energy"] = np.empty((points, constraints)), np.empty(points)
    found["rank"] = np.empty(points, dtype=int)
    return found


def _require_consistent_state(at: LargeState, state: State) -> None:
    """As for small systems: `InconsistentState` with the constraints that are violated, the worst first."""
    if not at.m:
        return
    sums = at.model.sums
    slopes = EntriesOf(at).at(state.q, state.v, state.t).A
    lengths = np.sqrt((slopes**2).sum(axis=1))
    w = at.run("sums", state.q, state.v, state.t)
    found = []
    for what, places, size in (
        ("position", sums.gaps, size_of(state.q, state.v)),
        ("velocity", sums.rate_gaps, size_of(state.v, state.q)),
    ):
        gaps = w[places]
        far = np.abs(gaps) / (np.where(lengths > 0, lengths, 1.0) * size)
        found += [(far[k], int(k), what, gaps[k]) for k in np.flatnonzero(~(far <= INITIAL_TOLERANCE))]
    if not found:
        return
    names = [constraint.name for constraint in at.system.constraints]
    lines = [
        f"constraint {k + 1}, '{names[k]}', is violated in {what}: residual {gap:.6g}, it must be 0"
        for _, k, what, gap in sorted(found, key=lambda one: -one[0])[:NAMED]
    ]
    lines += [f"… ({len(found)} in all)"] if len(found) > NAMED else []
    raise InconsistentState(
        f"{at.system.name}: the initial state at t = {state.t:g} does not satisfy the constraints:\n  - "
        + "\n  - ".join(lines)
        + "\nThe nearest state that does: use system.consistent(…), or 'dalembert run --repair'."
    )
