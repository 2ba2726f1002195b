"""What GPUs run of a sweep: the source of its members, or why the processor runs them all."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace

import numpy as np

from dalembert.ensemble.ask.wanted import LYAPUNOV, OF_OBSERVABLES
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.start.block import Block
from dalembert.errors import DoesNotApply, ModelError
from dalembert.kernel.cuda.files import describe
from dalembert.kernel.cuda.run import Program, Wish
from dalembert.kernel.cuda.source import CudaSource, cuda_source
from dalembert.kernel.size import KernelTooLarge
from dalembert.methods.table import METHODS
from dalembert.motion.integrate.kernel_choice import LOOKS
from dalembert.motion.integrate.settings import method_of

# A member that takes more steps than these is left to the processor, which looks whether it is stiff.
MOST_STEPS = 100_000
# Of the observables that stand beside coordinates and velocities in a source: one may have the name of these.
OBSERVED = "observed "
# Reductions along the way; what an observable is at the end follows from the state there.
ALONG = tuple(kind for kind in OF_OBSERVABLES if kind != "final")
# What a pace is compiled for, before it is known.
SOME_PACE = {"starts": [0.0], "bounds": [1e30]}


@dataclass(frozen=True)
class Plan:
    """source: of all members, or None and `why_cpu`. kept and reduced: the observables, by their names in the sweep,
    that are kept at the output times, and of which extremes and means are taken.
    """

    source: CudaSource | None
    why_cpu: str | None
    kept: tuple[str, ...] = ()
    reduced: tuple[str, ...] = ()


def plan_of(task: Task) -> Plan:
    """Made once for a task. Settings may be those of several sweeps, of which the last one's is kept."""
    kept = task.settings.kept
    if "cuda" not in kept or kept["cuda"][0]() is not task:
        kept["cuda"] = (weakref.ref(task), _plan(task))
    found: Plan = kept["cuda"][1]
    return found


def _plan(task: Task) -> Plan:
    wanted = task.wanted
    reduced = tuple(dict.fromkeys(r.of for r in wanted.reductions if r.kind in ALONG))
    names = dict.fromkeys((*wanted.kept, *reduced))
    why = _why_cpu(task, bool(names))
    if why is not None:
        return Plan(None, why)
    expressions = {OBSERVED + name: wanted.expressions[name] for name in names}
    rows = range(len(task.system.constraints))
    try:
        source = cuda_source(task.system, task.graph, rows, method_of(task.settings), expressions=expressions)
    except DoesNotApply as error:
        return Plan(None, error.reason)
    except KernelTooLarge:
        return Plan(None, "the model is too long for the threads of a GPU")
    except ModelError as error:
        return Plan(None, "; ".join(error.faults))
    if source.events != task.events:
        return Plan(None, "an event depends on constraint forces")
    return Plan(source, None, wanted.kept, reduced)


def _why_cpu(task: Task, along: bool) -> str | None:
    """Why no member goes to a GPU, as far as that is known without a source."""
    settings = task.settings
    varied = {name for axis in task.values.axes for name in axis.columns}
    if task.together is None:
        return task.why_alone
    if task.switched[0].system is not task.system:
        return "abs, sign, min, max or a condition makes a kink, which is located on the CPU"
    if task.certify:
        return "certificates need the work of the forces, which a GPU does not keep"
    if any(reduction.kind == LYAPUNOV for reduction in task.wanted.reductions):
        return "the twins of exponents are led by the CPU"
    if METHODS[method_of(settings)].tableau is None:
        return f"a GPU takes explicit methods only, not {settings.method!r}"
    if not settings.project:
        return "a GPU always returns states to the constraints"
    if settings.atol == 0.0:
        return "a GPU needs an absolute tolerance"
    if not settings.times[-1] > settings.times[0]:
        return "a GPU goes forward in time"
    if "t" in varied:
        return "initial times differ"
    if task.looks_differ_by:
        return f"{', '.join(task.looks_differ_by)} belongs to functions of time"
    if along and task.observables is not None and task.observables.forces:
        return "accelerations and constraint forces are observed on the CPU"
    return None


def program_of(task: Task, source: CudaSource) -> Program:
    """As the runner takes it. Every member gives all of its state and parameters."""
    paced = task.settings.max_step is not None or task.is_timed
    numbers = {
        "t0": 0.0,
        "duration": None,
        "rtol": task.settings.rtol,
        "state": [0.0] * (2 * task.n),
        "state_by_expression": [False] * (2 * task.n),
        "parameter_values": [0.0] * len(source.parameters),
        "pace": SOME_PACE if paced else None,
    }
    return Program(source.text, describe(source, "", numbers))


def wish_of(task: Task, plan: Plan, program: Program, start: float) -> Wish:
    """What is asked of the runs of all members, which begin at `start`."""
    settings, wanted, granted = task.settings, task.wanted, task.budget.steps
    times = settings.times + (start - settings.times[0])
    wish = Wish(
        duration=float(times[-1] - times[0]), t0=start, rtol=settings.rtol, atol=settings.atol or 0.0,
        most_steps=_most_steps(granted), events=bool(task.events), blocks=program.about["blocks"], single=task.single,
    )  # fmt: skip
    observe = (program.states if wanted.states else ()) + tuple(
        OBSERVED + name for name in dict.fromkeys((*plan.kept, *plan.reduced))
    )
    if not observe:
        return wish
    keep = wanted.states or bool(plan.kept)
    return replace(wish, times=times, observe=observe, keep=keep, reduce=bool(plan.reduced))


def is_granted(steps: int) -> bool:
    """Whether a budget of so many steps is a GPU's to obey; 0 is none."""
    return 0 < steps <= MOST_STEPS


def _most_steps(granted: int) -> int:
    """Budgets are counted in groups, as on the processor, so that the same members come to their end."""
    return -(-granted // LOOKS) * LOOKS if is_granted(granted) else MOST_STEPS


def pace_of(task: Task, block: Block) -> tuple[np.ndarray, np.ndarray]:
    """How long steps may be, from which times on: the same for all members of the sweep."""
    pace = task.ahead(block.at(np.arange(1))).paces[0]
    return (np.zeros(0), np.zeros(0)) if pace is None else (pace.starts, np.minimum(pace.bounds, 1e30))
