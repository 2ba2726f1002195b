"""CasADi functions called with NumPy arrays and little overhead: buffers are made once and filled in place."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

# Points evaluated in one call: CasADi takes about a microsecond for each of them to prepare it, once.
CHUNK = 64
# A function of more instructions takes longer to prepare for many points than Python takes for a call at each.
LONG = 2000
# Where outputs stand among all, and the shape, columns first, of those that are matrices.
Places = list[tuple[int, int, tuple[int, int] | None]]


class _Buffers(threading.local):
    """What one thread fills and reads: threads that evaluate the same function do not meet."""

    def __init__(self, function: ca.Function) -> None:
        buffer: Any  # CasADi's stubs ask for a size that its Python interface reads off the array
        buffer, self.run = function.buffer()
        self.buffer = buffer
        self.inputs = [np.zeros(max(function.numel_in(k), 1)) for k in range(function.n_in())]
        sizes = [function.numel_out(k) for k in range(function.n_out())]
        ends = np.cumsum([0, *(max(size, 1) for size in sizes)]).tolist()
        self.whole = np.zeros(ends[-1])  # all outputs in a row: copied at once
        self.outputs = [self.whole[first:last] for first, last in pairwise(ends)]
        for k, array in enumerate(self.inputs):
            buffer.set_arg(k, array.data)
        for k, array in enumerate(self.outputs):
            buffer.set_res(k, array.data)


class Evaluator:
    """`f(x, y, …)` for a CasADi function, with dense arrays in and out; for any number of threads.

    Outputs with one column come back as vectors. Each call returns fresh arrays.
    """

    def __init__(self, function: ca.Function) -> None:
        self._function = function
        self._mapped: dict[int, Evaluator] = {}
        self._shapes = [function.size_out(k) for k in range(function.n_out())]
        self._sizes = [function.numel_in(k) for k in range(function.n_in())]
        self._places: Places = []
        first = 0
        for rows, columns in self._shapes:
            self._places.append((first, first + rows * columns, None if columns == 1 else (columns, rows)))
            first += max(rows * columns, 1)
        self._own = _Buffers(function)

    def __reduce__(self) -> tuple[Any, ...]:
        """Buffers are made anew where a copy is used."""
        return Evaluator, (self._function,)

    def __call__(self, *values: np.ndarray | float) -> list[np.ndarray]:
        self._run(values)
        return self._views(self._own.whole.copy())

    def checked(self, *values: np.ndarray | float) -> tuple[list[np.ndarray], bool]:
        """The same, and whether all of it is finite."""
        self._run(values)
        whole = self._own.whole.copy()
        return self._views(whole), bool(np.isfinite(whole).all())

    def _views(self, whole: np.ndarray) -> list[np.ndarray]:
        """The outputs in an array of all of them; CasADi stores by columns."""
        return [
            whole[first:last] if shape is None else whole[first:last].reshape(shape).T
            for first, last, shape in self._places
        ]

    def many(self, count: int, *values: np.ndarray | float) -> list[np.ndarray]:
        """The same at `count` points, without a Python call for each. The first axis of the results is the points'.

        Each value is one vector (or number) for all points, or has the points along its first axis.
        """
        given = []
        for size, value in zip(self._sizes, values, strict=True):
            array = np.asarray(value, dtype=float)
            apart = array.ndim == 2 or (size == 1 and array.shape == (count,))
            given.append((array.reshape(count if apart else 1, size), apart))
        chunk = self._chunk
        parts = []
        for first in range(0, count, chunk):
            length = min(chunk, count - first)
            run = self if length == 1 else self._mapped.get(length)
            if run is None:
                run = self._mapped[length] = Evaluator(self._function.map(length))
            own = run._own
            for array, size, (value, apart) in zip(own.inputs, self._sizes, given, strict=True):
                if size:
                    array.reshape(length, size)[...] = value[first : first + length] if apart else value
            own.run()
            parts.append(self._stacks(length, run._places, own.whole.copy()))
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return [np.empty((0, rows, width) if width != 1 else (0, rows)) for rows, width in self._shapes]
        return [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]

    @cached_property
    def _chunk(self) -> int:
        return 1 if self._function.n_instructions() > LONG else CHUNK

    def _stacks(self, length: int, places: Places, whole: np.ndarray) -> list[np.ndarray]:
        """The outputs at so many points; CasADi stores by columns, one point after the other."""
        return [
            whole[first:last].reshape(length, rows)
            if width == 1
            else whole[first:last].reshape(length, width, rows).transpose(0, 2, 1)
            for (first, last, _), (rows, width) in zip(places, self._shapes, strict=True)
        ]

    def _run(self, values: Sequence[np.ndarray | float]) -> list[np.ndarray]:
        """The outputs as CasADi stores them, good until the next call in this thread."""
        own = self._own
        for array, size, value in zip(own.inputs, self._sizes, values, strict=True):
            if size:
                array[:size] = value
        own.run()
        return own.outputs


class Evaluators:
    """The functions of a graph under their own names, each an `Evaluator` that is made when first needed."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def __reduce__(self) -> tuple[Any, ...]:
        return Evaluators, (self._graph,)

    def __getattr__(self, name: str) -> Evaluator:
        made = Evaluator(getattr(self._graph, name))
        setattr(self, name, made)
        return made
