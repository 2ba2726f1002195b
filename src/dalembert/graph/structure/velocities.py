"""Definitions that hold velocities: quantities of which only the rate is defined, where they are rates of positions;
others are written out.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Mapping

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.graph.structure.partial_sums import is_rate_of_position
from dalembert.graph.structure.templates import QUANTITY, RATE, TIME, Templates, terms_of
from dalembert.model.definitions import Definitions
from dalembert.model.language.symbols import Definition

Names = dict[sp.Symbol, tuple[str, int]]
# A pattern with more quantities is no repetition: sums over all coordinates, say.
WIDEST = 24


class WrittenOut:
    """Expressions with definitions that are no quantities written out. names: what is a quantity, or its rate."""

    def __init__(self, known: Definitions, names: Names) -> None:
        self.known, self.names = known, names
        self._written: dict[sp.Symbol, sp.Expr] = {}
        self._done = ChainMap(names, self._written)
        self._needless = all(Definition.named(name) in names for name in known.orders)

    def __call__(self, expression: sp.Expr) -> sp.Expr:
        if self._needless:
            return expression
        for symbol in self.known.needed([expression], self._done):
            self._written[symbol] = self.known.written(symbol).xreplace(self._written)
        return expression.xreplace(self._written) if self._written else expression

    def terms(self, energy: sp.Expr) -> list[sp.Expr]:
        """The terms of an energy, and of definitions that are parts of it and hold velocities: "T = T1 + T2"."""
        found, stack = [], [energy]
        while stack:  # and no recursion: each part may go on from the one before it
            for term in terms_of(stack.pop()):
                if isinstance(term, Definition) and term not in self.names:
                    stack.append(self.known.written(term))
                else:
                    found.append(self(term))
        return found


def defined_rates(known: Definitions, names: Names, count: int) -> list[sp.Expr]:
    """What definitions are that are rates of positions, v₂ = v₁ + l cos a₂ a₂′; these are quantities from number
    `count` on then, named in `names`.
    """
    is_rate = Rates(names)
    found: list[sp.Expr] = []
    for name, order in known.orders.items():
        value = known.values[name]
        if order == 1 and not known.needed([value], names) and is_rate(value):
            names[Definition.named(name)] = RATE, count + len(found)
            found.append(value)
    return found


class Rates:
    """Whether expressions are rates of positions: decided once for all that are the same but for their names. Numbers
    decide too: 3 x² y′ + 6 x y x′ is one.
    """

    def __init__(self, names: Names) -> None:
        self.names, self.templates = names, Templates(names)
        self.decided: dict[tuple[float, ...], bool] = {}

    def __call__(self, expression: sp.Expr) -> bool:
        read = self.templates.read(expression)
        key = (read.template, *(value for value in read.given if isinstance(value, float)))
        if key not in self.decided:
            self.decided[key] = _is_rate(expression, self.names)
        return self.decided[key]


def _is_rate(expression: sp.Expr, names: Mapping[sp.Symbol, tuple[str, int]]) -> bool:
    """Whether an expression in quantities and rates is the rate of a position."""
    symbols = sorted(expression.free_symbols, key=lambda symbol: symbol.name)
    numbers = sorted({names[s][1] for s in symbols if names[s][0] in (QUANTITY, RATE)})
    if len(numbers) > WIDEST:
        return False
    x, v = ca.SX.sym("x", len(numbers)), ca.SX.sym("v", len(numbers))
    stand = {QUANTITY: x, RATE: v}
    table, time = {}, None
    for symbol in symbols:
        kind, number = names[symbol]
        table[symbol] = stand[kind][numbers.index(number)] if kind in stand else ca.SX.sym(symbol.name)
        time = table[symbol] if kind == TIME else time
    return is_rate_of_position(Converter(table)(expression), x, v, time)
