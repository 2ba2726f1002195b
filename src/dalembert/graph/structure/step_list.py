"""Steps of a program in a few bytes each: numbers of their codes, and all their places one after the other.

A program of a hundred thousand links has some million steps. As objects they would take most of the memory of a model.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# What a step computes: its kind, then what that kind needs to know (`kernel.rolled.bodies`).
Code = tuple[Any, ...]


@dataclass(frozen=True)
class Step:
    code: Code
    places: tuple[int, ...]


class StepList:
    """Steps in their order. All steps of one code have the same number of places."""

    def __init__(self) -> None:
        self.codes: dict[Code, int] = {}
        self._widths: list[int] = []  # of each code
        self._kinds = array("i")  # of each step
        self._places = array("i")

    def add(self, code: Code, places: Sequence[int]) -> None:
        self._kinds.append(self._number(code, len(places)))
        self._places.extend(places)

    def _number(self, code: Code, width: int) -> int:
        number = self.codes.get(code)
        if number is None:
            number = self.codes[code] = len(self.codes)
            self._widths.append(width)
        if self._widths[number] != width:
            raise ValueError(f"a step of the code {code} has {self._widths[number]} places, not {width}")
        return number

    def add_backwards(self, others: StepList) -> None:
        """All steps of another list, the last first."""
        given = others.arrays()
        own = [self._number(code, given.widths[k]) for k, code in enumerate(given.codes)]
        kinds, starts = given.kinds[::-1], given.starts[::-1]
        widths = given.widths[kinds]
        inside = np.arange(widths.sum()) - np.repeat(np.cumsum(widths) - widths, widths)
        self._kinds.frombytes(np.array(own, dtype=np.intc)[kinds].tobytes())
        self._places.frombytes(given.places[np.repeat(starts, widths) + inside].tobytes())

    def arrays(self) -> StepArrays:
        kinds, widths = np.array(self._kinds, dtype=np.intc), np.array(self._widths, dtype=np.int64)
        each = widths[kinds]
        return StepArrays(list(self.codes), widths, kinds, np.cumsum(each) - each, np.array(self._places, np.intc))

    def __len__(self) -> int:
        return len(self._kinds)

    def __iter__(self) -> Iterator[Step]:
        return self.arrays().steps(0, len(self))


@dataclass(frozen=True, eq=False)
class StepArrays:
    """Steps as they are now. kinds: the number of the code of each; starts: where its places begin; widths: how many
    places the steps of each code have.
    """

    codes: list[Code]
    widths: np.ndarray
    kinds: np.ndarray
    starts: np.ndarray
    places: np.ndarray

    def rows(self, first: int, end: int, period: int) -> tuple[Code, np.ndarray]:
        """Of steps of one code, which come once in each period: the code, and their places in rows."""
        kind = self.kinds[first]
        each = self.starts[first:end:period, None] + np.arange(self.widths[kind])
        return self.codes[kind], self.places[each].astype(np.int64)

    def steps(self, first: int, end: int) -> Iterator[Step]:
        for k in range(first, end):
            kind, start = self.kinds[k], self.starts[k]
            yield Step(self.codes[kind], tuple(self.places[start : start + self.widths[kind]].tolist()))
