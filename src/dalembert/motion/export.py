"""A system as a program for GPUs: `dalembert export MODEL --cuda FILE`. What runs it needs no dalembert."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dalembert import __version__
from dalembert.errors import DoesNotApply
from dalembert.kernel.cuda.files import describe, write_program
from dalembert.kernel.cuda.run import Program
from dalembert.kernel.cuda.source import CudaSource, cuda_source
from dalembert.methods.table import METHODS
from dalembert.model.friction.legs import needs_legs
from dalembert.model.system import System
from dalembert.motion.integrate.ahead import look_ahead
from dalembert.motion.integrate.kinks import kink_count
from dalembert.motion.integrate.settings import method_of
from dalembert.motion.prepare import settings_of_system
from dalembert.motion.state.consistent import require_consistent_state
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State


@dataclass(frozen=True)
class CudaProgram:
    """The source of a system, and the numbers that it starts with where a member gives no other."""

    source: CudaSource
    numbers: Mapping[str, Any]

    @cached_property
    def program(self) -> Program:
        """As the runner takes it, without files."""
        return Program(self.source.text, describe(self.source, "", self.numbers))

    def write(self, file: Path) -> tuple[Path, ...]:
        """FILE, its description FILE.json and FILE.run.py."""
        return write_program(self.source, file, self.numbers)


def cuda_program(
    system: System, duration: float | None = None, rolled: bool | None = None, **options: Any
) -> CudaProgram:
    """The program of a system, with the method and tolerance of `options` (as for `simulate`) as its defaults.

    `DoesNotApply` where a thread of a GPU cannot integrate it; the reason says what it would need.
    """
    if needs_legs(system):
        raise _not_on_a_gpu(system, "contacts and friction that sticks are decided on the CPU")
    if system.may_have_kinks and kink_count(system):
        raise _not_on_a_gpu(system, "abs, sign, min, max or a condition makes a kink, which is located on the CPU")
    asked = duration if duration is not None else system.settings.get("duration")
    settings = settings_of_system(system, duration if asked is not None else 1.0, None, options)
    method = method_of(settings)
    if METHODS[method].tableau is None:
        raise _not_on_a_gpu(system, f"it takes explicit methods only, not {method!r}")
    q, v, t = system.initial_values()
    evaluation = Evaluation(system)
    state = State(q, v, t)
    require_consistent_state(evaluation, state)
    solution = evaluation.solve(q, v, t)
    evaluation.require_consistent(solution, t)
    # As motion/integrate/native.py.
    rows = list(range(evaluation.m))
    if int(solution.rank) < evaluation.m:
        raise _not_on_a_gpu(system, "some constraints are redundant, and which of them act is decided on the CPU")
    regular = not np.isnan(solution.unconstrained).any()
    scale = np.trace(solution.M) / max(float(np.sum(solution.A * solution.A)), 1e-300)
    completion = 0.0 if regular else float(f"{scale:.2g}")
    source = cuda_source(system, evaluation.graph, rows, method, completion, rolled)
    pace = look_ahead(evaluation, settings, state).pace
    wanted = (*system.coordinates, *system.velocities)
    numbers = {
        "name": system.name,
        "dalembert": __version__,
        "t0": t,
        "duration": None if asked is None else float(asked),
        "rtol": settings.rtol,
        "state": [*q.tolist(), *v.tolist()],
        "state_by_expression": [bool(system.initial[symbol].free_symbols) for symbol in wanted],
        "parameter_values": system.parameter_values().tolist(),
        "pace": None
        if pace is None
        else {"starts": pace.starts.tolist(), "bounds": np.minimum(pace.bounds, 1e30).tolist()},
    }
    return CudaProgram(source, numbers)


def _not_on_a_gpu(system: System, reason: str) -> DoesNotApply:
    return DoesNotApply(f"{system.name} does not run on a GPU: {reason}; the CPU runs it", reason)
