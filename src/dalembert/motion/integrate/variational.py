"""A variational integrator: the steps make a discrete action stationary, so what it conserves, it conserves for good.

Momenta of symmetries and the symplectic form are kept to rounding, and the energy, of a system that conserves it, stays
within a bound over very long times; adaptive methods drift. Steps have one length; orders 2, 4 and 6. Constraints on
positions hold at every control point, and with their rate at the end of each step (SHAKE and RATTLE). Impressed forces
enter by their virtual work.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply, MotionFailed
from dalembert.graph.discrete_action import Piece, piece
from dalembert.graph.evaluate import Evaluator
from dalembert.mechanics.principles.shared.formulation import does_work, first, has_modes, no_energies, nonholonomic
from dalembert.mechanics.solve.fundamental import independent_rows
from dalembert.methods.table import METHODS
from dalembert.model.system import System
from dalembert.motion.integrate.progress import Progress
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.integrate.trajectory import Trajectory, failure_message
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State
from dalembert.remember import remember_alone

# Newton's method ends where a step is this short, relative: being quadratic, it is then at rounding.
CONVERGED, ITERATIONS = 1e-11, 25
# Places along the motion at which the error of a step is measured, by two steps of half the length.
PROBES = 12


def require_action(system: System) -> None:
    """Raise where a system has no discrete action."""
    system = system.expanded
    events = "events are not located by this method" if system.events else ""
    reason = first(has_modes(system), no_energies(system), nonholonomic(system), does_work(system), events)
    if reason:
        raise DoesNotApply(f"{system.name}: method 'variational' does not apply: {reason}")


def integrate_variational(
    evaluation: Evaluation, settings: Settings, state: State, bar: Progress
) -> tuple[Trajectory, float]:
    """The trajectory through the output times, and the tolerance that its steps amount to: the largest error of one
    step, relative to the state, as an adaptive method would measure it.
    """
    assert settings.step is not None
    q, v, t0 = state.q, state.v, state.t
    stepper = Stepper(evaluation, settings.order, q, t0)
    times, h = settings.times, settings.step
    every = max(1, round((times[1] - times[0]) / h)) if times.size > 1 else 1
    count = every * (times.size - 1)
    probes = set(np.linspace(0, max(count - 1, 0), PROBES).astype(int).tolist())
    work = np.zeros(3)
    points, error, failure = [np.concatenate([q, v, work])], 0.0, None
    for k in range(count):
        t = t0 + k * h
        try:
            new = stepper.step(q, v, t, h)
            if k in probes:
                error = max(error, stepper.error(q, v, t, h))
        except MotionFailed as trouble:
            failure = failure_message(evaluation.system.name, t, str(trouble))
            break
        q, v = new.q, new.v
        work = work + np.array([*new.work, 0.0])
        if (k + 1) % every == 0:
            points.append(np.concatenate([q, v, work]))
            bar.update(t + h)
    trajectory = Trajectory(
        t=times[: len(points)],
        y=np.array(points),
        guesses=None,
        method=f"{METHODS['variational'].title}, order {settings.order}",
        backend="reference",
        steps=count,
        evaluations=stepper.evaluations,
        compile_s=0.0,
        events=(),
        failure=failure,
    )
    return trajectory, float(np.clip(error, 1e-13, 0.1))


class _New:
    """The state after a step, and the work done in it by impressed forces and by constraints that move."""

    def __init__(self, q: Array, v: Array, work: tuple[float, float]) -> None:
        self.q, self.v, self.work = q, v, work


# Of systems that are run again with other values.
KEPT = 16
_made: dict[Hashable, tuple[Piece, Evaluator, Evaluator]] = {}


def _functions(system: System, degree: int, rows: Sequence[int]) -> tuple[Piece, Evaluator, Evaluator]:
    """The action of a step, with what a step solves and the work done in it."""
    made = piece(system, degree, rows)
    return made, Evaluator(made.step), Evaluator(made.work)


class Stepper:
    """Steps of a discrete action of an order, 2s, from consistent states."""

    def __init__(self, evaluation: Evaluation, order: int, q: Array, t: float) -> None:
        _, slope = evaluation.position(q, t)
        self.rows = independent_rows(slope) if slope.shape[0] else []
        key = (evaluation.system.structure, order // 2, tuple(self.rows))
        made = remember_alone(_made, key, lambda: _functions(evaluation.system, order // 2, self.rows), KEPT)
        self.pieces, self._step, self._work = made
        self.p, self.n, self.m, self.s = evaluation.p, evaluation.n, len(self.rows), order // 2
        self.last = np.zeros(self.n)  # the mean acceleration of the last step
        self.lam = np.zeros(self.m * (self.s + 1))
        self.evaluations = 0

    def step(self, q: Array, v: Array, t: float, h: float) -> _New:
        n, s = self.n, self.s
        places = self.pieces.places[1:, None] * h
        guess = q + places * v + places**2 / 2 * self.last
        u = np.concatenate([guess.ravel(), v + h * self.last, self.lam])
        reach = np.concatenate([np.full(n * s, np.abs(guess - q).max(initial=0.0)), np.full(n, np.abs(v).max())])
        for _ in range(ITERATIONS):
            residual, slope = self._step(u, q, v, t, h, self.p)
            self.evaluations += 1
            try:
                change = np.linalg.solve(slope.reshape(u.size, u.size), residual)
            except np.linalg.LinAlgError:
                raise MotionFailed("the equations of a step are singular") from None
            u = u - change
            if not np.isfinite(u).all():
                break
            state = u[: n * (s + 1)]
            size = np.maximum(np.abs(state), reach)
            if np.all(np.abs(change[: state.size]) <= CONVERGED * np.maximum(size, 1e-3 * size.max())):
                self.lam = u[n * (s + 1) :]
                done, moved = self._work(np.concatenate([q, u[: n * s]]), self.lam, t, h, self.p)
                new = _New(u[n * (s - 1) : n * s], u[n * s : n * (s + 1)], (float(done[0]), float(moved[0])))
                self.last = (new.v - v) / h
                return new
        raise MotionFailed("Newton's method found no step: take a smaller step=")

    def error(self, q: Array, v: Array, t: float, h: float) -> float:
        """The error of one step, relative to the size of the state: against two steps of half its length."""
        kept = self.last, self.lam
        whole = self.step(q, v, t, h)
        half = self.step(q, v, t, h / 2)
        half = self.step(half.q, half.v, t + h / 2, h / 2)
        self.last, self.lam = kept
        found = 0.0
        for one, two, moved in ((whole.q, half.q, h * v), (whole.v, half.v, h * self.last)):
            size = max(float(np.abs(two).max()), float(np.abs(moved).max()), 1e-300)
            found = max(found, float(np.abs(one - two).max()) / size)
        return found
