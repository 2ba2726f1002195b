"""The mathematics of a system as CasADi functions of (q, v, t, p): all derivatives are taken here, none
symbolically.

M = ∂²L/∂q̇²     Q = F + ∂L/∂q − (∂²L/∂q̇∂q) q̇ − ∂²L/∂q̇∂t       M, Q given in the third form
position rows      A = ∂φ/∂q      b = −(∂φ̇/∂q q̇ + ∂φ̇/∂t)
velocity rows      A = ∂ψ/∂q̇      b = −(∂ψ/∂q q̇ + ∂ψ/∂t)
acceleration rows  A = ∂h/∂q̈      b = −h at q̈ = 0       (linear; rows nonlinear in q̈ keep h itself)
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.graph.evaluate import Evaluators
from dalembert.model.constraints import is_linear
from dalembert.model.language.symbols import SIDE, Coordinate, Reaction, t
from dalembert.model.specify_functions import require_specified
from dalembert.model.system import System
from dalembert.remember import remember


@dataclass(frozen=True)
class Graph:
    """CasADi functions of a system. Rows of A and b keep the order of `system.constraints`.

    dynamics(q, v, t, p)            -> M, Q, A, b; the rows of `nonlinear` constraints are zero here
    work(q, v, t, p, fi, fa, l)     -> C, ∂C/∂fa, ∂C/∂l; fi and fa are the ideal and the actual constraint force, l the
                                       multipliers of the constraints
    position(q, t, p)               -> φ, ∂φ/∂q
    velocity(q, v, t, p)            -> (φ̇, ψ), their derivative with respect to q̇
    acceleration(q, v, a, t, p, k)  -> h, ∂h/∂q̈, ∂²(kᵀh)/∂q̈²; rows nonlinear in q̈ only
    energy(q, v, t, p)              -> E, explicit power ∂E/∂t, F (nonpotential impressed), inertial part of Q
    events(q, v, t, p, s, l, k)     -> the event functions g, and the size of what they are made of, Σ |∂g/∂z| |z| over
                                       state (of sizes at least s), time, parameters and multipliers (of sizes at least
                                       k): g rounds in proportion
    slopes(q, v, a, l, t, p, fi, fa) -> ∂(M a − Aᵀl − Q − C)/∂(q, v), ∂(A a − b)/∂(q, v)
    heat(q, v, t, p, l)             -> the powers that friction turns into heat, one for each of `heats`

    `nonlinear` are the rows nonlinear in q̈, `curved` those of velocity level that are nonlinear in q̇. `uses_reactions`:
    C depends on constraint forces; `uses_actual`: on the actual ones, as components or as multipliers.
    `events_use_multipliers`: the event functions do. `by_friction`: rows of friction that holds. `switched`: rows
    that a parameter, 1 or 0, switches on and off, with the number of the parameter. `affine`: C is an affine function
    of the multipliers and uses no other constraint forces. `kinks`: so many of the event functions, the last ones, are
    those of kinks whose sides are parameters (`model.kinks`).
    """

    dynamics: ca.Function
    work: ca.Function
    position: ca.Function
    velocity: ca.Function
    acceleration: ca.Function
    energy: ca.Function
    slopes: ca.Function
    events: ca.Function
    heat: ca.Function
    heats: tuple[str, ...]
    nonlinear: tuple[int, ...]
    position_rows: tuple[int, ...]
    velocity_rows: tuple[int, ...]
    by_friction: tuple[int, ...]
    curved: tuple[int, ...]
    uses_reactions: bool
    uses_actual: bool
    events_use_multipliers: bool
    switched: tuple[tuple[int, int], ...] = ()
    affine: bool = False
    kinks: int = 0

    @cached_property
    def evaluators(self) -> Evaluators:
        """Its functions for numbers, shared by all who evaluate the graph."""
        return Evaluators(self)

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What others make of its functions, by name, once."""
        return {}

    def __getstate__(self) -> dict[str, Any]:
        """Without what others made, which may belong to this process."""
        return {name: value for name, value in vars(self).items() if name != "kept"}


# Enough for a study that goes back and forth between models; each takes a few hundred kilobytes at most.
KEPT = 64
_made: dict[Hashable, Graph] = {}


def graph_of(system: System) -> Graph:
    """The graph of a system, made once for each structure: other values of parameters change nothing in it."""
    return remember(_made, system.structure, lambda: _build(system), KEPT)


def _build(system: System) -> Graph:
    require_specified(system)
    n, symbols = len(system.coordinates), system.parameter_symbols
    q, v, a = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("a", n)
    time, p = ca.SX.sym("t"), ca.SX.sym("p", len(symbols))
    fi, fa, lam = ca.SX.sym("fi", n), ca.SX.sym("fa", n), ca.SX.sym("l", len(system.constraints))
    table: dict[sp.Symbol, ca.SX] = {t: time}
    for k, coordinate in enumerate(system.coordinates):
        table |= {coordinate: q[k], coordinate.d: v[k], coordinate.dd: a[k]}
        table |= {Reaction.of("ideal", coordinate.name): fi[k], Reaction.of("actual", coordinate.name): fa[k]}
    table |= {Reaction.of("multiplier", constraint.name): lam[k] for k, constraint in enumerate(system.constraints)}
    table |= {symbol: p[k] for k, symbol in enumerate(symbols)}
    convert = Converter(table, system.defined)

    F = convert.column([system.forces.get(coordinate, sp.Integer(0)) for coordinate in system.coordinates])
    M, Q, inertial, E, rest = _inertia(system, convert, F, q, v, time)
    rows = _rows(system, convert, q, v, a, time)
    C, reactions = _work(system, convert, n)
    heat = _heat(system, convert)

    state = [q, v, time, p]
    weights = ca.SX.sym("k", rows.h.numel())
    dense = ca.densify
    newton = M @ a - rows.A.T @ lam - Q - C
    kinematic = rows.A @ a - rows.b
    y = ca.vertcat(q, v)
    return Graph(
        dynamics=ca.Function("dynamics", state, [dense(M), dense(Q), dense(rows.A), dense(rows.b)]),
        work=ca.Function(
            "work", [*state, fi, fa, lam], [dense(C), dense(ca.jacobian(C, fa)), dense(ca.jacobian(C, lam))]
        ),
        position=ca.Function("position", [q, time, p], [dense(rows.phi), dense(ca.jacobian(rows.phi, q))]),
        velocity=ca.Function("velocity", state, [dense(rows.velocity), dense(ca.jacobian(rows.velocity, v))]),
        acceleration=ca.Function(
            "acceleration",
            [q, v, a, time, p, weights],
            [dense(rows.h), dense(ca.jacobian(rows.h, a)), dense(ca.hessian(ca.dot(weights, rows.h), a)[0])],
        ),
        energy=ca.Function("energy", state, [dense(E), dense(rest), dense(F), dense(inertial)]),
        slopes=ca.Function(
            "slopes",
            [q, v, a, lam, time, p, fi, fa],
            [dense(ca.jacobian(newton, y)), dense(ca.jacobian(kinematic, y))],
        ),
        events=_events(system, convert, state, lam),
        heat=ca.Function("heat", [*state, lam], [dense(ca.vertcat(ca.SX(0, 1), *heat.values()))]),
        heats=tuple(heat),
        nonlinear=rows.nonlinear,
        position_rows=rows.position_rows,
        velocity_rows=rows.velocity_rows,
        by_friction=tuple(k for k, constraint in enumerate(system.constraints) if constraint.by_friction),
        curved=tuple(k for k in rows.velocity_rows if not _is_affine(system, convert, k, v, system.velocities)),
        uses_reactions=bool(reactions),
        uses_actual=any(reaction.kind != "ideal" for reaction in reactions),
        events_use_multipliers=any(event.expression.has(Reaction) for event in system.events),
        switched=tuple(
            (k, symbols.index(constraint.switch))
            for k, constraint in enumerate(system.constraints)
            if constraint.switch is not None
        ),
        affine={reaction.kind for reaction in reactions} == {"multiplier"}
        and not ca.depends_on(ca.jacobian(C, lam), lam),
        kinks=sum(symbol.name.startswith(SIDE) for symbol in symbols),
    )


def _inertia(
    system: System, convert: Converter, F: ca.SX, q: ca.SX, v: ca.SX, time: ca.SX
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
    """M, Q, the inertial part of Q, the energy, and its rate through explicit time dependence.

    The energy is E = q̇·∂L/∂q̇ − L, which is T + V where T is quadratic in q̇; dE/dt = q̇·(F + Q_i + Q_ni) −
    ∂L/∂t. With M given, E = ½ q̇ᵀM q̇ + V and dE/dt = q̇·(F + Q_i + Q_ni) + ½ q̇ᵀṀ q̇ + ∂V/∂t.
    """
    V = convert(system.potential) if system.potential is not None else ca.SX(0)
    if system.mass is not None:
        n = len(system.coordinates)
        M = ca.SX(n, n)
        for i in range(n):
            for j in range(n):
                M[i, j] = convert(system.mass[i, j])
        T = ca.dot(v, M @ v) / 2
        rest = ca.jtimes(T, q, v) + ca.jacobian(T, time) + ca.jacobian(V, time)
        return M, F - ca.gradient(V, q), ca.SX.zeros(n), T + V, rest
    L = convert(system.lagrangian) if system.lagrangian is not None else convert(system.kinetic) - V
    momentum = ca.gradient(L, v)
    M = ca.jacobian(momentum, v)
    Q = F + ca.gradient(L, q) - ca.jtimes(momentum, q, v) - ca.jacobian(momentum, time)
    # What L gives at rest counts as impressed where only L is known; with T and V apart, only V does.
    at_rest = ca.substitute(L, v, ca.SX.zeros(v.numel())) if system.lagrangian is not None else -V
    inertial = Q - F - ca.gradient(at_rest, q)
    return M, Q, inertial, ca.dot(v, momentum) - L, -ca.jacobian(L, time)


@dataclass(frozen=True)
class _Rows:
    A: ca.SX
    b: ca.SX
    phi: ca.SX
    velocity: ca.SX
    h: ca.SX
    nonlinear: tuple[int, ...]
    position_rows: tuple[int, ...]
    velocity_rows: tuple[int, ...]


def _rows(system: System, convert: Converter, q: ca.SX, v: ca.SX, a: ca.SX, time: ca.SX) -> _Rows:
    """The rows of A q̈ = b, constraint by constraint, and the residuals of each level."""
    n, zero = len(system.coordinates), ca.SX.zeros(len(system.coordinates))
    A, b, phis, dots, psis, hs = [], [], [], [], [], []
    nonlinear, position_rows, velocity_rows = [], [], []
    for k, constraint in enumerate(system.constraints):
        g = convert(constraint.expression)
        if constraint.level == "position":
            dot = ca.jtimes(g, q, v) + ca.jacobian(g, time)
            A.append(ca.jacobian(g, q))
            b.append(-(ca.jtimes(dot, q, v) + ca.jacobian(dot, time)))
            phis.append(g)
            dots.append(dot)
            position_rows.append(k)
        elif constraint.level == "velocity":
            A.append(ca.jacobian(g, v))
            b.append(-(ca.jtimes(g, q, v) + ca.jacobian(g, time)))
            psis.append(g)
            velocity_rows.append(k)
        elif _is_affine(system, convert, k, a, system.accelerations):
            A.append(ca.substitute(ca.jacobian(g, a), a, zero))
            b.append(-ca.substitute(g, a, zero))
        else:
            A.append(ca.SX.zeros(1, n))
            b.append(ca.SX(0))
            hs.append(g)
            nonlinear.append(k)

    def column(items: list[ca.SX]) -> ca.SX:
        return ca.vertcat(*items) if items else ca.SX(0, 1)

    matrix = ca.vertcat(*A) if A else ca.SX(0, n)
    return _Rows(
        A=matrix,
        b=column(b),
        phi=column(phis),
        velocity=column(dots + psis),
        h=column(hs),
        nonlinear=tuple(nonlinear),
        position_rows=tuple(position_rows),
        velocity_rows=tuple(velocity_rows),
    )


def _is_affine(system: System, convert: Converter, row: int, variables: ca.SX, symbols: tuple[Coordinate, ...]) -> bool:
    """Whether a constraint is affine in the velocities or accelerations. Its definitions are written out only where the
    graph as it stands does not show it.
    """
    expression = system.constraints[row].expression
    if system.definitions and not ca.depends_on(ca.jacobian(convert(expression), variables), variables):
        return True
    return is_linear([system.defined.expand(expression)], symbols)


def _work(system: System, convert: Converter, n: int) -> tuple[ca.SX, set[Reaction]]:
    """The vector C, the smooth laws added up, and the reactions it uses."""
    C = ca.SX.zeros(n)
    reactions: set[Reaction] = set()
    for law in system.works:
        for k, coordinate in enumerate(system.coordinates):
            expression = law.work.get(coordinate)
            if expression is not None:
                C[k] += convert(expression)
                reactions |= expression.atoms(Reaction)
    return C, reactions


def _heat(system: System, convert: Converter) -> dict[str, ca.SX]:
    """The powers that become heat, those of one name added up."""
    found: dict[str, ca.SX] = {}
    for law in system.works:
        for name, power in law.heat.items():
            found[name] = found.get(name, ca.SX(0)) + convert(power)
    return found


def _events(system: System, convert: Converter, state: list[ca.SX], lam: ca.SX) -> ca.Function:
    """The functions whose zeros are events, and the size of their terms."""
    q, v, time, p = state
    sizes, lam_sizes = ca.SX.sym("s", q.numel() + v.numel()), ca.SX.sym("k", lam.numel())
    g = convert.column([event.expression for event in system.events])
    y = ca.vertcat(q, v)
    entries = ca.vertcat(ca.fmax(ca.fabs(y), sizes), ca.fabs(time), ca.fabs(p), ca.fmax(ca.fabs(lam), lam_sizes))
    scale = ca.fabs(ca.jacobian(g, ca.vertcat(y, time, p, lam))) @ entries
    return ca.Function("events", [*state, sizes, lam, lam_sizes], ca.cse([ca.densify(g), ca.densify(scale)]))
