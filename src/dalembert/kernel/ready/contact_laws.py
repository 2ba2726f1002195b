"""Whether contacts along a motion obey their laws, at all its points in one call of C (c/contact_laws.h)."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.contacts import ContactGraph, ContactState
from dalembert.kernel.ready.many import LONG, address, entry
from dalembert.mechanics.solve.mass_scale import mass_scale

_FOUND = ctypes.c_double * 5
# The length of a quaternion has as much mass as the body turns: next to none. As a unit, the root of such a mass would
# make forces of rounding. Below this share of the largest it is none; DA_MASSLESS of c/contact_forces.h.
MASSLESS = 1e-8


class LawsArgument(ctypes.Structure):
    """da_laws of c/contact_forces.h."""

    _fields_ = (
        *((name, ctypes.c_long) for name in ("count", "n", "m", "gaps", "contacts", "components")),
        *((name, ctypes.c_void_p) for name in ("M", "Q", "A", "C", "q", "v", "a", "multipliers")),
        *((name, ctypes.c_void_p) for name in ("N", "u", "rate", "mu", "mu_static", "gap")),
        *((name, ctypes.c_void_p) for name in ("units", "smooth", "normal", "friction")),
        *((name, ctypes.c_void_p) for name in ("state", "acting", "rank", "first", "sided")),
        *((name, ctypes.c_double) for name in ("span", "resting", "seen", "rounding", "idle", "share")),
        *((name, ctypes.c_void_p) for name in ("rest", "limits", "unsure", "holding", "left")),
        *((name, ctypes.c_void_p) for name in ("idle_before", "room", "places")),
    )


class Along(NamedTuple):
    """M (T, n, n), Q, C, q, v, q̈ (T, n), A (T, m, n) with all its rows, multipliers and the constraints that act (T,
    m), the rank (T,), and what smooth laws contribute to C (T, n). Of each contact (T, contacts) what the motion says
    of it: reaction, friction, and whether it slips (0), sticks (1) or is open (2).
    """

    M: Array
    Q: Array
    A: Array
    C: Array
    q: Array
    v: Array
    a: Array
    multipliers: Array
    smooth: Array
    normal: Array
    friction: Array
    state: np.ndarray
    acting: np.ndarray
    rank: np.ndarray


class Left(NamedTuple):
    """Points at which it is open what contacts at rest can hold: the rest of the forces (P, n), unit forces (P, n,
    components), both in scaled coordinates, which contacts hold and their limits (P, contacts), and what is rounding.
    """

    rest: Array
    units: Array
    holding: np.ndarray
    limits: Array
    unsure: Array


class Looked(NamedTuple):
    """The largest departure of forces, of sliding and of gaps from their laws, each relative to its size, the largest
    force, and how far friction that is told of what sticks is from what holds, relative to the largest reaction; None
    where that is not clear.
    """

    forces: float
    slips: float
    gaps: float
    largest: float
    held: float | None
    left: Left | None


def look_at_laws(
    along: Along,
    found: ContactState,
    units: Array,
    graph: ContactGraph,
    bounds: tuple[float, float, float, float, float, float],
) -> Looked | None:
    """None without the library. graph: the laws of the model as they are written; found, units: what they give. bounds:
    the duration, the speed of rest, and SEEN, ROUNDING, IDLE and RANK of the certificate.
    """
    run = entry("da_contact_laws", "pp")
    if run is None:
        return None
    (count, n), m, K, c = along.q.shape, along.A.shape[1], len(graph.components), units.shape[2]
    places = graph.kept.get("places")
    if places is None:
        first = np.array([*(at.start for at in graph.components), c], dtype=LONG)
        places = graph.kept["places"] = (first, np.array([*graph.one_sided, 0], dtype=LONG))
    doubles = (
        *(along.M, along.Q, along.A, along.C, along.q, along.v, along.a, along.multipliers),
        *(found.normal, found.slide, found.slide_rate, found.mu, found.mu_static, found.gap),
        *(units, along.smooth, along.normal, along.friction),
    )
    given = [np.ascontiguousarray(x, dtype=float) for x in doubles]
    flags = [np.ascontiguousarray(x) for x in (along.state, along.acting, along.rank.astype(LONG, copy=False))]
    sizes = [count * n, count * K, count, 3 * n + m + (3 * n + 2 + c) * c]
    block, bytes_ = np.empty(sum(sizes)), np.zeros((count + 1) * (K + 1), dtype=bool)
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + size)
    room_for_places = np.empty(4 * n + 2 * K + (n + 1) * c, dtype=LONG)
    start, flag = address(block), address(bytes_)
    rest, limits, unsure, room = (start + 8 * end for end in ends[:-1])
    argument = LawsArgument(
        count, n, m, len(graph.one_sided), K, c, *map(address, (*given, *flags, *places)), *bounds,
        rest, limits, unsure, flag, flag + count * K, flag + count * (K + 1), room, address(room_for_places),
    )  # fmt: skip
    numbers = _FOUND()
    some = run(ctypes.addressof(argument), ctypes.addressof(numbers))
    forces, slips, gaps, largest, held = numbers
    looked = Looked(forces, slips, gaps, largest, None if held < 0.0 else held, None)
    if not some:
        return looked
    at = np.flatnonzero(bytes_[count * K : count * (K + 1)])
    left = Left(
        block[: ends[1]].reshape(count, n)[at],
        units[at] / mass_scale(along.M[at], none=MASSLESS)[:, :, None],
        bytes_[: count * K].reshape(count, K)[at],
        block[ends[1] : ends[2]].reshape(count, K)[at],
        block[ends[2] : ends[3]][at],
    )
    return looked._replace(left=left)
