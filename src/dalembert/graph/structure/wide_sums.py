"""Sums over more quantities than a pattern may hold: taken apart into definitions, each of which goes on from the one
before it.

The tip of a chain may be written as l cos a₁ + l cos a₂ + …, the centre of mass as (x₁ + x₂ + …)/n: each is one
expression in everything. With s₁ = x₁, s₂ = s₁ + x₂, … it is as many that are alike, of two quantities each. Sums of
velocities are taken apart where what is added is the rate of a position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import sympy as sp

from dalembert.graph.structure.templates import QUANTITY, RATE
from dalembert.graph.structure.velocities import WIDEST, Names, Rates
from dalembert.model.language.contents import symbols_in


class WideSums:
    """names: what is a quantity, or its rate; `define` takes the value of a new one and gives its symbol."""

    def __init__(self, names: Names, define: Callable[[sp.Expr], sp.Symbol]) -> None:
        self.names, self.define = names, define

    def of_positions(self, expression: sp.Expr) -> sp.Expr:
        """The expression with its wide sums of positions taken apart."""
        return self._apart(expression, lambda term: not self._kinds(term, RATE))

    def of_rates(self, expression: sp.Expr, is_rate: Rates) -> sp.Expr:
        """The expression with its wide sums of velocities taken apart."""
        return self._apart(expression, is_rate)

    def _apart(self, expression: sp.Expr, belongs: Callable[[sp.Expr], bool]) -> sp.Expr:
        if len(self._kinds(expression, QUANTITY, RATE)) <= WIDEST:
            return expression
        parts = [self._apart(part, belongs) for part in expression.args]
        if not expression.is_Add:
            return expression.func(*parts)
        own = {part: self._kinds(part, QUANTITY, RATE) for part in parts}
        chosen = [part for part in parts if own[part] and belongs(part)]
        if len(set().union(*(own[part] for part in chosen))) <= WIDEST:
            return sp.Add(*parts)
        known = set(chosen)
        rest = [part for part in parts if part not in known]
        # In the order of what they hold: neighbours in a chain stay neighbours.
        return sp.Add(self._chain(sorted(chosen, key=lambda part: sorted(own[part], reverse=True))), *rest)

    def _chain(self, terms: Iterable[sp.Expr]) -> sp.Symbol:
        known: sp.Symbol | None = None
        for term in terms:
            known = self.define(term if known is None else known + term)
        assert known is not None
        return known

    def _kinds(self, expression: sp.Expr, *kinds: str) -> set[int]:
        """The numbers of the quantities in it that stand there in one of these ways."""
        found = (self.names.get(symbol) for symbol in symbols_in(expression))
        return {place[1] for place in found if place is not None and place[0] in kinds}
