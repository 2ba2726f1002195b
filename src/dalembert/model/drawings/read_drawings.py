"""Reads the drawing of a system: texts become expressions in its symbols, and what is wrong is collected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from dalembert.model.drawings.colours import colour_fault
from dalembert.model.drawings.shapes import FORCES, SHAPES, Arrow, Curve, Drawing, Kind, Mesh, Shape
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Moving, Parameter, Reaction, Time, is_name, name_of

#: An expression of the model from what is given, besides names that stand in this place only; None where it has a
#: fault, which is told.
Read = Callable[[Any, str, Mapping[str, sp.Symbol]], sp.Expr | None]
SIZES = {Kind.PLACE: (2, 3), Kind.DIRECTION: (2, 3), Kind.SIZES: (2, 3), Kind.QUATERNION: (4,)}


def read_drawing(
    given: Any, coordinates: Sequence[Coordinate], table: Mapping[str, sp.Symbol], read: Read, faults: list[str]
) -> Drawing:
    """The shapes with their expressions read; what is wrong goes to `faults`. table: symbols of the model by name."""
    if isinstance(given, Drawing) and all(isinstance(s, Reaction) or table.get(s.name) is s for s in given.symbols):
        return given  # of the same model with other values
    if isinstance(given, (str, Mapping, Shape)) or not isinstance(given, Iterable):
        faults.append(f"draw: a list of shapes such as da.Rod(a, b) is wanted, got {given!r}")
        return Drawing()
    found = []
    for number, shape in enumerate(given, 1):
        if not isinstance(shape, Shape):
            faults.append(f"draw: shape {number}: da.Point(…), da.Rod(…) or another shape is wanted, got {shape!r}")
            continue
        before = len(faults)
        made = _Reader(f"draw: {shape.name} {number}", coordinates, read, faults).shape(shape)
        if len(faults) == before:
            found.append(made)
    return Drawing(found)


class _Reader:
    """Reads one shape. where: begins messages about it."""

    def __init__(self, where: str, coordinates: Sequence[Coordinate], read: Read, faults: list[str]) -> None:
        self.where, self.coordinates, self.read, self.faults = where, coordinates, read, faults
        self.local: dict[str, sp.Symbol] = {}  # the variable of a curve

    def shape(self, shape: Shape) -> Shape:
        if isinstance(shape, Curve) and shape.over is not None:
            self.local = self._variable(shape.over)
        values, before = {}, len(self.faults)
        for part in shape.parts():
            value = getattr(shape, part.name)
            if value is not None:
                values[part.name] = self.value(part.kind, value, part.key)
            elif part.needed:
                self.faults.append(f"{self.where}: {part.key}: {part.kind.value} is wanted, got nothing")
        found = replace(shape, **values)
        if len(self.faults) == before:
            self._check(found)
        return found

    def value(self, kind: Kind, value: Any, key: str) -> Any:
        """A field as it is kept; as it was given where it has a fault."""
        where = f"{self.where}: {key}"
        if kind in SIZES:
            return self._several(value, where, kind)
        if kind is Kind.SCALAR:
            return self._one(value, where)
        if kind is Kind.PLACES:
            return self._places(value, where)
        if kind is Kind.RANGE:
            return self._range(value, where)
        if kind is Kind.NUMBERS:
            return self._numbers(value, where)
        if kind is Kind.NAMES:
            return self._names(value, where)
        fault = _plain_fault(kind, value)
        if fault:
            self.faults.append(f"{where}: {fault}")
        return float(value) if kind is Kind.SHARE and not fault else value

    def _one(self, value: Any, where: str, local: bool = False) -> Any:
        expression = self.read(value, where, self.local if local else {})
        return value if expression is None else expression

    def _several(self, value: Any, where: str, kind: Kind, local: bool = False) -> Any:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            self.faults.append(f"{where}: {kind.value} is wanted, got {value!r}")
            return value
        entries = tuple(value)
        if len(entries) not in SIZES[kind]:
            self.faults.append(f"{where}: {kind.value} is wanted, got {len(entries)}")
            return value
        return tuple(self._one(entry, where, local) for entry in entries)

    def _places(self, value: Any, where: str) -> Any:
        if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
            self.faults.append(f"{where}: {Kind.PLACES.value} is wanted, got {value!r}")
            return value
        rows = list(value)
        if rows and not any(isinstance(row, (tuple, list)) for row in rows):
            rows = [rows]  # one place in terms of a variable
        return tuple(self._several(row, where, Kind.PLACE, local=True) for row in rows)

    def _variable(self, given: Any) -> dict[str, sp.Symbol]:
        name = name_of(given[0]) if isinstance(given, (tuple, list)) and given else ""
        return {name: Parameter.named(name)} if is_name(name) else {}

    def _range(self, value: Any, where: str) -> Any:
        if not isinstance(value, (tuple, list)) or len(value) != 3 or not self.local:
            self.faults.append(f"{where}: {Kind.RANGE.value} is wanted, got {value!r}")
            return value
        return (next(iter(self.local)), *(self._one(limit, where) for limit in value[1:]))

    def _numbers(self, value: Any, where: str) -> Any:
        try:
            rows = tuple(tuple(map(float, row)) for row in value)
        except (TypeError, ValueError):
            rows = ()
        if not rows or any(len(row) != 3 or not all(map(math.isfinite, row)) for row in rows):
            self.faults.append(f"{where}: rows of 3 numbers are wanted")
            return value
        return rows

    def _names(self, value: Any, where: str) -> Any:
        known = [q.name for q in self.coordinates]
        if isinstance(value, Mapping) or not isinstance(value, Iterable):
            self.faults.append(f"{where}: {Kind.NAMES.value} are wanted, got {value!r}")
            return value
        names = tuple(map(name_of, value.split() if isinstance(value, str) else value))
        self.faults += [f"{where}: {n!r} is not a coordinate.{suggest(n, known)}" for n in names if n not in known]
        return names

    def _check(self, shape: Shape) -> None:
        """What the fields of a shape must be together."""
        if isinstance(shape, Arrow) and shape.vector is None and shape.force is None:
            self.faults.append(f'{self.where}: give vector=(…) or force="ideal" (or impressed, nonideal)')
        if isinstance(shape, Curve):
            self._check_curve(shape)
        if isinstance(shape, Mesh):
            self._check_mesh(shape)
        if getattr(shape, "rotation", None) is not None and (
            getattr(shape, "angle", None) is not None or getattr(shape, "axis", None) is not None
        ):
            self.faults.append(f"{self.where}: a rotation is given by a quaternion, or by axis and angle, not by both")

    def _check_curve(self, curve: Curve) -> None:
        places = [place for place in curve.points if isinstance(place, tuple)]
        if curve.over is None and len(places) < 2:
            self.faults.append(
                f"{self.where}: points: two places or more are wanted, or one in a variable with over=('s', 0, 1)"
            )
        limits = curve.over[1:] if isinstance(curve.over, tuple) else ()
        entries = [entry for place in places for entry in place] + list(limits)
        symbols = {s for entry in entries if isinstance(entry, sp.Expr) for s in entry.free_symbols}
        moving = sorted(s.name for s in symbols if isinstance(s, (Moving, Reaction, Time)))
        if moving:
            self.faults.append(
                f"{self.where}: a curve is fixed, so that {moving[0]} cannot stand in it; at, angle and axis move it"
            )

    def _check_mesh(self, mesh: Mesh) -> None:
        given = mesh.vertices is not None and mesh.faces is not None
        if bool(mesh.file) == given:
            self.faults.append(f"{self.where}: give either a file, or vertices and faces")
        if given and isinstance(mesh.faces, tuple) and isinstance(mesh.vertices, tuple):
            count = len(mesh.vertices)
            if any(k != int(k) or not 0 <= k < count for row in mesh.faces for k in row):
                self.faults.append(f"{self.where}: faces: numbers of vertices from 0 to {count - 1} are wanted")
        if mesh.file and not str(mesh.file).lower().endswith((".obj", ".stl")):
            self.faults.append(f"{self.where}: file: a mesh is read from .obj or .stl, got {mesh.file!r}")


def _plain_fault(kind: Kind, value: Any) -> str | None:
    """What is wrong with a value that is no expression."""
    wrong = f"{kind.value} is wanted, got {value!r}"
    if kind is Kind.COLOUR:
        return colour_fault(value)
    if kind is Kind.TEXT:
        return None if isinstance(value, str) and value.isprintable() else wrong
    if kind is Kind.FLAG:
        return None if isinstance(value, bool) else wrong
    if kind is Kind.FORCE:
        return None if value in FORCES else f"{wrong}.{suggest(str(value), FORCES)}"
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if kind is Kind.COUNT:
        return None if number and value == int(value) and 0 < value <= 1000 else wrong
    return None if number and 0 <= value <= 1 else wrong


def shape_of_entry(entry: Mapping[str, Any]) -> Shape:
    """The shape that an entry `[[draw]]` of a document describes, which must have no `entry_faults`."""
    made = SHAPES[entry["kind"]]
    keys = {part.key: part.name for part in made.parts()}
    return made(**{keys[key]: value for key, value in entry.items() if key != "kind"})


def entry_faults(place: str, entry: Mapping[str, Any]) -> list[str]:
    """What is wrong with the keys of one entry."""
    kind = entry.get("kind")
    if kind not in SHAPES:
        got = "" if kind is None else f" {kind!r}"
        return [f"{place}: {'no kind' if kind is None else 'there is no kind' + got}.{suggest(str(kind), SHAPES)}"]
    place = f"{place}, {kind}"
    keys = {part.key: part for part in SHAPES[kind].parts()}
    faults = [f"{place}: unknown entry {k!r}.{suggest(k, keys)}" for k in entry if k != "kind" and k not in keys]
    missing = [part for part in keys.values() if part.needed and part.key not in entry]
    return faults + [f"{place}: no {part.key!r}: {part.kind.value} is wanted" for part in missing]


def entry_of_shape(shape: Shape, text_of: Callable[[sp.Expr], Any]) -> dict[str, Any]:
    """The entry of a document for a shape that has been read; what is as by default is left out."""
    found: dict[str, Any] = {"kind": shape.name}
    for part in shape.parts():
        value, kind, key = getattr(shape, part.name), part.kind, part.key
        if value is None or (not part.needed and value == part.default):
            continue
        if kind is Kind.SCALAR:
            found[key] = text_of(value)
        elif kind in SIZES:
            found[key] = [text_of(entry) for entry in value]
        elif kind is Kind.PLACES:
            rows = [[text_of(entry) for entry in row] for row in value]
            found[key] = rows[0] if len(rows) == 1 else rows
        elif kind is Kind.RANGE:
            found[key] = [value[0], *(text_of(limit) for limit in value[1:])]
        elif kind is Kind.NUMBERS:
            found[key] = [[int(x) if part.name == "faces" else x for x in row] for row in value]
        else:
            found[key] = list(value) if isinstance(value, tuple) else value
    return dict(sorted(found.items(), key=lambda item: item[0] in ("label", "color", "opacity")))  # these last
