"""Expressions that are the same but for the names in them: one template, and for each of them its list of names.

A chain of a thousand links has a thousand kinetic energies and one pattern. What is derived from a pattern is derived
once; that there are a thousand is data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import sympy as sp

# The kinds of names: a quantity, its rate, a parameter (numbers that are data count as such), the time.
QUANTITY, RATE, GIVEN, TIME = "z", "z'", "p", "t"


@dataclass(frozen=True)
class Instance:
    """One expression: the number of its template, the quantities in it and the given values in it, in the order in
    which the template names them.
    """

    template: int
    quantities: tuple[int, ...]
    given: tuple[int | float, ...]


@dataclass
class Templates:
    """The patterns met so far. names: each symbol with its kind and number."""

    names: Mapping[sp.Symbol, tuple[str, int]]
    examples: list[tuple[sp.Expr, Instance]] = field(default_factory=list)
    _shapes: dict[object, int] = field(default_factory=dict)
    _known: dict[object, int] = field(default_factory=dict)
    _seen: dict[sp.Expr, tuple[int, tuple[sp.Expr, ...]]] = field(default_factory=dict)

    def read(self, expression: sp.Expr) -> Instance:
        """The expression as an instance of a template, which is made where it is new."""
        shape, leaves = self._shape(expression)
        quantities: dict[int, int] = {}
        given: dict[object, int] = {}
        values: list[int | float] = []
        pattern = []
        for leaf in leaves:
            if isinstance(leaf, sp.Number):
                place = given.setdefault(leaf, len(given))
                if place == len(values):
                    values.append(float(leaf))
                pattern.append(("c", place))
                continue
            kind, number = self.names[leaf]
            if kind == TIME:
                place = 0
            elif kind == GIVEN:
                place = given.setdefault(leaf, len(given))
                if place == len(values):
                    values.append(number)
            else:
                place = quantities.setdefault(number, len(quantities))
            pattern.append((kind, place))
        key = (shape, tuple(pattern))
        template = self._known.setdefault(key, len(self.examples))
        made = Instance(template, tuple(quantities), tuple(values))
        if template == len(self.examples):
            self.examples.append((expression, made))
        return made

    def _shape(self, expression: sp.Expr) -> tuple[int, tuple[sp.Expr, ...]]:
        """The number of the expression's form without its names, and the names in the order of that form."""
        if expression.is_Symbol:
            return self._number(self.names[expression][0]), (expression,)
        if expression.is_Number:
            # Small whole numbers and their quotients belong to the form, and so do exponents: they are not data.
            if expression.is_Rational and abs(expression.p) <= 12 and expression.q <= 12:
                return self._number(expression), ()
            return self._number("c"), (expression,)
        done = self._seen.get(expression)
        if done is None:
            if expression.is_Pow and expression.exp.is_Number:
                base, leaves = self._shape(expression.base)
                done = self._number((sp.Pow, base, expression.exp)), leaves
            else:
                parts = [self._shape(part) for part in expression.args]
                if expression.is_Add or expression.is_Mul:
                    parts.sort(key=lambda part: part[0])
                form = self._number((type(expression), *(part[0] for part in parts)))
                done = form, tuple(leaf for part in parts for leaf in part[1])
            self._seen[expression] = done
        return done

    def _number(self, form: object) -> int:
        return self._shapes.setdefault(form, len(self._shapes))


def terms_of(expression: sp.Expr) -> list[sp.Expr]:
    """The terms of a sum; a product of a sum and other factors is multiplied out, one level deep."""
    if expression.is_Add:
        return [term for part in expression.args for term in terms_of(part)]
    if expression.is_Mul:
        sums = [factor for factor in expression.args if factor.is_Add]
        if len(sums) == 1 and len(sums[0].args) > 2:
            rest = sp.Mul(*(factor for factor in expression.args if not factor.is_Add))
            return [sp.Mul(rest, term) for term in sums[0].args]
    return [] if expression == 0 else [expression]
