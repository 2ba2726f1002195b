"""Axes of drawings in a page: from numbers to places, with round numbers to read them by."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dalembert.arrays import Array
from dalembert.view.markup.tables import number

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
# Exponents of ten that are written out at the numbers; others stand once at the end of the axis.
WRITTEN_OUT = (-3, 4)
# A range this small against its values is rounding: it is shown as the constant that it is.
CONSTANT = 1e-7
MOST_DECADES = 8


@dataclass(frozen=True)
class Scale:
    """low … high over first … last, which are places in a drawing; log: by powers."""

    low: float
    high: float
    first: float
    last: float
    log: bool = False

    def __call__(self, values: Array | float) -> Array:
        with np.errstate(divide="ignore", invalid="ignore"):
            x = np.log10(values) if self.log else np.asarray(values, dtype=float)
        low, high = (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)
        return np.asarray(self.first + (x - low) / (high - low) * (self.last - self.first))

    def ticks(self, about: int) -> tuple[list[tuple[float, str]], str]:
        """Values with their labels, some `about` many; and the power of ten that all of them are multiplied by."""
        if self.log:
            return _powers(self.low, self.high), ""
        step = _step((self.high - self.low) / about)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        values = [k * step for k in range(first, last + 1)]
        largest = max((abs(value) for value in values), default=0.0)
        exponent = math.floor(math.log10(largest)) if largest > 0 else 0
        if WRITTEN_OUT[0] <= exponent <= WRITTEN_OUT[1]:
            return [(value, number(value)) for value in values], ""
        factor = f"×10{str(exponent).translate(SUPERSCRIPTS)}"
        return [(value, number(value / 10.0**exponent)) for value in values], factor


def span_of(arrays: list[Array], log: bool, margin: float) -> tuple[float, float]:
    """The least and the greatest of all numbers, with a margin that is a share of their distance."""
    joined = np.concatenate([array[np.isfinite(array)] for array in arrays] or [np.zeros(0)])
    joined = joined[joined > 0] if log else joined
    if not joined.size:
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = float(joined.min()), float(joined.max())
    if log:
        return 10.0 ** math.floor(math.log10(low)), 10.0 ** max(
            math.ceil(math.log10(high)), math.floor(math.log10(low)) + 1
        )
    size = max(abs(low), abs(high))
    if high - low <= CONSTANT * size or size == 0:
        middle, reach = (low + high) / 2, 0.1 * size or 1.0
        return middle - reach, middle + reach
    spare = margin * (high - low)
    return low - spare, high + spare


def equal_scales(x: Scale, y: Scale) -> tuple[Scale, Scale]:
    """Both with one length for one unit: the one that has room shows more."""
    units = [(scale.high - scale.low) / abs(scale.last - scale.first) for scale in (x, y)]
    found = []
    for scale, unit in zip((x, y), units, strict=True):
        middle, reach = (scale.low + scale.high) / 2, (scale.high - scale.low) / 2 * max(units) / unit
        found.append(Scale(middle - reach, middle + reach, scale.first, scale.last))
    return found[0], found[1]


def _step(rough: float) -> float:
    """The next of 1, 2, 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(rough))
    return next(k * power for k in (1, 2, 5, 10) if k * power >= rough * (1 - 1e-9))


def _powers(low: float, high: float) -> list[tuple[float, str]]:
    first, last = round(math.log10(low)), round(math.log10(high))
    every = -(-(last - first) // MOST_DECADES)
    return [(10.0**k, f"10{str(k).translate(SUPERSCRIPTS)}") for k in range(first, last + 1, max(every, 1))]


def path_of(x: Array, y: Array) -> str:
    """The path of a curve as SVG has it; NaN parts it."""
    there = np.isfinite(x) & np.isfinite(y)
    points = [f"{a:.1f} {b:.1f}" if ok else "" for a, b, ok in zip(x.tolist(), y.tolist(), there.tolist(), strict=True)]
    if not points:
        return ""
    found = [f"M{points[0]}"] if points[0] else []
    found += [f"{'L' if before else 'M'}{point}" for before, point in pairwise(points) if point and point != before]
    return "".join(found)
