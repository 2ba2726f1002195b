"""Bounds of steps by samples of functions of time, in one call of C (c/step_bounds.h)."""

from __future__ import annotations

import ctypes

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import address, entry


class Bounding(ctypes.Structure):
    """da_bounding of c/step_bounds.h."""

    _fields_ = (
        *((name, ctypes.c_double) for name in ("foretold", "negligible", "rounding", "spacing")),
        ("parts", ctypes.c_long),
        ("cell", ctypes.c_long),
    )


def bound_steps(asked: Bounding, values: Array, noise: Array) -> Array | None:
    """How long steps may be in each cell, for samples (parts + 1, E) that may be wrong by noise (E,); None where there
    is no library.
    """
    run = entry("da_step_bounds", "plpppp")
    if run is None:
        return None
    values, noise = (np.ascontiguousarray(x, dtype=float) for x in (values, noise))
    found, room = np.full(asked.parts // asked.cell, np.inf), np.empty(asked.parts + 1)
    run(ctypes.addressof(asked), values.shape[1], *map(address, (values, noise, room, found)))
    return found
