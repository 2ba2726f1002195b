"""What a kernel is asked about events, and where it writes them: the counterpart of `runtime/events`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np


class _Requests(ctypes.Structure):
    _fields_ = (
        ("direction", ctypes.c_void_p),
        ("terminal", ctypes.c_void_p),
        ("from_zero", ctypes.c_void_p),
        ("record", ctypes.c_void_p),
        ("room", ctypes.c_long),
        ("count", ctypes.c_long),
        ("ended", ctypes.c_int),
        ("places", ctypes.c_void_p),
        ("stuck", ctypes.c_int),
    )


class EventBuffer:
    """Room for so many passages of the events of a system with states of `width` entries. One per run.

    places: of the kinks of the model, which are the last of its events, the parameters that are their sides.
    """

    def __init__(
        self,
        directions: Sequence[int],
        terminals: Sequence[int],
        from_zero: Sequence[bool],
        width: int,
        room: int,
        places: Sequence[int] = (),
    ) -> None:
        self._asked = np.array([*directions, *terminals, *from_zero, *places], dtype=np.intc)
        self._rows = np.empty((room, 3 + width))
        at, rows = (ctypes.addressof(ctypes.c_char.from_buffer(part.data)) for part in (self._asked, self._rows))
        size = self._asked.itemsize * len(directions)
        self._requests = _Requests(at, at + size, at + 2 * size, rows, room, 0, -1, at + 3 * size, -1)

    @property
    def pointer(self) -> object:
        return ctypes.byref(self._requests)

    @property
    def address(self) -> int:
        return ctypes.addressof(self._requests)

    @property
    def count(self) -> int:
        """How many passages there were, also those that did not fit."""
        return int(self._requests.count)

    @property
    def ended_by(self) -> int | None:
        """The number of the event that ended the run."""
        return int(self._requests.ended) if self._requests.ended >= 0 else None

    @property
    def stuck_at(self) -> int | None:
        """The number of the kink at which the run could not go on."""
        return int(self._requests.stuck) if self._requests.stuck >= 0 else None

    @property
    def rows(self) -> np.ndarray:
        """The passages that fitted: which, t, direction, y."""
        return self._rows[: min(self.count, self._rows.shape[0])]
