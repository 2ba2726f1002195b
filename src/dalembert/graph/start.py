"""The initial state of a system as a CasADi function of its parameters."""

from __future__ import annotations

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.model.system import System


def start_function(system: System) -> ca.Function:
    """(p) -> (q, q̇), one below the other; zero where the system gives no value."""
    p = ca.SX.sym("p", len(system.parameter_symbols))
    table = {symbol: p[k] for k, symbol in enumerate(system.parameter_symbols)}
    wanted = (*system.coordinates, *system.velocities)
    column = Converter(table).column([system.initial.get(symbol, sp.Integer(0)) for symbol in wanted])
    return ca.Function("start", [p], [ca.densify(column)])
