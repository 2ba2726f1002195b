"""This project: through the public call of a prepared system, and its compiled kernel by itself."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable
from functools import partial
from importlib import resources
from typing import Any
from unittest.mock import patch

import numpy as np
from problems import Problem
from problems.chain import cartesian_state

from dalembert.errors import MotionFailed
from dalembert.kernel.build import build, find_compiler
from dalembert.kernel.emit.functions import kernel_functions
from dalembert.kernel.emit.layout import OUTPUTS, STATE
from dalembert.kernel.emit.straight_line import Hoist, straight_line
from dalembert.kernel.kernel import DONE, Kernel
from dalembert.methods.table import method_for
from dalembert.motion.integrate import kernel_choice
from dalembert.motion.state.evaluation import Evaluation

from .base import Cannot, Gone, Peer, Task


def prepared_run(problem: Problem, method: str = "auto") -> Callable[[float], Task]:
    """`prepared.run()`, what a user calls for one motion after the other."""
    system = problem.system()

    def at(rtol: float) -> Task:
        ready = system.prepare(problem.duration, backend="native", rtol=rtol, samples=2, method=method)
        with contextlib.suppress(MotionFailed):
            choose_at_once(ready)

        def observe(run: Any) -> Any:
            if run.failure:
                raise Gone(run.failure)
            return problem.observe(run.q[-1], run.v[-1])

        def note(run: Any) -> str:
            return f"{run.timing.steps} steps, {run.trajectory.method}, {run.timing.kernel}"

        return Task(ready.run, observe, note)

    at(problem.tolerances[0])
    return at


def choose_at_once(ready: Any) -> None:
    """Run until the kernel and the method are those that `auto` comes to after a second or so of such runs: it compiles
    what has run that long, then finds out whether series would do it with less work.
    """
    at_once = {"steps_worth_compiling": lambda instructions: 0, "steps_worth_a_race": lambda instructions: 0}
    with patch.multiple(kernel_choice, **at_once):
        for _ in range(3):
            ready.run()


def kernel(problem: Problem, method: str | None = None) -> Callable[[float], Task]:
    """The kernel's call, recorded from one `simulate` for each tolerance; by the method that `auto` begins with."""
    system = problem.system()
    n = len(system.coordinates)
    original = Kernel.integrate

    def at(rtol: float) -> Task:
        calls: list[tuple[Any, ...]] = []

        def record(kernel: Kernel, *given: Any, **more: Any) -> Any:
            calls.append((kernel, *given[:8]))  # up to `project`: without the watch, which only draws progress
            return original(kernel, *given, **more)

        # A motion that cannot be completed shows in its row below.
        with patch.object(Kernel, "integrate", record), contextlib.suppress(MotionFailed):
            named = method or method_for(rtol).name
            system.simulate(problem.duration, backend="native", rtol=rtol, samples=2, method=named)
        if not calls:
            raise Cannot("a system of this size steps by the runtime of large systems, which has no kernel of its own")

        def observe(run: Any) -> Any:
            if run.status != DONE:
                raise Gone(f"stops at t = {run.report['time']:.3g} (status {run.status})")
            return problem.observe(run.y[-1, :n], run.y[-1, n : 2 * n])

        def note(run: Any) -> str:
            report = {name: int(run.report[name]) for name in ("steps", "rejected", "evaluations", "robust")}
            return ", ".join(f"{value} {name}" for name, value in report.items() if value)

        return Task(lambda: original(*calls[0]), observe, note)

    at(problem.tolerances[0])  # compiles
    return at


LOOP = """
DA_API void repeat(const double *q, const double *v, const double *p, double *a, long count)
{
    double c[%(constants)d], %(scratch)s;
    da_constants(p, c);
    for (long i = 0; i < count; i++) {
        da_fast(q, v, 0.0, c, %(outputs)s);
        __asm__ volatile("" : : "r"(a) : "memory");
    }
}
"""
REPEATS = 100


def acceleration(problem: Problem) -> Callable[[float], Task]:
    """The straight-line evaluation of a kernel, without the rest of it, a hundred times in a loop."""
    compiler = find_compiler()
    if compiler is None:
        raise RuntimeError("no C compiler")
    system = problem.system()
    evaluation = Evaluation(system)
    fast = kernel_functions(evaluation.graph, range(len(system.constraints))).fast
    outputs, hoist = OUTPUTS["fast"], Hoist()
    text = straight_line("da_fast", fast, STATE, outputs, hoist)
    loop = LOOP % {
        "constants": max(1, hoist.size),
        "scratch": ", ".join(f"{name}[{max(1, fast.numel_out(k))}]" for k, name in enumerate(outputs) if name != "a"),
        "outputs": ", ".join(outputs),
    }
    runtime = resources.files("dalembert.kernel") / "runtime"
    base = "".join((runtime / name).read_text(encoding="utf-8") for name in ("base/base.h", "base/elementary.h"))
    library, _ = build("\n".join([base, text, hoist.source(), loop]), compiler)
    library.repeat.argtypes = [ctypes.c_void_p] * 4 + [ctypes.c_long]
    q, v = cartesian_state(problem.data["links"])
    p, a = np.ascontiguousarray(evaluation.p, dtype=float), np.zeros(q.size)

    def run() -> Any:
        library.repeat(q.ctypes.data, v.ctypes.data, p.ctypes.data, a.ctypes.data, REPEATS)
        return a

    size = fast.n_instructions()
    return lambda _: Task(
        run, lambda given: problem.observe(given, given), lambda given: f"{size} instructions", REPEATS
    )


MOTIONS = ("penny", "pendulum", "andrews", "four-bar", "appell-hamel", "double-pendulum")
ONE_EVALUATION = {"chain": "accelerations only: no motion is involved"}
PEERS = [
    Peer("dalembert", "dalembert", {"*": prepared_run, "chain": acceleration}, {}),
    # The same with method="taylor".
    Peer(
        "dalembert, Taylor", "dalembert", dict.fromkeys(MOTIONS, partial(prepared_run, method="taylor")), ONE_EVALUATION
    ),
    # What `run` does around its kernel, left out.
    Peer("dalembert, kernel alone", "dalembert", dict.fromkeys(MOTIONS, kernel), ONE_EVALUATION),
    Peer(
        "dalembert, Taylor, kernel alone",
        "dalembert",
        dict.fromkeys(MOTIONS, partial(kernel, method="taylor")),
        ONE_EVALUATION,
    ),
]
