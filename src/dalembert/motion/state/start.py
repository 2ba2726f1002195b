"""The start of a motion where nothing is to be mended or said: seen by C in one look."""

from __future__ import annotations

import ctypes
from itertools import accumulate

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import PROJECT_LEAST_SIZE, PROJECT_ROUNDING
from dalembert.kernel.ready.many import address, entry, solve_room
from dalembert.kernel.ready.together import together_of
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, Fundamental
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.without_gradient import BESIDE, SMALL

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


def plain_start(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental | None:
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
    q, v = np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(v, dtype=float)
    start = _Start(
        program.at, n, m, len(graph.position_rows), rows.size - 1, address(rows), address(q), address(v),
        address(evaluation.p), float(t), BESIDE, PROJECT_ROUNDING, PROJECT_LEAST_SIZE, SMALL, CONSISTENCY_TOLERANCE,
        *(begin + 8 * k for k in at[:-1]),
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
