"""heyoka: Taylor series of adaptive order, compiled by LLVM for the problem."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import heyoka as hy
import numpy as np
from problems import Problem

from .base import Gone, Peer, Task
from .explicit import ACCELERATIONS, initial

# Set-up is to show what compiling takes, not what an earlier run left on the disk.
hy.llvm_state.set_diskcache_enabled(False)

LOOPS = "no constraints: accelerations are eliminated by hand without pivoting, which breaks down where A loses rank"


def motion(problem: Problem) -> Callable[[float], Task]:
    q0, v0 = initial(problem.name)
    n = q0.size
    q, v = hy.make_vars(*[f"q{k}" for k in range(n)]), hy.make_vars(*[f"v{k}" for k in range(n)])
    names = SimpleNamespace(cos=hy.cos, sin=hy.sin, sqrt=hy.sqrt)
    acceleration = ACCELERATIONS[problem.name](q, v, hy.time, names)
    acceleration = [hy.expression(a) if isinstance(a, float) else a for a in acceleration]
    equations = [*zip(q, v, strict=True), *zip(v, acceleration, strict=True)]
    start = np.concatenate([q0, v0])
    made: dict[float, Any] = {}

    def at(tolerance: float) -> Task:
        # The order follows from the tolerance and is compiled in.
        if tolerance not in made:
            made[tolerance] = hy.taylor_adaptive(equations, start.tolist(), tol=tolerance)
        stepper = made[tolerance]

        def run() -> Any:
            stepper.time = 0.0
            stepper.state[:] = start
            return stepper.propagate_until(problem.duration)

        def observe(given: Any) -> np.ndarray:
            if given[0] != hy.taylor_outcome.time_limit:
                raise Gone(f"stops: {given[0]}")
            return problem.observe(stepper.state[:n], stepper.state[n:])

        return Task(run, observe, lambda given: f"{given[3]} steps of order {stepper.order}")

    at(1e-9)
    return at


PEER = Peer(
    name="heyoka",
    package="heyoka",
    models=dict.fromkeys(ACCELERATIONS, motion),
    cannot={
        "four-bar": LOOPS,
        "chain": "no rigid-body algorithm: an unrolled elimination would be ours, not its own",
    },
)
