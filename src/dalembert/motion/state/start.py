"""The start of a motion: the state, the solution there, and what is to be said of it. Where nothing is to be mended or
said, C sees so in one look.
"""

from __future__ import annotations

import ctypes
from itertools import accumulate

import numpy as np

from dalembert.errors import UndefinedModel
from dalembert.kernel.limits import PROJECT_LEAST_SIZE, PROJECT_ROUNDING
from dalembert.kernel.ready.many import address, entry, solve_room
from dalembert.kernel.ready.together import together_of
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, Fundamental
from dalembert.motion.state.consistent import require_consistent_state
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import project as project_state
from dalembert.motion.state.state import State
from dalembert.motion.state.without_gradient import BESIDE, SMALL, require_gradient, without_gradient

# Of larger systems, dense algebra at the start would be noticed.
MOST = 200


class _Start(ctypes.Structure):
    """da_start of kernel/ready/c/start.h."""

    _fields_ = (
        ("points", ctypes.c_void_p),
        *((name, ctypes.c_long) for name in ("n", "m", "positions", "rates")),
        *((name, ctypes.c_void_p) for name in ("row", "q", "v", "p")),
        *((name, ctypes.c_double) for name in ("t", "beside", "rounding", "least", "small", "consistent")),
        *((name, ctypes.c_void_p) for name in ("states", "base", "found", "registers", "w")),
    )


def start_of(evaluation: Evaluation, state: State, project: bool) -> tuple[State, Fundamental, tuple[str, ...]]:
    """The state from which a motion starts, the solution there, and what is to be said of it; or why it cannot.
    project: whether it returns to the constraints first.
    """
    plain = plain_start(evaluation, state)
    if plain is not None:
        return state, plain, ()
    require_consistent_state(evaluation, state)
    if project:
        q, v, _ = project_state(evaluation, state.q, state.v, state.t)
        state = State(q, v, state.t)
    solution = evaluation.solve(state.q, state.v, state.t)
    evaluation.require_consistent(solution, state.t)
    require_energy(evaluation, state)
    return state, solution, gradient_warnings(evaluation, state)


def plain_start(evaluation: Evaluation, state: State) -> Fundamental | None:
    """The fundamental equation at a state that satisfies its constraints to rounding, all of which have a gradient and
    are independent, with a regular M and an energy. None elsewhere: then each of these is looked at by itself.
    """
    graph, n, m = evaluation.graph, evaluation.n, evaluation.m
    together, run = together_of(graph), entry("da_plain_start", "p")
    if together is None or run is None or n + m > MOST:
        return None
    program, rows = together.points, together.rows
    ends, solved = program.ends, 4 * n + 2 * m
    sizes = (4 * n + 2, 2 * ends[-1], solved, program.registers, solve_room(n, m))
    at = list(accumulate(sizes, initial=0))
    block = (np.empty if program.full else np.zeros)(at[-1])
    begin = address(block)
    q, v = np.ascontiguousarray(state.q, dtype=float), np.ascontiguousarray(state.v, dtype=float)
    start = _Start(
        program.at, n, m, len(graph.position_rows), rows.size - 1, address(rows), address(q), address(v),
        address(evaluation.p), float(state.t), BESIDE, PROJECT_ROUNDING, PROJECT_LEAST_SIZE, SMALL,
        CONSISTENCY_TOLERANCE, *(begin + 8 * k for k in at[:-1]),
    )  # fmt: skip
    if not run(ctypes.addressof(start)):
        return None
    M, Q, A, b, C = (block[at[1] + 2 * ends[k] : at[1] + ends[k] + ends[k + 1]] for k in range(5))
    found = block[at[2] : at[2] + solved]
    a, unconstrained, ideal, nonideal = found[: 4 * n].reshape(4, n)
    multipliers, residual = found[4 * n :].reshape(2, m)
    given = (M.reshape(n, n), Q, A.reshape(m, n), b, C)
    independent = np.zeros(m, dtype=bool)
    return Fundamental(a, unconstrained, ideal, nonideal, multipliers, np.array(m), independent, residual, *given)


def require_energy(evaluation: Evaluation, state: State) -> None:
    if not np.isfinite(evaluation.energetics(state.q, state.v, state.t).energy):
        raise UndefinedModel(
            f"{evaluation.system.name}: the energy has no finite value at the initial state; look at the potential"
        )


def gradient_warnings(evaluation: Evaluation, state: State) -> tuple[str, ...]:
    """A constraint whose gradient vanishes at the start (a quadratic one at rest) constrains nothing there; one whose
    gradient vanishes wherever it is satisfied never acts at all, and is refused.
    """
    flat, nearly = without_gradient(evaluation, state)
    names = [constraint.name for constraint in evaluation.system.constraints]
    require_gradient(evaluation, nearly, state)
    return tuple(
        f"constraint '{names[k]}' has no gradient at the initial state, so it does not act there: "
        "start from a state where it does, or write it in a form that is not degenerate"
        for k in flat
    )
