"""CasADi functions called with NumPy arrays and little overhead: buffers are made once and filled in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca
import numpy as np

# Points evaluated in one call: CasADi takes about a microsecond for each of them to prepare it, once.
CHUNK = 64
# A function of more instructions takes longer to prepare for many points than Python takes for a call at each.
LONG = 2000


class Evaluator:
    """`f(x, y, …)` for a CasADi function, with dense arrays in and out. Not for use by two threads at once.

    Outputs with one column come back as vectors. Each call returns fresh arrays.
    """

    def __init__(self, function: ca.Function) -> None:
        self._function = function
        self._mapped: dict[int, Evaluator] = {}
        buffer: Any  # CasADi's stubs ask for a size that its Python interface reads off the array
        buffer, self._run = function.buffer()
        self._buffer = buffer
        self._inputs = [np.zeros(max(function.numel_in(k), 1)) for k in range(function.n_in())]
        self._shapes = [function.size_out(k) for k in range(function.n_out())]
        self._outputs = [np.zeros(max(r * c, 1)) for r, c in self._shapes]
        self._sizes = [function.numel_in(k) for k in range(function.n_in())]
        for k, array in enumerate(self._inputs):
            buffer.set_arg(k, array.data)
        for k, array in enumerate(self._outputs):
            buffer.set_res(k, array.data)

    def __call__(self, *values: np.ndarray | float) -> list[np.ndarray]:
        self._fill(values)
        results = []
        for array, (rows, columns) in zip(self._outputs, self._shapes, strict=True):
            if columns == 1:
                results.append(array[:rows].copy())
            else:
                # CasADi stores by columns.
                results.append(array[: rows * columns].reshape((columns, rows)).T.copy())
        return results

    def many(self, count: int, *values: np.ndarray | float) -> list[np.ndarray]:
        """The same at `count` points, without a Python call for each. The first axis of the results is the points'.

        Each value is one vector (or number) for all points, or has the points along its first axis.
        """
        columns = []
        for size, value in zip(self._sizes, values, strict=True):
            array = np.asarray(value, dtype=float)
            apart = array.ndim == 2 or (size == 1 and array.shape == (count,))
            columns.append(np.broadcast_to(array.reshape(count if apart else 1, size), (count, size)))
        found = [np.empty((count, rows, width)) for rows, width in self._shapes]
        chunk = 1 if self._function.n_instructions() > LONG else CHUNK
        for first in range(0, count, chunk):
            length = min(chunk, count - first)
            run = self if length == 1 else self._mapped.get(length)
            if run is None:
                run = self._mapped[length] = Evaluator(self._function.map(length))
            run._fill([column[first : first + length].reshape(-1) for column in columns])
            for into, array, (rows, width) in zip(found, run._outputs, self._shapes, strict=True):
                # CasADi stores by columns, one point after the other.
                flat = array[: length * rows * width].reshape(length, width, rows)
                into[first : first + length] = flat.transpose(0, 2, 1)
        return [array[:, :, 0] if width == 1 else array for array, (_, width) in zip(found, self._shapes, strict=True)]

    def _fill(self, values: Sequence[np.ndarray | float]) -> None:
        for array, size, value in zip(self._inputs, self._sizes, values, strict=True):
            if size:
                array[:size] = value
        self._run()
