"""Definitions: named intermediate quantities, which the other expressions of a model use, with their rates.

A model keeps them as symbols, so that a quantity which a thousand terms share is written, differentiated and computed
once. What needs a model without them (equations for a reader, every study by SymPy) sees them written out, `expand`.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import cached_property

import sympy as sp

from dalembert.errors import ModelError
from dalembert.model.language.contents import symbols_in
from dalembert.model.language.estimates import Estimates, NotEstimated, at_point
from dalembert.model.language.rates import rate
from dalembert.model.language.symbols import Coordinate, Definition, t

# Parts that an expression may have when its definitions are written out: what goes through so many, as often as reading
# equations does, takes minutes. The height of a chain has half a million at 500 links, each made of the one before it
# once; each made twice of the one before it reaches this in twenty steps.
LONGEST = 2_000_000


class Definitions:
    """The definitions of a model in an order in which each is made of coordinates, their derivatives, t, parameters and
    of those before it.

    >>> from dalembert.model.language.symbols import coordinates, definitions
    >>> (a,), (tip, reach) = coordinates("a"), definitions("tip reach")
    >>> known = Definitions({"tip": 2*sp.sin(a), "reach": tip + 1})
    >>> known.expand(reach.d**2), known.order_of(reach.d)
    (4*a'**2*cos(a)**2, 1)
    """

    def __init__(self, values: Mapping[str, sp.Expr]) -> None:
        self.values = values
        self._written: dict[Definition, sp.Expr] = {}
        self._expanded: dict[sp.Symbol, sp.Expr] = {}
        self._sizes: dict[sp.Basic, int] = {}

    @cached_property
    def orders(self) -> dict[str, int]:
        """The highest derivative of a coordinate that each is made of, written out; −1 where there is no coordinate."""
        found: dict[str, int] = {}
        for name, value in self.values.items():
            found[name] = max((_order(symbol, found) for symbol in symbols_in(value)), default=-1)
        return found

    def order_of(self, expression: sp.Basic) -> int:
        """The highest derivative of a coordinate in an expression, written out; −1 where there is no coordinate."""
        return max((_order(symbol, self.orders) for symbol in symbols_in(expression)), default=-1)

    def orders_in(self, expression: sp.Basic | None) -> set[int]:
        """The derivatives in it, of a definition the highest."""
        if expression is None:
            return set()
        return {_order(symbol, self.orders) for symbol in symbols_in(expression)} - {-1}

    def moves(self, expression: sp.Basic) -> bool:
        """Whether it holds a coordinate, or the time, written out."""
        if self.order_of(expression) >= 0 or t in symbols_in(expression):
            return True
        return any(t in symbols_in(self.written(symbol)) for symbol in self.needed([expression]))

    def written(self, symbol: Definition) -> sp.Expr:
        """What a definition or a rate of one is, in terms of those before it and their rates."""
        found = self._written.get(symbol)
        if found is None:
            found = self.values[symbol.base]
            for _ in range(symbol.order):
                found = rate(found)
            self._written[symbol] = found
        return found

    def needed(self, expressions: Iterable[sp.Basic], known: Container[sp.Basic] = ()) -> list[Definition]:
        """The definitions and rates that expressions are made of, written out, each after those that it is made of.
        known: those that are not needed any more, nor what they are made of.
        """
        done: dict[Definition, None] = {}
        stack = [s for e in expressions for s in symbols_in(e) if isinstance(s, Definition)]
        while stack:  # and no recursion: a chain may be a hundred thousand links long
            symbol = stack[-1]
            if symbol in done or symbol in known:
                stack.pop()
                continue
            waiting = [s for s in self._below(symbol) if s not in done and s not in known]
            if waiting:
                stack += waiting
            else:
                done[stack.pop()] = None
        return list(done)

    def _below(self, symbol: Definition) -> list[Definition]:
        """What a definition or a rate of one is made of, and perhaps a little more: all without differentiating."""
        found = _definitions_in(self.values[symbol.base])
        for _ in range(symbol.order):
            found = [*found, *(s.d for s in found if s.order < 2)]
        return list(dict.fromkeys(found))

    def expand(self, expression: sp.Expr) -> sp.Expr:
        """The expression with its definitions written out. Those of a long chain become very long."""
        if not self.values or not _definitions_in(expression):
            return expression
        needed = self.needed([expression], self._expanded)
        for symbol in needed:
            self._sizes[symbol] = self._size(self.written(symbol))
        if self._size(expression) > LONGEST:
            raise ModelError(
                "definitions",
                [
                    f"written out, {self._longest(expression)} has more than {LONGEST:.0e} terms, as each is made "
                    "several times of those before it. Motions are computed with definitions as they are; what reads "
                    "them written out does not end"
                ],
            )
        for symbol in needed:
            self._expanded[symbol] = self.written(symbol).xreplace(self._expanded)
        return expression.xreplace(self._expanded)

    def _size(self, expression: sp.Expr) -> int:
        """How many parts it has, written out; those that it is made of are counted."""
        return sum(self._sizes[e] if isinstance(e, Definition) else 1 for e in sp.preorder_traversal(expression))

    def _longest(self, expression: sp.Expr) -> str:
        """The definition, or rate of one, in an expression that is longest."""
        return repr(max(_definitions_in(expression), key=lambda symbol: self._sizes[symbol]).name)

    def certainly_holds(self, expression: sp.Expr, order: int) -> bool:
        """Whether its value, written out, is known to change with the derivatives of this order; False says nothing."""
        here, there = (self._samples[0], self._samples[order + 1]) if self.values else (at_point(-1), at_point(order))
        try:
            for estimates in (here, there):
                for symbol in self.needed([expression], estimates.known) if self.values else ():
                    estimates.known[symbol] = estimates(self.written(symbol))
            (one, error), (other, wrong) = here(expression), there(expression)
        except NotEstimated:
            return False
        return abs(one - other) > 2 * (error + wrong)

    @cached_property
    def _samples(self) -> tuple[Estimates, ...]:
        """At a generic point, and for each order of derivatives one where only these are others. Those of definitions
        are kept here.
        """
        return tuple(at_point(order) for order in (-1, 0, 1, 2))


NO_DEFINITIONS = Definitions({})


def _order(symbol: sp.Basic, orders: Mapping[str, int]) -> int:
    if isinstance(symbol, Coordinate):
        return symbol.order
    if isinstance(symbol, Definition):
        own = orders[symbol.base]
        return own if own < 0 else own + symbol.order
    return -1


def _definitions_in(expression: sp.Basic) -> list[Definition]:
    return [symbol for symbol in symbols_in(expression) if isinstance(symbol, Definition)]


def in_order(values: Mapping[str, sp.Expr]) -> tuple[dict[str, sp.Expr], list[list[str]]]:
    """Definitions in the order given, as far as each comes after those that it is made of; and the circles that cannot
    be put in any order, each by the names along it.
    """
    below = {
        name: sorted({s.base for s in _definitions_in(value) if s.base in values}) for name, value in values.items()
    }
    state: dict[str, bool] = {}  # False while what it is made of is looked at, True when that is done
    found: dict[str, sp.Expr] = {}
    circles: list[list[str]] = []
    for first in values:
        stack = [first]
        while stack:
            name = stack[-1]
            state.setdefault(name, False)
            waiting = next((other for other in below[name] if not state.get(other)), None)
            if waiting is None:
                if not state[name]:
                    found[name] = values[name]
                state[name] = True
                stack.pop()
            elif waiting in state:
                circles.append(stack[stack.index(waiting) :])
                below[name] = [other for other in below[name] if other != waiting]
            else:
                stack.append(waiting)
    return found, circles
