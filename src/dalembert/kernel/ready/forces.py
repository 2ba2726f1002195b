"""Everything at the output points of a motion in one call of C (c/forces.h): functions of the model, accelerations,
forces.
"""

from __future__ import annotations

import ctypes
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import LONG, address, entry, solve_room
from dalembert.kernel.ready.together import Together
from dalembert.mechanics.solve.fundamental import Fundamental


class _Points(ctypes.Structure):
    """da_all_points of c/forces.h."""

    _fields_ = (
        ("points", ctypes.c_void_p),
        *((name, ctypes.c_long) for name in ("count", "n", "m")),
        *((name, ctypes.c_void_p) for name in ("q", "v", "t", "p")),
        ("stride", ctypes.c_long),
        *((name, ctypes.c_void_p) for name in ("base", "found", "rank", "dependent", "registers", "w")),
        *((name, ctypes.c_void_p) for name in ("curved", "near", "acting", "held", "closed")),
    )


class Forces:
    """What a motion has at T points, none of which needs singular values: accelerations and forces (T, n), multipliers
    (T, m), energy and rank (T,), A (T, m, n), zero in rows that do not act; closed: A with all its rows, where contacts
    decide which act. What else was found is made when it is asked for.
    """

    def __init__(
        self,
        together: Together,
        count: int,
        numbers: Array,
        rank: np.ndarray,
        dependent: np.ndarray,
        closed: Array | None = None,
    ) -> None:
        """numbers: what `Together.points` gives, then q̈, the one without constraints, ideal and nonideal forces,
        multipliers, residuals, impressed forces.
        """
        self.closed = closed
        n, m, ends = together.n, together.m, together.points.ends
        self.together, self.count, self.numbers = together, count, numbers
        self.rank, self.dependent = rank, dependent
        at = ends[-1] * count
        self._vectors = numbers[at : at + 4 * n * count].reshape(4, count, n)
        self.acceleration, self.ideal, self.nonideal = self._vectors[0], self._vectors[2], self._vectors[3]
        at += 4 * n * count
        self._rows = numbers[at : at + 2 * m * count].reshape(2, count, m)
        self.multipliers = self._rows[0]
        self.impressed = numbers[at + 2 * m * count :].reshape(count, n)
        self.A = numbers[ends[2] * count : ends[3] * count].reshape(count, m, n)
        self.energy = numbers[ends[5] * count : ends[6] * count]
        self.inertial = numbers[ends[6] * count : ends[7] * count].reshape(count, n)
        self.addresses = self._beginnings()

    @cached_property
    def _parts(self) -> list[Array]:
        return self.together.points.parts(self.count, self.numbers)

    @property
    def position(self) -> Array:
        """φ along the motion."""
        return self._parts[7]

    @property
    def velocity(self) -> Array:
        """(φ̇, ψ) along the motion."""
        return self._parts[8]

    @cached_property
    def solution(self) -> Fundamental:
        """All of the fundamental equation."""
        count, n = self.count, self.together.n
        M, Q, _, b, C = self._parts[:5]
        given = (M.reshape(count, n, n), Q, self.A, b, C)
        ranks, dependent = self.rank.astype(int, copy=False), self.dependent
        a, unconstrained, ideal, nonideal = self._vectors
        own = (a, unconstrained, ideal, nonideal)
        return Fundamental(*own, self.multipliers, ranks, dependent, self._rows[1], *given)

    def _beginnings(self) -> tuple[int, ...]:
        """Where M, Q, A, b, C; q̈, impressed, inertial, ideal and nonideal forces, multipliers; E, φ, (φ̇, ψ) begin."""
        count, n, m, ends = self.count, self.together.n, self.together.m, self.together.points.ends
        start = address(self.numbers)
        M, Q, A, b, C, energy, inertial, position, velocity, solved = (start + 8 * count * end for end in ends)
        each = 8 * count * n
        impressed = solved + 4 * each + 16 * count * m
        forces = (solved, impressed, inertial, solved + 2 * each, solved + 3 * each, solved + 4 * each)
        return (M, Q, A, b, C, *forces, energy, position, velocity)


def forces_along(
    together: Together,
    q: Array,
    v: Array,
    t: Array,
    p: Array,
    near: Array | None = None,
    held: tuple[np.ndarray, Array] | None = None,
) -> Forces | None:
    """At states q, v (T, n) and t (T,); None where the model has no value at one of them, or it needs singular values.
    q and v may be columns of one array. near (T, n): accelerations that select a branch, with `branches_of`. held:
    which constraints act (T, m), and C (T, n), where contacts decide that.
    """
    run = entry("da_forces", "p")
    if run is None or together.pattern is not None or (together.curved is not None and near is None):
        return None
    count, n, m, program = t.size, together.n, together.m, together.points
    data, solved = program.ends[-1] * count, (5 * n + 2 * m) * count
    numbers = (np.empty if program.full else np.zeros)(data + solved)
    rank, dependent = np.empty(count, dtype=LONG), np.empty((count, m), dtype=bool)
    room = np.empty(program.registers + solve_room(n, m))
    if q.strides != v.strides or (n > 1 and q.strides[1] != 8):
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
    begin, work = address(numbers), address(room)
    curved = None if together.curved is None else together.curved.at
    branch = None if near is None else np.array(near, dtype=float, order="C")  # what is found takes their place
    closed = None if held is None else np.empty((count, m, n))
    of_contacts = (None, None, None) if closed is None or held is None else tuple(map(address, (*held, closed)))
    given = _Points(
        program.at, count, n, m, q.__array_interface__["data"][0], v.__array_interface__["data"][0], address(t),
        address(p), q.strides[0] // 8, begin, begin + 8 * data, address(rank), address(dependent),
        work, work + 8 * program.registers, curved, None if branch is None else address(branch),
        *of_contacts,
    )  # fmt: skip
    return None if run(ctypes.addressof(given)) else Forces(together, count, numbers, rank, dependent, closed)
