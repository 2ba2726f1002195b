"""The named outputs of a system as one CasADi function."""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.model.language.symbols import Reaction, t
from dalembert.model.system import System


def output_function(system: System, expressions: Sequence[sp.Expr] | None = None) -> ca.Function:
    """(q, v, a, t, p, ideal forces, multipliers) -> the outputs, or the expressions given, one below the other.
    `ModelError` for an expression that has no form in CasADi.
    """
    wanted = list(system.outputs.values()) if expressions is None else list(expressions)
    n, symbols, constraints = len(system.coordinates), system.parameter_symbols, system.constraints
    q, v, a, ideal = (ca.SX.sym(name, n) for name in ("q", "v", "a", "fi"))
    time, p, lam = ca.SX.sym("t"), ca.SX.sym("p", len(symbols)), ca.SX.sym("l", len(constraints))
    table: dict[sp.Symbol, ca.SX] = {t: time} | {symbol: p[k] for k, symbol in enumerate(symbols)}
    for k, x in enumerate(system.coordinates):
        table |= {x: q[k], x.d: v[k], x.dd: a[k], Reaction.of("ideal", x.name): ideal[k]}
    table |= {Reaction.of("multiplier", constraint.name): lam[k] for k, constraint in enumerate(constraints)}
    column = Converter(table, system.defined).column(wanted)
    return ca.Function("outputs", [q, v, a, time, p, ideal, lam], [ca.densify(column)])
