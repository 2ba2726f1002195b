"""Everything at the output points of a motion in one call of C (c/forces.h): functions of the model, accelerations,
forces.
"""

from __future__ import annotations

import ctypes
from typing import NamedTuple

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
        *((name, ctypes.c_void_p) for name in ("base", "found", "rank", "registers", "w")),
    )


class Forces(NamedTuple):
    """The solution at T points, E (T,), the inertial part of Q and the impressed forces (T, n), φ and (φ̇, ψ)."""

    solution: Fundamental
    energy: Array
    inertial: Array
    position: Array
    velocity: Array
    impressed: Array


def forces_along(together: Together, q: Array, v: Array, t: Array, p: Array) -> Forces | None:
    """At states q, v (T, n) and t (T,), where M is regular and the constraints are independent at all points; None
    elsewhere. q and v may be columns of one array.
    """
    run = entry("da_forces", "p")
    if run is None or together.pattern is not None:
        return None
    count, n, m, program = t.size, together.n, together.m, together.points
    data, solved = program.ends[-1] * count, (5 * n + 2 * m) * count
    made = np.empty if program.full else np.zeros
    base, rank = made(data + solved), np.empty(count, dtype=LONG)
    room = np.empty(program.registers + solve_room(n, m))
    if q.strides != v.strides or (n > 1 and q.strides[1] != 8):
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
    begin, work = address(base), address(room)
    given = _Points(
        program.at, count, n, m, *(x.__array_interface__["data"][0] for x in (q, v)), address(t), address(p),
        q.strides[0] // 8,
        begin, begin + 8 * data, address(rank), work, work + 8 * program.registers,
    )  # fmt: skip
    if run(ctypes.addressof(given)):
        return None
    if m and int(rank.min()) < m:  # rows of zeros
        return None
    M, Q, A, b, C, energy, inertial, position, velocity = program.parts(count, base)
    M, A = M.reshape(count, n, n), A.reshape(count, m, n)
    vectors = base[data : data + 4 * n * count].reshape(4, count, n)
    rows = base[data + 4 * n * count : data + (4 * n + 2 * m) * count].reshape(2, count, m)
    impressed = base[data + (4 * n + 2 * m) * count :].reshape(count, n)
    a, unconstrained, ideal, nonideal = vectors
    dependent = np.zeros((count, m), dtype=bool)
    solution = Fundamental(a, unconstrained, ideal, nonideal, rows[0], rank, dependent, rows[1], M, Q, A, b, C)
    return Forces(solution, energy[:, 0], inertial, position, velocity, impressed)
