"""CasADi functions called with NumPy arrays and little overhead: buffers are made once and filled in place."""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np


class Evaluator:
    """`f(x, y, …)` for a CasADi function, with dense arrays in and out. Not for use by two threads at once.

    Outputs with one column come back as vectors. Each call returns fresh arrays.
    """

    def __init__(self, function: ca.Function) -> None:
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
        for array, size, value in zip(self._inputs, self._sizes, values, strict=True):
            if size:
                array[:size] = value
        self._run()
        results = []
        for array, (rows, columns) in zip(self._outputs, self._shapes, strict=True):
            if columns == 1:
                results.append(array[:rows].copy())
            else:
                # CasADi stores by columns.
                results.append(array[: rows * columns].reshape((columns, rows)).T.copy())
        return results
