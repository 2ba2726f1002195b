"""The functions that a thread needs, as CasADi graphs, and which systems it can take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from dalembert.graph.functions import Graph
from dalembert.kernel.emit.functions import KernelFunctions, kernel_functions
from dalembert.kernel.emit.layout import INPUTS, OUTPUTS, STATE
from dalembert.kernel.emit.saddle import Saddle
from dalembert.kernel.size import KernelTooLarge

# Longer functions do not fit into the instruction cache of a GPU by far, and take minutes to compile.
MOST_INSTRUCTIONS = 20_000
# As DA_PIVOT in runtime/state/weak.h.
LEAST_PIVOT = 1e-6
# Its name in C, after `da_`; the function; and what its inputs and outputs are called.
ThreadFunction = tuple[str, ca.Function, tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class ThreadFunctions:
    """acceleration (q, v, t, p) -> q̈, and a number that is positive while pivots are good. Others as in a kernel."""

    acceleration: ca.Function
    kernel: KernelFunctions

    @property
    def instructions(self) -> int:
        parts = (self.kernel.factor, self.kernel.backsolve, self.kernel.position_gap, self.kernel.velocity_gap)
        return sum(part.n_instructions() for part in (self.acceleration, *parts))

    def of_a_step(self, graph: Graph) -> list[ThreadFunction]:
        """What a step calls; `project.h` calls all but the first."""
        found: list[ThreadFunction] = [("acceleration", self.acceleration, STATE, ("a", "margin"))]
        if graph.position_rows or graph.velocity_rows:
            names = ("factor", "backsolve", "position_gap", "velocity_gap")
            found += [(name, getattr(self.kernel, name), INPUTS.get(name, STATE), OUTPUTS[name]) for name in names]
        return found


def why_not_a_thread(graph: Graph, rows: Sequence[int], constraints: int) -> str | None:
    """Why a thread of a GPU cannot integrate a system, or None where it can."""
    if graph.switched or graph.by_friction:
        return "contacts and friction that sticks are decided on the CPU"
    if graph.nonlinear:
        return "a constraint is nonlinear in the accelerations, whose branch is followed on the CPU"
    if graph.kinks:
        return "abs, sign, min, max or a condition makes a kink, which is located on the CPU"
    if graph.uses_actual and not graph.affine:
        return "work that depends on the actual constraint force is solved on the CPU"
    if len(rows) < constraints:
        return "some constraints are redundant, and which of them act is decided on the CPU"
    return None


def thread_functions(graph: Graph, rows: Sequence[int], completion: float = 0.0) -> ThreadFunctions:
    """rows and completion as for `kernel_functions`."""
    made = kernel_functions(graph, rows, completion=completion)
    assert made.fast is not None
    state = [ca.SX.sym(name, made.fast.numel_in(k)) for k, name in enumerate(STATE)]
    M, _, A, _ = graph.dynamics(*state)
    M, A = ca.sparsify(M), ca.sparsify(A[list(rows), :])
    if completion and len(rows):
        M = ca.sparsify(M + completion * (A.T @ A))
    outputs = ca.cse([made.fast(*state)[0], Saddle(M, A).margin(LEAST_PIVOT)])
    functions = ThreadFunctions(ca.Function("acceleration", state, outputs), made)
    if functions.instructions > MOST_INSTRUCTIONS:
        raise KernelTooLarge(functions.instructions, MOST_INSTRUCTIONS)
    return functions
