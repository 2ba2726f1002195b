"""Blows of one gap alone that nothing rubs, all of a motion in one call of C (c/bounces.h)."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import LONG, address, entry
from dalembert.kernel.ready.together import Together


class _Blows(ctypes.Structure):
    """da_blows of c/bounces.h."""

    _fields_ = (
        ("points", ctypes.c_void_p),
        *((name, ctypes.c_long) for name in ("count", "n", "m", "guides")),
        *((name, ctypes.c_void_p) for name in ("q", "before", "after", "t", "p")),
        *((name, ctypes.c_long) for name in ("stride", "apart")),
        *((name, ctypes.c_void_p) for name in ("row", "place", "guide", "base", "registers", "room")),
    )


class _Told(ctypes.Structure):
    """da_told of c/bounces.h."""

    _fields_ = (("numbers", ctypes.c_void_p), ("law", ctypes.c_void_p))


class Blows(NamedTuple):
    """Where B blows of a system were: t (B,), q, velocities before and after (B, n), which may be columns of one array;
    row (B,): of the constraint that closed, place (B,): of its rate among those of all constraints on places. guide:
    the rows of the two-sided constraints, and one number more, so that it is never empty.
    """

    together: Together
    p: Array
    t: Array
    q: Array
    before: Array
    after: Array
    row: np.ndarray
    place: np.ndarray
    guide: np.ndarray

    def _argument(self) -> tuple[_Blows, Array]:
        """As C reads it, and the room that it has."""
        program, count, guides = self.together.points, self.t.size, self.guide.size - 1
        n, m = self.together.n, self.together.m
        size, s = program.ends[-1] * count, n + guides + 1
        block = (np.empty if program.full else np.zeros)(size + program.registers + 3 * s * s + 6 * s)
        start, parts = address(block), (self.q, self.before, self.after, self.t)
        begin = [x.__array_interface__["data"][0] for x in parts]
        argument = _Blows(
            program.at, count, n, m, guides, *begin, address(self.p), self.q.strides[0] // 8, self.t.strides[0] // 8,
            address(self.row), address(self.place), address(self.guide),
            start, start + 8 * size, start + 8 * (size + program.registers),
        )  # fmt: skip
        return argument, block

    def impulses(self) -> Array | None:
        """Of each blow (B, 4 + guides): its normal impulse, what it lost, the kinetic energy after it less that before,
        the speed of its approach along the normal, the impulses of the two-sided constraints. None where other means
        must tell.
        """
        run = entry("da_bounce_impulses", "pp")
        if run is None:
            return None
        argument, _room = self._argument()
        found = np.empty((self.t.size, 3 + self.guide.size))
        return None if run(ctypes.addressof(argument), address(found)) else found

    def departure(self, numbers: Array, law: np.ndarray) -> float | None:
        """The largest departure from the laws of what is told of each, numbers (B, 8 + guides): the normal impulse, the
        restitution, the impulse at the end of compression, the loss, those at both ends of both pieces of the way, and
        of the two-sided constraints. law (B,): Newton 0, Poisson 1, Stronge 2. None as above.
        """
        run = entry("da_check_bounces", "ppp")
        if run is None:
            return None
        argument, _room = self._argument()
        told, worst = _Told(address(numbers), address(law)), ctypes.c_double()
        if run(ctypes.addressof(argument), ctypes.addressof(told), ctypes.addressof(worst)):
            return None
        return worst.value


def index_array(numbers: list[int]) -> np.ndarray:
    """As C reads them."""
    return np.array(numbers, dtype=LONG)
