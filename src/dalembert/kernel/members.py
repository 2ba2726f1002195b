"""Members of an ensemble through a kernel, some hundred in one call: the counterpart of `runtime/run/members.h`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dalembert.kernel.events import EventBuffer
from dalembert.kernel.kernel import CHANGES, HEAD, PASSED, REPORT, Array, PaceArgument
from dalembert.kernel.ready.many import LONG, address
from dalembert.methods.table import METHODS

_ADDRESS, _LONG = ctypes.c_void_p, ctypes.c_long
_INT = np.dtype(np.intc)


class HasMembers(Protocol):
    """What integrates members: a kernel, or lanes."""

    @property
    def members_entry(self) -> Callable[..., int]: ...


class _Members(ctypes.Structure):
    """da_members of runtime/run/asked_of_members.h."""

    _fields_ = (
        *((name, _LONG) for name in ("count", "points", "apart", "paced", "order")),
        *((name, _ADDRESS) for name in ("y0", "p", "atol", "times", "pace")),
        ("rtol", ctypes.c_double),
        ("method", ctypes.c_int),
        ("project", ctypes.c_int),
        *((name, _ADDRESS) for name in ("events", "stop", "cancel", "current", "out", "report", "status", "head")),
        *((name, _ADDRESS) for name in ("last", "passages", "ended", "stuck", "counts", "first", "latest")),
    )


class MembersWatch:
    """Shared with a running call: which member is at hand, and the wish that no further one begin. `stop` (members,):
    after how many steps the run of each ends, 0 for never; 1 is a wish that it end now.
    """

    def __init__(self, count: int, steps: int = 0) -> None:
        self.current = ctypes.c_long(-1)
        self.cancel = ctypes.c_int(0)
        self.stop = np.full(count, steps, dtype=_INT)

    def end(self) -> None:
        """End the run at hand, and begin no other."""
        self.cancel.value = 1
        self.stop[:] = 1


@dataclass(frozen=True)
class MembersRun:
    """What the runs of K members gave. done: how many of them were run, which are the first ones.

    y (K, T, Y): states at the output times, of which `points` (K,) were reached; where an event ended a run, the last
    of them is its own; none of them (T = 0) where nobody asked. last (K, Y): where each run ended. head: the numbers of
    `REPORT` by name, each (K,).
    Of E events, counts, first and latest (K, E): how often each was passed, and when; passages (K,): of all; ended and
    stuck (K,): the event that ended a run, the kink at which it could not go on, or −1.
    """

    done: int
    status: np.ndarray
    y: Array
    last: Array
    head: dict[str, Array]
    passages: np.ndarray
    ended: np.ndarray
    stuck: np.ndarray
    counts: Array
    first: Array
    latest: Array

    def replace(self, at: np.ndarray, other: MembersRun) -> None:
        """The members at these places by those of another run, in their order."""
        if self.y.size:
            self.y[at] = other.y
        for name in ("status", "last", "passages", "ended", "stuck", "counts", "first", "latest"):
            getattr(self, name)[at] = getattr(other, name)
        for name, column in self.head.items():
            column[at] = other.head[name]


def integrate_members(
    kernel: HasMembers,
    y0: Array,
    parameters: Array,
    atol: Array,
    times: Array,
    rtol: float,
    method: str,
    project: bool,
    paces: Sequence[PaceArgument],
    watch: MembersWatch,
    events: EventBuffer | None = None,
    functions: int = 0,
    order: int = 0,
    along: bool = True,
) -> MembersRun:
    """Integrate from y0 (K, Y) with parameters (K, P) through `times` (T,) or (K, T). Other threads run meanwhile.

    paces: one for all, or one for each. events: room for those of one member; functions: how many there are. order: of
    Taylor series in lanes; 0: as the tolerance says. along: whether states at the output times are wanted; lanes can do
    without.
    """
    count, width = y0.shape
    points = times.shape[-1]
    given = [np.ascontiguousarray(x, dtype=float) for x in (y0, parameters, atol, times)]
    names = REPORT[: REPORT.index("changes")]
    pace = (PaceArgument * len(paces))(*paces)
    out = np.empty((count, points if along else 0, width))
    report = np.empty(HEAD + CHANGES + PASSED + width)
    status, ended, stuck = np.full((3, count), -1, dtype=_INT)
    # What is not run, because the whole is to end, has nothing here that anybody reads.
    head, last = np.empty((count, len(names))), np.empty((count, width))
    passages, counts = np.zeros(count, dtype=LONG), np.zeros((count, functions))
    first, latest = np.full((2, count, functions), np.nan)
    all_ = _Members(
        count, points, points if times.ndim == 2 else 0, int(len(paces) > 1), order, *map(address, given),
        ctypes.addressof(pace), rtol, METHODS[method].code, project,
        None if events is None else events.address,
        address(watch.stop), ctypes.addressof(watch.cancel), ctypes.addressof(watch.current),
        address(out) if along else None,
        *map(address, (report, status, head, last, passages, ended, stuck, counts, first, latest)),
    )  # fmt: skip
    done = int(kernel.members_entry(ctypes.addressof(all_)))
    columns = dict(zip(names, head.T, strict=True))
    return MembersRun(done, status, out, last, columns, passages, ended, stuck, counts, first, latest)
