"""Sparse symmetric equations for multipliers, S λ = r, whatever their rank, by C (c/multipliers.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import LEAST_EIGENVALUE
from dalembert.kernel.ready.many import LONG, address, entry
from dalembert.mechanics.solve.fundamental import PROXIMAL, PROXIMAL_PASSES

# What is left of S λ = r is rounding below this share of its largest terms: some units in the last place.
ROUNDING = 1e-15

_SIZES, _TABLES = (
    ("m", "entries", "fill", "passes"),
    ("start", "index", "at", "first", "row_start", "row", "order", "right"),
)
_NUMBERS, _INDICES = ("S", "L", "D", "y", "x", "r", "step", "scale", "size"), ("rows", "count")


def regularisation(m: int) -> float:
    """ε, with rows of length one. As along the motions of small systems; but a chain of m links has eigenvalues down to
    (π/m)², and those are to be left alone: a hundred-thousandth of that, and well above rounding.
    """
    return max(min(PROXIMAL, 1e-5 * (np.pi / max(m, 1)) ** 2), 1e-13)


class _Argument(ctypes.Structure):
    """da_multipliers of c/multipliers.h."""

    _fields_ = (
        *((name, ctypes.c_long) for name in _SIZES),
        *((name, ctypes.c_double) for name in ("epsilon", "rounding")),
        *((name, ctypes.c_void_p) for name in _TABLES),
        ("unknowns", ctypes.c_long),
        *((name, ctypes.c_void_p) for name in (*_NUMBERS, *_INDICES)),
    )


class MultiplierPattern:
    """Where −S has entries among the numbers of a program, in an order of little fill.

    entries (e, 3): row, column (not larger) and place; right (m): places of r, −1 where it is zero; unknowns: the place
    of the first multiplier.
    """

    def __init__(self, entries: np.ndarray, right: np.ndarray | Sequence[int], unknowns: int) -> None:
        self.m, self.unknowns = len(right), unknowns
        order = _order(self.m, entries)
        place = np.empty(self.m, dtype=LONG)
        place[order] = np.arange(self.m)
        i, j = place[entries[:, 0]], place[entries[:, 1]]
        first, last = np.minimum(i, j), np.maximum(i, j)
        by_column = np.lexsort((first, last))
        tables = {
            "start": np.searchsorted(last[by_column], np.arange(self.m + 1)),
            "index": first[by_column],
            "at": entries[by_column, 2],
            "order": order,
            "right": np.asarray(right),
        }
        self.tables = {name: np.ascontiguousarray(values, dtype=LONG) for name, values in tables.items()}
        parent, count, flag, stack = (np.zeros(self.m, dtype=LONG) for _ in range(4))
        row_start, pattern = np.zeros(self.m + 1, dtype=LONG), (self.tables["start"], self.tables["index"])
        run = entry("da_multipliers_rows", "lpppppppp")
        assert run is not None, "large systems have a compiler"
        room = (*map(address, (*pattern, parent, count, flag, stack, row_start)),)
        self.fill = int(run(self.m, *room, None))
        row = np.zeros(self.fill, dtype=LONG)
        parent[:] = flag[:] = 0
        run(self.m, *room, address(row))
        self.tables |= {"row_start": row_start, "row": row}
        self.tables["first"] = np.concatenate([[0], np.cumsum(count)]).astype(LONG)


class Multipliers:
    """The numbers of one run for a pattern; each thread has its own. natural (m): squares of the largest lengths that
    rows have had; missed (1): by how much r was missed at the last state, relative to its largest entry.
    """

    def __init__(self, pattern: MultiplierPattern) -> None:
        m, fill, entries = pattern.m, pattern.fill, pattern.tables["index"].size
        self.pattern, self.natural, self.missed = pattern, np.zeros(m), np.zeros(1)
        sizes = {"S": entries, "L": fill, "rows": fill}
        numbers = [np.zeros(sizes.get(name, m) + 1) for name in _NUMBERS]
        indices = [np.zeros(sizes.get(name, m) + 1, dtype=LONG) for name in _INDICES]
        self._kept = (numbers, indices)
        self._argument = _Argument(
            m, entries, fill, PROXIMAL_PASSES, regularisation(m), ROUNDING,
            *(address(pattern.tables[name]) for name in _TABLES), pattern.unknowns, *map(address, (*numbers, *indices)),
        )  # fmt: skip
        self.place = ctypes.addressof(self._argument)  # where C finds all of it
        self._solve, self._rank = entry("da_multipliers_solve", "pppp"), entry("da_multipliers_rank", "pd")

    def solve(self, w: Array) -> bool:
        """Puts the multipliers, signs turned, into their places; whether all is finite."""
        assert self._solve is not None
        return bool(self._solve(self.place, address(w), address(self.natural), address(self.missed)) >= 0)

    def rank(self) -> int:
        """Of the constraints at the state that was solved last."""
        assert self._rank is not None
        return int(self._rank(self.place, LEAST_EIGENVALUE))

    def pivots(self) -> Array:
        """Of each constraint, rows being of length one, at the state that was solved last."""
        found = np.empty(self.pattern.m)
        found[self.pattern.tables["order"]] = self._kept[0][_NUMBERS.index("D")][: self.pattern.m]
        return found

    def negative(self) -> int:
        """How many eigenvalues of the matrix that was solved with last are negative."""
        assert self._rank is not None
        return self.pattern.m - int(self._rank(self.place, 0.0))


def _order(m: int, entries: np.ndarray) -> np.ndarray:
    """An order of elimination in which few entries are added: that of least degree, as SuperLU has it."""
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import splu

    if m < 3:
        return np.arange(m)
    i, j = entries[:, 0], entries[:, 1]
    beside = i != j
    ones = np.ones(2 * int(beside.sum()))
    rows, columns = np.concatenate([i[beside], j[beside]]), np.concatenate([j[beside], i[beside]])
    joined = coo_array((-ones, (rows, columns)), shape=(m, m)).tocsc()
    joined.setdiag(np.bincount(rows, minlength=m) + 1.0)  # positive definite, so that no pivots are exchanged
    found = splu(joined, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return np.argsort(found.perm_c)
