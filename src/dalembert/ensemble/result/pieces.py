"""Members a million at a time: what is computed from all of them need not hold them all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray as xr

PIECE = 1_000_000


def pieces(data: xr.Dataset, dims: Sequence[str]) -> Iterator[xr.Dataset]:
    """The dataset cut along its dimensions of members; as it is where that is one piece."""
    if math.prod(data.sizes[name] for name in dims) <= PIECE:
        yield data
        return
    for key in slabs([(name, data.sizes[name]) for name in dims], PIECE):
        yield data.isel(key)


def slabs(lengths: Sequence[tuple[str, int]], most: int) -> Iterator[dict[str, slice]]:
    """Parts of a grid with so many members at most, in the order of their numbers.

    >>> [key["x"] for key in slabs([("x", 5), ("y", 2)], 4)]
    [slice(0, 2, None), slice(2, 4, None), slice(4, 6, None)]
    """
    if not lengths:
        yield {}
        return
    (name, length), *rest = lengths
    inner = math.prod(n for _, n in rest)
    if inner >= most and rest:
        for k in range(length):
            for more in slabs(rest, most):
                yield {name: slice(k, k + 1), **more}
        return
    step = max(1, most // inner)
    for k in range(0, length, step):
        yield {name: slice(k, k + step)}
