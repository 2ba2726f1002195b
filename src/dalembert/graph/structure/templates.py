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
# Whole numbers and quotients made of smaller numbers than this belong to a pattern; others are data of an instance.
PLAIN = 12
# A sum of more terms, multiplied by something, is taken apart.
LONG = 6


@dataclass(frozen=True, slots=True)
class Instance:
    """One expression: the number of its template, and the numbers of the quantities and of the parameters in it (or
    numbers themselves, as floats), in the order in which the template has them.
    """

    template: int
    quantities: tuple[int, ...]
    given: tuple[int | float, ...]


@dataclass(frozen=True)
class Example:
    """The first expression of a template, and which of its names (or numbers) stands for what: kind and place."""

    expression: sp.Expr
    slots: Mapping[sp.Expr, tuple[str, int]]
    quantities: int
    given: int

    @property
    def timed(self) -> bool:
        return any(kind == TIME for kind, _ in self.slots.values())


@dataclass
class Templates:
    """The patterns met so far. names: each symbol with its kind and number."""

    names: Mapping[sp.Symbol, tuple[str, int]]
    examples: list[Example] = field(default_factory=list)
    _forms: dict[object, int] = field(default_factory=dict)
    _known: dict[object, int] = field(default_factory=dict)
    _seen: dict[sp.Expr, tuple[int, tuple[sp.Expr, ...]]] = field(default_factory=dict)

    def read(self, expression: sp.Expr) -> Instance:
        """The expression as an instance of a template, which is made where it is new."""
        form, leaves = self._form(expression)
        quantities: dict[int, int] = {}
        given: dict[sp.Expr, int] = {}
        values: list[int | float] = []
        slots: dict[sp.Expr, tuple[str, int]] = {}
        pattern = []
        for leaf in leaves:
            kind, number = (GIVEN, float(leaf)) if leaf.is_Number else self.names[leaf]
            if kind == TIME:
                place = 0
            elif kind == GIVEN:
                place = given.setdefault(leaf, len(given))
                if place == len(values):
                    values.append(number)
            else:
                place = quantities.setdefault(int(number), len(quantities))
            slots[leaf] = kind, place
            pattern.append((kind, place))
        key = (form, tuple(pattern))
        template = self._known.setdefault(key, len(self.examples))
        if template == len(self.examples):
            self.examples.append(Example(expression, slots, len(quantities), len(given)))
        return Instance(template, tuple(quantities), tuple(values))

    def _form(self, expression: sp.Expr) -> tuple[int, tuple[sp.Expr, ...]]:
        """The number of the expression's form without its names, and the names in the order of that form."""
        if expression.is_Symbol:
            return self._number(self.names[expression][0]), (expression,)
        if expression.is_Number:
            if expression.is_Rational and abs(expression.p) <= PLAIN and expression.q <= PLAIN:
                return self._number(expression), ()
            return self._number("a number"), (expression,)
        done = self._seen.get(expression)
        if done is None:
            if expression.is_Pow and expression.exp.is_Number:  # an exponent decides what its derivative is
                base, leaves = self._form(expression.base)
                done = self._number((sp.Pow, base, expression.exp)), leaves
            else:
                parts = [self._form(part) for part in expression.args]
                if expression.is_Add or expression.is_Mul:
                    # SymPy orders by names, in which x9 comes after x10; the form orders by what is alike.
                    parts.sort(key=lambda part: part[0])
                form = self._number((type(expression), *(part[0] for part in parts)))
                done = form, tuple(leaf for part in parts for leaf in part[1])
            self._seen[expression] = done
        return done

    def _number(self, form: object) -> int:
        return self._forms.setdefault(form, len(self._forms))


def terms_of(expression: sp.Expr) -> list[sp.Expr]:
    """The terms of a sum; where a long sum is multiplied by other factors, they go to each of its terms."""
    if expression.is_Add:
        return [term for part in expression.args for term in terms_of(part)]
    if expression.is_Mul:
        sums = [factor for factor in expression.args if factor.is_Add and len(factor.args) > LONG]
        if len(sums) == 1:
            rest = sp.Mul(*(factor for factor in expression.args if factor is not sums[0]))
            return [sp.Mul(rest, term) for term in sums[0].args]
    return [] if expression == 0 else [expression]
