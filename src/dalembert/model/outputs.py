"""Named outputs of a system: quantities worth a name of their own, as expressions that a motion evaluates.

A model says `outputs={"F_i": "ideal(x)*cos(phi) + ideal(y)*sin(phi)"}`, and `motion["F_i"]` has its numbers. They never
influence a motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import sympy as sp

from dalembert.model.drawings.shapes import Drawing
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Definition, Reaction

# First words of columns that a motion has by itself, and whole names: an output must not hide them.
KINDS = ("impressed", "inertial", "ideal", "nonideal", "multiplier", "work", "heat", "normal", "friction")
TAKEN = ("t", "energy", "impact loss", "kinetic", "potential", "L", "H")


def read_outputs(
    given: Any,
    coordinates: tuple[Coordinate, ...],
    definitions: Iterable[str],
    read: Callable[[Any, str], sp.Expr | None],
    faults: list[str],
) -> dict[str, sp.Expr]:
    """The outputs of a model, names to expressions; what is wrong with them goes to `faults`. definitions: their names;
    a motion has them and their rates under these, so that an output of such a name must be the same.
    """
    if not isinstance(given, Mapping):
        faults.append(f"outputs: a mapping from names to expressions is wanted, got {given!r}")
        return {}
    found: dict[str, sp.Expr] = {}
    if not given:
        return found
    state = {symbol.name for q in coordinates for symbol in (q, q.d, q.dd)} | {f"p_{q.name}" for q in coordinates}
    defined = {symbol.name: symbol for each in map(Definition.named, definitions) for symbol in (each, each.d, each.dd)}
    for name, value in given.items():
        where = f"output {name!r}"
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            faults.append(f"{where}: a name is one line of printable text")
        elif name in TAKEN or name in state or name.partition(" ")[0] in KINDS:
            faults.append(f"{where}: a motion has a column of this name by itself; choose another")
        elif value is None:
            faults.append(f"{where}: no expression given")
        elif (expression := read(value, where)) is not None:
            if name in defined and expression != defined[name]:
                faults.append(f"{where}: {name} is a definition or its rate, and this is another value; choose another")
            found[name] = expression
        elif any(f"unknown name {other!r}" in faults[-1] for other in given):
            faults[-1] += " An output cannot be used by another: write it under definitions, which outputs may name."
    return found


def reaction_faults(
    outputs: Mapping[str, sp.Expr], coordinates: tuple[Coordinate, ...], constraints: list[str]
) -> list[str]:
    """Constraint forces that the outputs ask for and a motion does not have."""
    found = outputs.items()
    return [f for name, e in found for f in unknown_reactions(f"output {name!r}", e, coordinates, constraints)]


def reactions_in_drawing(drawing: Drawing, coordinates: tuple[Coordinate, ...], constraints: list[str]) -> list[str]:
    """The same of a drawing."""
    if not any(isinstance(symbol, Reaction) for symbol in drawing.symbols):
        return []
    found = (e for shape in drawing for e in shape.expressions())
    return [fault for e in found for fault in unknown_reactions("draw", e, coordinates, constraints)]


def unknown_reactions(
    where: str, expression: sp.Expr, coordinates: tuple[Coordinate, ...], constraints: list[str]
) -> list[str]:
    """Those of one expression. where: begins the message."""
    faults = []
    for reaction in sorted(expression.atoms(Reaction), key=str):
        place, of, known = f"{where}: {reaction}", reaction.coordinate, [q.name for q in coordinates]
        if reaction.kind == "multiplier" and of not in constraints:
            faults.append(f"{place}: {of!r} is not a constraint.{suggest(of, constraints)}")
        elif reaction.kind == "actual":
            faults.append(f"{place}: an output may use ideal(coordinate) and multiplier(constraint)")
        elif reaction.kind == "ideal" and of not in known:
            faults.append(f"{place}: {of!r} is not a coordinate.{suggest(of, known)}")
    return faults
