"""Whether the members of a sweep run in lanes, several side by side in the vector registers of a core.

It depends on the sweep alone, never on threads or on what is on disk, since members in lanes differ in rounding from
those that run one after the other. What lanes cannot bring to its end is run so, from its start.
"""

from __future__ import annotations

import contextlib
import weakref

from dalembert.ensemble.members.task import Task
from dalembert.errors import BuildError, DoesNotApply
from dalembert.kernel.build import NO_COMPILER, find_compiler
from dalembert.kernel.lanes.kernel import LaneKernel, make_lane_kernel
from dalembert.kernel.lanes.source import why_not_in_lanes
from dalembert.kernel.size import KernelTooLarge, TaylorNotApplicable
from dalembert.methods.table import AUTO
from dalembert.motion.integrate.kernel_choice import MEMBER_STEPS, steps_worth_compiling, wish
from dalembert.motion.integrate.settings import method_of

# From this tolerance on series take less time than explicit methods, where a model has them.
TIGHT_RTOL = 1e-11


def why_no_lanes(task: Task) -> str | None:
    """Why no member runs in lanes; None where they do."""
    return _choice(task)[1]


def lanes_of(task: Task, rows: tuple[int, ...]) -> LaneKernel | None:
    """What integrates members with these independent constraints in lanes; None where nothing does."""
    if len(rows) < len(task.system.constraints):
        return None
    with task.lock:
        return _choice(task)[0]


def _choice(task: Task) -> tuple[LaneKernel | None, str | None]:
    """What runs members in lanes, or why nothing does. Made once for a task: settings may be those of several sweeps,
    of which the last one's is kept.
    """
    kept = task.settings.kept
    if "lanes" not in kept or kept["lanes"][0]() is not task:
        kept["lanes"] = (weakref.ref(task), _choose(task))
    found: tuple[LaneKernel | None, str | None] = kept["lanes"][1]
    return found


def _choose(task: Task) -> tuple[LaneKernel | None, str | None]:
    obstacle = _obstacle(task)
    if obstacle is not None:
        return None, obstacle
    settings = task.settings
    if settings.method == AUTO and settings.rtol <= TIGHT_RTOL:
        with contextlib.suppress(TaylorNotApplicable):
            return _make_lane_kernel(task, "taylor")
    try:
        return _make_lane_kernel(task, method_of(settings))
    except TaylorNotApplicable as error:
        return None, str(error)


def _obstacle(task: Task) -> str | None:
    """Why no member can run in lanes, or is worth it, as far as it is known without a source."""
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
    if task.lanes is None and task.values.count * MEMBER_STEPS < steps_worth_compiling(graph.dynamics.n_instructions()):
        return "there are too few members to be worth compiling for (lanes=True)"
    return None


def _make_lane_kernel(task: Task, method: str) -> tuple[LaneKernel | None, str | None]:
    compiler, evaluation = find_compiler(), task.switched[0]
    assert compiler is not None  # or there is an obstacle
    rows = range(len(task.system.constraints))
    try:
        return make_lane_kernel(evaluation.system, evaluation.graph, rows, method, compiler), None
    except DoesNotApply as error:
        return None, error.reason
    except KernelTooLarge:
        return None, "the model is too long"
    except BuildError as error:
        return None, str(error)
