"""What the certificate measures at single points, at many points in one call of C (c/check_points.h)."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import WIDE, address, entry

# Columns of the numbers of a point, as the enumeration in c/check_points.h: the size of forces, |√m q̇|, virtual work,
# distance from the minimum of G, forces that do not add up, rank (−1 where it is left open), kinetic energy, q̈ᵀM q̈, and
# the largest Q²/m.
NUMBERS = ("force", "speed", "along", "gauss", "missed", "rank", "kinetic", "pushed", "pull")
FORCE, SPEED, ALONG, GAUSS, MISSED, RANK, KINETIC, PUSHED, PULL = range(len(NUMBERS))


class CheckedArgument(ctypes.Structure):
    """da_checked of c/check_points.h."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("M", "Q", "A", "b", "C", "v", "a")),
        *((name, ctypes.c_void_p) for name in ("impressed", "inertial", "ideal", "nonideal", "multipliers")),
        ("v_stride", ctypes.c_long),
        ("split", ctypes.c_long),
    )


@dataclass(frozen=True)
class Checked:
    """numbers (T, 9). rows (3, T, m): how far A q̈ is from b, the size of its terms, the length of the row. scale (T,
    n): the root of each coordinate's own mass, 1 where it has none. open: at so many points the rank is not certain,
    or q̈ may not be unique, so that along, gauss and rank must be had by other means.
    """

    numbers: Array
    rows: Array
    scale: Array
    open: int

    def totals(self, braking: float, slowing: float) -> Array:
        """The largest of rows, forces, virtual work and distance, relative to their sizes; the least and the largest
        rank; the largest q̈ᵀM q̈ and Q²/m. braking, slowing: what would stop the motion within its duration.
        """
        run = entry("da_check_totals", "llppddp")
        assert run is not None
        found = np.empty(8)
        count, m = self.rows.shape[1:]
        run(count, m, address(self.numbers), address(self.rows), braking, slowing, address(found))
        return found


def check_points(
    data: tuple[Array, Array, Array, Array, Array], v: Array, forces: tuple[Array, ...], split: bool
) -> Checked | None:
    """The measures at T points; None without the library. data: M (T, n, n), Q, A (T, m, n), b, C. forces: q̈,
    impressed, inertial, ideal, nonideal (T, n) and multipliers (T, m).
    """
    run = entry("da_check_points", "lllppppp")
    if run is None:
        return None
    count, n = data[1].shape
    m = data[3].shape[1]
    given = [np.ascontiguousarray(x) for x in (*data, *forces)]
    if v.strides[1] != 8:
        v = np.ascontiguousarray(v)
    at = [address(x) for x in given]
    argument = CheckedArgument(
        *at[:5], address(v) if v.flags.c_contiguous else v.ctypes.data, *at[5:], v.strides[0] // 8, split
    )
    sizes = [count * len(NUMBERS), 3 * count * m, count * n, WIDE * (3 * n * n + m * n + 20 * n + 6 * m)]
    block = np.empty(sum(sizes))
    start, ends = address(block), np.cumsum(sizes).tolist()
    left = run(
        count, n, m, ctypes.addressof(argument), start, start + 8 * ends[0], start + 8 * ends[1], start + 8 * ends[2]
    )
    return Checked(
        block[: ends[0]].reshape(count, len(NUMBERS)),
        block[ends[0] : ends[1]].reshape(3, count, m),
        block[ends[1] : ends[2]].reshape(count, n),
        int(left),
    )
