"""Long equations by named parts: what occurs again is written once, under a name, z1, z2, …

Two kinds of part: those that a derivation names itself, before they are multiplied with each other (`Parts`), and those
that are found when the equations are done (`by_parts`). Put back, they give the unabridged equations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

import sympy as sp

from dalembert.mechanics.algebra.tidy import Budget
from dalembert.mechanics.standard_form import is_long, lagrangian
from dalembert.model.language.contents import symbols_in
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.mechanics.page.equations import Equations, Line, Section

    Some = TypeVar("Some", bound=Equations)

# Parts of the energies and constraints of a model, as SymPy counts them, from which its equations are long.
LONG_MODEL = 500
# Parts of an equation's terms, all together, from which it is shown by named parts: some three pages.
LONG_PAGE = 2500
# An expression with fewer parts than this is repeated rather than named.
WORTH_A_NAME = 4


def is_long_model(system: System) -> bool:
    """Whether equations of a system, written out, would fill pages."""
    every = [lagrangian(system), *(c.expression for c in system.constraints)]
    return is_long(sp.Tuple(*every), LONG_MODEL)


def budget_for(system: System) -> Budget:
    """What may be spent to put entries in order: for long models, only short ones are."""
    return Budget(300, largest=40) if is_long_model(system) else Budget()


class Parts:
    """Names for parts of a derivation, in the order in which they are given."""

    def __init__(self) -> None:
        self.values: dict[sp.Symbol, sp.Expr] = {}
        self._names: dict[sp.Expr, sp.Symbol] = {}

    def name(self, expression: sp.Expr) -> sp.Expr:
        """A name for an expression, itself where it is short."""
        if not is_long(expression, WORTH_A_NAME):
            return expression
        if expression not in self._names:
            symbol = sp.Dummy("part", real=True)
            self._names[expression] = symbol
            self.values[symbol] = expression
        return self._names[expression]

    def matrix(self, matrix: sp.Matrix) -> sp.ImmutableMatrix:
        return sp.ImmutableMatrix(matrix.rows, matrix.cols, [self.name(entry) for entry in matrix])


def unabridged(expression: sp.Expr, parts: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """An expression with its named parts put back. Long ones become very long."""
    while not expression.free_symbols.isdisjoint(parts):
        expression = expression.xreplace(dict(parts))
    return expression


def by_parts(found: Some) -> Some:
    """Long equations with their repeated parts named and listed under "where"; short ones as they are."""
    given = dict(found.parts)
    lines = [line for section in found.sections for line in section.lines]
    entries = [entry for line in lines for entry in (line.left, *(term for _, term in line.terms))]
    if not given and not is_long(sp.Tuple(*entries), LONG_PAGE):
        return found
    every = [*entries, *given.values()]
    replacements, reduced = sp.cse(every, symbols=sp.numbered_symbols("part", cls=sp.Dummy), order="none", list=False)
    values = dict(replacements) | dict(zip(given, reduced[len(entries) :], strict=True))
    values, short = _worth_naming(values)
    ordered = _in_order(values, [e.xreplace(short) for e in reduced[: len(entries)]])
    prefix = _prefix(every)
    names = {symbol: sp.Symbol(f"{prefix}{k}", real=True) for k, symbol in enumerate(ordered, start=1)}
    ready = iter(entry.xreplace(short).xreplace(names) for entry in reduced[: len(entries)])
    sections = tuple(_renamed(section, ready) for section in found.sections)
    parts = tuple((names[symbol], values[symbol].xreplace(names)) for symbol in ordered)
    if parts:
        line, section = type(lines[0]), type(found.sections[0])
        sections = (*sections, section("where", tuple(line(name, (("", value),)) for name, value in parts)))
    own = {symbol: names.get(symbol, values.get(symbol, symbol)) for symbol in given}
    return replace(found, sections=sections, parts=(*parts, *_aliases(own, given, short, names)))


def _aliases(
    own: Mapping[sp.Symbol, sp.Expr],
    given: Mapping[sp.Symbol, sp.Expr],
    short: Mapping[sp.Symbol, sp.Expr],
    names: Mapping[sp.Symbol, sp.Symbol],
) -> Iterable[tuple[sp.Symbol, sp.Expr]]:
    """What the symbols that a derivation made for itself, and that other attributes of its result hold, stand for."""
    for symbol in given:
        value = own[symbol] if symbol in names else short.get(symbol, given[symbol])
        yield symbol, value.xreplace(dict(names))


def _worth_naming(
    values: Mapping[sp.Symbol, sp.Expr],
) -> tuple[dict[sp.Symbol, sp.Expr], dict[sp.Symbol, sp.Expr]]:
    """Values worth a name, and those too short for one, which are put where they are used."""
    short: dict[sp.Symbol, sp.Expr] = {}
    for symbol, value in values.items():
        value = value.xreplace(short)
        if not is_long(value, WORTH_A_NAME):
            short[symbol] = value
    # A short value may hold another one that came later, a name of the derivation.
    for _ in range(len(short)):
        again = {s: v.xreplace(short) for s, v in short.items()}
        if again == short:
            break
        short = again
    kept = {symbol: value.xreplace(short) for symbol, value in values.items() if symbol not in short}
    return kept, short


def _in_order(values: Mapping[sp.Symbol, sp.Expr], entries: Sequence[sp.Expr]) -> list[sp.Symbol]:
    """The parts that the entries use, each after those that it is made of."""
    done: dict[sp.Symbol, None] = {}
    stack = [s for e in reversed(entries) for s in sorted(e.free_symbols, key=str, reverse=True) if s in values]
    while stack:
        symbol = stack[-1]
        if symbol in done:
            stack.pop()
            continue
        below = [s for s in sorted(values[symbol].free_symbols, key=str) if s in values and s not in done]
        if below:
            stack += below
        else:
            done[stack.pop()] = None
    return list(done)


def _renamed(section: Section, ready: Iterable[sp.Expr]) -> Section:
    source = iter(ready)

    def line_of(line: Line) -> Line:
        return replace(line, left=next(source), terms=tuple((label, next(source)) for label, _ in line.terms))

    return replace(section, lines=tuple(line_of(line) for line in section.lines))


def _prefix(expressions: Sequence[sp.Expr]) -> str:
    """A letter that is no name of the model, alone or followed by a number."""
    names = {s.name.rstrip("'") for e in expressions for s in symbols_in(e)}
    free = (c for c in "zkwshujZKW" if not any(n == c or (n.startswith(c) and n[1:].isdigit()) for n in names))
    return next(free, "part")
