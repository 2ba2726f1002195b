"""The largest Lyapunov exponent of a member that is run by itself, by a twin as in lyapunov.py: run after run of
`prepare`, each over a piece of the time.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.control import Control, OutOfTime, Patience
from dalembert.ensemble.members.lyapunov import LEAST, STEPS, apart, length
from dalembert.ensemble.members.outcome import Outcome
from dalembert.ensemble.members.task import Task, made_ready
from dalembert.ensemble.start.block import Block
from dalembert.errors import DalembertError
from dalembert.graph.timed import spread
from dalembert.model.friction.legs import needs_legs
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.prepare import Prepared
from dalembert.motion.state.consistent import INITIAL_TOLERANCE
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import nearest
from dalembert.motion.state.state import State

if TYPE_CHECKING:
    from dalembert.model.system import System

# Runs take some milliseconds each: the twin is led back at most so often.
MOST = 256
# Where a piece ends between the blow of one and the same blow of the other, their velocities differ by that blow, not
# as those of neighbours do: they are more than so many times as far apart as at its beginning, and one piece later so
# many times less far. They are led back there.
ACROSS, FELL = 1e3, 30.0


def exponent_alone(task: Task, block: Block, k: int, outcome: Outcome, control: Control) -> float:
    """Of member k of the block, which has come to its end; NaN where the twin does not come so far."""
    begin, end = float(block.t[k]), float(outcome.t[k])
    if not end > begin or task.settings.step is not None:  # steps of one length end at the output times only
        return np.nan
    count = int(np.clip(outcome.steps[k] // STEPS, LEAST, MOST))
    way = _Way(task, block.p[k].copy(), control, (end - begin) / count)
    x = np.concatenate([block.q[k], block.v[k]])
    size = float(apart(x[None])[0])
    try:
        for sign in (1.0, -1.0):  # one of them may lie behind a contact
            try:
                return way.rate(x, x + sign * size * spread(x.size, 1), begin, end, count)
            except DalembertError:
                if sign < 0.0:
                    return np.nan
    except (OutOfTime, ArithmeticError, ValueError, np.linalg.LinAlgError):
        pass
    return np.nan


@dataclass(frozen=True)
class _Way:
    """Runs of a system with parameters p over pieces of one length."""

    task: Task
    p: Array
    control: Control
    length: float

    @cached_property
    def system(self) -> System:
        """Without events, which would end a run."""
        return self.task.system.replace(events={}) if self.task.system.events else self.task.system

    @cached_property
    def prepared(self) -> Prepared:
        times, members = np.array([0.0, self.length]), self.task.values.count
        settings: Settings = replace(self.task.settings, times=times, members=members)
        return made_ready(self.system, settings)

    def rate(self, x: Array, twin: Array, begin: float, end: float, count: int) -> float:
        """The mean rate at which the motions from both states part, which are led back to where twins begin."""
        total, piece, strikes = 0.0, 0, needs_legs(self.system)

        def at(piece: int) -> float:
            return begin + (end - begin) * (piece / count)

        while piece < count:
            near, far, ends = self._part(x, twin, at(piece))
            more = 1
            if strikes and far > ACROSS * near:
                if piece + 1 == count:
                    end = at(piece)  # nobody knows what lies between: that piece does not count
                    break
                _, later, further = self._part(*ends, at(piece + 1))
                if later < far / FELL:
                    far, ends, more = later, further, 2
            total += float(np.log(far / near))
            x, twin = ends
            twin = x + (twin - x) * (float(apart(x[None])[0]) / far)
            piece += more
        return total / (end - begin) if end > begin and np.isfinite(total) else np.nan

    def _part(self, x: Array, twin: Array, t: float) -> tuple[float, float, tuple[Array, Array]]:
        """How far from each other both begin and end a piece, and where they end."""
        (first, x), (near, twin) = self._advance(x, t), self._advance(self._on_constraints(twin, t), t)
        return float(length(near - first)), float(length(twin - x)), (x, twin)

    def _advance(self, x: Array, t: float) -> tuple[Array, Array]:
        """The state as it was led back to the constraints, and the one at the end of the piece."""
        n = x.size // 2
        run = self.prepared.run(State(x[:n], x[n:], t), self.p, progress=Patience(self.control))
        if run.failure is not None:
            raise ArithmeticError(run.failure)
        first, last = (np.concatenate([run.q[j], run.v[j]]) for j in (0, -1))
        return first, last

    @cached_property
    def _held(self) -> Evaluation | None:
        """Of the constraints that always hold; None where there are none."""
        always = [constraint for constraint in self.system.constraints if not constraint.one_sided]
        if not always:
            return None
        if len(always) == len(self.system.constraints):
            return Evaluation(self.system, self.p)
        named = dict(zip(self.system.parameter_symbols, self.p.tolist(), strict=True))
        return Evaluation(self.system.replace(parameters=named, constraints=always, nonideal=(), events=()))

    def _on_constraints(self, x: Array, t: float) -> Array:
        if self._held is None:
            return x
        n = x.size // 2
        q, v, left = nearest(self._held, x[:n], x[n:], t, np.ones(2 * n, dtype=bool))
        if left > INITIAL_TOLERANCE:
            raise ArithmeticError("no state nearby satisfies the constraints")
        return np.concatenate([q, v])
