"""Options of a sweep that are read by themselves: switches, whole numbers, a folder, what repairs may move."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.errors import ModelError
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of
from dalembert.model.simulation_options import whole_number

if TYPE_CHECKING:
    from dalembert.model.system import System


def at_least(system: System, name: str, given: Any, least: int) -> int:
    found = whole_number(given)
    if found is None or found < least:
        raise ModelError(system.name, [f"sweep: {name} is a whole number of at least {least}, got {given!r:.80}"])
    return found


def is_switch(given: Any) -> bool:
    return isinstance(given, (bool, np.bool_))


def require_switches(system: System, **given: Any) -> None:
    faults = [f"sweep: {name} is True or False, got {x!r:.80}" for name, x in given.items() if not is_switch(x)]
    if faults:
        raise ModelError(system.name, faults)


def read_folder(system: System, out: Any) -> Path | None:
    try:
        return None if out is None else Path(out)
    except TypeError:
        raise ModelError(system.name, [f"sweep: out is the name of a folder, got {out!r:.80}"]) from None


def read_repair(system: System, given: Any) -> tuple[bool, ...] | None:
    """Which entries of (q, q̇) may be moved: all but those that are held; None where starts are taken as they are."""
    if given is None or (is_switch(given) and not given):
        return None
    names = [symbol.name for symbol in (*system.coordinates, *system.velocities)]
    try:
        held = [] if is_switch(given) else [name_of(x) for x in ([given] if isinstance(given, str) else given)]
    except (TypeError, AttributeError):
        told = f"sweep: repair is True, False or names of coordinates and velocities that are held, got {given!r:.80}"
        raise ModelError(system.name, [told]) from None
    faults = [
        f"sweep: repair holds {x!r}, which is no coordinate or velocity.{suggest(x, names)}"
        for x in held
        if x not in names
    ]
    if faults:
        raise ModelError(system.name, faults)
    return tuple(name not in held for name in names)
