"""The equations of an instant in a mode as one matrix, in rows and columns of like size, from one CasADi function.

    [M, −(Aᵀ + ∂C/∂λ); A, 0] (q̈, λ) = (Q + C₀, b)

Rows of A that do not act read λ = 0. Of a small system each call of a function and each operation on its arrays takes
longer than the operation itself; so what can be done inside the function is done there.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import casadi as ca

from dalembert.arrays import Array
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.functions import Graph
from dalembert.motion.state.evaluation import Evaluation
from dalembert.remember import remember_alone

KEPT = 32
_made: dict[Hashable, Evaluator] = {}


class Coupled(NamedTuple):
    """matrix (n + m, n + m) and right (n + m,) of the equations for the unknowns times `scale`; and what they are made
    of. acts (m,): 1 where a row of A does, else 0.
    """

    matrix: Array
    right: Array
    scale: Array
    acts: Array
    M: Array
    Q: Array
    A: Array
    b: Array
    C0: Array
    slope: Array


def coupled_at(evaluation: Evaluation, q: Array, v: Array, t: float) -> Coupled | None:
    """The equations at a state; None where one of their numbers is not finite."""
    function = remember_alone(
        _made, evaluation.system.structure, lambda: Evaluator(coupled_function(evaluation.graph)), KEPT
    )
    found, finite = function.checked(q, v, t, evaluation.p)
    if not finite:
        return None
    n, m = evaluation.n, evaluation.m
    matrix, right, scale, acts, M, Q, A, b, C0, slope = found
    if n == 1 or m == 1:  # a matrix of one column comes as a vector
        M, A, slope = M.reshape(n, n), A.reshape(m, n), slope.reshape(n, m)
    return Coupled(matrix, right, scale, acts, M, Q, A, b, C0, slope)


def coupled_function(graph: Graph) -> ca.Function:
    """(q, v, t, p) -> the parts of `Coupled`."""
    q, v, t, p = (ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate("qvtp"))
    M, Q, A, b = graph.dynamics(q, v, t, p)
    C0, _, slope = graph.work(q, v, t, p, *(0 for _ in range(4, graph.work.n_in())))
    n, m = M.shape[0], A.shape[0]
    A, slope = ca.reshape(A, m, n), ca.reshape(slope, n, m)
    root = ca.sqrt(ca.fabs(ca.diag(M)))
    root = ca.if_else(root > 0, root, 1)
    short = A / ca.repmat(root.T, m, 1)
    length = ca.sqrt(ca.sum2(short**2))
    acts = length > 0
    length = ca.if_else(acts, length, 1)
    scale = ca.vertcat(root, length)
    pulled = -(A.T + slope) * ca.repmat(acts.T, n, 1)
    matrix = ca.vertcat(ca.horzcat(M, pulled), ca.horzcat(A, ca.diag(1 - acts))) / (scale @ scale.T)
    # What does not act has a length of one: its entry stays one.
    right = ca.vertcat(Q + C0, b * acts) / scale
    outputs = [matrix, right, scale, acts, M, Q, A, b, C0, slope]
    return ca.Function("coupled", [q, v, t, p], [ca.densify(x) for x in outputs])
