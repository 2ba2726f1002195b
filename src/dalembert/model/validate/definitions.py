"""Reads the definitions of a model: their names first, so that they may use each other in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp

from dalembert.model.definitions import Definitions, in_order
from dalembert.model.language.contents import symbols_in
from dalembert.model.language.symbols import Coordinate, Definition, Parameter, Reaction, name_of, symbol_table
from dalembert.model.validate.expressions import ExpressionReader


def read_names(given: Any, reader: ExpressionReader) -> dict[str, Any]:
    """What is given for each definition whose name is good; these are known to the reader then."""
    found: dict[str, Any] = {}
    for key, value in reader.mapping(given, "definitions", "{'tip': x + l*sin(a)}").items():
        name = name_of(key)
        taken = reader.table.get(name)
        if name in found:
            reader.faults.append(f"definition {name!r} is given twice")
        elif isinstance(taken, Coordinate) and not taken.order:
            reader.faults.append(f"{name!r} is both a coordinate and a definition; rename one")
        elif isinstance(taken, Parameter):
            reader.faults.append(f"{name!r} is both a parameter and a definition; rename one")
        elif name.endswith("'"):
            own = name.rstrip("'")
            reader.faults.append(
                f"definition {name!r}: rates follow by themselves. Define {own} and write {name}, or choose a name"
            )
        elif name == "energy":
            reader.faults.append("definition 'energy': a motion has a column of this name by itself; choose another")
        elif reader.good_name(name, "definition"):
            found[name] = value
    reader.table |= symbol_table(map(Definition.named, found))
    return found


def read_definitions(
    named: Mapping[str, Any], coordinates: tuple[Coordinate, ...], reader: ExpressionReader
) -> Definitions:
    """The definitions in an order in which each uses only those before it. One that is wrong counts as a multiple of a
    coordinate, so that what uses it gives no further faults.
    """
    faults, some = reader.faults, next(iter(coordinates), sp.S.Zero)
    stand_ins = _StandIns(named, some)
    values: dict[str, sp.Expr] = {}
    for name, given in named.items():
        where = f"definition {name!r}"
        value = reader.expression(given, where)
        if given is None:
            faults.append(f"{where}: no expression given")
        elif value is not None and (reactions := [s for s in symbols_in(value) if isinstance(s, Reaction)]):
            forces = ", ".join(sorted(r.name for r in reactions))
            faults.append(f"{where}: {forces}: write constraint forces where they are used, not in a definition")
            value = None
        values[name] = stand_ins[name] if value is None else value
    ordered, circles = in_order(values)
    for circle in circles:
        way = " → ".join([*circle, circle[0]])
        faults.append(f"definitions: {circle[0]!r} is defined by itself ({way}); one of them needs another expression")
        ordered.update((name, stand_ins[name]) for name in circle)
    if circles:
        ordered, _ = in_order(ordered)
    return _without_third_derivatives(ordered, stand_ins, reader)


class _StandIns:
    """What a definition that is wrong counts as: each another multiple of a coordinate."""

    def __init__(self, named: Iterable[str], some: sp.Expr) -> None:
        self.numbers, self.some = {name: number for number, name in enumerate(named, 1)}, some

    def __getitem__(self, name: str) -> sp.Expr:
        return self.numbers[name] * self.some


def _without_third_derivatives(
    values: dict[str, sp.Expr], stand_ins: _StandIns, reader: ExpressionReader
) -> Definitions:
    """Rates of rates that no model has symbols for are told."""
    found = Definitions(values)
    name = next((name for name, order in found.orders.items() if order > 2), None)
    if name is None:
        return found
    used = [s for s in symbols_in(values[name]) if isinstance(s, Definition)]
    high = min(s.name for s in used if found.order_of(s) > 2)
    reader.faults.append(f"definition {name!r}: {high} would be a third derivative; a model has none")
    return _without_third_derivatives({**values, name: stand_ins[name]}, stand_ins, reader)
