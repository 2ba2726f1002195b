"""Definitions on a page of equations: derived without them, shown with them where they stand as they are.

k*(x + l*sin(a))   →   k*tip   where   tip = x + l*sin(a)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import sympy as sp

from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.standard_form import is_long
from dalembert.model.definitions import Definitions
from dalembert.model.language.contents import symbols_in
from dalembert.model.language.estimates import Estimates, NotEstimated, drawn
from dalembert.model.language.symbols import Definition
from dalembert.model.system import System

Page = TypeVar("Page", bound=Equations)
# More definitions, or longer ones, than a reader could follow are not looked for.
MOST, LONGEST = 100, 300


def with_definitions(found: Page, system: System) -> Page:
    """Equations of `system.expanded` with the definitions of the system in the place of their expressions, and what
    they are under "where"; as they are where none occurs.
    """
    known = system.defined
    short = [(symbol, value) for symbol, value in _written_out(known) if not is_long(value, LONGEST)]
    # Longer ones first: they hold others.
    short = sorted(short, key=lambda pair: -sp.count_ops(pair[1]))[:MOST]

    named = _Names(short, known).put_into

    sections = tuple(
        replace(section, lines=tuple(
            replace(line, left=named(line.left), terms=tuple((label, named(term)) for label, term in line.terms))
            for line in section.lines
        ))
        for section in found.sections
    )  # fmt: skip
    lines = [line for section in sections for line in section.lines]
    every = [expression for line in lines for expression in (line.left, *(term for _, term in line.terms))]
    used = {symbol.base for symbol in known.needed(every)}
    if not used:
        return found
    where = tuple(Line(Definition.named(name), (("", value),)) for name, value in known.values.items() if name in used)
    return replace(found, sections=_with_where(sections, where))


def _with_where(sections: tuple[Section, ...], lines: tuple[Line, ...]) -> tuple[Section, ...]:
    """Behind the names that the page gave itself, where it did."""
    if sections and sections[-1].title == "where":
        return (*sections[:-1], replace(sections[-1], lines=(*sections[-1].lines, *lines)))
    return (*sections, Section("where", lines))


def _written_out(known: Definitions) -> list[tuple[Definition, sp.Expr]]:
    """Definitions and rates with their expressions; not those that are another name for a symbol, or a multiple."""
    found = []
    for name, order in known.orders.items():
        symbol = Definition.named(name)
        for each in (symbol, symbol.d, symbol.dd)[: 3 - max(order, 0)]:
            value = known.expand(each)
            if not value.as_coeff_Mul()[1].is_Atom:
                found.append((each, value))
    return found


class _Names:
    """Definitions to be put in the place of their expressions."""

    def __init__(self, names: Sequence[tuple[Definition, sp.Expr]], known: Definitions) -> None:
        self.known = known
        self.names = [(symbol, value, symbols_in(value)) for symbol, value in names]
        self.sums: dict[sp.Expr, sp.Expr] = {}
        for symbol, value in names:
            content, primitive = value.primitive()
            self.sums |= {primitive: symbol / content, -primitive: -symbol / content}

    def put_into(self, expression: sp.Expr) -> sp.Expr:
        if expression.is_Atom:
            return expression
        # Multiples of a sum are not found by SymPy's `subs`.
        result = expression.replace(
            lambda e: e.is_Add and e.primitive()[1] in self.sums,
            lambda e: e.primitive()[0] * self.sums[e.primitive()[1]],
        )
        symbols, terms = symbols_in(result), _terms(result)
        for symbol, value, own in self.names:
            # SymPy looks for a sum through all of the expression, though most have none of its terms.
            if own <= symbols and (not value.is_Add or _terms(value) <= terms):
                result = result.subs(value, symbol)
                symbols, terms = symbols_in(result), _terms(result)
        return result if result is expression or _same(self.known.expand(result), expression) else expression


def _terms(expression: sp.Expr) -> set[sp.Expr]:
    """The terms of all sums in it, without the numbers they begin with."""
    sums = (e for e in sp.preorder_traversal(expression) if e.is_Add)
    return {term.as_coeff_Mul()[1] for e in sums for term in e.args}


def _same(one: sp.Expr, other: sp.Expr) -> bool:
    """Whether two expressions have one value at a generic point: what is shown must be what was derived."""
    if one == other:
        return True
    at = Estimates(drawn)
    try:
        (value, error), (again, wrong) = at(one), at(other)
    except NotEstimated:
        return False
    return abs(value - again) <= 2 * (error + wrong)
