"""Reads models from TOML documents. Their text is parsed, never executed; unknown keys are faults, not ignored."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalembert.errors import DocumentError, ModelError
from dalembert.model.constraints import Constraint
from dalembert.model.documents.particle_document import PARTICLE, clashes, particle_faults, system_of_particles
from dalembert.model.documents.salvage import salvage
from dalembert.model.drawings.read_drawings import entry_faults, shape_of_entry
from dalembert.model.events import Event
from dalembert.model.friction.laws import LAWS
from dalembert.model.language.suggest import suggest
from dalembert.model.system import System

# Each table of the document with the keys it may hold; None where the keys are names of the model.
TABLES: dict[str, tuple[str, ...] | None] = {
    "parameters": None,
    "energy": ("kinetic", "potential", "lagrangian"),
    "mass": ("matrix",),
    "definitions": None,
    "forces": None,
    "outputs": None,
    "units": None,
    "initial": None,
    "simulate": None,
}
LISTS = {
    "constraints": ("name", "equation", "level", "one_sided", "restitution", "impact"),
    "nonideal": ("law", "constraint"),
    "events": ("name", "expression", "direction", "terminal"),
    "particles": PARTICLE,
    "draw": ("kind",),
}
REQUIRED = {
    "constraints": ("name", "equation"),
    "nonideal": ("law",),
    "events": ("name", "expression"),
    "particles": ("name", "mass", "position"),
}
# Entries of lists that need not be texts: what they may be is checked where they are read.
NO_TEXTS = ("work", "direction", "terminal", "one_sided", "restitution", "mass", "position", "force")
PLAIN = ("name", "description", "coordinates", "impacts", "functions")
MAX_BYTES = 5_000_000
# A velocity as a key, x' = 0, which TOML takes for the beginning of a text.
_PRIMED = re.compile(r"^[ \t]*(\w+'+)[ \t]*=", re.MULTILINE)


def load(path: str | os.PathLike[str]) -> System:
    """Read a model document from a file."""
    file = Path(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise DocumentError(
                str(file), [f"the file is larger than {MAX_BYTES // 1_000_000} MB; this is no model document"]
            )
        text = file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DocumentError(str(file), ["there is no such file"]) from None
    except IsADirectoryError:
        raise DocumentError(str(file), ["this is a folder, not a model document"]) from None
    except UnicodeDecodeError:
        raise DocumentError(str(file), ["the file is not text in UTF-8, so it is no model document"]) from None
    except OSError as error:
        raise DocumentError(str(file), [f"the file cannot be read: {error.strerror}"]) from None
    return loads(text, where=str(file))


def loads(text: str, *, where: str = "document") -> System:
    """Read a model document from text."""
    import tomllib  # only where a document is read: most motions need none

    try:
        data = tomllib.loads(text)
    except (
        ValueError,
        RecursionError,
    ) as error:  # TOMLDecodeError is a ValueError; absurdly long integers raise a plain one
        meant = _PRIMED.search(text)
        hint = f'; a name with a prime is quoted: "{meant[1]}" = …' if meant else ""
        raise DocumentError(where, [f"this is not TOML: {error}{hint}"]) from None
    return from_data(data, where=where)


def from_data(data: Mapping[str, Any], *, where: str = "document") -> System:
    """A system from the tables of a document."""
    faults = _shape_faults(data)
    if faults:
        rest = salvage(data, TABLES, LISTS, PLAIN, _entry_faults)
        try:
            if rest is not None:
                _system(rest)
        except ModelError as error:
            faults += error.faults
        raise DocumentError(where, faults)
    try:
        return _system(data)
    except ModelError as error:
        raise DocumentError(where, error.faults) from None


def _system(data: Mapping[str, Any]) -> System:
    """The system of tables that have the right shape."""
    energy = data.get("energy", {})
    shapes = [shape_of_entry(entry) for entry in data.get("draw", [])]
    if "particles" in data:
        constraints = [_constraint(entry) for entry in data.get("constraints", [])]
        laws = [LAWS[entry["law"]].from_entry(entry) for entry in data.get("nonideal", [])]
        found = system_of_particles(data, constraints, laws, [_event(entry) for entry in data.get("events", [])])
        return found.replace(draw=shapes) if shapes else found
    return System(
        data["name"],
        coordinates=data["coordinates"],
        kinetic=energy.get("kinetic"),
        potential=energy.get("potential"),
        lagrangian=energy.get("lagrangian"),
        mass=data.get("mass", {}).get("matrix"),
        forces=data.get("forces", {}),
        constraints=[_constraint(entry) for entry in data.get("constraints", [])],
        nonideal=[LAWS[entry["law"]].from_entry(entry) for entry in data.get("nonideal", [])],
        parameters=data.get("parameters", {}),
        initial=data.get("initial", {}),
        settings=data.get("simulate", {}),
        description=data.get("description", ""),
        events=[_event(entry) for entry in data.get("events", [])],
        impacts=data.get("impacts"),
        outputs=data.get("outputs", {}),
        definitions=data.get("definitions", {}),
        units=data.get("units", {}),
        functions=data.get("functions", ()),
        draw=shapes,
    )


def _shape_faults(data: Mapping[str, Any]) -> list[str]:
    """Everything wrong with the tables themselves, before any expression is read."""
    faults = []
    known = [*PLAIN, *TABLES, *LISTS]
    for key, value in data.items():
        if key not in known:
            table = next((name for name, entries in TABLES.items() if key in (entries or ())), None)
            hint = suggest(key, known) if table is None else f" It belongs below [{table}]."
            faults.append(f"unknown entry {key!r}.{hint}")
        elif key in TABLES:
            allowed = TABLES[key]
            if not isinstance(value, Mapping):
                faults.append(f"{key!r} is a table: write [{key}] and its entries below")
            elif allowed is not None:
                faults += [f"[{key}]: unknown entry {k!r}.{suggest(k, allowed)}" for k in value if k not in allowed]
        elif key in LISTS:
            if not isinstance(value, list) or not all(isinstance(entry, Mapping) for entry in value):
                faults.append(f"{key!r} is a list of tables: write [[{key}]] before each")
                continue
            for number, entry in enumerate(value, 1):
                faults += _entry_faults(key, number, entry)
    faults += clashes(data)
    if not isinstance(data.get("name"), str):
        got = f", got {data['name']!r}" if "name" in data else ""
        faults.append(f'the name of the model is missing or no text{got}: write name = "…" at the top')
    names = data.get("coordinates")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        got = f", got {names!r}" if "coordinates" in data else ""
        faults.append(f'coordinates are missing or no list of names{got}: write coordinates = ["x", "y"] at the top')
    return faults


def _entry_faults(key: str, number: int, entry: Mapping[str, Any]) -> list[str]:
    place = f"[[{key}]] number {number}"
    if key == "draw":
        return entry_faults(place, entry)
    allowed = LISTS[key]
    required = REQUIRED[key]
    if key == "nonideal" and isinstance(entry.get("law"), str):
        law = entry["law"]
        if law not in LAWS:
            # What else it says belongs to a law that is not known.
            return [f"{place}: law {law!r} is unknown.{suggest(law, LAWS)}"]
        allowed = ("law", "constraint", *LAWS[law].entries())
        place = f"{place}, law {law!r}"
        unknown = [f"{place}: unknown entry {k!r}.{suggest(k, allowed)}" for k in entry if k not in allowed]
        return unknown + LAWS[law].entry_faults(place, entry)
    faults = particle_faults(place, entry) if key == "particles" else []
    faults += [f"{place}: no {k!r}" for k in required if k not in entry]
    faults += [f"{place}: unknown entry {k!r}.{suggest(k, allowed)}" for k in entry if k not in allowed]
    texts = [k for k in allowed if k not in NO_TEXTS and k in entry and not isinstance(entry[k], str)]
    if entry.get("one_sided") is False and re.search("[<>]=", str(entry.get("equation"))):
        faults.append(f"{place}: an equation with >= or <= is one-sided: leave out one_sided = false, or write =")
    return faults + [f"{place}: {k!r} is a text, got {entry[k]!r}" for k in texts]


def _constraint(entry: Mapping[str, Any]) -> Constraint:
    return Constraint(
        entry["name"],
        entry["equation"],
        entry.get("level"),
        entry.get("one_sided", False),
        entry.get("restitution"),
        impact=entry.get("impact"),
    )


def _event(entry: Mapping[str, Any]) -> Event:
    return Event(entry["expression"], entry.get("direction", 0), entry.get("terminal", False), entry["name"])
