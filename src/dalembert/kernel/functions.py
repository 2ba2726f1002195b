"""The functions that a kernel needs, as CasADi graphs: structure exploited, pivots watched.

fast            q̈ by sparse LDLᵀ of M and of the Schur complement S = A M⁻¹ Aᵀ, with the three powers, a margin that
                is positive while every pivot is well above zero relative to its diagonal, and the diagonal of S with
                its pivots
position_step   the least change (in the metric of M) that returns q to φ = 0, one Newton step
velocity_step   the same for q̇, to φ̇ = 0 and ψ = 0
slopes          ∂q̈/∂(q, q̇, t) for the stiff method, on the factors of M and S
dynamics, work  M, Q, A, b and C for the robust path, which is written out in the runtime
acceleration    the rows nonlinear in q̈, for the branch that is followed there

Where a row is nonlinear in q̈, or C depends on the actual constraint force, no straight-line code gives q̈: `fast` and
`slopes` are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from dalembert.graph.graph import Graph

# A pivot below this, relative to its diagonal, sends the evaluation to the robust path: two constraints then
# include an angle below 1e-3, and the proximal weights of the robust path are about to matter.
PIVOT_MARGIN = 1e-6


@dataclass(frozen=True)
class KernelFunctions:
    """CasADi functions of (q, v, t, p) with dense outputs."""

    fast: ca.Function | None  # -> q̈, powers (3), margin, squared lengths of the rows, their pivots
    dynamics: ca.Function  # -> M, Q, Aᵀ (so that rows of A are contiguous), b
    work: ca.Function  # (…, fi) -> C; where actual(…) is used, (…, fi, fa) -> C, ∂C/∂fa
    acceleration: ca.Function | None  # (q, v, a, t, p, k) -> h, (∂h/∂q̈)ᵀ, ∂²(kᵀh)/∂q̈²; where a row is nonlinear in q̈
    energetics: ca.Function  # -> F, explicit power
    position: ca.Function  # -> φ, (∂φ/∂q)ᵀ
    velocity: ca.Function  # -> (φ̇, ψ), (∂/∂q̇)ᵀ
    position_step: ca.Function  # -> step, largest relative residual, margin
    velocity_step: ca.Function  # -> step, largest relative residual, margin
    slopes: ca.Function | None  # -> ∂q̈/∂(q, q̇, t), margin; None unless asked for, and without `fast`


class _Factor:
    """A symmetric positive matrix as L D Lᵀ, without square roots, its zeros kept zero."""

    def __init__(self, matrix: ca.SX) -> None:
        self.matrix = ca.sparsify(matrix)
        self.D, self.LT, self.order = ca.ldl(self.matrix)

    def solve(self, right: ca.SX) -> ca.SX:
        return ca.ldl_solve(right, self.D, self.LT, self.order) if right.numel() else right

    def pivots(self) -> ca.SX:
        """D, each entry at the row it belongs to."""
        found = ca.SX.zeros(len(self.order))
        for k, row in enumerate(self.order):
            found[row] = self.D[k]
        return found

    def margins(self) -> list[ca.SX]:
        found = []
        for k, row in enumerate(self.order):
            diagonal = self.matrix[row, row]
            found.append(self.D[k] - PIVOT_MARGIN * diagonal)
        return found


def _least(values: Sequence[ca.SX]) -> ca.SX:
    result = ca.SX(1.0)
    for k, value in enumerate(values):
        result = value if k == 0 else ca.fmin(result, value)
    return result


def kernel_functions(
    graph: Graph, rows: Sequence[int], stiff: bool = False, completion: float = 0.0
) -> KernelFunctions:
    """The functions of a kernel.

    rows: the constraints that straight-line code uses, an independent set, linear in q̈. stiff: with slopes.
    completion: κ where M is singular.
    """
    n, count = graph.dynamics.numel_in(0), graph.dynamics.numel_in(3)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    t, p, fi = ca.SX.sym("t"), ca.SX.sym("p", count), ca.SX.sym("fi", n)
    state = [q, v, t, p]
    M, Q, A_all, b_all = graph.dynamics(*state)
    a, fa, weights = ca.SX.sym("a", n), ca.SX.sym("fa", n), ca.SX.sym("k", len(graph.nonlinear))
    C, C_fa = graph.work(*state, fi, fa)
    _, explicit, F, _ = graph.energy(*state)
    M, A = ca.sparsify(M), ca.sparsify(A_all[list(rows), :])
    b = b_all[list(rows)]
    dense = ca.densify

    plain = M
    if completion and len(rows):
        # M is singular: M + κ AᵀA is not, and A q̈ = b makes (M + κ AᵀA) q̈ = Q + κ Aᵀb + C + Aᵀλ the same
        # equation.
        M, Q_fast = ca.sparsify(M + completion * (A.T @ A)), Q + completion * (A.T @ b)
    else:
        Q_fast = Q
    mass = _Factor(M)
    straight = not (graph.nonlinear or graph.uses_actual)
    fast, acceleration = None, None
    if straight:
        q2, ideal, nonideal, margins, size, pivots = _solve(mass, Q_fast, A, b, C, fi)
        powers = ca.vertcat(ca.dot(v, F) + explicit, ca.dot(v, ideal), ca.dot(v, nonideal))
        margin = _least([*mass.margins(), *margins])
        results = [q2, powers, margin, size, pivots]
        fast = ca.Function("fast", state, ca.cse([dense(result) for result in results]))
    if graph.nonlinear:
        h, h_a, h_aa = graph.acceleration(q, v, a, t, p, weights)
        acceleration = ca.Function("acceleration", [q, v, a, t, p, weights], [dense(h), dense(h_a.T), dense(h_aa)])
    phi, phi_q = graph.position(q, t, p)
    rate, rate_v = graph.velocity(*state)
    return KernelFunctions(
        fast=fast,
        dynamics=ca.Function("dynamics", state, [dense(plain), dense(Q), dense(A_all.T), dense(b_all)]),
        work=(
            ca.Function("work", [*state, fi, fa], [dense(C), dense(C_fa)])
            if graph.uses_actual
            else ca.Function("work", [*state, fi], [dense(C)])
        ),
        acceleration=acceleration,
        energetics=ca.Function("energetics", state, [dense(F), dense(explicit)]),
        position=ca.Function("position", state, [dense(phi), dense(phi_q.T)]),
        velocity=ca.Function("velocity", state, [dense(rate), dense(rate_v.T)]),
        position_step=_step("position_step", state, mass, phi, phi_q, _picked(graph.position_rows, rows)),
        velocity_step=_step(
            "velocity_step", state, mass, rate, rate_v, _picked((*graph.position_rows, *graph.velocity_rows), rows)
        ),
        slopes=_slopes(state, mass, Q_fast, A, b, C, fi) if stiff and straight else None,
    )


def _solve(
    mass: _Factor, Q: ca.SX, A: ca.SX, b: ca.SX, C: ca.SX, fi: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX, list[ca.SX], ca.SX, ca.SX]:
    """q̈, Q_i, Q_ni, the margins of the Schur complement, its diagonal, and its pivots row by row."""
    a = mass.solve(Q)
    zero = ca.SX.zeros(Q.numel())
    if A.size1() == 0:
        C = ca.substitute(C, fi, zero)
        return a + mass.solve(C), zero, C, [], ca.SX(0, 1), ca.SX(0, 1)
    K = mass.solve(A.T)
    schur = _Factor(A @ K)
    size = ca.diag(schur.matrix)
    ideal_multipliers = schur.solve(b - A @ a)
    ideal = ca.densify(A.T @ ideal_multipliers)
    acceleration = a + K @ ideal_multipliers
    C = ca.sparsify(ca.substitute(C, fi, ideal))
    if C.nnz() == 0:
        return acceleration, ideal, zero, schur.margins(), size, schur.pivots()
    c = mass.solve(C)
    more = schur.solve(-(A @ c))
    return acceleration + c + K @ more, ideal, C + A.T @ more, schur.margins(), size, schur.pivots()


def _slopes(state: list[ca.SX], mass: _Factor, Q: ca.SX, A: ca.SX, b: ca.SX, C: ca.SX, fi: ca.SX) -> ca.Function:
    """∂q̈/∂(q, q̇, t), by differentiating the equations instead of their solution.

    M a = Q + C + Aᵀλ and A a = b give, with (a, λ) held on the right,

        M ∂a − Aᵀ∂λ = ∂(Q + C + Aᵀλ − M a),        A ∂a = ∂(b − A a):

    the systems of the motion itself with more right-hand sides, fewer instructions than differentiating
    through the factorisation. Where C depends on the ideal force Aᵀλ_i, the same is done first with C = 0,
    which gives ∂(Aᵀλ_i).
    """
    n, m = Q.numel(), A.size1()
    y = ca.vertcat(*state[:3])
    K = mass.solve(A.T)
    schur = _Factor(A @ K) if m else None

    def solve(force: ca.SX, kinematic: ca.SX) -> tuple[ca.SX, ca.SX]:
        free = mass.solve(ca.sparsify(force))
        if schur is None:
            return free, ca.SX(0, free.size2())
        multipliers = schur.solve(ca.sparsify(kinematic - A @ free))
        return free + K @ multipliers, multipliers

    a, multipliers = ca.SX.sym("a", n), ca.SX.sym("l", m)
    right = ca.Function(
        "right",
        [*state, a, multipliers],
        [
            ca.jacobian(Q + A.T @ multipliers - mass.matrix @ a, y),
            ca.jacobian(b - A @ a, y),
            ca.jacobian(A.T @ multipliers, y),
        ],
    )
    of_C = ca.Function("of_C", [*state, fi], [C, ca.jacobian(C, y), ca.jacobian(C, fi)])
    ideal_a, ideal_multipliers = solve(Q, b)
    C, C_y, C_fi = of_C(*state, A.T @ ideal_multipliers)
    if C_fi.nnz():
        force, kinematic, turning = right(*state, ideal_a, ideal_multipliers)
        C_y += C_fi @ (turning + A.T @ solve(force, kinematic)[1])
    more_a, more_multipliers = solve(C, ca.SX(m, 1))
    force, kinematic, _ = right(*state, ideal_a + more_a, ideal_multipliers + more_multipliers)
    slope = solve(force + C_y, kinematic)[0]
    margin = _least([*mass.margins(), *(schur.margins() if schur is not None else [])])
    slope, margin = ca.cse([slope, margin])
    return ca.Function("slopes", state, [ca.densify(slope), ca.densify(margin)])


def _picked(group: Sequence[int], rows: Sequence[int]) -> list[int]:
    """Positions within a group of constraints of those that are among the independent rows."""
    return [k for k, row in enumerate(group) if row in rows]


def _step(
    name: str, state: list[ca.SX], mass: _Factor, residual: ca.SX, slope: ca.SX, picked: list[int]
) -> ca.Function:
    """−step is the least change that removes the residual to first order."""
    n = state[0].numel()
    if not picked:
        return ca.Function(name, state, [ca.SX.zeros(n), ca.SX(0.0), ca.SX(1.0)])
    J, r = ca.sparsify(slope[picked, :]), residual[picked]
    K = mass.solve(J.T)
    schur = _Factor(J @ K)
    step = K @ schur.solve(r)
    lengths = [ca.sqrt(ca.sumsqr(J[k, :])) for k in range(len(picked))]
    own, other = (state[1], state[0]) if name.startswith("velocity") else (state[0], state[1])
    state_size = ca.SX(1e-8)
    for k in range(n):
        state_size = ca.fmax(state_size, ca.fmax(ca.fabs(own[k]), 1e-3 * ca.fabs(other[k])))
    misses = [ca.fabs(r[k]) / (lengths[k] * state_size) for k in range(len(picked))]
    miss = misses[0]
    for other in misses[1:]:
        miss = ca.fmax(miss, other)
    margin = _least([*mass.margins(), *schur.margins()])
    return ca.Function(name, state, [ca.densify(step), ca.densify(miss), ca.densify(margin)])
