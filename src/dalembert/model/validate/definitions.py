"""Reads the definitions of a model: their names first, so that they may use each other in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy as sp

from dalembert.model.definitions import Definitions, in_order
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
    stand_ins = {name: number * some for number, name in enumerate(named, 1)}
    values: dict[str, sp.Expr] = {}
    for name, given in named.items():
        where = f"definition {name!r}"
        value = reader.expression(given, where)
        if given is None:
            faults.append(f"{where}: no expression given")
        elif value is not None and value.has(Reaction):
            forces = ", ".join(sorted(r.name for r in value.atoms(Reaction)))
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


def _without_third_derivatives(
    values: dict[str, sp.Expr], stand_ins: Mapping[str, sp.Expr], reader: ExpressionReader
) -> Definitions:
    """Rates of rates that no model has symbols for are told."""
    found = Definitions(values)
    for name, value in values.items():
        high = sorted(s.name for s in value.free_symbols if isinstance(s, Definition) and found.order_of(s) > 2)
        if high:
            reader.faults.append(f"definition {name!r}: {high[0]} would be a third derivative; a model has none")
            return _without_third_derivatives({**values, name: stand_ins[name]}, stand_ins, reader)
    return found
