"""Members that are integrated one by one, as `prepare` does it for any motion: contacts, impacts, large models, stiff
motions, and starts that need a closer look.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.ensemble.members.control import Control, OutOfTime, Patience
from dalembert.ensemble.members.outcome import Outcome, Status
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.start.block import Block
from dalembert.errors import DalembertError, InconsistentState, ModelError, MotionFailed
from dalembert.model.language.symbols import t as time_symbol
from dalembert.motion.result.motion import Motion
from dalembert.motion.run import Run
from dalembert.motion.state.state import State

if TYPE_CHECKING:
    from dalembert.model.system import System


def run_alone(task: Task, block: Block, k: int, outcome: Outcome, control: Control) -> None:
    """Integrate member k of the block into the outcome. What goes wrong is its status; `Cancelled` is raised."""
    outcome.alone[k] = True
    try:
        _run(task, block, k, outcome, control)
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


def _run(task: Task, block: Block, k: int, outcome: Outcome, control: Control) -> None:
    start = State(block.q[k].copy(), block.v[k].copy(), float(block.t[k]))
    _require_finite(task.system, start)
    with task.lock:  # made once
        prepared = task.prepared
    run = prepared.run(start, block.p[k].copy(), progress=Patience(control))
    _write(task, k, outcome, run)
    if run.failure is not None:
        outcome.note(k, Status.FAILED, _one_line(MotionFailed(run.failure)))
    elif run.ended_by is None and run.t.size < task.settings.times.size:
        if (left := run.trajectory.looked) is not None:
            outcome.t[k], outcome.y[k, : 2 * task.n] = left[0], np.concatenate(left[1:])
        told = f"t = {outcome.t[k]:.6g}: its budget was spent, after {run.timing.steps} steps"
        outcome.note(k, Status.BUDGET, told)
    elif task.certify:
        _certify(k, outcome, run.motion())


def _require_finite(system: System, start: State) -> None:
    """Initial values that were given are finite: it is an expression of parameters that has no value for some."""
    unknown = np.flatnonzero(~np.isfinite([*start.q, *start.v, start.t]))
    if unknown.size:
        symbol = (*system.coordinates, *system.velocities, time_symbol)[unknown[0]]
        told = f"the initial value of {symbol.name}, {system.initial[symbol]}, is not a finite number"
        raise ModelError(system.name, [told])


def _write(task: Task, k: int, outcome: Outcome, run: Run) -> None:
    points, y = run.t.size, run.trajectory.y[:, : 2 * task.n + 3]
    outcome.status[k] = Status.DONE if run.ended_by is None else Status.ENDED
    outcome.points[k], outcome.t[k], outcome.y[k], outcome.steps[k] = points, run.t[-1], y[-1], run.timing.steps
    if outcome.along is not None:
        outcome.along[k, :points] = y
    own, of_contacts = (
        {name: e for e, name in enumerate(task.counted) if (name in task.events) is which} for which in (True, False)
    )
    outcome.ended[k] = own.get(run.ended_by or "", -1)
    for event in run.events:
        what, contact = str(event["name"]), event.get("contact")
        names, at = ((what,), own) if contact is None else ((what, f"{what} {contact}"), of_contacts)
        for e in (at[name] for name in names if name in at):
            outcome.counts[k, e] += 1.0
            outcome.first[k, e] = event["t"] if outcome.counts[k, e] == 1.0 else outcome.first[k, e]
            outcome.latest[k, e] = event["t"]


def _certify(k: int, outcome: Outcome, motion: Motion) -> None:
    found = motion.certificate
    outcome.certificate[k] = found.position, found.velocity, found.energy, float(found.holds)
