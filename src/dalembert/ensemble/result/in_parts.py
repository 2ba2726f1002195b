"""Variables of an ensemble that stay in the files of its chunks: xarray reads of them what is asked for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from xarray import Variable
from xarray.backends import BackendArray
from xarray.core import indexing

from dalembert.arrays import Array
from dalembert.ensemble.members.parts import Parts
from dalembert.ensemble.place.executors import ON_CPU, has_run

if TYPE_CHECKING:
    from collections.abc import Iterable

REASON = "reason"


class Column(BackendArray):
    """One variable of all members. grid: the lengths of the dimensions of members; tail: of those behind them."""

    def __init__(self, parts: Parts, name: str, grid: tuple[int, ...], tail: tuple[int, ...], dtype: Any) -> None:
        self.parts, self.name, self.grid = parts, name, grid
        self.shape, self.dtype = (*grid, *tail), np.dtype(dtype)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._outer)

    def _outer(self, key: tuple[Any, ...]) -> Array:
        """Each entry of the key is a number, a slice or an array of places along its own dimension."""
        own, rest = key[: len(self.grid)], key[len(self.grid) :]
        places = [np.atleast_1d(np.arange(n)[k]) for k, n in zip(own, self.grid, strict=True)]
        members = np.zeros((), dtype=np.int64)
        for at, length in zip(places, self.grid, strict=True):
            members = members[..., None] * length + at
        lengths = [len(at) for at, k in zip(places, own, strict=True) if not isinstance(k, (int, np.integer))]
        found = self._of(members.ravel(), rest)
        return found.reshape((*lengths, *found.shape[1:]))

    def _of(self, members: np.ndarray, rest: tuple[Any, ...]) -> Array:
        size = self.parts.size
        order = np.argsort(members // size, kind="stable")
        chunks, begin = np.unique(members[order] // size, return_index=True)
        ends = np.append(begin[1:], order.size)
        found: Array | None = None
        for chunk, first, last in zip(chunks.tolist(), begin, ends, strict=True):
            at = order[first:last]
            values = self._chunk(chunk * size)[members[at] - chunk * size]
            for axis, k in enumerate(rest):
                values = values[(slice(None), *(slice(None) for _ in range(axis)), k)]
            if found is None:
                found = np.empty((members.size, *values.shape[1:]), dtype=self.dtype)
            found[at] = values
        return np.empty((0, *self.shape[len(self.grid) :]), dtype=self.dtype) if found is None else found

    def _chunk(self, first: int) -> Array:
        """The variable of the chunk from this member on."""
        if self.name == REASON:
            count = min(self.parts.size, self.parts.members - first)
            texts = np.full(count, "", dtype=object)
            for k, why in self.parts.reasons(first).items():
                texts[k - first] = why
            return texts
        found = self.parts.column(first, self.name)
        if found is None and self.name == ON_CPU:
            needed = {name: self.parts.column(first, name) for name in ("status", "steps", "alone")}
            return has_run({name: array for name, array in needed.items() if array is not None})
        assert found is not None
        return found


def columns_in_parts(
    parts: Parts, dims: tuple[str, ...], grid: tuple[int, ...], more: Iterable[str]
) -> dict[str, Variable]:
    """All variables of an ensemble in parts. more: those that only some chunks have."""
    first = parts.read(0)
    assert first is not None
    assert math.prod(grid) == parts.members
    forms: dict[str, tuple[tuple[int, ...], Any]] = {}
    forms |= {name: (array.shape[1:], array.dtype) for name, array in first.arrays.items()}
    forms |= {name: ((), np.dtype(bool)) for name in more} | {REASON: ((), np.dtype(object))}
    return {
        name: Variable(
            (*dims, "time") if tail else dims, indexing.LazilyIndexedArray(Column(parts, name, grid, tail, dtype))
        )
        for name, (tail, dtype) in forms.items()
    }
