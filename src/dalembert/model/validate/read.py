"""Reads the arguments of `System`: names matched, text parsed, every fault collected before one error is raised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.errors import ModelError, counted
from dalembert.model.events import read_events
from dalembert.model.friction.frames import inertia_of
from dalembert.model.friction.read_laws import LawReader
from dalembert.model.language.parse import RESERVED_FOR_CALLS
from dalembert.model.language.signatures import read_signatures
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Coordinate, Parameter, is_of_time, name_of, symbol_table
from dalembert.model.outputs import reaction_faults, read_outputs
from dalembert.model.simulation_options import duration_faults, option_faults
from dalembert.model.validate.check import derivatives_out_of_place, functions_at_odds, not_one_inertia
from dalembert.model.validate.constraints import ConstraintReader
from dalembert.model.validate.definitions import read_definitions, read_names
from dalembert.model.validate.expressions import ExpressionReader

SETTINGS = {"duration": float, "rtol": float, "atol": float, "samples": int, "method": str, "project": bool}
SETTINGS |= {"step": float, "order": int, "max_step": float}


@dataclass(frozen=True)
class Draft:
    """The arguments of `System` as given."""

    name: Any
    coordinates: Any
    kinetic: Any
    potential: Any
    lagrangian: Any
    mass: Any
    forces: Any
    constraints: Any
    nonideal: Any
    parameters: Any
    initial: Any
    settings: Any
    description: Any
    events: Any
    impacts: Any = None
    outputs: Any = None
    functions: Any = ()
    definitions: Any = None


def build_parts(draft: Draft) -> dict[str, Any]:
    """The parts of a `System`, or `ModelError` with every fault found."""
    return _Builder(draft).parts()


class _Builder:
    def __init__(self, draft: Draft) -> None:
        self.draft = draft
        self.reader = ExpressionReader()

    def parts(self) -> dict[str, Any]:
        draft = self.draft
        title = draft.name if isinstance(draft.name, str) and draft.name.strip() else "system"
        if title != draft.name:
            self.reader.faults.append(f"the name of a system is a text, got {draft.name!r}")
        if not title.isprintable():
            self.reader.faults.append(f"the name of a system is one line of printable text, got {title!r}")
        coordinates = self._coordinates()
        parameters = self._parameters(coordinates)
        named = read_names(draft.definitions or {}, self.reader)
        self.reader.functions = read_signatures(
            draft.functions, {*RESERVED_FOR_CALLS, *self.reader.table}, self.reader.faults
        )
        definitions = self.reader.definitions = read_definitions(named, coordinates, self.reader)
        energies = {
            key: self.reader.expression(getattr(draft, key), key) for key in ("kinetic", "potential", "lagrangian")
        }
        mass = self._mass(len(coordinates))
        self.reader.faults += not_one_inertia(vars(draft))
        held = ConstraintReader(self.reader, parameters)
        constraints, names = held.read(draft.constraints)
        parts: dict[str, Any] = {
            "name": title,
            "coordinates": coordinates,
            "definitions": definitions.values,
            **energies,
            "mass": mass,
            "forces": self.reader.by_coordinate(draft.forces, "forces"),
            "constraints": constraints,
            "nonideal": LawReader(
                coordinates=coordinates,
                constraints=constraints,
                names=names,
                inertia=inertia_of(energies["kinetic"], energies["lagrangian"], mass),
                definitions=definitions,
                parameters=parameters,
                expression=self.reader.expression,
                work=lambda given: self.reader.by_coordinate(given, "work", reactions=True),
                faults=self.reader.faults,
            ).read(draft.nonideal),
            "parameters": parameters,
            "initial": self._initial(coordinates),
            "settings": self._settings(),
            "description": str(draft.description),
        }
        switches = any(c.one_sided for c in constraints) or any(law.dry for law in parts["nonideal"])
        parts["events"] = read_events(
            draft.events,
            lambda given, where: self.reader.expression(given, where, equation=True),
            self.reader.faults,
            switches,
            definitions,
        )
        parts["impacts"] = held.impacts(draft.impacts, constraints)
        parts["outputs"] = outputs = read_outputs(
            draft.outputs or {},
            coordinates,
            definitions.values,
            lambda e, where: self.reader.expression(e, where, reactions=True),
            self.reader.faults,
        )
        self.reader.faults += reaction_faults(outputs, coordinates, names)
        self.reader.faults += derivatives_out_of_place(parts, names, definitions)
        self.reader.faults += functions_at_odds(parts, self.reader.declared)
        if self.reader.faults:
            raise ModelError(title, self.reader.faults)
        return parts

    def _coordinates(self) -> tuple[Coordinate, ...]:
        given = self.draft.coordinates
        if isinstance(given, str):
            given = given.split()
        if not isinstance(given, Iterable):
            self.reader.faults.append(f"coordinates: a list of coordinates is wanted, got {given!r}")
            return ()
        found: dict[str, Coordinate] = {}
        for item in given:
            name = name_of(item)
            if not isinstance(item, (str, sp.Expr)):
                self.reader.faults.append(f"coordinates: {item!r} is not a coordinate")
            elif isinstance(item, AppliedUndef) and not is_of_time(item):
                self.reader.faults.append(
                    f"coordinates: {item}: a coordinate is a function of the time t alone, or a symbol"
                )
            elif name in found:
                self.reader.faults.append(f"coordinate {name!r} is given twice")
            elif self.reader.good_name(name, "coordinate"):
                found[name] = Coordinate.named(name)
        if not found and not self.reader.faults:
            self.reader.faults.append("a system needs at least one coordinate")
        self.reader.table |= symbol_table(found.values())
        return tuple(found.values())

    def _parameters(self, coordinates: tuple[Coordinate, ...]) -> dict[sp.Symbol, sp.Expr]:
        values: dict[sp.Symbol, sp.Expr] = {}
        taken = {q.name for q in coordinates}
        for key, given in self.reader.mapping(self.draft.parameters, "parameters", "{m: 1.5}").items():
            name = str(key)
            if isinstance(key, AppliedUndef):
                self.reader.faults.append(f"parameter {name}: a parameter is a constant, not a function; use a symbol")
                continue
            if name in taken:
                self.reader.faults.append(f"{name!r} is both a coordinate and a parameter; rename one")
                continue
            if not self.reader.good_name(name, "parameter"):
                continue
            symbol = Parameter.named(name)
            self.reader.declared[name] = symbol
            value = self.reader.number(given, f"parameter {name}")
            if value is not None:
                values[symbol] = value
        self.reader.table |= self.reader.declared
        return values

    def _mass(self, size: int) -> sp.ImmutableMatrix | None:
        given = self.draft.mass
        if given is None:
            return None
        rows = given.tolist() if hasattr(given, "tolist") else given
        if isinstance(rows, str) or not isinstance(rows, Iterable):
            rows = [rows]
        rows = list(rows)
        if any(isinstance(row, (str, Mapping)) or not isinstance(row, Iterable) for row in rows):
            self.reader.faults.append("mass: a square matrix is wanted, as a list of rows")
            return None
        rows = [list(row) for row in rows]
        if len(rows) != size or any(len(row) != size for row in rows):
            widths = sorted({len(row) for row in rows})
            shape = f"{len(rows)}×{widths[0]}" if len(widths) == 1 else f"rows of lengths {[len(row) for row in rows]}"
            self.reader.faults.append(
                f"mass: for {counted(size, 'coordinate')} a {size}×{size} matrix is wanted, got {shape}"
            )
            return None
        entries = [
            [self.reader.expression(e, f"mass[{i + 1}][{j + 1}]") for j, e in enumerate(r)] for i, r in enumerate(rows)
        ]
        if any(entry is None for row in entries for entry in row):
            return None
        matrix = sp.ImmutableMatrix(entries)
        for i in range(size):
            for j in range(i):
                if matrix[i, j] != matrix[j, i] and sp.simplify(matrix[i, j] - matrix[j, i]) != 0:
                    self.reader.faults.append(
                        f"mass: not symmetric, entry {i + 1},{j + 1} differs from {j + 1},{i + 1}"
                    )
        return matrix

    def _initial(self, coordinates: tuple[Coordinate, ...]) -> dict[sp.Symbol, sp.Expr]:
        known = symbol_table(coordinates, order=1)
        found: dict[sp.Symbol, sp.Expr] = {}
        for key, given in self.reader.mapping(self.draft.initial, "initial", "{x: 0}").items():
            name = name_of(key)
            if name not in known:
                self.reader.faults.append(
                    f"initial: {name!r} is neither a coordinate nor a velocity.{suggest(name, known)}"
                )
                continue
            where = f"initial {name}"
            if isinstance(given, (str, sp.Expr)) and not isinstance(given, sp.Number):
                expression = self.reader.in_parameters(given, where)
            else:
                expression = self.reader.number(given, where)
            if expression is not None:
                found[known[name]] = expression
        return found

    def _settings(self) -> dict[str, Any]:
        found = {}
        for key, value in self.reader.mapping(self.draft.settings, "settings", "{'rtol': 1e-9}").items():
            if key not in SETTINGS:
                self.reader.faults.append(f"simulate: unknown setting {key!r}.{suggest(key, SETTINGS)}")
                continue
            kind = SETTINGS[key]
            wrong = isinstance(value, bool) != (kind is bool) or not isinstance(
                value, (int, float) if kind is float else kind
            )
            if wrong:
                self.reader.faults.append(f"simulate: {key} is a {kind.__name__}, got {value!r}")
            else:
                found[key] = kind(value)
        faults = option_faults(found) + (duration_faults(found["duration"]) if "duration" in found else [])
        self.reader.faults += [f"simulate: {fault}" for fault in faults]
        return found
