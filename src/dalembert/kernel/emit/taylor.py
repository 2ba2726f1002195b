"""The Taylor method of a system, as C: coefficients of the motion, order by order.

The accelerations are not expanded through the factorisations that solve for them. Their series satisfies

    M a − Aᵀλ = Q,   A a = b       and at order k      M₀ a_k − A₀ᵀλ_k = r_k,   A₀ a_k = s_k,

where r_k and s_k hold known coefficients only: products of M and A with lower orders of a and λ. So one factorisation
at order 0 serves all orders, and products are taken for the entries of M and A that change, not for the elimination.
Forces of nonideal constraints come in a second stage of the same form, because they may depend on the ideal ones. In
lanes s_k is had from the constraints as they are written for velocities, where it takes fewer products
(`series_ahead.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import casadi as ca

from dalembert.graph.functions import Graph
from dalembert.kernel.emit.functions import is_workless
from dalembert.kernel.emit.saddle import Saddle
from dalembert.kernel.emit.series import Emission, Shared, function_in_pieces
from dalembert.kernel.emit.series_ahead import Ahead, known_ahead
from dalembert.kernel.emit.series_nodes import Node, nodes_of
from dalembert.kernel.emit.straight_line import Hoist, straight_line
from dalembert.kernel.size import TaylorNotApplicable

INPUTS = ("q", "v", "t", "p", "a1", "l1", "a2", "l2")
OUTPUTS = ("r1", "s1", "r2", "s2", "power", "factor", "pivot", "size", "kinetic", "inverse", "rate")
STAGES = {"a1": 1, "l1": 1, "a2": 2, "l2": 2}
# Vector registers hold at most so many numbers, and arrays are filled up to a multiple of it.
LANES = 4
# Up to so many equations each order is solved by the inverse of their matrix, taken at order 0: orders wait for each
# other, and a product with a matrix is done sooner than two substitutions.
SMALL = 8
# Their coefficients lie on the stack, of which an integration has 16 MB: 28 orders of two factors each.
MOST_PAIRS = 20_000


@dataclass(frozen=True)
class TaylorSource:
    """The C functions da_taylor_start (order 0) and da_taylor_order (any other), and the sizes they need. In lanes
    da_taylor_ahead besides, for what is made an order ahead.

    pairs, ahead: in lanes, of each product the places of its factors, and of those that are made an order ahead.
    """

    text: str
    sizes: dict[str, int]
    instructions: int
    pairs: tuple[tuple[int, int], ...] = ()
    ahead: tuple[tuple[int, int], ...] = ()


def taylor_source(
    graph: Graph, rows: Sequence[int], completion: float, hoist: Hoist, lanes: bool = False
) -> TaylorSource:
    """`rows` and `completion` as for `kernel_functions`. lanes: without the powers of forces and the kinetic energy,
    and with the factors of products in the array `left`, each once. Raises `TaylorNotApplicable`.
    """
    if graph.nonlinear:
        raise TaylorNotApplicable("a constraint is nonlinear in the accelerations, which are found by iteration")
    if graph.uses_actual and graph.switched:  # by contacts
        raise TaylorNotApplicable(
            "series do not integrate dry friction, which depends on the reactions, as these depend on it"
        )
    if graph.uses_actual:
        raise TaylorNotApplicable(
            "a work depends on reactions that depend on it, actual(…) or multiplier(…), and both are found by iteration"
        )
    early = _rows_ahead(graph, rows) if lanes else {}
    function, solve, staged, uniform = _functions(graph, rows, completion, early)
    if staged:  # its first stage is no motion: only the accelerations of both stages together keep to the constraints
        early = {}
    n, m = graph.dynamics.numel_in(0), len(rows)
    slopes = {"t": "1.0"}
    for i in uniform:
        slopes |= {f"q[{i}]": f"v[{i}]", f"v[{i}]": "0.0"}
    outputs = nodes_of(function, INPUTS, OUTPUTS, hoist, STAGES, slopes)
    shared = Shared()
    shared_ahead = Shared(kept=shared.kept, sums="sum_ahead", lasts="last_ahead", factors="left_ahead")
    rates = {i: outputs["rate"][i] for i in early}
    pairs: list[tuple[int, int]] = []
    pairs_ahead: list[tuple[int, int]] = []
    places_ahead: dict[tuple[Node, bool], int] = {}
    stages = (1, 2) if staged else (1,)
    small = n + m <= SMALL

    def emission(first: bool) -> Emission:
        order = Emission(shared, hoist, first)
        ahead = Ahead(shared_ahead, hoist, n, order)
        if not first:
            for i in range(n):
                order.line(f"next[{i}] = over_next * (v[{i}]);")
            order.known, order.known_in = known_ahead(ahead, rates.values()), shared_ahead

        def right(name: str, i: int) -> str:
            """Of equation i of one kind, what stands on its right side."""
            if not first and name == "s1" and i in rates:
                return ahead.slowed(rates[i])
            return order.value(outputs[name][i])

        if first:
            for name in ("factor", "pivot", "size", *(() if lanes else ("kinetic",))):
                for i, node in enumerate(outputs[name]):
                    order.line(f"{name}[{i}] = {order.value(node)};")
        for stage in stages:
            if first or not small:
                for name in (f"r{stage}", f"s{stage}"):
                    for i in range(len(outputs[name])):
                        order.line(f"u->{name}[{i}] = {right(name, i)};")
                order.line(f"da_taylor_solve(c, factor, u->r{stage}, u->s{stage}, u->a{stage}, u->l{stage});")
            else:
                values = [right(name, i) for name in (f"r{stage}", f"s{stage}") for i in range(len(outputs[name]))]
                for i in range(n + m):
                    place = f"a{stage}[{i}]" if i < n else f"l{stage}[{i - n}]"
                    row = outputs["inverse"][i * (n + m) : (i + 1) * (n + m)]
                    order.line(f"u->{place} = {order.combined(row, values)};")
            order.solved = stage
        accelerations = [f"u->a1[{i}]" + (f" + u->a2[{i}]" if staged else "") for i in range(n)]
        powers = [] if lanes else [order.value(node) for node in outputs["power"]]
        if first:
            for name, values in (("a", accelerations), ("power", powers)):
                for i, value in enumerate(values):
                    order.line(f"{name}[{i}] = {value};")
        else:
            for i, value in enumerate(accelerations + powers, n):
                order.line(f"next[{i}] = over_next * ({value});")
        if first:
            order.keep()
        elif lanes:
            pairs.extend(order.hand_on_once({}))
            ahead.solved = 1
            pairs_ahead.extend(ahead.hand_on_once(places_ahead))
        else:
            order.hand_on()
        return order

    higher = emission(False)
    first_ahead = Ahead(shared_ahead, hoist, n, None)
    first_ahead.hand_on_once({})
    start = emission(True)
    if len(shared.pairs) > MOST_PAIRS:
        raise TaylorNotApplicable(
            f"{len(shared.pairs):,} products would be expanded, more than the {MOST_PAIRS:,} kept"
        )
    sizes = {
        "DA_TAYLOR_PAIRS": -(-max(len(shared.pairs), 1) // LANES) * LANES,
        "DA_TAYLOR_KEPT": max(len(shared.kept), 1),
        "DA_TAYLOR_LAST": max(len(shared.carried), 1),
        "DA_TAYLOR_FACTOR": max(len(outputs["factor"]), 1),
        "DA_EFFORT_START": _operations(start.lines) + solve.n_instructions() * len(stages),
        "DA_EFFORT_ORDER": _operations(higher.lines) + (0 if small else solve.n_instructions() * len(stages)),
        "DA_EFFORT_PAIRS": len(shared.pairs) + len(shared_ahead.pairs),
    }
    if lanes:
        sizes["DA_TAYLOR_PAIRS_AHEAD"] = max(len(shared_ahead.pairs), 1)
        sizes["DA_TAYLOR_LAST_AHEAD"] = max(len(shared_ahead.carried), 1)
    values = "double r1[DA_N], s1[{0}], a1[DA_N], l1[{0}], r2[DA_N], s2[{0}], a2[DA_N], l2[{0}];".format(max(m, 1))
    text = [
        f"typedef struct {{ {values} }} da_taylor_unknowns;\n",
        straight_line("da_taylor_solve", solve, ("p", "factor", "r", "s"), ("a", "l"), hoist),
    ]
    state = ("q", "v", "t", "c")
    powers = () if lanes else ("power", "kinetic")
    of_start = (*state, "a", *powers, "pivot", "size", "factor", "z", "u")
    of_ahead = ("c", "factor", "z", "next", "left_ahead", "last_ahead")
    factors = ("left", "sum_ahead", *of_ahead[-2:]) if lanes else ("left", "right")
    of_order = (*state, "k", "over_k", "over_next", "factor", "z", "sum", "next", *factors, "last", "u")
    given = {"q", "v", "c", "sum", "sum_ahead"}
    made = [("da_taylor_start", start, of_start), ("da_taylor_order", higher, of_order)]
    if lanes:
        made.append(("da_taylor_ahead", first_ahead, of_ahead))
    for name, order, names in made:
        known = given if order is start else given | {"factor", "z"}
        text.append(function_in_pieces(name, order.lines, _declared(names, known), names, order.variables))
    return TaylorSource("\n".join(text), sizes, len(start.lines) + len(higher.lines), tuple(pairs), tuple(pairs_ahead))


def _operations(lines: Sequence[str]) -> int:
    """Sums, products and quotients in lines of C; a line without one moves a number."""
    return sum(max(1, len(re.findall(r" [-+*/] ", line))) for line in lines)


def _declared(names: Sequence[str], read_only: set[str]) -> str:
    parts = []
    for name in names:
        if name in ("t", "k", "over_k", "over_next"):
            parts.append(f"double {name}")
        elif name == "u":
            parts.append("da_taylor_unknowns *DA_RESTRICT u")
        else:
            parts.append(f"{'const ' if name in read_only else ''}double *DA_RESTRICT {name}")
    return ", ".join(parts)


def _functions(
    graph: Graph, rows: Sequence[int], completion: float, early: Mapping[int, int]
) -> tuple[ca.Function, ca.Function, bool, list[int]]:
    """The values of which series are made; the solution for one order; whether nonideal forces make a second stage;
    coordinates whose velocities do not change. early: as `_rows_ahead`.
    """
    n, count, m = graph.dynamics.numel_in(0), graph.dynamics.numel_in(3), len(rows)
    q, v, t, p = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("t"), ca.SX.sym("p", count)
    state = [q, v, t, p]
    unknown = [ca.SX.sym(name, size) for name, size in (("a1", n), ("l1", m), ("a2", n), ("l2", m))]
    a1, l1, a2, l2 = unknown
    M, Q, A_all, b_all = graph.dynamics(*state)
    M, A, b = ca.sparsify(M), ca.sparsify(A_all[list(rows), :]), b_all[list(rows)]
    if completion and m:
        # As in kernel_functions: the same motion, a regular matrix.
        M, Q = ca.sparsify(M + completion * (A.T @ A)), Q + completion * (A.T @ b)
    saddle = Saddle(M, A)
    _, explicit, F, _ = graph.energy(*state)
    ideal = A.T @ l1 if m else ca.SX.zeros(n)
    C = ca.sparsify(graph.work(*state, ideal, ca.SX.zeros(n), ca.SX.zeros(graph.work.numel_in(6)))[0])
    staged = bool(C.nnz() and m)
    r1, s1 = Q + ideal - M @ a1, b - A @ a1
    nonideal = C + A.T @ l2 if staged else C
    if not staged:
        r1 += C
    heat = graph.heat(*state, ca.SX.zeros(graph.heat.numel_in(4)))
    by_ideal = 0 if is_workless(graph, state) else ca.dot(v, ideal)
    powers = ca.vertcat(ca.dot(v, F) + explicit, by_ideal, ca.dot(v, nonideal), heat)
    second = [nonideal - M @ a2, -(A @ a2)] if staged else [ca.SX(0, 1), ca.SX(0, 1)]
    kinetic = ca.dot(v, M @ v) / 2
    inverse = _inverse(saddle) if n + m <= SMALL else ca.SX(0, 1)
    stored = _Stored(ca.vertcat(1 / ca.densify(saddle.D), ca.SX(saddle.LT.nz[:])), state)
    of_order_0 = (stored.values, saddle.pivot(), saddle.row_sizes(), kinetic, inverse)
    rates, own = ca.SX.zeros(m), graph.velocity(*state)[0]
    for i, k in early.items():
        rates[i] = own[k]
    values = ca.cse([ca.densify(x) for x in (r1, s1, *second, powers, *of_order_0, rates)])
    function = ca.Function("series", [*state, *unknown], values)

    r, s = ca.SX.sym("r", n), ca.SX.sym("s", m)
    both = _substitution(saddle, stored.read, ca.vertcat(r, s))
    solve = ca.Function("solve", [p, stored.symbols, r, s], [both[:n], -both[n:]])
    return function, solve, staged, _uniform(M, Q, A, C)


def _rows_ahead(graph: Graph, rows: Sequence[int]) -> dict[int, int]:
    """Of the rows those that have a form for velocities, and its place among these."""
    places = {row: k for k, row in enumerate((*graph.position_rows, *graph.velocity_rows))}
    return {i: places[row] for i, row in enumerate(rows) if row in places}


def _uniform(M: ca.SX, Q: ca.SX, A: ca.SX, C: ca.SX) -> list[int]:
    """Coordinates on which nothing acts, and which no inertia joins to others on which something does."""
    n = M.size1()
    free = {i for i in range(n) if Q[i].is_zero() and C[i].is_zero() and ca.sparsify(A[:, i]).nnz() == 0}
    while joined := {i for i in free if any(not M[i, j].is_zero() for j in range(n) if j not in free)}:
        free -= joined
    return sorted(free)


def _substitution(saddle: Saddle, factors: ca.SX, right: ca.SX) -> ca.SX:
    """(a, −λ) from the inverse pivots and the triangle: no division in any order but the first."""
    size, pattern = saddle.n + saddle.m, saddle.LT.sparsity()
    upper = ca.SX(pattern, factors[size:])
    x = [right[k] for k in saddle.order]
    for i in range(size):
        for k in range(i):
            if pattern.has_nz(k, i):
                x[i] -= upper[k, i] * x[k]
    for i in reversed(range(size)):
        x[i] *= factors[i]
        for k in range(i + 1, size):
            if pattern.has_nz(i, k):
                x[i] -= upper[i, k] * x[k]
    result = ca.SX.zeros(size)
    for i, k in enumerate(saddle.order):
        result[k] = x[i]
    return result


class _Stored:
    """Numbers of order 0 for the solutions of all orders: those that change with the state in an array, the others as
    they are.
    """

    def __init__(self, every: ca.SX, state: Sequence[ca.SX]) -> None:
        changes = ca.which_depends(every, ca.vertcat(*state[:3]), 1, True)
        changing = [k for k, does in enumerate(changes) if does]
        self.values = every[changing] if changing else ca.SX(0, 1)
        self.symbols = ca.SX.sym("f", len(changing))
        self.read = ca.SX(every)
        for place, k in enumerate(changing):
            self.read[k] = self.symbols[place]


def _inverse(saddle: Saddle) -> ca.SX:
    """(a, λ) for unit values of each of (f, k), row by row."""
    n, m = saddle.n, saddle.m
    acceleration, multipliers = saddle.solve(
        ca.horzcat(ca.SX.eye(n), ca.SX(n, m)), ca.horzcat(ca.SX(m, n), ca.SX.eye(m))
    )
    return ca.reshape(ca.densify(ca.vertcat(acceleration, multipliers)).T, -1, 1)
