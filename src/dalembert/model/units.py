"""Units of a model: labels for what people read, pictures and files. They never enter a computation."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dalembert.model.language.suggest import suggest

#: Names besides those of the model that have a unit.
QUANTITIES = ("t", "energy")
# A label longer than this is no unit.
LONGEST = 40
#: Units that a division has a name for.
QUOTIENTS = {("J", "m"): "N", ("J", "rad"): "N m", ("J", "1"): "J", ("rad", "s"): "rad/s"}


class Inherited(dict[str, str]):
    """Units that a changed system takes over from the one before: of names that it still has."""


def names_with_units(
    coordinates: Iterable[Any], definitions: Iterable[str], parameters: Iterable[Any], outputs: Iterable[str]
) -> list[str]:
    """What may have a unit: the time, the energy, coordinates and definitions with their rates, parameters, outputs."""
    moving = [*(q.name for q in coordinates), *definitions]
    rates = [name + marks for name in moving for marks in ("", "'", "''")]
    return [*QUANTITIES, *rates, *(symbol.name for symbol in parameters), *outputs]


def read_units(given: Any, known: Iterable[str], faults: list[str]) -> dict[str, str]:
    """Units by name; what is wrong with them goes to `faults`."""
    names = set(known)
    if isinstance(given, Inherited):
        return {name: unit for name, unit in given.items() if name in names}
    if not isinstance(given, Mapping):
        faults.append(f'units: a mapping such as {{"x": "m"}} is wanted, got {given!r}')
        return {}
    from dalembert.model.language.symbols import name_of  # needs SymPy, which reads the model

    found: dict[str, str] = {}
    for key, unit in given.items():
        name = name_of(key)
        if name not in names:
            faults.append(f"units: there is no {name!r} in this model.{suggest(name, names)}")
        elif not isinstance(unit, str) or not unit.isprintable() or not 0 < len(unit.strip()) <= LONGEST:
            faults.append(f"units: that of {name!r} is a short text such as 'm' or 'm/s', got {unit!r}")
        else:
            found[name] = unit.strip()
    return found


def unit_of(system: Any, name: str) -> str:
    """The unit of a column by its name; empty where it is not known. That of a rate follows from those of the
    coordinate and of t, that of a generalised force from those of the energy and of the coordinate.
    """
    units = system.units
    if name in units:
        return str(units[name])
    base = name.rstrip("'")
    order = len(name) - len(base)
    if order and base in units and "t" in units:
        return quotient(units[base], units["t"], order)
    kind, _, of = name.rpartition(" ")
    if kind in ("impressed", "inertial", "ideal", "nonideal") and "energy" in units and of in units:
        return quotient(units["energy"], units[of])
    if name in ("kinetic", "potential", "impact loss") or kind in ("work", "heat"):
        return str(units.get("energy", ""))
    return ""


def quotient(unit: str, by: str, power: int = 1) -> str:
    """A unit divided by another."""
    if power == 1 and (unit, by) in QUOTIENTS:
        return QUOTIENTS[unit, by]
    if by in ("", "1"):
        return unit
    lower = by if by.isalpha() else f"({by})"
    return f"{unit or '1'}/{lower}" + ("²" if power == 2 else "")
