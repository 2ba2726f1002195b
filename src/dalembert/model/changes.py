"""The parts of a frozen model with some of them changed, as `replace` of systems and of particles takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalembert.model.language.symbols import name_of

MERGED = ("parameters", "initial", "settings")


class _Unchanged:
    """What stands for a part that `replace` leaves as it is: None may be meant."""

    def __repr__(self) -> str:
        return "unchanged"


UNCHANGED: Any = _Unchanged()


def with_changes(kind: str, parts: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """`MERGED` parts have what is given put into the old ones, by name; others are replaced, unless what is given is
    UNCHANGED. kind: for the message.
    """
    unknown = sorted(set(changes) - set(parts))
    if unknown:
        known = ", ".join([*parts, "functions"])
        raise TypeError(f"{kind} has no part {unknown[0]!r}; its parts are {known}")
    found = dict(parts)
    for key, value in changes.items():
        if value is UNCHANGED:
            continue
        if key in MERGED and isinstance(value, Mapping):
            name = name_of if key == "initial" else str  # a function of time is no parameter
            merged = {name(k): v for k, v in parts[key].items()}
            merged.update({name(k): v for k, v in value.items()})
            found[key] = merged
        else:
            found[key] = value
    return found
