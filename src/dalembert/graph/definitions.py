"""The structure that definitions give to a model, as it is written: each definition in terms of q, q̇, t, the parameters
and those before it, and every other expression in terms of these and of them, with nothing multiplied out.

A body's place in terms of its parent's has three or four terms, whatever stands before it in a chain. Its Jacobian with
respect to q and to the definitions before it is as sparse, so that systems in which the accelerations of definitions
are unknowns beside q̈ can be solved in the order of the definitions, in time in proportion to their number.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.model.language.symbols import Definition, t
from dalembert.model.system import System


@dataclass(frozen=True, eq=False)
class Structure:
    """d (k): the definitions, r and s their first and second rates, all as symbols beside q, v, a (n), time and p.

    values (k): what each definition is, in terms of q, v, a, time, p and of those entries of d, r and s that come
    before it. convert: any expression of the model, its definitions left as symbols.
    """

    names: tuple[str, ...]
    q: ca.SX
    v: ca.SX
    a: ca.SX
    time: ca.SX
    p: ca.SX
    d: ca.SX
    r: ca.SX
    s: ca.SX
    values: ca.SX
    convert: Converter

    def slopes(self) -> tuple[ca.SX, ca.SX]:
        """∂values/∂q (k, n) and ∂values/∂d (k, k), sparse; the second is strictly lower triangular."""
        return ca.jacobian(self.values, self.q), ca.jacobian(self.values, self.d)


def structure_of(system: System) -> Structure:
    """The structure of a system by its definitions."""
    n, k = len(system.coordinates), len(system.definitions)
    q, v, a = (ca.SX.sym(name, n) for name in "qva")
    d, r, s = (ca.SX.sym(name, k) for name in "drs")
    time, p = ca.SX.sym("t"), ca.SX.sym("p", len(system.parameter_symbols))
    table: dict[sp.Symbol, ca.SX] = {t: time}
    for i, coordinate in enumerate(system.coordinates):
        table.update(zip((coordinate, coordinate.d, coordinate.dd), (q[i], v[i], a[i]), strict=True))
    for i, symbol in enumerate(map(Definition.named, system.definitions)):
        table.update(zip((symbol, symbol.d, symbol.dd), (d[i], r[i], s[i]), strict=True))
    table.update((symbol, p[i]) for i, symbol in enumerate(system.parameter_symbols))
    convert = Converter(table)
    values = convert.column(list(system.definitions.values()))
    return Structure(tuple(system.definitions), q, v, a, time, p, d, r, s, values, convert)
