"""Members that are integrated one by one, as `prepare` does it for any motion: contacts, impacts, large models, stiff
motions, and starts that need a closer look.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.members.control import Control, OutOfTime, Patience
from dalembert.ensemble.members.outcome import Outcome, Status
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.start.block import Block
from dalembert.errors import DalembertError, InconsistentState, MotionFailed
from dalembert.motion.large.size import is_large
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.state import State


class _Way(Protocol):
    """What a run and a motion have in common."""

    @property
    def t(self) -> Array: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def events(self) -> Sequence[Mapping[str, Any]]: ...
    @property
    def ended_by(self) -> str | None: ...


def run_alone(task: Task, block: Block, k: int, outcome: Outcome, control: Control) -> None:
    """Integrate member k of the block into the outcome. What goes wrong is its status; `Cancelled` is raised."""
    outcome.alone[k] = True
    try:
        (_run_large if is_large(task.system) else _run_prepared)(task, block, k, outcome, control)
    except OutOfTime:
        outcome.note(k, Status.BUDGET, f"its budget was spent, after {control.budget.seconds:g} s")
    except InconsistentState as error:
        outcome.note(k, Status.INCONSISTENT, _one_line(error))
    except MotionFailed as error:
        outcome.note(k, Status.FAILED, _one_line(error))
    except DalembertError as error:
        started = np.isfinite(outcome.t[k])
        outcome.note(k, Status.FAILED if started else Status.REFUSED, _one_line(error))
    except (ArithmeticError, ValueError, np.linalg.LinAlgError) as error:  # one member must never end the others
        outcome.note(k, Status.FAILED, f"{type(error).__name__}: {error}")


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def _run_prepared(task: Task, block: Block, k: int, outcome: Outcome, control: Control) -> None:
    start = State(block.q[k].copy(), block.v[k].copy(), float(block.t[k]))
    run = task.prepared.run(start, block.p[k].copy(), progress=Patience(control))
    n = task.n
    _write(task, k, outcome, run, run.trajectory.y[:, : 2 * n + 3], run.timing.steps)
    if run.failure is not None:
        outcome.note(k, Status.FAILED, _one_line(MotionFailed(run.failure)))
    elif run.ended_by is None and run.t.size < task.settings.times.size:
        outcome.note(k, Status.BUDGET, f"t = {run.t[-1]:.6g}: its budget was spent, after {run.timing.steps} steps")
    elif task.certify:
        _certify(k, outcome, run.motion())


def _run_large(task: Task, block: Block, k: int, outcome: Outcome, control: Control) -> None:
    """By `simulate`, which knows loops over their parts."""
    system, settings = task.system, task.settings
    names = (*system.coordinates, *system.velocities, "t")
    initial = dict(zip(names, [*block.q[k].tolist(), *block.v[k].tolist(), float(block.t[k])], strict=True))
    values = dict(zip(system.parameter_symbols, block.p[k].tolist(), strict=True))
    motion = system.replace(parameters=values, initial=initial).simulate(
        times=settings.times + (block.t[k] - settings.times[0]), rtol=settings.rtol, atol=settings.atol,
        method=settings.method, project=settings.project, backend=settings.backend, max_step=settings.max_step,
        progress=False,
    )  # fmt: skip
    y = np.concatenate([motion.q, motion.v, motion.work], axis=1)
    _write(task, k, outcome, motion, y, motion.timing.steps)
    if task.certify:
        _certify(k, outcome, motion)


def _write(task: Task, k: int, outcome: Outcome, way: _Way, y: Array, steps: int) -> None:
    points = way.t.size
    outcome.status[k] = Status.DONE if way.ended_by is None else Status.ENDED
    outcome.points[k], outcome.t[k], outcome.y[k], outcome.steps[k] = points, way.t[-1], y[-1], steps
    if outcome.along is not None:
        outcome.along[k, :points] = y
    at = {name: e for e, name in enumerate(task.events)}
    outcome.ended[k] = at.get(way.ended_by or "", -1)
    for event in way.events:
        e = at.get(str(event["name"]))
        if e is None:
            continue
        outcome.counts[k, e] += 1.0
        outcome.first[k, e] = event["t"] if outcome.counts[k, e] == 1.0 else outcome.first[k, e]
        outcome.latest[k, e] = event["t"]


def _certify(k: int, outcome: Outcome, motion: Motion) -> None:
    found = motion.certificate
    outcome.certificate[k] = found.position, found.velocity, found.energy, float(found.holds)
