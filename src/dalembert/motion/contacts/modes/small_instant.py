"""An instant in a mode of a small system as one CasADi function: its equations, their solution by elimination, and all
that contacts do there.

NumPy takes longer to begin with a matrix of ten rows than CasADi to invert it, and each call of a function as long as a
hundred operations inside it. Rows are taken as they come, without exchange: the equations are scaled, masses first, so
that pivots are of size one unless something is nearly dependent, and then nothing is found here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import casadi as ca
import numpy as np

from dalembert.arrays import Array
from dalembert.graph.contacts import ContactGraph, ContactState
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.functions import Graph
from dalembert.kernel.limits import PROJECT_LEAST_SIZE
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.contacts.modes.coupled_equations import coupled_function
from dalembert.motion.contacts.modes.modes import ModeSolution
from dalembert.motion.contacts.modes.regular import SPREAD, is_linear
from dalembert.motion.contacts.modes.regular_instant import unconstrained
from dalembert.motion.state.evaluation import Evaluation
from dalembert.remember import remember_alone

# Systems with more equations are left to LAPACK: straight-line code grows with their third power.
MOST_EQUATIONS = 16
# Pivots below this share of one lose digits that refinement need not bring back.
LEAST_PIVOT = 1e-3
KEPT = 32
_made: dict[Hashable, Evaluator] = {}


class Instant(NamedTuple):
    """acts (m,): 1 where a row of A does, else 0. free (n,): Q/m, which is the acceleration without constraints where
    masses_alone, no coordinate sharing its mass with others. is_apart: so it is, and friction changes no reaction.
    steep: the lengths of the gradients of the system's own constraints, all closed. off: how far the state is from the
    constraints of the mode, as `project` measures it.
    """

    acceleration: Array
    multipliers: Array
    acts: Array
    M: Array
    Q: Array
    A: Array
    b: Array
    C: Array
    free: Array
    masses_alone: bool
    is_apart: bool
    steep: Array
    off: float
    state: ContactState


def small_instant(evaluation: Evaluation, contacts: ContactGraph, q: Array, v: Array, t: float) -> Instant | None:
    """The instant at a state; None where the system is not small, or its equations are not linear or not safely
    independent.
    """
    n, m = evaluation.n, evaluation.m
    if n + m > MOST_EQUATIONS or not is_linear(evaluation):
        return None
    function = remember_alone(
        _made, evaluation.system.structure, lambda: Evaluator(_solved(evaluation.graph, contacts)), KEPT
    )
    found, finite = function.checked(q, v, t, evaluation.p)
    if not finite:
        return None
    quality, acceleration, multipliers, acts, M, Q, A, b, C, free, steep, *state = found
    least, spread, beside, seen, off = quality.tolist()
    if least < LEAST_PIVOT or SPREAD * spread > 1.0:
        return None
    if n == 1 or m == 1:  # a matrix of one column comes as a vector
        M, A = M.reshape(n, n), A.reshape(m, n)
    alone = beside == 0.0
    apart = alone and seen == 0.0
    return Instant(acceleration, multipliers, acts, M, Q, A, b, C, free, alone, apart, steep, off, ContactState(*state))


def solution_of(found: Instant) -> Fundamental:
    """The instant as a solution of the fundamental equation. Ideal and nonideal forces are left as NaN."""
    M, Q, idle = found.M, found.Q, found.acts == 0.0
    free, nothing = found.free, np.full(Q.size, np.nan)
    if not found.masses_alone:
        free = unconstrained(M, Q)
    rank = np.array(idle.size - np.count_nonzero(idle))
    solved = (found.acceleration, free, nothing, nothing, found.multipliers, rank, idle, np.zeros(idle.size))
    return Fundamental(*solved, M, Q, found.A, found.b, found.C)


def with_contacts(solution: Fundamental, found: Instant, friction: Array, own: int) -> ModeSolution:
    """The instant with all that its contacts do. own: so many constraints, the first, are those of the system."""
    return ModeSolution(
        **vars(found.state),
        solution=solution,
        acceleration=found.acceleration,
        multipliers=found.multipliers[:own],
        friction=friction,
        steep=found.steep,
        is_apart=found.is_apart,
        off=found.off,
    )


def _solved(graph: Graph, contacts: ContactGraph) -> ca.Function:
    coupled = coupled_function(graph)
    q, v, t, p = given = [ca.SX.sym(coupled.name_in(k), coupled.size1_in(k)) for k in range(coupled.n_in())]
    matrix, right, scale, acts, M, Q, A, b, C0, slope = coupled(*given)
    inverse, pivots = _inverse(matrix)
    x = inverse @ right
    x = (x + inverse @ (right - matrix @ x)) / scale
    n, m = Q.numel(), b.numel()
    a, multipliers = x[:n], x[n:]
    spread = ca.mmax(ca.sum2(ca.fabs(matrix))) * ca.mmax(ca.sum2(ca.fabs(inverse)))
    C = C0 + ca.reshape(slope, n, m) @ multipliers
    own = contacts.state.numel_in(5)
    gates = [place for row, place in graph.switched if row < own]
    all_closed = A
    if gates:
        closed = ca.SX(p)
        for place in gates:
            closed[place] = 1
        all_closed = graph.dynamics(q, v, t, closed)[2]
    steep = ca.sqrt(ca.sum2(ca.reshape(all_closed, m, n)[:own, :] ** 2))
    free, *answers = _answers_of_friction(ca.reshape(M, n, n), Q, ca.reshape(A, m, n)[:own, :], contacts, given)
    quality = [ca.mmin(ca.fabs(ca.vertcat(*pivots))), spread, *answers, _distance(graph, given)]
    state = contacts.state(q, v, a, t, p, multipliers[:own])
    outputs = [ca.vertcat(*quality), a, multipliers, acts, M, Q, A, b, C, free, steep, *state]
    return ca.Function("instant", given, ca.cse([ca.densify(part) for part in outputs]))


def _answers_of_friction(
    M: ca.SX, Q: ca.SX, A: ca.SX, contacts: ContactGraph, given: Sequence[ca.SX]
) -> tuple[ca.SX, ca.SX, ca.SX]:
    """Q/m; zero where masses stand alone, none of them missing; and zero where constraints then see nothing of what
    friction moves.
    """
    masses = ca.diag(M)
    missing = ca.sum1(masses == 0)
    alone = ca.if_else(masses == 0, 1, masses)
    beside = ca.sum1(ca.sum2(ca.fabs(M - ca.diag(masses))))
    q, v, t, p = given
    units = contacts.forces(q, v, t, p)
    seen = ca.fabs((A / ca.repmat(alone.T, A.shape[0], 1)) @ units) if units.numel() else ca.SX(1, 1)
    return Q / alone, missing + beside, ca.sum1(ca.sum2(seen))


def _distance(graph: Graph, given: Sequence[ca.SX]) -> ca.SX:
    """The largest relative residual of constraints on positions and on velocities, as in motion/state/project.py."""
    q, v, t, p = given
    largest = ca.SX(0)
    pairs = (graph.position(q, t, p), q, v), (graph.velocity(q, v, t, p), v, q)
    for (value, slope), state, other in pairs:
        if not value.numel():
            continue
        size = ca.fmax(ca.fmax(ca.mmax(ca.fabs(state)), 1e-3 * ca.mmax(ca.fabs(other))), PROJECT_LEAST_SIZE)
        reach = ca.sqrt(ca.sum2(ca.reshape(slope, value.numel(), state.numel()) ** 2)) * size
        largest = ca.fmax(largest, ca.mmax(ca.fabs(value) / ca.if_else(reach > 0, reach, 1)))
    return largest


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
