"""The native backend: a compiled kernel integrates; Python watches, and turns its status into words."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable

import numpy as np

from dalembert.errors import BuildError, DalembertError
from dalembert.kernel import kernel as kernels
from dalembert.kernel.build import find_compiler
from dalembert.kernel.kernel import KernelRun, Watch, make_kernel
from dalembert.kernel.source import MOST_INSTRUCTIONS
from dalembert.mechanics.fundamental import Array, Fundamental, is_positive
from dalembert.motion.evaluation import Evaluation
from dalembert.motion.progress import Progress
from dalembert.motion.reference import DRIFT_TOLERANCE
from dalembert.motion.settings import Settings, method_of, tolerances
from dalembert.motion.trajectory import MAY_END, METHOD_NAMES, STALLED, TOO_SHORT, Trajectory, failure_message

POLL_S = 0.05
# Unless the native backend is asked for by name, kernels that compile for longer than about a second are left alone.
AUTO_INSTRUCTIONS = 4000


def why_not_native(evaluation: Evaluation) -> str | None:
    """Why a system cannot run natively, or None where it can."""
    if evaluation.graph.nonlinear:
        return "a constraint is nonlinear in the accelerations"
    if evaluation.graph.uses_actual:
        return "a work expression uses actual(…)"
    if find_compiler() is None:
        return "no C compiler was found"
    return None


class Handover(Exception):
    """The native backend met what only the reference can pass; `t` is where."""

    def __init__(self, t: float) -> None:
        super().__init__(t)
        self.t = t


def integrate_native(
    evaluation: Evaluation,
    settings: Settings,
    q: Array,
    v: Array,
    t0: float,
    solution: Fundamental,
    bar: Progress,
) -> Trajectory:
    """Integrate from a consistent state through the output times. `solution` is the instant at that state."""
    compiler = find_compiler()
    if compiler is None:
        raise BuildError("no C compiler was found; install one, or use backend='reference'")
    rows = [int(k) for k in np.flatnonzero(~solution.dependent)]
    method = method_of(settings)
    M, A = solution.M, solution.A
    completion = 0.0 if is_positive(M) else float(f"{np.trace(M) / max(float(np.sum(A * A)), 1e-300):.2g}")
    limit = MOST_INSTRUCTIONS if settings.backend == "native" else AUTO_INSTRUCTIONS
    kernel = make_kernel(
        evaluation.system,
        evaluation.graph,
        rows,
        method == "stiff",
        compiler,
        completion,
        limit,
        method == "taylor",
    )
    y0 = np.concatenate([q, v, np.zeros(3)])

    atol = tolerances(settings, q, v, solution.acceleration)

    def integrate(watch: Watch) -> KernelRun:
        times, rtol = settings.times, settings.rtol
        return kernel.integrate(y0, t0, evaluation.p, times, rtol, atol, method, settings.project, watch)

    run = _watched(integrate, t0, evaluation.n, bar)
    if run.status == kernels.HANDOVER:
        raise Handover(run.report["time"])
    events = tuple({"name": "rank change", "t": t, "from": before, "to": after} for t, before, after in run.changes)
    return Trajectory(
        t=settings.times[: run.y.shape[0]],
        y=run.y,
        guesses=None,
        method=METHOD_NAMES[method],
        backend="native",
        steps=int(run.report["steps"]),
        evaluations=int(run.report["evaluations"]),
        compile_s=kernel.seconds,
        events=events,
        failure=_failure(evaluation, run),
    )


def _watched(integrate: Callable[[Watch], KernelRun], t0: float, n: int, bar: Progress) -> KernelRun:
    """Run in a worker thread, so that the progress bar moves and an interrupt ends the run."""
    watch = Watch(t0)
    results: list[KernelRun] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(integrate(watch))
        except BaseException as error:  # handed over to the waiting thread
            errors.append(error)

    # The robust path and the stiff method keep their matrices on the stack: about forty of n × n. The size is a setting
    # of the whole process, so that only one thread may be changing it.
    worker = threading.Thread(target=work, daemon=True)
    with _stack_size:
        before = threading.stack_size((16 * 2**20 + 320 * n * n) // 65536 * 65536)
        try:
            worker.start()
        finally:
            threading.stack_size(before)
    try:
        while worker.is_alive():
            worker.join(POLL_S)
            bar.update(watch.time.value)
    except BaseException:
        watch.stop.value = 1
        worker.join()
        raise
    if errors:
        raise errors[0]
    return results[0]


def _failure(evaluation: Evaluation, run: KernelRun) -> str | None:
    if run.status == kernels.DONE:
        return None
    name, t, n = evaluation.system.name, run.report["time"], evaluation.n
    reasons = {
        kernels.STEP_TOO_SMALL: TOO_SHORT,
        kernels.STALLED: STALLED,
        kernels.UNDEFINED: "the model has no finite value there.",
        kernels.INCONSISTENT: "no acceleration satisfies the constraints together (b not in range of A).",
        kernels.UNDETERMINED: "a direction has neither mass nor constraint, so the motion is not determined.",
        kernels.NO_PROJECTION: "the state could not be returned to the constraints.",
        kernels.NO_METHOD: "the kernel was made without this method.",
    }
    reason = reasons[run.status]
    if run.status == kernels.STEP_TOO_SMALL:
        trouble = int(run.report["trouble"])
        reason += f" Last trouble: {reasons[trouble]}" if trouble in reasons else f" {MAY_END}"
    elif run.status != kernels.STALLED and np.isfinite(run.last).all():
        # The reference backend can say more about this state: which constraint, which direction, which part.
        q, v = run.last[:n], run.last[n : 2 * n]
        try:
            evaluation.require_consistent(evaluation.solve(q, v, t), t, DRIFT_TOLERANCE)
        except DalembertError as error:
            reason = str(error)
    return failure_message(name, t, reason)


_told: set[str] = set()
_stack_size = threading.Lock()


def tell_once(reason: str) -> None:
    """One warning per process when the native backend is not available."""
    if reason not in _told:
        _told.add(reason)
        warnings.warn(f"running on the reference backend: {reason}", stacklevel=3)
