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
        at, size = ctypes.addressof(ctypes.c_char.from_buffer(self._asked.data)), self._asked.itemsize * len(directions)
        self._at = at, at + size, at + 2 * size, at + 3 * size
        self._make_room(room, width)

    def _make_room(self, room: int, width: int) -> None:
        directions, terminals, from_zero, places = self._at
        self._rows = np.empty((room, 3 + width))
        rows = ctypes.addressof(ctypes.c_char.from_buffer(self._rows.data))
        self._requests = _Requests(directions, terminals, from_zero, rows, room, 0, -1, places, -1)

    def again(self) -> EventBuffer:
        """As much room for a run of its own that is asked the same."""
        other = EventBuffer.__new__(EventBuffer)
        other._asked, other._at = self._asked, self._at
        other._make_room(self._rows.shape[0], self._rows.shape[1] - 3)
        return other

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
