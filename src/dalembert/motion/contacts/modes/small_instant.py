"""An instant in a mode of a small system as one CasADi function: its equations, and their solution by elimination.

NumPy takes longer to begin with a matrix of ten rows than CasADi to invert it. Rows are taken as they come, without
exchange: the equations are scaled, masses first, so that pivots are of size one unless something is nearly dependent,
and then nothing is found here.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import casadi as ca

from dalembert.arrays import Array
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.functions import Graph
from dalembert.motion.contacts.modes.coupled_equations import coupled_function
from dalembert.motion.contacts.modes.regular import SPREAD
from dalembert.motion.state.evaluation import Evaluation
from dalembert.remember import remember

# Systems with more equations are left to LAPACK: straight-line code grows with their third power.
MOST_EQUATIONS = 12
# Pivots below this share of one lose digits that refinement need not bring back.
LEAST_PIVOT = 1e-3
KEPT = 32
_made: dict[Hashable, Evaluator] = {}


class Instant(NamedTuple):
    """acts (m,): 1 where a row of A does, else 0."""

    acceleration: Array
    multipliers: Array
    acts: Array
    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array


def small_instant(evaluation: Evaluation, q: Array, v: Array, t: float) -> Instant | None:
    """The instant at a state; None where the system is not small, or its equations are not safely independent."""
    n, m = evaluation.n, evaluation.m
    if n + m > MOST_EQUATIONS:
        return None
    function = remember(_made, evaluation.system.structure, lambda: Evaluator(_solved(evaluation.graph)), KEPT)
    found, finite = function.checked(q, v, t, evaluation.p)
    if not finite:
        return None
    acceleration, multipliers, quality, acts, M, Q, A, b, C = found
    least, spread = quality.tolist()
    if least < LEAST_PIVOT or SPREAD * spread > 1.0:
        return None
    if n == 1 or m == 1:  # a matrix of one column comes as a vector
        M, A = M.reshape(n, n), A.reshape(m, n)
    return Instant(acceleration, multipliers, acts, M, Q, A, b, C)


def _solved(graph: Graph) -> ca.Function:
    coupled = coupled_function(graph)
    given = [ca.SX.sym(coupled.name_in(k), coupled.size1_in(k)) for k in range(coupled.n_in())]
    matrix, right, scale, acts, M, Q, A, b, C0, slope = coupled(*given)
    inverse, pivots = _inverse(matrix)
    x = inverse @ right
    x = (x + inverse @ (right - matrix @ x)) / scale
    n = Q.numel()
    multipliers = x[n:]
    spread = ca.mmax(ca.sum2(ca.fabs(matrix))) * ca.mmax(ca.sum2(ca.fabs(inverse)))
    quality = ca.vertcat(ca.mmin(ca.fabs(ca.vertcat(*pivots))), spread)
    C = C0 + ca.reshape(slope, n, multipliers.numel()) @ multipliers
    outputs = [x[:n], multipliers, quality, acts, M, Q, A, b, C]
    return ca.Function("instant", given, [ca.densify(part) for part in outputs])


def _inverse(matrix: ca.SX) -> tuple[ca.SX, list[ca.SX]]:
    """By Gauss and Jordan, without exchange; what is zero by structure takes nothing."""
    size = matrix.shape[0]
    both = ca.horzcat(ca.sparsify(matrix), ca.SX.eye(size))
    pivots = []
    for k in range(size):
        pivots.append(both[k, k])
        row, column = both[k, :] / both[k, k], both[:, k]
        column[k] = 0
        both = both - ca.sparsify(column) @ row
        both[k, :] = row
        both = ca.sparsify(both)
    return both[:, size:], pivots
