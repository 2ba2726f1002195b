"""The functions that a kernel needs, as CasADi graphs: structure exploited, pivots watched.

fast            q̈ by the sparse factors of [M Aᵀ; A 0], with all powers, the smallest relative pivot, and the
                squared lengths of the rows of A
factor          the factors of [M Aᵀ; A −w s] as numbers, for projections (w = 0) and next to singular configurations
backsolve       (a, −λ) from such factors
position_gap    φ, velocity_gap (φ̇, ψ), in the rows of A that the factors belong to
right, rest     of large systems only: Q and b, and what is left of them by an acceleration and multipliers
slopes          ∂q̈/∂(q, q̇, t) for the stiff method, on the same factors
events          the functions whose zeros are events, and the size of their terms
multipliers     λ, where events use it, on the same factors, with the sizes of its terms
dynamics, work  M, Q, A, b and C for the robust path, which is written out in the runtime
heat            the powers that friction turns into heat
acceleration    the rows nonlinear in q̈, for the branch that is followed there

Where a row is nonlinear in q̈, or C depends on the actual constraint force, no straight-line code gives q̈: `fast` and
`slopes` are left out; except where C is affine in the multipliers, as friction that slips is (`coupled`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca

from dalembert.graph.functions import Graph
from dalembert.kernel.emit.coupled import Coupled
from dalembert.kernel.emit.saddle import Saddle

# From this many unknowns on, dense algebra next to singular configurations takes longer than a step elsewhere.
LARGE = 24


@dataclass(frozen=True)
class KernelFunctions:
    """CasADi functions of (q, v, t, p). Zeros that are always zero are left out of their outputs."""

    fast: ca.Function | None  # -> q̈, powers (3, then heat), smallest relative pivot, squared lengths of the rows
    dynamics: ca.Function  # -> M, Q, Aᵀ (so that rows of A are contiguous), b
    work: ca.Function  # (…, fi) -> C; where actual forces are used, (…, fi, fa, l) -> C, ∂C/∂fa, ∂C/∂l
    acceleration: ca.Function | None  # (q, v, a, t, p, k) -> h, (∂h/∂q̈)ᵀ, ∂²(kᵀh)/∂q̈²; where a row is nonlinear in q̈
    energetics: ca.Function  # -> F, explicit power
    heat: ca.Function | None  # (…[, l]) -> the powers that become heat; l where C uses actual forces
    position: ca.Function  # -> φ, (∂φ/∂q)ᵀ
    velocity: ca.Function  # -> (φ̇, ψ), (∂/∂q̇)ᵀ
    factor: ca.Function  # (…, w) -> factors, smallest relative pivot, lengths of the rows
    backsolve: ca.Function  # (p, factors, right-hand side) -> (a, −λ)
    position_gap: ca.Function  # -> φ; zero in rows of other levels
    velocity_gap: ca.Function  # -> (φ̇, ψ); zero in rows of acceleration level
    right: ca.Function | None  # -> (Q, b); None where dense algebra is quick
    rest: ca.Function | None  # (…, x, f) -> f − [M Aᵀ; A 0] x
    slopes: ca.Function | None  # -> ∂q̈/∂(q, q̇, t), pivot; None unless asked for, and without `fast`
    events: ca.Function | None  # (…, s[, l, k]) -> g, scale: see `Graph`; None where the system has no events
    multipliers: ca.Function | None  # -> λ, its sizes, pivot and squared lengths; None where events do not use it, or
    # some rows are redundant, so that it is not unique


def kernel_functions(
    graph: Graph, rows: Sequence[int], stiff: bool = False, completion: float = 0.0, share: bool = True
) -> KernelFunctions:
    """The functions of a kernel.

    rows: the constraints that straight-line code uses, an independent set, linear in q̈. stiff: with slopes.
    completion: κ where M is singular. share: what occurs twice in a function is found, which takes most of the time.
    """
    n, count = graph.dynamics.numel_in(0), graph.dynamics.numel_in(3)
    q, v = ca.SX.sym("q", n), ca.SX.sym("v", n)
    t, p, fi = ca.SX.sym("t"), ca.SX.sym("p", count), ca.SX.sym("fi", n)
    state = [q, v, t, p]
    M, Q, A_all, b_all = graph.dynamics(*state)
    a, fa, weights = ca.SX.sym("a", n), ca.SX.sym("fa", n), ca.SX.sym("k", len(graph.nonlinear))
    l = ca.SX.sym("l", A_all.size1())
    C, C_fa, C_l = graph.work(*state, fi, fa, l)
    _, explicit, F, _ = graph.energy(*state)
    M, A = ca.sparsify(M), ca.sparsify(A_all[list(rows), :])
    b = b_all[list(rows)]

    plain, Q_fast = M, Q
    if completion and len(rows):
        # M is singular: M + κ AᵀA is not, and A q̈ = b makes (M + κ AᵀA) q̈ = Q + κ Aᵀb + C + Aᵀλ the same
        # equation.
        M, Q_fast = ca.sparsify(M + completion * (A.T @ A)), Q + completion * (A.T @ b)
    off = _switched_off(graph, rows, p)
    saddle = Saddle(M, A, off=off)

    def once(outputs: list[ca.SX]) -> list[ca.SX]:
        return ca.cse(outputs) if share else outputs

    def function(name: str, *outputs: ca.SX) -> ca.Function:
        return ca.Function(name, state, once([ca.sparsify(output) for output in outputs]))

    all_rows = list(rows) == list(range(A_all.size1()))
    follows = graph.affine and all_rows and not graph.nonlinear  # C follows the multipliers
    straight = not (graph.nonlinear or graph.uses_actual or graph.by_friction)
    heat = graph.heat(*state, l)
    fast, acceleration, multipliers = None, None, None
    if straight:
        q2, lam, ideal, nonideal, C_now = _solve(saddle, Q_fast, b, C, fi)
        by_ideal = 0 if is_workless(graph, state) else ca.dot(v, ideal)
        powers = ca.vertcat(ca.dot(v, F) + explicit, by_ideal, ca.dot(v, nonideal), heat)
        fast = function("fast", q2, powers, saddle.pivot(), saddle.row_sizes())
        if graph.events_use_multipliers and all_rows:
            lam_sizes = _multiplier_sizes(plain, Q, A, C_now, q2)
            multipliers = function("multipliers", lam, lam_sizes, saddle.pivot(), saddle.row_sizes())
    slopes = None
    if straight and stiff:
        slopes = _slopes(state, saddle, Q_fast, b, C, fi)
    if follows:
        C_0 = ca.substitute(C, l, ca.SX.zeros(l.numel()))
        coupled = Coupled(M, A, A.T + C_l, off)
        q2, lam = coupled.solve(Q_fast + C_0, b)
        C_now = C_0 + C_l @ lam
        ideal = _own_ideal(graph, state, saddle, Q_fast, b, rows, off)
        total = ca.dot(v, A.T @ lam + C_now)
        powers = ca.vertcat(ca.dot(v, F) + explicit, ideal, total - ideal, graph.heat(*state, lam))
        fast = function("fast", q2, powers, coupled.pivot(), saddle.row_sizes())
        if graph.events_use_multipliers:
            lam_sizes = _multiplier_sizes(plain, Q, A, C_now, q2)
            multipliers = function("multipliers", lam, lam_sizes, coupled.pivot(), saddle.row_sizes())
        if stiff:
            slopes = _coupled_slopes(state, coupled, Q_fast, b, C, l, q2, lam)
    if graph.nonlinear:
        h, h_a, h_aa = (ca.sparsify(part) for part in graph.acceleration(q, v, a, t, p, weights))
        acceleration = ca.Function("acceleration", [q, v, a, t, p, weights], [h, h_a.T, h_aa])
    phi, phi_q = graph.position(q, t, p)
    rate, rate_v = graph.velocity(*state)
    weight = ca.SX.sym("w")
    regular = Saddle(M, A, weight, off)
    lengths = ca.vertcat(ca.SX(0, 1), *(ca.sqrt(ca.sumsqr(A[k, :])) + off[k] for k in range(len(rows))))
    large = straight and n + len(rows) >= LARGE and not completion
    x, f = ca.SX.sym("x", n + len(rows)), ca.SX.sym("f", n + len(rows))
    whole = ca.blockcat([[M, A.T], [A, ca.SX(len(rows), len(rows))]])
    return KernelFunctions(
        fast=fast,
        dynamics=function("dynamics", plain, Q, A_all.T, b_all),
        work=(
            ca.Function("work", [*state, fi, fa, l], [ca.sparsify(C), ca.sparsify(C_fa), ca.sparsify(C_l)])
            if graph.uses_actual
            else ca.Function("work", [*state, fi], [ca.sparsify(C)])
        ),
        acceleration=acceleration,
        energetics=function("energetics", F, explicit),
        heat=(
            ca.Function("heat", [*state, l] if graph.uses_actual else state, [ca.sparsify(heat)])
            if graph.heats
            else None
        ),
        position=function("position", phi, phi_q.T),
        velocity=function("velocity", rate, rate_v.T),
        factor=ca.Function("factor", [*state, weight], once([regular.factors(), regular.pivot(), lengths])),
        backsolve=_backsolve(regular, p),
        position_gap=function("position_gap", _placed(phi, graph.position_rows, rows)),
        velocity_gap=function("velocity_gap", _placed(rate, (*graph.position_rows, *graph.velocity_rows), rows)),
        right=function("right", ca.vertcat(Q, b)) if large else None,
        rest=ca.Function("rest", [*state, x, f], [f - whole @ x]) if large else None,
        slopes=None if slopes is None else function("slopes", slopes, coupled.pivot() if follows else saddle.pivot()),
        events=_events(graph, state),
        multipliers=multipliers,
    )


def _backsolve(saddle: Saddle, p: ca.SX) -> ca.Function:
    """The solution from kept factors. It reads no parameter, but is called as all others are."""
    function = saddle.backsolve()
    given = [ca.SX.sym(name, function.numel_in(k)) for k, name in enumerate(("F", "r"))]
    return ca.Function("backsolve", [p, *given], [function(*given)])


def _solve(saddle: Saddle, Q: ca.SX, b: ca.SX, C: ca.SX, fi: ca.SX) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
    """q̈, λ, Q_i, Q_ni and C."""
    acceleration, multipliers = saddle.solve(Q, b)
    ideal = ca.densify(saddle.A.T @ multipliers)
    C = ca.sparsify(ca.substitute(C, fi, ideal))
    if C.nnz() == 0:
        return acceleration, multipliers, ideal, C, C
    more, more_multipliers = saddle.solve(C, ca.SX(saddle.m, 1))
    return acceleration + more, multipliers + more_multipliers, ideal, C + saddle.A.T @ more_multipliers, C


def _multiplier_sizes(M: ca.SX, Q: ca.SX, A: ca.SX, C: ca.SX, acceleration: ca.SX) -> ca.SX:
    """What the multipliers are made of, as `sizes` in motion/state/reactions.py."""
    own = ca.fabs(ca.densify(ca.diag(M)))
    own = ca.if_else(own > 0, own, 1)
    forces = ca.fabs(Q) + ca.fabs(C) + ca.fabs(M @ acceleration)
    squares = (A * A) @ (1 / own)
    return ca.sqrt(ca.dot(forces, forces / own) / ca.if_else(squares > 0, squares, 1))


def _slopes(state: list[ca.SX], saddle: Saddle, Q: ca.SX, b: ca.SX, C: ca.SX, fi: ca.SX) -> ca.SX:
    """∂q̈/∂(q, q̇, t), by differentiating the equations instead of their solution.

    M a = Q + C + Aᵀλ and A a = b give, with (a, λ) held on the right,

        M ∂a − Aᵀ∂λ = ∂(Q + C + Aᵀλ − M a),        A ∂a = ∂(b − A a):

    the systems of the motion itself with more right-hand sides, fewer instructions than differentiating
    through the factorisation. Where C depends on the ideal force Aᵀλ_i, the same is done first with C = 0,
    which gives ∂(Aᵀλ_i).
    """
    y, A = ca.vertcat(*state[:3]), saddle.A
    a, multipliers = ca.SX.sym("a", saddle.n), ca.SX.sym("l", saddle.m)
    right = ca.Function(
        "right",
        [*state, a, multipliers],
        [
            ca.jacobian(Q + A.T @ multipliers - saddle.M @ a, y),
            ca.jacobian(b - A @ a, y),
            ca.jacobian(A.T @ multipliers, y),
        ],
    )
    of_C = ca.Function("of_C", [*state, fi], [C, ca.jacobian(C, y), ca.jacobian(C, fi)])
    ideal_a, ideal_multipliers = saddle.solve(Q, b)
    C, C_y, C_fi = of_C(*state, A.T @ ideal_multipliers)
    if C_fi.nnz():
        force, kinematic, turning = right(*state, ideal_a, ideal_multipliers)
        C_y += C_fi @ (turning + A.T @ saddle.solve(force, kinematic)[1])
    more_a, more_multipliers = saddle.solve(C, ca.SX(saddle.m, 1))
    force, kinematic, _ = right(*state, ideal_a + more_a, ideal_multipliers + more_multipliers)
    return saddle.solve(force + C_y, kinematic)[0]


def _switched_off(graph: Graph, rows: Sequence[int], p: ca.SX) -> ca.SX:
    """1 for each of the rows that is switched off, structurally zero for those without a switch."""
    off = ca.SX(len(rows), 1)
    switches = dict(graph.switched)
    for k, row in enumerate(rows):
        if row in switches:
            off[k] = 1 - p[switches[row]]
    return off


def is_workless(graph: Graph, state: list[ca.SX]) -> bool:
    """Whether ideal forces of the constraints can do no work: all are linear in the velocities, and hold at rest."""
    q, v, t, p = state
    rates = graph.velocity(q, ca.SX.zeros(v.numel()), t, p)[0]
    rows = len(graph.position_rows) + len(graph.velocity_rows)
    return rows == graph.dynamics.size1_out(3) and not graph.curved and ca.sparsify(rates).nnz() == 0


def _own_ideal(
    graph: Graph, state: list[ca.SX], saddle: Saddle, Q: ca.SX, b: ca.SX, rows: Sequence[int], off: ca.SX
) -> ca.SX:
    """The power of the ideal force of the constraints that are not made by friction, as if C were zero."""
    if graph.switched and not graph.by_friction:
        return ca.SX(0)  # contacts on constraints that do no work
    own = [k for k, row in enumerate(rows) if row not in graph.by_friction]
    alone = saddle if len(own) == len(rows) else Saddle(saddle.M, saddle.A[own, :], off=off[own])
    _, multipliers = alone.solve(Q, b[own])
    return ca.dot(state[1], alone.A.T @ multipliers)


def _coupled_slopes(
    state: list[ca.SX], coupled: Coupled, Q: ca.SX, b: ca.SX, C: ca.SX, l: ca.SX, a: ca.SX, lam: ca.SX
) -> ca.SX:
    """∂q̈/∂(q, q̇, t) as `_slopes` has it, where C follows the multipliers."""
    y, at, A = ca.vertcat(*state[:3]), ca.SX.sym("a", coupled.n), coupled.A
    force = ca.jacobian(Q + C + A.T @ l - coupled.M @ at, y)
    right = ca.Function("right", [*state, at, l], [force, ca.jacobian(b - A @ at, y)])
    return coupled.solve(*right(*state, a, lam))[0]


def _events(graph: Graph, state: list[ca.SX]) -> ca.Function | None:
    """The events, as functions of the state alone where they do not use multipliers."""
    if not graph.events.numel_out(0):
        return None
    if graph.events_use_multipliers:
        return graph.events
    sizes, none = ca.SX.sym("s", graph.events.numel_in(4)), ca.SX(graph.events.numel_in(5), 1)
    return ca.Function("events", [*state, sizes], list(graph.events(*state, sizes, none, none)))


def _placed(residuals: ca.SX, group: Sequence[int], rows: Sequence[int]) -> ca.SX:
    """The residuals of a group of constraints in the order of `rows`; zero for rows outside the group."""
    place = {row: k for k, row in enumerate(group)}
    return ca.vertcat(ca.SX(0, 1), *(residuals[place[row]] if row in place else ca.SX(1, 1) for row in rows))
