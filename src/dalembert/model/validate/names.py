"""Reads the names of a model before all else, so that expressions may use them in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from dalembert.model.language.symbols import Coordinate, Parameter, is_name, is_of_time, name_of, symbol_table, t
from dalembert.model.language.vocabulary import RESERVED


class Names:
    """table: the symbols of the model by name, as they become known; declared: the parameters with a value among them.
    faults: everything found to be wrong so far, also by those who read with it.
    """

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.table: dict[str, sp.Symbol] = {t.name: t}
        self.declared: dict[str, sp.Symbol] = {}

    def read(self, coordinates: Any, parameters: Any) -> tuple[tuple[Coordinate, ...], list[tuple[str, Any]]]:
        """The coordinates, and what is given for each parameter; all whose names are good are known then."""
        names = self._of_coordinates(coordinates)
        values = self._of_parameters(parameters, names)
        found = tuple(map(Coordinate.named, names))
        self.declared = {name: Parameter.named(name) for name, _ in values}
        self.table |= symbol_table(found) | self.declared
        return found, values

    def _of_coordinates(self, given: Any) -> dict[str, None]:
        if isinstance(given, str):
            given = given.split()
        if not isinstance(given, Iterable):
            self.faults.append(f"coordinates: a list of coordinates is wanted, got {given!r}")
            return {}
        found: dict[str, None] = {}
        for item, name in [(item, name_of(item)) for item in given]:
            if not isinstance(item, (str, sp.Expr)):
                self.faults.append(f"coordinates: {item!r} is not a coordinate")
            elif isinstance(item, AppliedUndef) and not is_of_time(item):
                self.faults.append(f"coordinates: {item}: a coordinate is a function of the time t alone, or a symbol")
            elif name in found:
                self.faults.append(f"coordinate {name!r} is given twice")
            elif self.good_name(name, "coordinate"):
                found[name] = None
        if not found and not self.faults:
            self.faults.append("a system needs at least one coordinate")
        return found

    def _of_parameters(self, given: Any, coordinates: Mapping[str, None]) -> list[tuple[str, Any]]:
        found = []
        for key, value in self.mapping(given, "parameters", "{m: 1.5}").items():
            name = str(key)
            if isinstance(key, AppliedUndef):
                self.faults.append(f"parameter {name}: a parameter is a constant, not a function; use a symbol")
            elif name in coordinates:
                self.faults.append(f"{name!r} is both a coordinate and a parameter; rename one")
            elif self.good_name(name, "parameter"):
                found.append((name, value))
        return found

    def good_name(self, name: str, what: str) -> bool:
        if not is_name(name):
            self.faults.append(
                f"{what} {name!r}: a name has letters, digits and _ only and does not start with a digit"
            )
        elif name in RESERVED:
            self.faults.append(f"{what} {name!r}: this name has a meaning of its own; choose another")
        else:
            return True
        return False

    def mapping(self, given: Any, what: str, example: str) -> Mapping[Any, Any]:
        if isinstance(given, Mapping):
            return given
        self.faults.append(f"{what}: a mapping such as {example} is wanted, got {given!r}")
        return {}
