"""Stretches of a motion integrated again, states inside them, and velocities compared with the integral of
accelerations, by C that serves every model (c/again.h, c/quadrature.h).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import LONG, address, entry, solve_room
from dalembert.kernel.ready.together import Together

# Rows of the extrapolation, as in c/again.h.
ROWS = 8


class _Model(ctypes.Structure):
    """da_repeated of c/again.h."""

    _fields_ = (
        ("dynamics", ctypes.c_void_p),
        ("p", ctypes.c_void_p),
        ("count", ctypes.c_long),
        ("n", ctypes.c_long),
        ("m", ctypes.c_long),
        ("base", ctypes.c_void_p),
        ("registers", ctypes.c_void_p),
        ("w", ctypes.c_void_p),
        ("lost", ctypes.c_void_p),
        ("curved", ctypes.c_void_p),
        ("near", ctypes.c_void_p),
    )


class _Outputs(ctypes.Structure):
    """da_outputs of c/quadrature.h."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("count", "n", "v_stride")),
        *((name, ctypes.c_void_p) for name in ("t", "v", "a", "root")),
        *((name, ctypes.c_double) for name in ("near", "allowed", "resolved")),
    )


def extrapolate(
    together: Together, p: Array, t: Array, y: Array, length: Array, wanted: Array, sequence: Sequence[int]
) -> tuple[Array, Array, np.ndarray] | None:
    """States a `length` (B,) after (t, y), how far each entry may be from right, and whether that is `wanted` (B, 2n):
    Gragg's modified midpoint rule with these numbers of steps, extrapolated. Stretches with a state on the way
    that has no value stay unknown. None where one needs singular values.
    """
    run = entry("da_repeat", "pppppplpppp")
    if run is None or len(sequence) > ROWS:
        return None
    count, n, m, program = t.size, together.n, together.m, together.dynamics
    size = count * 2 * n
    made = np.empty if program.full else np.zeros
    data = made(program.ends[-1] * count)
    room = np.empty(program.registers + solve_room(n, m) + (2 * ROWS + 6) * size + count)
    start = address(room)
    at = [start, start + 8 * program.registers]
    at.append(at[-1] + 8 * solve_room(n, m))
    lost = np.empty(count, dtype=np.bool_)
    model = _Model(program.at, address(p), count, n, m, address(data), *at[:2], address(lost), None, None)
    ends = room[-2 * size :].reshape(2, count, 2 * n)
    known = np.empty(count, dtype=np.bool_)
    steps = np.array(sequence, dtype=LONG)
    given = [np.ascontiguousarray(x, dtype=float) for x in (t, y, length, wanted)]
    failed = run(
        ctypes.addressof(model), *(address(x) for x in given), address(steps), len(sequence),
        start + 8 * (room.size - 2 * size), start + 8 * (room.size - size), address(known), at[2],
    )  # fmt: skip
    return None if failed else (ends[0], ends[1], known)


def quadrature(t: Array, v: Array, a: Array, root: Array, near: float, allowed: float, resolved: float) -> Array | None:
    """(2, T − 1): what Δq̇ misses ∫ q̈ dt by beyond doubt, and what it misses the trapezoidal rule by, times `root`."""
    run = entry("da_quadrature", "ppp")
    if run is None:
        return None
    if v.strides[1] != 8:
        v = np.ascontiguousarray(v)
    t, a, root = np.ascontiguousarray(t), np.ascontiguousarray(a), np.ascontiguousarray(root)
    at = [address(t), address(v) if v.flags.c_contiguous else v.ctypes.data, address(a), address(root)]
    outputs = _Outputs(t.size, a.shape[1], v.strides[0] // 8, *at, near, allowed, resolved)
    found = np.empty((2, t.size - 1))
    start = address(found)
    run(ctypes.addressof(outputs), start, start + 8 * (t.size - 1))
    return found


def integrals_missed(t: Array, told: Array, powers: Array, broken: np.ndarray, allowed: float) -> float | None:
    """How far `told` (T, columns) is from integrals of `powers` by Simpson's rule, beyond `allowed` times what that may
    err by, in the parts between gaps (T − 1) that are broken; None without the library.
    """
    run = entry("da_integrals_missed", "llppppdp")
    if run is None:
        return None
    given = [np.ascontiguousarray(x) for x in (t, told, powers, broken)]
    worst = ctypes.c_double()
    run(t.size, told.shape[1], *(address(x) for x in given), allowed, ctypes.addressof(worst))
    return worst.value


def states_inside(t: Array, q: Array, v: Array, a: Array, shares: Array) -> Array | None:
    """q and q̇ (S · (T − 1), 2n) at shares (S,) of the stretches between T points, on the cubics through both ends."""
    run = entry("da_inside", "lllpppplp")
    if run is None:
        return None
    t, q, v, a, shares = (np.ascontiguousarray(x, dtype=float) for x in (t, q, v, a, shares))
    n = q.shape[1]
    found = np.empty((shares.size * (t.size - 1), 2 * n))
    start = address(found)
    for values, rates, to in ((q, v, start), (v, a, start + 8 * n)):
        run(t.size, n, shares.size, address(shares), address(t), address(values), address(rates), 2 * n, to)
    return found
