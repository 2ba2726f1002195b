"""Names as pictures show them: ψ for psi, ẋ for x', with the units that a model gives."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dalembert.model.units import unit_of

if TYPE_CHECKING:
    from dalembert.model.system import System

LETTERS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu "
LETTERS += "nu xi omicron pi rho sigma tau upsilon phi chi psi omega"
GREEK = dict(zip(LETTERS.split(), "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
GREEK |= {name.capitalize(): letter.upper() for name, letter in GREEK.items()}
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
DOTS = {"'": "\u0307", "''": "\u0308"}
NAME = re.compile(r"^([^\W\d_]+?)_?(\d*)('{0,2})$")


def symbol(name: str) -> str:
    """A name as it is written by hand: psi1' is ψ̇₁; of several words each. Others stay as they are."""
    if " " in name:
        return phrase(name)
    found = NAME.match(name)
    if found is None:
        return name
    letters, digits, primes = found.groups()
    base = GREEK.get(letters, letters)
    if primes and len(base) > 1:
        return name  # a dot over one of many letters would not be seen as the derivative
    return unicodedata.normalize("NFC", base + DOTS.get(primes, "")) + digits.translate(SUBSCRIPTS)


def phrase(text: str) -> str:
    """A name of several words, each as it is written by hand where it is a symbol."""
    return " ".join(
        symbol(word) if word.rstrip("'0123456789_") in GREEK or "'" in word else word for word in text.split(" ")
    )


def with_unit(text: str, unit: str) -> str:
    return f"{text} ({unit})" if unit else text


@dataclass(frozen=True)
class Names:
    """How the names of a system are shown, coordinates and their rates, stems of their names, and outputs; the units of
    its columns, where it gives any; and what stands at an axis of time.
    """

    shown: Mapping[str, str]
    units: Mapping[str, str]
    time: str


def names_of(system: System) -> Names:
    """Of all that panels of a motion name."""
    coordinates = [coordinate.name for coordinate in system.coordinates]
    rates = [name + marks for name in coordinates for marks in ("", "'", "''")]
    stems = [name.rstrip("0123456789_") for name in coordinates]
    shown = {name: symbol(name) for name in (*rates, *stems, *system.outputs)}
    units: dict[str, str] = {}
    if system.units:
        forces = [f"{kind} {name}" for name in coordinates for kind in ("impressed", "ideal", "nonideal")]
        units = {name: unit_of(system, name) for name in (*rates, *forces, *system.outputs, "t", "energy")}
    return Names(shown, units, with_unit("t", units.get("t", "")))
