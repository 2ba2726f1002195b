"""The variables of a system as CasADi's, for graphs that are made besides the one of the motion."""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.model.language.symbols import t
from dalembert.model.system import System


@dataclass(frozen=True)
class Variables:
    """q, q̇, t and the parameters of a system, and what converts its expressions to them."""

    q: ca.SX
    v: ca.SX
    time: ca.SX
    p: ca.SX
    convert: Converter


def variables_of(system: System) -> Variables:
    n, symbols = len(system.coordinates), system.parameter_symbols
    q, v, time, p = ca.SX.sym("q", n), ca.SX.sym("v", n), ca.SX.sym("t"), ca.SX.sym("p", len(symbols))
    table: dict[sp.Symbol, ca.SX] = {t: time}
    for k, coordinate in enumerate(system.coordinates):
        table |= {coordinate: q[k], coordinate.d: v[k]}
    table |= {symbol: p[k] for k, symbol in enumerate(symbols)}
    return Variables(q, v, time, p, Converter(table, system.defined))
