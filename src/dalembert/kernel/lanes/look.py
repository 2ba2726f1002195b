"""The starts of members looked at in lanes (c/look.h): quickly, since most of them are plain."""

from __future__ import annotations

import ctypes

import numpy as np

from dalembert.kernel.kernel import Array
from dalembert.kernel.lanes.kernel import LaneKernel
from dalembert.kernel.ready.many import address
from dalembert.kernel.ready.member_starts import Limits

_ADDRESS, _DOUBLE = ctypes.c_void_p, ctypes.c_double


class _Starts(ctypes.Structure):
    """da_starts of c/look.h."""

    _fields_ = (
        ("count", ctypes.c_long),
        *((name, _ADDRESS) for name in ("q", "v", "t", "p")),
        *((name, _DOUBLE) for name in ("beside", "small", "least_size", "most_missed")),
        *((name, _ADDRESS) for name in ("acceleration", "plain")),
    )


def look_in_lanes(
    kernel: LaneKernel, limits: Limits, q: Array, v: Array, t: Array, p: Array
) -> tuple[int, np.ndarray, Array]:
    """Of K members: how many are not plain, which are (K,), and their accelerations (K, n)."""
    plain, acceleration = np.empty(len(t), dtype=bool), np.empty_like(q)
    given = [np.ascontiguousarray(x, dtype=float) for x in (q, v, t, p)]
    starts = _Starts(
        len(t), *map(address, given), limits.beside, limits.small, limits.least_size, limits.missed,
        address(acceleration), address(plain),
    )  # fmt: skip
    return int(kernel.look_entry(ctypes.addressof(starts))), plain, acceleration
