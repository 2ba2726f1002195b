"""The start of a motion where nothing is to be mended or said: seen by C in one look."""

from __future__ import annotations

import ctypes

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import PROJECT_LEAST_SIZE, PROJECT_ROUNDING
from dalembert.kernel.ready.many import address, entry
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.together import rows_of_rates, together_of
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, Fundamental, UndeterminedDirection
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.without_gradient import BESIDE, SMALL


class _Start(ctypes.Structure):
    """da_start of kernel/ready/c/start.h."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("n", "positions", "rates")),
        ("row", ctypes.c_void_p),
        ("m", ctypes.c_long),
        *((name, ctypes.c_void_p) for name in ("q", "v", "A", "beside", "phi", "rate")),
        *((name, ctypes.c_double) for name in ("rounding", "least", "small")),
    )


def plain_start(evaluation: Evaluation, q: Array, v: Array, t: float) -> Fundamental | None:
    """The fundamental equation at a state that satisfies its constraints to rounding, all of which have a gradient and
    are independent, with a regular M and an energy. None elsewhere: then each of these is looked at by itself.
    """
    graph, n, m = evaluation.graph, evaluation.n, evaluation.m
    together, run = together_of(graph), entry("da_is_plain_start", "p")
    if together is None or run is None:
        return None
    states = np.empty((2, 2 * n))
    states[:, :n], states[:, n:] = q, v
    # Gradients are compared with those beside, as `without_gradient` does.
    states[1] += BESIDE * np.maximum(np.abs(states[1]), 1.0)
    times = np.full(2, float(t))
    found = together.at(states[:, :n], states[:, n:], times, evaluation.p)
    if found is None:
        return None
    M, Q, A, b, C, energy, _, position, velocity = found
    rows = rows_of_rates(graph)
    at, row = address(states), address(A) if m else 0
    start = _Start(
        n, len(graph.position_rows), rows.size - 1, address(rows), m, at, at + 8 * n, row, row + 8 * m * n,
        address(position), address(velocity), PROJECT_ROUNDING, PROJECT_LEAST_SIZE, SMALL,
    )  # fmt: skip
    if not run(ctypes.addressof(start)) or not np.isfinite(energy[0]):
        return None
    try:
        solution = solve_points(M[:1], Q[:1], A[:1], b[:1], C[:1], together.pattern).at(0)
    except UndeterminedDirection:
        return None
    if int(solution.rank) < m or (m and float(solution.residual.max()) > CONSISTENCY_TOLERANCE):
        return None
    return None if np.isnan(solution.unconstrained[0]) else solution
