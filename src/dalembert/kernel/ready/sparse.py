"""Large systems whose M and A are mostly zeros: the fundamental equation and its check by sparse factors, in C
(c/sparse.h).
"""

from __future__ import annotations

import ctypes
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import LONG, WIDE, address, entry

_LONGS = ("start", "index", "at", "row", "column", "parent", "first", "place")
_MORE = ("masses", "mass_i", "mass_j", "row_start", "row_column")


class _Pattern(ctypes.Structure):
    """da_pattern of c/sparse.h."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("n", "m", "entries", "fill")),
        *((name, ctypes.c_void_p) for name in (*_LONGS, *_MORE)),
    )


class Pattern:
    """Where M (n, n) and A (m, n) have entries, in an order of elimination: that of Cuthill and McKee for the
    coordinates, each constraint after the last of its own.
    """

    def __init__(self, M: np.ndarray, A: np.ndarray) -> None:
        """M, A: booleans."""
        self.n, self.m = M.shape[0], A.shape[0]
        self._M, self._A = M | M.T | np.eye(self.n, dtype=bool), A
        arrays = self._symbolic()
        self._arrays = {name: np.ascontiguousarray(values, dtype=LONG) for name, values in arrays.items()}
        self.fill = int(self._arrays["first"][-1])
        self.entries = int(self._arrays["start"][-1])
        fields = (*_LONGS, *_MORE)
        self.argument = _Pattern(
            self.n, self.m, self.entries, self.fill, *(address(self._arrays[name]) for name in fields)
        )
        self.argument_at = ctypes.addressof(self.argument)

    @property
    def room(self) -> int:
        """Numbers that factors of a block of points take."""
        size = self.n + self.m
        return WIDE * (self.fill + 5 * size + self.entries + self.n + 2 * self.m) + self.fill + 3 * size

    def _order(self) -> np.ndarray:
        """The unknowns, coordinates and then constraints, in the order of elimination."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        A = self._A.astype(float)
        joined = csr_matrix(self._M.astype(float) + A.T @ A)
        place = np.empty(self.n)
        place[reverse_cuthill_mckee(joined, symmetric_mode=True)] = np.arange(self.n)
        after = np.array([place[row].max(initial=-1.0) if row.any() else self.n for row in self._A]) + 0.5
        return np.argsort(np.concatenate([place, after[: self.m]]), kind="stable")

    def _symbolic(self) -> dict[str, np.ndarray | list[int]]:
        n, m, size = self.n, self.m, self.n + self.m
        order = self._order()
        place = np.empty(size, dtype=int)
        place[order] = np.arange(size)
        entries = [(i, j, n * i + j) for i, j in np.argwhere(self._M).tolist()]
        entries += [(n + k, j, n * k + j) for k, j in np.argwhere(self._A).tolist()]
        columns: list[list[tuple[int, int, int, int]]] = [[] for _ in range(size)]
        for i, j, at in entries:
            first, last = sorted((int(place[i]), int(place[j])))
            if i >= n or place[i] <= place[j]:  # of M, one of each two
                columns[last].append((first, at, i, j))
        parent, count, flag = [-1] * size, [0] * size, [-1] * size
        for k, column in enumerate(columns):
            flag[k] = k
            for i, *_ in column:
                while flag[i] != k:
                    if parent[i] == -1:
                        parent[i] = k
                    count[i] += 1
                    flag[i] = k
                    i = parent[i]
        flat = [entry for column in columns for entry in column]
        rows, own = np.nonzero(self._A)
        mass_i, mass_j = np.nonzero(self._M)
        return {
            "start": np.cumsum([0, *map(len, columns)]),
            "index": [e[0] for e in flat],
            "at": [e[1] for e in flat],
            "row": [e[2] for e in flat],
            "column": [e[3] for e in flat],
            "parent": parent,
            "first": np.cumsum([0, *count]),
            "place": np.concatenate([place, order]),
            "masses": [len(mass_i)],
            "mass_i": mass_i,
            "mass_j": mass_j,
            "row_start": np.searchsorted(rows, np.arange(m + 1)),
            "row_column": own,
        }

    @cached_property
    def alone(self) -> Pattern:
        """M by itself."""
        return Pattern(self._M, np.zeros((0, self.n), dtype=bool))

    def solve(self, M: Array, Q: Array, A: Array, b: Array, C: Array) -> tuple[Array, Array, np.ndarray] | None:
        """Vectors (4, T, n): acceleration, unconstrained, ideal, nonideal; rows (2, T, m): multipliers, residual; and
        ranks (T,), −1 where a point must be solved by other means. None without the library.
        """
        run = entry("da_sparse_points", "lpppppppppppp")
        if run is None:
            return None
        count, n, m = Q.shape[0], self.n, self.m
        M, Q, A, b, C = (np.ascontiguousarray(x) for x in (M, Q, A, b, C))
        found, rank = np.empty(count * (4 * n + 2 * m)), np.empty(count, dtype=LONG)
        rooms = [np.empty(self.room), np.empty(self.alone.room), np.empty(WIDE * (6 * n + 3 * m))]
        given = [address(x) for x in (M, Q, A, b, C, found, rank, *rooms)]
        run(count, self.argument_at, self.alone.argument_at, *given)
        vectors = found[: 4 * count * n].reshape(4, count, n)
        return vectors, found[4 * count * n :].reshape(2, count, m), rank

    def check(self, M: Array, A: Array, forces: Array, rest: Array, miss: Array) -> tuple[Array, Array] | None:
        """Along the null space of A, the largest part of forces (k, T, n), −1 where it must be had by other means; and
        how far q̈ is from the minimum of G, whose equations it misses by `rest` (T, n) and `miss` (T, m).
        """
        run = entry("da_sparse_check", "lppplppppppp")
        if run is None:
            return None
        count = rest.shape[0]
        M, A, forces, rest, miss = (np.ascontiguousarray(x) for x in (M, A, forces, rest, miss))
        along, distance, room = np.empty(count), np.empty(count), np.empty(self.room)
        more = np.empty(WIDE * (self.n + self.m))
        run(
            count, self.argument_at, address(M), address(A), len(forces), address(forces), address(rest), address(miss),
            address(along), address(distance), address(room), address(more),
        )  # fmt: skip
        return along, distance
