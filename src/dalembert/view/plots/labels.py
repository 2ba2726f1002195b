"""Names as pictures show them: ψ for psi, ẋ for x', with the units that a model gives."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from dalembert.model.units import unit_of

LETTERS = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega"  # noqa: E501
GREEK = dict(zip(LETTERS.split(), "αβγδεζηθικλμνξοπρστυφχψω", strict=True))
GREEK |= {name.capitalize(): letter.upper() for name, letter in GREEK.items()}
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
DOTS = {"'": "\u0307", "''": "\u0308"}
NAME = re.compile(r"^([^\W\d_]+?)_?(\d*)('{0,2})$")
# More symbols than these do not fit beside an axis.
MOST_SYMBOLS = 4


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


def time_label(system: Any) -> str:
    return with_unit("t", unit_of(system, "t"))


def axis_label(system: Any, names: Sequence[str], otherwise: str) -> tuple[str, bool]:
    """What stands at an axis of several columns: their symbols, or `otherwise` where there are many, with the unit that
    all of them have. Whether their units differ, so that each must be told with its curve.
    """
    units = {unit_of(system, name) for name in names}
    text = ", ".join(map(symbol, names)) if len(names) <= MOST_SYMBOLS else otherwise
    return with_unit(text, units.copy().pop() if len(units) == 1 else ""), len(units) > 1


def curve_labels(system: Any, names: Iterable[str], each: bool) -> list[str]:
    """Labels of curves, with their units where `each` has its own."""
    return [with_unit(symbol(name), unit_of(system, name) if each else "") for name in names]
