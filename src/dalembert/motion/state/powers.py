"""The powers whose integrals ride along with a motion: of impressed, ideal and nonideal forces, and heat."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import Fundamental, UndeterminedDirection, solve
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.reactions import all_multipliers


def powers(
    evaluation: Evaluation, q: Array, v: Array, t: float, solution: Fundamental, rows: Sequence[int] | None
) -> Array:
    """All of them at a state. rows: the constraints of the solution, all where it is None."""
    e = evaluation.energetics(q, v, t)
    ideal, nonideal = ideal_and_nonideal(evaluation, q, v, t, solution)
    found = [v @ e.forces + e.explicit, v @ ideal, v @ nonideal]
    if evaluation.graph.heats:
        multipliers = np.zeros(evaluation.m)
        if evaluation.graph.uses_actual:
            A = solution.A if rows is None else evaluation.dynamics(q, v, t)[2]
            multipliers = all_multipliers(solution, A, rows)
        found += list(evaluation.heat(q, v, t, multipliers))
    return np.array(found)


def ideal_and_nonideal(
    evaluation: Evaluation, q: Array, v: Array, t: float, solution: Fundamental
) -> tuple[Array, Array]:
    """The ideal force of the constraints that are not made by friction, and the nonideal one, which is the rest.

    Where the motion is not determined without friction, as the solution has them.
    """
    if not evaluation.graph.by_friction:
        return solution.ideal, solution.nonideal
    own = [k for k in range(evaluation.m) if k not in evaluation.graph.by_friction]
    M, Q, A, b = evaluation.dynamics(q, v, t)
    try:
        ideal = solve(M, Q, A[own], b[own], np.zeros(evaluation.n)).ideal
    except UndeterminedDirection:
        return solution.ideal, solution.nonideal
    return ideal, solution.ideal + solution.nonideal - ideal
