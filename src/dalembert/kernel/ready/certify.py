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
FOUND = (*MEASURED, "rank_min", "rank_max")


class _Motion(ctypes.Structure):
    """da_motion of c/certify.h."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("count", "n", "m")),
        *((name, ctypes.c_void_p) for name in ("t", "q", "work")),
        ("checked", CheckedArgument),
        *((name, ctypes.c_void_p) for name in ("energy", "position", "rate")),
        *((name, ctypes.c_long) for name in ("positions", "rates")),
        *((name, ctypes.c_void_p) for name in ("row", "fastest", "points", "dynamics", "p")),
        *((name, ctypes.c_double) for name in ("steps", "near", "allowed", "resolved", "least", "wanted", "granted")),
        ("sequence", ctypes.c_void_p),
        ("rows", ctypes.c_long),
    )


@dataclass(frozen=True, eq=False)
class Rules:
    """What does not change from motion to motion. allowed, resolved: of quadratures, as in c/quadrature.h. least: size
    of a state. granted: a stretch may err for so many steps of the motion. sequence: of the extrapolation.
    """

    allowed: float
    resolved: float
    least: float
    granted: float
    sequence: Sequence[int]

    @cached_property
    def steps(self) -> np.ndarray:
        """The sequence as C reads it."""
        return np.array(self.sequence, dtype=LONG)


def measure(
    together: Together,
    rows: np.ndarray,
    p: Array,
    states: tuple[Array, Array, Array, Array],
    data: tuple[Array, ...],
    forces: tuple[Array, ...],
    along: tuple[Array, Array, Array],
    fastest: Array | None,
    steps: int,
    near: float,
    wanted: float,
    rules: Rules,
) -> dict[str, float] | None:
    """FOUND by name; None where the motion needs a second look, by other means, or where there is no library.

    rows: which of A belong to (φ̇, ψ), those of φ first, and one number more. states: t (T,), q and v (T, n), and works
    (T, 3). data: M, Q, A, b, C. forces: q̈, impressed, inertial, ideal, nonideal, multipliers. along: E (T,), φ,
    (φ̇, ψ). fastest: as `Motion` has it. steps: of its integration. near, wanted: see c/certify.h.
    """
    run = entry("da_certify", "pp")
    if run is None or together.pattern is not None:
        return None
    kept = [x if x.flags.c_contiguous else np.ascontiguousarray(x) for x in (*states, *data, *forces, *along)]
    t, q, v, work, M, Q, A, b, C, a, impressed, inertial, ideal, nonideal, multipliers, energy, position, rate = (
        address(x) for x in kept
    )
    n = together.n
    checked = CheckedArgument(
        M, Q, A, b, C, v, a, impressed, inertial, ideal, nonideal, multipliers, n, True
    )  # fmt: skip
    given = _Motion(
        kept[0].size, n, together.m, t, q, work, checked, energy, position, rate,
        along[1].shape[1], along[2].shape[1], address(rows), None if fastest is None else address(fastest),
        together.points.at, together.dynamics.at, address(p), steps, near, rules.allowed, rules.resolved,
        rules.least, wanted, rules.granted, address(rules.steps), rules.steps.size,
    )  # fmt: skip
    found = (ctypes.c_double * len(FOUND))()
    if run(ctypes.addressof(given), ctypes.addressof(found)):
        return None
    return dict(zip(FOUND, found, strict=True))
