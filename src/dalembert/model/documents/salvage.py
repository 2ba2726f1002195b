"""What of a document with faulty tables can still be read, so that the faults of its expressions are told with theirs.

Only true faults may come of it, never consequences: an entry that looks mistyped is read as what it resembles, what is
missing gets a stand-in where something else would miss it, and what refers to a stand-in is left out. None where too
little is left, as without coordinates: every name would be unknown.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

EntryFaults = Callable[[str, int, Mapping[str, Any]], list[str]]
INERTIA = ("kinetic", "lagrangian")


def salvage(
    data: Mapping[str, Any],
    tables: Mapping[str, tuple[str, ...] | None],
    lists: Mapping[str, tuple[str, ...]],
    plain: Iterable[str],
    entry_faults: EntryFaults,
) -> dict[str, Any] | None:
    """The document without its faults of shape. tables, lists, plain: what it may hold; entry_faults: of one entry of a
    list, by its number.
    """
    found = _rename_misspelt(data, [*plain, *tables, *lists])
    strange = [key for key in data if key not in found]
    names = found.get("coordinates")
    if not isinstance(names, list) or not names or not all(isinstance(name, str) for name in names):
        return None
    if "particles" in found and _unread_particles(found, entry_faults):
        return None  # constraints and laws speak of particles that cannot be read
    if not isinstance(found.get("parameters", {}), Mapping) or ("parameters" not in found and strange):
        return None
    if not isinstance(found.get("functions", []), list):
        if "functions" in data:
            return None  # every use of them would be unknown
        del found["functions"]  # a table of a name that resembles theirs
    found["name"] = found["name"] if isinstance(found.get("name"), str) else "document"
    for key, allowed in tables.items():
        if key in found:
            table = found[key] if isinstance(found[key], Mapping) else {}
            found[key] = table if allowed is None else _rename_misspelt(table, allowed)
    _give_inertia(data, found, names, tables)
    complete = "constraints" in found or not strange
    for key, allowed in lists.items():
        if key in found:
            given = found[key] if isinstance(found[key], list) else []
            complete &= isinstance(found[key], list) and all(isinstance(entry, Mapping) for entry in given)
            found[key] = [
                _rename_misspelt(entry, allowed, key in ("nonideal", "draw"))
                for entry in given
                if isinstance(entry, Mapping)
            ]
    first = names[0] if "particles" not in found else f"x_{found['particles'][0]['name']}"
    lost = _stand_in(found, first, entry_faults)
    if "particles" in found and lost != set():
        return None  # a stand-in would not hold at their positions
    found["nonideal"] = [
        entry
        for k, entry in enumerate(found.get("nonideal", []), 1)
        if complete
        and lost is not None
        and not entry_faults("nonideal", k, entry)
        and lost.isdisjoint(_carriers(entry))
    ]
    found["events"] = [
        entry for k, entry in enumerate(found.get("events", []), 1) if not entry_faults("events", k, entry)
    ]
    found["draw"] = [entry for k, entry in enumerate(found.get("draw", []), 1) if not entry_faults("draw", k, entry)]
    return found


def _rename_misspelt(given: Mapping[str, Any], known: Iterable[str], keep: bool = False) -> dict[str, Any]:
    """The entries that are known, and those that resemble one that is missing. keep: others too."""
    found = {key: value for key, value in given.items() if keep or key in known}
    for key, value in given.items():
        close = difflib.get_close_matches(key, [name for name in known if name not in given], n=1, cutoff=0.6)
        if key not in known and close:
            found.setdefault(close[0], value)
    return found


def _give_inertia(
    data: Mapping[str, Any], found: dict[str, Any], names: list[str], tables: Mapping[str, tuple[str, ...] | None]
) -> None:
    """A kinetic energy where the document may have meant to give one: how much mass there is decides about no
    expression.
    """
    energy = found.get("energy", {})
    if "particles" in found:  # whose masses are the inertia
        for key in ("mass", "forces", "impacts", "definitions"):
            found.pop(key, None)
        found["energy"] = {key: value for key, value in energy.items() if key == "potential"}
        return
    if "matrix" in found.get("mass", {}) or any(key in energy for key in INERTIA):
        return
    unread = any(key not in found for key in data)
    for key in ("energy", "mass"):
        given = data.get(key, {})
        unread |= not isinstance(given, Mapping) or any(entry not in (tables[key] or ()) for entry in given)
    if unread:
        found["energy"] = {**energy, "kinetic": " + ".join(f"{name}'^2" for name in names)}


def _unread_particles(found: Mapping[str, Any], entry_faults: EntryFaults) -> bool:
    given = found["particles"]
    if not isinstance(given, list) or not given or not all(isinstance(entry, Mapping) for entry in given):
        return True
    return any(entry_faults("particles", k, entry) for k, entry in enumerate(given, 1))


def _stand_in(found: dict[str, Any], coordinate: str, entry_faults: EntryFaults) -> set[str] | None:
    """The names of constraints that cannot be read, each with a stand-in now; None where a name is not known."""
    lost: set[str] = set()
    nameless = False
    constraints = []
    for number, entry in enumerate(found.get("constraints", []), 1):
        if not isinstance(entry.get("name"), str):
            nameless = True
            entry = {**entry, "name": f"number {number}"}
        if entry_faults("constraints", number, entry):
            lost.add(entry["name"])
            entry = {"name": entry["name"], "equation": f"{coordinate} = 0"}
        constraints.append(entry)
    found["constraints"] = constraints
    return None if nameless else lost


def _carriers(entry: Mapping[str, Any]) -> set[str]:
    """The constraints that a law names."""
    named = entry.get("constraint", ())
    return {named} if isinstance(named, str) else set(named)
