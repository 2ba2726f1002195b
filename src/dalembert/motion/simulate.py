"""`simulate`: the motion of a system from its initial state, on the reference backend (SciPy's adaptive
integrators).
"""

from __future__ import annotations

import math
import time as clock
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.errors import DalembertError, ModelError, MotionFailed
from dalembert.mechanics.fundamental import Array, Fundamental
from dalembert.model.parse import suggest
from dalembert.model.system import System
from dalembert.motion.certificate import certify
from dalembert.motion.consistent import require_consistent_state
from dalembert.motion.evaluation import Evaluation
from dalembert.motion.motion import Motion, Timing
from dalembert.motion.progress import Progress
from dalembert.motion.project import project

METHODS = {"auto": "DOP853", "dop853": "DOP853", "dopri5": "RK45", "stiff": "Radau", "radau": "Radau"}
DEFAULT_RTOL = 1e-9
DEFAULT_SAMPLES = 501
# Above this the redundant constraints of a state on the constraints contradict each other; below, it is
# rounding in projected states.
DRIFT_TOLERANCE = 1e-6
# A run whose last STALL_STEPS steps covered less than STALL_SHARE of the duration would need more than a
# hundred million: it chatters.
STALL_STEPS = 1000
STALL_SHARE = 1e-5
STALLED = (
    "the steps have become so short that the end would not be reached. A law with sign(…) or v/|v| at rest makes "
    "a motion chatter like this. A very stiff force does it too: then use method='stiff', and if it is in use "
    "already, a looser rtol or atol."
)


@dataclass(frozen=True)
class Settings:
    """The options of a simulation, checked."""

    times: Array
    rtol: float
    atol: float
    method: str
    project: bool


def simulate(
    system: System,
    duration: float | None = None,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    samples: int | None = None,
    times: ArrayLike | None = None,
    method: str | None = None,
    project: bool | None = None,
    progress: bool | None = None,
) -> Motion:
    """Integrate the motion from the initial state and certify it.

    duration: how long, from the initial time.
    rtol: relative tolerance, 1e-3 … 1e-12 (default 1e-9).
    atol: absolute tolerance (default 1e-3 rtol; rtol for the stiff method).
    samples: number of equidistant output times (default 501); or times: the output times themselves, increasing.
    method: "auto", "dop853", "dopri5", or "stiff" (an implicit method with the exact Jacobian).
    project: return to the constraints after each step (default True); False shows the drift.
    progress: a bar on long runs (default: on terminals).

    Options not given come from the `[simulate]` table of the system's document. Raises `InconsistentState`
    where the initial state violates a constraint and `MotionFailed`, with the motion so far, where the
    integration cannot go on.
    """
    started = clock.perf_counter()
    given = {"rtol": rtol, "atol": atol, "samples": samples, "method": method, "project": project}
    options = {**system.settings, **{key: value for key, value in given.items() if value is not None}}
    q, v, t0 = system.initial_values()
    settings = _settings(system, duration, times, t0, options)
    evaluation = Evaluation(system)
    require_consistent_state(evaluation, q, v, t0)
    derived = clock.perf_counter()
    run = _Run(evaluation, settings)
    bar = Progress(system.name, t0, float(settings.times[-1]), progress)
    with bar:
        failure = run.integrate(q, v, t0, bar)
    motion = run.motion(derive_s=derived - started, integrate_s=clock.perf_counter() - derived)
    if failure is not None:
        raise MotionFailed(failure, motion)
    return motion


class _Run:
    """One integration: steps the integrator, returns to the constraints, records the output points."""

    def __init__(self, evaluation: Evaluation, settings: Settings) -> None:
        self.evaluation, self.settings = evaluation, settings
        self.n = evaluation.n
        self.rows: Sequence[int] | None = None  # independent constraints, used between accepted states
        self.guess: Array | None = None  # the last acceleration: selects the branch
        self.trouble: DalembertError | None = None  # the last reason why a trial state had no acceleration
        self.points: list[tuple[float, Array, Array, Array, Fundamental]] = []
        self.events: list[dict[str, Any]] = []
        self.warnings: list[str] = []
        self.rank: int | None = None
        self.steps = 0

    # -- the equations
    # -----------------------------------------------------------------------------------------

    def rates(self, t: float, q: Array, v: Array, solution: Fundamental) -> Array:
        """d/dt of (q, q̇, work of impressed, ideal, nonideal forces)."""
        e = self.evaluation.energetics(q, v, t)
        powers = (v @ e.forces + e.explicit, v @ solution.ideal, v @ solution.nonideal)
        return np.concatenate([v, solution.acceleration, powers])

    def derivative(self, t: float, y: Array) -> Array:
        """The right-hand side at a trial state. Where the model has no value there, NaN makes the integrator
        shorten the step.
        """
        q, v = y[: self.n], y[self.n : 2 * self.n]
        if not np.isfinite(y).all():
            return np.full(y.size, np.nan)
        try:
            return self.rates(t, q, v, self.evaluation.solve(q, v, t, self.rows, self.guess))
        except (DalembertError, np.linalg.LinAlgError) as error:
            if isinstance(error, DalembertError):
                self.trouble = error
            return np.full(y.size, np.nan)

    def jacobian(self, t: float, y: Array) -> Array:
        n = self.n
        q, v = y[:n], y[n : 2 * n]
        matrix = np.zeros((y.size, y.size))
        matrix[:n, n : 2 * n] = np.eye(n)
        matrix[n : 2 * n, : 2 * n] = self.evaluation.slopes(self.evaluation.solve(q, v, t, None, self.guess), q, v, t)
        return matrix

    def settle(self, t: float, q: Array, v: Array) -> Fundamental:
        """The acceleration at an accepted state; also the place where rank, redundancy and contradictions are
        seen.
        """
        solution = self.evaluation.solve(q, v, t, None, self.guess)
        self.evaluation.require_consistent(solution, t, DRIFT_TOLERANCE)
        rank = int(solution.rank)
        redundant = rank < self.evaluation.m and not self.evaluation.graph.nonlinear
        self.rows = [int(k) for k in np.flatnonzero(~solution.dependent)] if redundant else None
        if self.rank is not None and rank != self.rank:
            names = [
                c.name for c, flag in zip(self.evaluation.system.constraints, solution.dependent, strict=True) if flag
            ]
            change = {"name": "rank change", "t": float(t), "from": self.rank, "to": rank, "dependent": names}
            self.events.append(change)
        self.rank = rank
        self.guess = solution.acceleration
        return solution

    # -- the integration
    # ---------------------------------------------------------------------------------------

    def integrate(self, q: Array, v: Array, t0: float, bar: Progress) -> str | None:
        """Run to the end; a message where that is impossible."""
        end = float(self.settings.times[-1])
        if self.settings.project:
            q, v, _ = project(self.evaluation, q, v, t0)
        solution = self.evaluation.solve(q, v, t0)
        self.evaluation.require_consistent(solution, t0)
        self._warn_vanishing(q, v, t0)
        solution = self.settle(t0, q, v)
        work = np.zeros(3)
        self.points.append((t0, q, v, work, solution))
        if end == t0:
            return None
        solver = self._solver(t0, np.concatenate([q, v, work]), end)
        pending, mark = 1, t0
        while solver.status == "running":
            message = solver.step()
            self.steps += 1
            if self.steps % STALL_STEPS == 0:
                if solver.t - mark < STALL_SHARE * (end - t0):
                    return self._failure(float(solver.t), STALLED)
                mark = float(solver.t)
            if solver.status == "failed":
                return self._failure(float(solver.t), message)
            dense = solver.dense_output() if self._due(pending, solver.t) else None
            try:
                y = self._return(solver.t, solver.y)
                solution = self.settle(float(solver.t), y[: self.n], y[self.n : 2 * self.n])
                if y is not solver.y:
                    solver.y = y
                solver.f = self.rates(float(solver.t), y[: self.n], y[self.n : 2 * self.n], solution)
                if dense is not None:
                    pending = self._record(pending, float(solver.t), y, solution, dense)
            except DalembertError as error:
                return self._failure(float(solver.t), str(error))
            bar.update(float(solver.t))
        return None

    def _solver(self, t0: float, y: Array, end: float) -> Any:
        from scipy import integrate

        # The work integrals ride along: they must not decide the step size, so their own tolerance is
        # infinite.
        atol = np.full(y.size, self.settings.atol)
        atol[2 * self.n :] = np.inf
        options: dict[str, Any] = {"rtol": self.settings.rtol, "atol": atol}
        kind = METHODS[self.settings.method]
        if kind == "Radau":
            options["jac"] = self.jacobian
        return getattr(integrate, kind)(self.derivative, t0, y, end, **options)

    def _due(self, pending: int, t: float) -> bool:
        return pending < self.settings.times.size and self.settings.times[pending] <= t

    def _return(self, t: float, y: Array) -> Array:
        """Back onto the constraints, if that is wanted."""
        if not self.settings.project:
            return y
        q, v, _ = project(self.evaluation, y[: self.n], y[self.n : 2 * self.n], float(t))
        return np.concatenate([q, v, y[2 * self.n :]])

    def _record(self, pending: int, t: float, y: Array, solution: Fundamental, dense: Any) -> int:
        """Output points inside the last step; returns the index of the next one."""
        times, n = self.settings.times, self.n
        while pending < times.size and times[pending] <= t:
            at = float(times[pending])
            if at == t:
                here, found = y, solution
            else:
                here = self._return(at, dense(at))
                found = self.evaluation.solve(here[:n], here[n : 2 * n], at, None, self.guess)
            self.points.append((at, here[:n].copy(), here[n : 2 * n].copy(), here[2 * n :].copy(), found))
            pending += 1
        return pending

    def _warn_vanishing(self, q: Array, v: Array, t: float) -> None:
        """A constraint whose gradient vanishes at the start (a quadratic one at rest) constrains nothing
        there.
        """
        A = self.evaluation.dynamics(q, v, t)[2]
        for k, constraint in enumerate(self.evaluation.system.constraints):
            if k not in self.evaluation.graph.nonlinear and not np.any(A[k]):
                self.warnings.append(
                    f"constraint '{constraint.name}' has no gradient at the initial state, so it does not act there: "
                    "start from a state where it does, or write it in a form that is not degenerate"
                )

    def _failure(self, t: float, message: str | None) -> str:
        name = self.evaluation.system.name
        reason = message or "the step size became too small"
        if self.trouble is not None and (message is None or "step size" in message):
            reason = f"{reason} Last trouble: {self.trouble}"
        elif message and "step size" in message:
            reason += " The motion may end here (a singularity, a collision, a constraint that cannot be continued)."
        return f"{name}: the motion could not be continued beyond t = {t:.10g}: {reason}"

    # -- the result
    # --------------------------------------------------------------------------------------------

    def motion(self, derive_s: float, integrate_s: float) -> Motion:
        system, evaluation = self.evaluation.system, self.evaluation
        t = np.array([point[0] for point in self.points])
        solutions = [point[4] for point in self.points]
        stacked: Any = {
            name: np.array([getattr(s, name) for s in solutions]) for name in ("ideal", "nonideal", "multipliers")
        }
        Q = np.array([s.Q for s in solutions])
        e = [evaluation.energetics(q, v, at) for at, q, v, _, _ in self.points]
        inertial = np.array([x.inertial for x in e])
        ranks = np.array([int(s.rank) for s in solutions])
        evaluations = evaluation.evaluations
        motion = Motion(
            system=system,
            t=t,
            q=np.array([point[1] for point in self.points]),
            v=np.array([point[2] for point in self.points]),
            a=np.array([s.acceleration for s in solutions]),
            impressed=Q - inertial,
            inertial=inertial,
            **stacked,
            rank=ranks,
            energy=np.array([x.energy for x in e]),
            work=np.array([point[3] for point in self.points]),
            rtol=self.settings.rtol,
            method=METHODS[self.settings.method],
            backend="reference",
            events=tuple(self.events),
            warnings=tuple(self.warnings),
            timing=Timing(derive_s, 0.0, integrate_s, self.steps, evaluations),
        )
        return replace(motion, certificate=certify(motion, evaluation))


def _settings(
    system: System, duration: float | None, times: ArrayLike | None, t0: float, options: dict[str, Any]
) -> Settings:
    """Checked options; every fault is told at once."""
    faults = []
    rtol = float(options.get("rtol", DEFAULT_RTOL))
    if not 1e-13 <= rtol <= 0.1:
        faults.append(f"rtol is {rtol:g}; it must lie between 1e-13 and 0.1")
    method = str(options.get("method", "auto")).lower()
    if method not in METHODS:
        faults.append(f"unknown method {method!r}.{suggest(method, METHODS)}")
    # Components pass through zero, so a purely relative tolerance would stall; 1e-14 is where rounding begins. Stiff
    # forces magnify rounding by their stiffness, so that small components cannot be had to a thousandth of rtol.
    share = 1.0 if METHODS.get(method) == "Radau" else 1e-3
    atol = float(options.get("atol", max(share * rtol, 1e-14)))
    if not (math.isfinite(atol) and atol > 0):
        faults.append(f"atol is {atol:g}; it must be positive")
    samples = options.get("samples", DEFAULT_SAMPLES)
    if int(samples) != samples or samples < 2:
        faults.append(f"samples is {samples!r}; at least 2 are needed, the start and the end")
    duration = options.get("duration") if duration is None and times is None else duration
    points = np.array([t0])
    if times is not None:
        points = np.asarray(times, dtype=float).ravel()
        if points.size == 0 or not np.isfinite(points).all() or np.any(np.diff(points) <= 0) or points[0] < t0:
            faults.append(f"times must be finite, increasing, and not before the initial time {t0:g}")
        elif points[0] > t0:
            points = np.concatenate([[t0], points])
    elif duration is None:
        faults.append("no duration: say how long to simulate")
    elif isinstance(duration, bool) or not isinstance(duration, (int, float, np.number)):
        faults.append(f"the duration is a number, got {duration!r}")
    elif not math.isfinite(duration) or duration <= 0:
        faults.append(f"the duration is {float(duration):g}; it must be positive and finite")
    elif not faults:
        points = t0 + np.linspace(0.0, float(duration), int(samples))
    if faults:
        raise ModelError(system.name, faults)
    return Settings(points, rtol, atol, method, bool(options.get("project", True)))
