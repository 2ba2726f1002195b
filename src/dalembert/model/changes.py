"""The parts of a frozen model with some of them changed, as `replace` of systems and of particles takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import sympy as sp

from dalembert.errors import ModelError
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of

# What `other_numbers` takes in the place of an old value.
NUMBERS = (int, float, np.integer, np.floating)

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
    require_parts(kind, changes, [*parts, "functions"])
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


def require_parts(kind: str, given: Iterable[str], known: Sequence[str]) -> None:
    """`TypeError`, as for any unknown argument, where a part is not known; it proposes one, or names all."""
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            told = f". Did you mean {close[0]!r}?" if close else f"; its parts are {', '.join(known)}"
            raise TypeError(f"{kind} has no part {name!r}{told}")


def require_parameters(where: str, given: Any, known: Iterable[sp.Symbol]) -> None:
    """`ModelError` where values are given for parameters that nothing uses: they are misspelt, and would change
    nothing. known: those of the model before the change, and what it uses after it.
    """
    names = {symbol.name for symbol in known}
    unknown = [str(key) for key in given if str(key) not in names] if isinstance(given, Mapping) else []
    if unknown:
        raise ModelError(where, [f"there is no parameter {name!r}.{suggest(name, names)}" for name in unknown])


def other_numbers(
    parts: Mapping[str, Mapping[sp.Symbol, sp.Expr]], changes: Mapping[str, Any]
) -> dict[str, dict[sp.Symbol, sp.Expr]] | None:
    """`parameters` and `initial` with finite numbers in the place of numbers they have; None where the changes ask for
    more than that, and so have to be looked at. parts: both as they are.
    """
    found: dict[str, dict[sp.Symbol, sp.Expr]] = {}
    for part, given in changes.items():
        if part not in parts or not isinstance(given, Mapping):
            return None
        known = {symbol.name: symbol for symbol in parts[part]}
        found[part] = dict(parts[part])
        for key, value in given.items():
            name = name_of(key) if isinstance(key, (str, sp.Symbol)) else None
            symbol = None if name is None else known.get(name)
            plain = isinstance(value, NUMBERS) and not isinstance(value, bool) and np.isfinite(value)
            # A name that only the old value has would be none of the model's any more.
            if symbol is None or not plain or not parts[part][symbol].free_symbols <= parts["parameters"].keys():
                return None
            found[part][symbol] = sp.sympify(value, strict=True)
    return found
