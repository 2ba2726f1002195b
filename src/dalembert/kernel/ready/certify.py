"""The certificate of a plain motion in one call of C (c/certify.h)."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.check import CheckedArgument
from dalembert.kernel.ready.many import LONG, address, entry
from dalembert.kernel.ready.together import Together

# As the enumeration in c/certify.h.
MEASURED = (
    "position", "velocity", "acceleration", "forces", "virtual_work", "gauss", "energy", "repeat", "consistency",
)  # fmt: skip
FOUND = (*MEASURED, "rank_min", "rank_max", "energy_size")
_FOUND = ctypes.c_double * len(FOUND)


class _Motion(ctypes.Structure):
    """da_motion of c/certify.h."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("count", "n", "m")),
        *((name, ctypes.c_void_p) for name in ("t", "q", "work")),
        ("checked", CheckedArgument),
        *((name, ctypes.c_void_p) for name in ("energy", "position", "rate")),
        *((name, ctypes.c_long) for name in ("positions", "rates")),
        *((name, ctypes.c_void_p) for name in ("row", "fastest", "points", "dynamics")),
        ("independent", ctypes.c_long),
        ("p", ctypes.c_void_p),
        *((name, ctypes.c_double) for name in ("steps", "near", "allowed", "resolved", "least", "wanted", "granted")),
        *((name, ctypes.c_double) for name in ("foreseen", "diverged", "steps_of_piece")),
        ("pieces", ctypes.c_long),
        ("sequence", ctypes.c_void_p),
        ("rows", ctypes.c_long),
        ("smooth", ctypes.c_void_p),
        ("y", ctypes.c_void_p),
        ("width", ctypes.c_long),
        ("curved", ctypes.c_void_p),
        ("acting", ctypes.c_void_p),
    )


@dataclass(frozen=True, eq=False)
class Rules:
    """What does not change from motion to motion. allowed, resolved: of quadratures, as in c/quadrature.h. least: size
    of a state. granted: a stretch may err for so many steps of the motion. foreseen to pieces: as in
    c/certify.h. sequence: of the extrapolation.
    """

    allowed: float
    resolved: float
    least: float
    granted: float
    foreseen: float
    diverged: float
    steps_of_piece: float
    pieces: int
    sequence: Sequence[int]

    @cached_property
    def steps(self) -> np.ndarray:
        """The sequence as C reads it."""
        return np.array(self.sequence, dtype=LONG)


def measure(
    together: Together,
    p: Array,
    states: tuple[Array, Array, Array, Array],
    at: tuple[int, ...],
    fastest: Array | None,
    y: Array | None,
    steps: int,
    near: float,
    wanted: float,
    smooth: np.ndarray | None,
    independent: tuple[int, ...],
    rules: Rules,
    acting: np.ndarray | None = None,
) -> dict[str, float] | None:
    """FOUND by name; None where the motion needs a second look, by other means, or where there is no library.

    states: t (T,), q and v (T, n), and works
    (T, 3). at: where the rest begins, as `Forces.addresses` says. fastest: as `Motion` has it. y (T, …): states that
    must be the same, q and v first. steps: of its integration. near, wanted: see c/certify.h. smooth (T − 1): stretches
    that may be judged; None: all. independent: constraints that the others depend on, the same at all points. acting
    (T, m): constraints that act, where contacts decide that; ranks may then change, and nothing is repeated.
    """
    run = entry("da_certify", "pp")
    if run is None or together.pattern is not None:
        return None
    t, q, v, work = (x if x.flags.c_contiguous else np.ascontiguousarray(x) for x in states)
    n, rows, dynamics = together.n, together.rows, together.dynamics
    if len(independent) < together.m:
        dynamics = together.dynamics_of(independent)
    checked = CheckedArgument(*at[:5], address(v), *at[5:11], n, True)
    given = _Motion(
        t.size, n, together.m, address(t), address(q), address(work), checked, *at[11:],
        together.positions, rows.size - 1, address(rows), None if fastest is None else address(fastest),
        together.points.at, dynamics.at, len(independent), address(p),
        steps, near, rules.allowed, rules.resolved,
        rules.least, wanted, rules.granted, rules.foreseen, rules.diverged, rules.steps_of_piece, rules.pieces,
        address(rules.steps), rules.steps.size,
        None if smooth is None else address(smooth),
        None if y is None else address(y), 0 if y is None else y.shape[1],
        None if together.curved is None else together.curved.at,
        None if acting is None else address(acting),
    )  # fmt: skip
    found = _FOUND()
    if run(ctypes.addressof(given), ctypes.addressof(found)):
        return None
    return dict(zip(FOUND, found, strict=True))
