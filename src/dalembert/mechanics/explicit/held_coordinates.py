"""Coordinates that a constraint holds at a constant: equations read better with their values put in."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from dalembert.mechanics.algebra.tidy import exact
from dalembert.mechanics.standard_form import diff
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System


def held_coordinates(system: System, entries: Iterable[sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """The values of coordinates that a position constraint holds at a constant, and their velocities, zero. None of
    them where one of the entries, into which they are to be put, has no value there.
    """
    held: dict[sp.Symbol, sp.Expr] = {}
    for constraint in system.constraints:
        expression = exact(constraint.expression)
        inside = [symbol for symbol in expression.free_symbols if isinstance(symbol, Coordinate)]
        if constraint.level != "position" or len(inside) != 1 or t in expression.free_symbols:
            continue
        slope = diff(expression, inside[0])
        if inside[0] not in slope.free_symbols:
            held |= {inside[0]: exact(-expression.xreplace({inside[0]: sp.S.Zero}) / slope), inside[0].d: sp.S.Zero}
    return {} if any(entry.xreplace(held).has(sp.nan, sp.zoo, sp.oo) for entry in entries) else held
