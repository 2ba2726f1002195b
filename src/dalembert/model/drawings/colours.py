"""Colours by name or as #rrggbb. The named ones can be told apart by people who do not see all colours."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

from dalembert.model.language.suggest import suggest

#: After Okabe and Ito, and a few of metals and woods.
COLOURS: Mapping[str, str] = MappingProxyType(
    {
        "black": "#1b1f24", "white": "#ffffff", "grey": "#8a9099", "gray": "#8a9099", "silver": "#c3c9d1",
        "blue": "#0072b2", "sky": "#56b4e9", "green": "#009e73", "yellow": "#f0e442", "orange": "#e69f00",
        "red": "#d55e00", "purple": "#cc79a7", "brown": "#8c6239", "copper": "#b87333", "gold": "#d4a537",
        "steel": "#6f8196", "wood": "#c89f6c",
    }
)  # fmt: skip
_HEX = re.compile(r"#[0-9a-fA-F]{6}")


def colour_of(given: str) -> str:
    """#rrggbb of a name or of itself; empty where none is given. Names must have been looked at by `colour_fault`."""
    return COLOURS.get(given.strip().lower(), given.strip().lower())


def colour_fault(given: object) -> str | None:
    """What is wrong with a colour, or None."""
    if not isinstance(given, str):
        return f"a colour is a name or a text such as '#0072b2', got {given!r}"
    text = given.strip().lower()
    if not text or text in COLOURS or _HEX.fullmatch(text):
        return None
    if text.startswith("#"):
        return f"the colour {given!r} is no #rrggbb of six hexadecimal digits"
    return f"there is no colour {given!r}.{suggest(text, COLOURS)}"
