"""Where a program leaves the entries of its equations, as arrays: what is kept of them once the program is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.structure.equations import NONE, Equations


class Numbers:
    """Reads numbers off their places. A float is no place but the number itself; NONE is zero."""

    def __init__(self, values: Sequence[int | float]) -> None:
        self.fixed = np.array([value if isinstance(value, float) else 0.0 for value in values])
        self.at = np.array([NONE if isinstance(value, float) else value for value in values], dtype=np.intc)

    def __call__(self, w: Array) -> Array:
        return np.where(self.at != NONE, w[self.at], self.fixed)


@dataclass(frozen=True, eq=False)
class EntryPlaces:
    """rows, columns, places: of the entries of the symmetric matrix that are not zero, each twice off the diagonal.
    slope_of, slope_by: which defined quantity each of the slopes belongs to, and by which quantity it is.
    """

    rows: np.ndarray
    columns: np.ndarray
    places: np.ndarray
    right: Numbers
    pulled: Numbers
    slope_of: np.ndarray
    slope_by: np.ndarray
    slope: Numbers
    bias: Numbers


def entry_places(made: Equations) -> EntryPlaces:
    own = np.array(made.own, dtype=np.intc)
    there = np.flatnonzero(own != NONE).astype(np.intc)
    lengths = [len(beside) for beside in made.beside]
    count = sum(lengths)
    columns = np.fromiter((j for beside in made.beside for j in beside), np.intc, count)
    places = np.fromiter((place for beside in made.beside for place in beside.values()), np.intc, count)
    slopes = [len(row) for row in made.slopes]
    return EntryPlaces(
        rows=np.concatenate([there, np.repeat(np.arange(len(lengths), dtype=np.intc), lengths)]),
        columns=np.concatenate([there, columns]),
        places=np.concatenate([own[there], places]),
        right=Numbers(made.right),
        pulled=Numbers(made.pulled),
        slope_of=np.repeat(np.arange(len(slopes), dtype=np.intc), slopes),
        slope_by=np.fromiter((i for row in made.slopes for i, _ in row), np.intc, sum(slopes)),
        slope=Numbers([value for row in made.slopes for _, value in row]),
        bias=Numbers([0.0 if value is None else value for value in made.bias]),
    )
