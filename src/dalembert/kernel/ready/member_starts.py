"""The starts of many members looked at in one call of C (c/member_starts.h), and their absolute tolerances."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.functions import Graph
from dalembert.kernel.ready.many import LONG, address, entry
from dalembert.kernel.ready.together import Together
from dalembert.mechanics.solve.blocks import WORTHWHILE

# What a look says of a member, as the enumeration in c/member_starts.h: it needs a closer one, nothing does, or its
# accelerations are to be solved for by other means.
CLOSER, PLAIN, OPEN = range(3)
_ADDRESS, _LONG, _DOUBLE = ctypes.c_void_p, ctypes.c_long, ctypes.c_double


class _Look(ctypes.Structure):
    """da_start_look of c/member_starts.h."""

    _fields_ = (
        ("points", _ADDRESS),
        ("rows", _ADDRESS),
        *((name, _LONG) for name in ("n", "m", "parameters", "positions", "residuals")),
        ("row", _ADDRESS),
        ("solves", _LONG),
        *((name, _DOUBLE) for name in ("beside", "small", "least_size", "most_missed", "most_residual")),
    )


@dataclass(frozen=True)
class Limits:
    """beside: how far off the states lie at which gradients are compared, in units of the state; small: the share of
    their length there that is too little. least_size: of a state. missed, residual: what is too large, relative, of
    constraints and of A q̈ = b.
    """

    beside: float
    small: float
    least_size: float
    missed: float
    residual: float


@dataclass(frozen=True)
class Seen:
    """Of K members: state (K,), residual and missed (K, R), acceleration (K, n), dependent (K, m). others: how many are
    not plain, or have constraints that depend on each other.
    """

    others: int

    state: np.ndarray
    residual: Array
    missed: Array
    acceleration: Array
    dependent: np.ndarray


class StartLook:
    """Of one model. Made once, and called by any number of threads."""

    def __init__(self, graph: Graph, together: Together, limits: Limits) -> None:
        self._n, self._m = together.n, together.m
        self._row = np.array([*graph.position_rows, *graph.position_rows, *graph.velocity_rows, 0], dtype=LONG)
        self._residuals = self._row.size - 1
        self._programs = together.members, together.member_rows  # kept: C reads them
        parameters = graph.dynamics.numel_in(3)
        self._look = _Look(
            *(program.at for program in self._programs), self._n, self._m, parameters, len(graph.position_rows),
            self._residuals, address(self._row), self._n + self._m < WORTHWHILE,
            limits.beside, limits.small, limits.least_size, limits.missed, limits.residual,
        )  # fmt: skip
        self._at = ctypes.addressof(self._look)
        self._run: Any = entry("da_member_starts", "plppp")
        size: Any = entry("da_member_starts_room", "p")
        self._room = int(size(self._at))

    def __call__(self, q: Array, v: Array, t: Array, p: Array) -> Seen:
        count = len(t)
        state, dependent = np.empty(count, dtype=np.uint8), np.empty((count, self._m), dtype=bool)
        residual, missed = (np.empty((count, self._residuals)) for _ in range(2))
        acceleration = np.empty((count, self._n))
        given = [np.ascontiguousarray(x, dtype=float) for x in (q, v, t, p)]
        begin = (_ADDRESS * 4)(*map(address, given))
        made: list[np.ndarray] = [state, residual, missed, acceleration, dependent]
        found = (_ADDRESS * 5)(*map(address, made))
        room = np.empty(self._room)
        others = self._run(self._at, count, begin, found, address(room))
        return Seen(others, state, residual, missed, acceleration, dependent)


def tolerances_of_members(
    q: Array, v: Array, a: Array, rates: Array | None, span: float, share: float, least: float
) -> tuple[Array, np.ndarray]:
    """The absolute tolerances (K, 2n) of K members with states and accelerations (K, n), and the places of those that
    have sizes below `least`, whose tolerances are to be had by other means. rates: (K, n) or (1, n).
    """
    run: Any = entry("da_member_tolerances", "llpppplddddpp")
    count, n = q.shape
    found, others = np.empty((count, 2 * n)), np.empty(count, dtype=np.uint8)
    given = [np.ascontiguousarray(x, dtype=float) for x in (q, v, a)]
    rates = None if rates is None else np.ascontiguousarray(rates, dtype=float)
    foretold = (None, 0) if rates is None else (address(rates), 0 if len(rates) == 1 else n)
    at = address(found), address(others)
    some = run(count, n, *map(address, given), *foretold, span, span**2, share, least, *at)
    return found, np.flatnonzero(others) if some else np.zeros(0, dtype=int)
