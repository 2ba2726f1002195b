"""Whether the members of a sweep run in lanes, several side by side in the vector registers of a core.

It depends on the sweep alone, never on threads or on what is on disk, since members in lanes differ in rounding from
those that run one after the other. What lanes cannot bring to its end is run so, from its start.
"""

from __future__ import annotations

from dalembert.ensemble.members.task import Task
from dalembert.errors import BuildError, DoesNotApply
from dalembert.kernel.build import NO_COMPILER, find_compiler
from dalembert.kernel.lanes.kernel import LaneKernel, make_lane_kernel
from dalembert.kernel.lanes.source import why_not_in_lanes
from dalembert.kernel.size import KernelTooLarge
from dalembert.motion.integrate.kernel_choice import steps_worth_compiling, wish
from dalembert.motion.integrate.settings import method_of

# A motion of a sweep takes about so many steps, as far as it is known before.
STEPS = 50


def why_no_lanes(task: Task) -> str | None:
    """Why no member runs in lanes; None where they do."""
    kept = task.settings.kept.setdefault("lanes", {})
    key = (task.lanes, task.certify, task.values.count)
    if key not in kept:
        kept[key] = _obstacle(task)
    found: str | None = kept[key]
    return found


def _obstacle(task: Task) -> str | None:
    if task.lanes is False:
        return "lanes=False was asked for"
    if task.together is None:
        return task.why_alone
    if task.certify:
        return "certificates need the work of the forces, which lanes do not keep"
    if wish() == "tape":
        return "DALEMBERT_KERNEL=tape was asked for"
    if find_compiler() is None:
        return NO_COMPILER
    graph, count = task.switched[0].graph, len(task.system.constraints)
    obstacle = why_not_in_lanes(graph, range(count), count, method_of(task.settings))
    if obstacle is not None:
        return obstacle
    if task.lanes is None and task.values.count * STEPS < steps_worth_compiling(graph.dynamics.n_instructions()):
        return "there are too few members to be worth compiling for (lanes=True)"
    try:
        _make(task)
    except DoesNotApply as error:
        return error.reason
    except KernelTooLarge:
        return "the model is too long"
    except BuildError as error:
        return str(error)
    return None


def lanes_of(task: Task, rows: tuple[int, ...]) -> LaneKernel | None:
    """What integrates members with these independent constraints in lanes; None where nothing does."""
    if len(rows) < len(task.system.constraints):
        return None
    with task.lock:
        return _make(task) if why_no_lanes(task) is None else None


def _make(task: Task) -> LaneKernel:
    compiler, evaluation = find_compiler(), task.switched[0]
    assert compiler is not None  # or nobody would ask
    rows = range(len(task.system.constraints))
    return make_lane_kernel(evaluation.system, evaluation.graph, rows, method_of(task.settings), compiler)
