"""What a kernel is asked about events, and where it writes them: the counterpart of `runtime/events`."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Bounces:
    """Gaps that may close and bounce within a run, see runtime/run/bounce.h. restitution: of each function that is an
    open gap, below zero of any other, zero where the run is to end. closed: of each function, the parameters with that
    gap closed. slowest, lowest: slower bounces, as a share of the fastest approach, and lower ones, as a share of the
    places, end the run. approach: the fastest so far.
    """

    restitution: NDArray[np.float64]
    closed: NDArray[np.float64]
    slowest: float
    lowest: float
    approach: float


class _Bounces(ctypes.Structure):
    _fields_ = (
        ("restitution", ctypes.c_void_p),
        ("closed", ctypes.c_void_p),
        ("slowest", ctypes.c_double),
        ("lowest", ctypes.c_double),
        ("approach", ctypes.c_double),
    )

    def __init__(self, asked: Bounces) -> None:
        self.asked = asked  # whose arrays must live as long as this
        addresses = (_address(asked.restitution), _address(asked.closed))
        super().__init__(*addresses, asked.slowest, asked.lowest, asked.approach)


def _address(array: np.ndarray) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(array.data))


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
        ("bounces", ctypes.c_void_p),
    )


class EventBuffer:
    """Room for so many passages of the events of a system with states of `width` entries. One per run.

    places: of the kinks of the model, which are the last of its events, the parameters that are their sides. bounces:
    of which the rows are pairs, the state before and the one after.
    """

    def __init__(
        self,
        directions: Sequence[int],
        terminals: Sequence[int],
        from_zero: Sequence[bool],
        width: int,
        room: int,
        places: Sequence[int] = (),
        bounces: Bounces | None = None,
    ) -> None:
        self._asked = np.array([*directions, *terminals, *from_zero, *places], dtype=np.intc)
        at, size = _address(self._asked), self._asked.itemsize * len(directions)
        self._at = at, at + size, at + 2 * size, at + 3 * size
        self._bounces = None if bounces is None else _Bounces(bounces)
        self._make_room(room, width)

    def _make_room(self, room: int, width: int) -> None:
        directions, terminals, from_zero, places = self._at
        self._rows = np.empty((room, 3 + width))
        rows = _address(self._rows)
        bounces = None if self._bounces is None else ctypes.addressof(self._bounces)
        self._requests = _Requests(directions, terminals, from_zero, rows, room, 0, -1, places, -1, bounces)

    def again(self) -> EventBuffer:
        """As much room for a run of its own that is asked the same, but for bounces: the run is to end there."""
        other = EventBuffer.__new__(EventBuffer)
        other._asked, other._at, other._bounces = self._asked, self._at, None
        other._make_room(self._rows.shape[0], self._rows.shape[1] - 3)
        return other

    def as_numbers(self) -> tuple[np.ndarray, np.ndarray]:
        """What is asked, and of bounces, as the numbers of a `kernel.block`, with room for as many passages as there
        were. It points to arrays of this buffer.
        """
        asked = _Requests.from_buffer_copy(self._requests)
        asked.room, asked.count, asked.ended, asked.stuck = self.count, 0, -1, -1
        bounces = b"" if self._bounces is None else bytes(_Bounces(self._bounces.asked))
        return np.frombuffer(bytes(asked)), np.frombuffer(bounces)

    def written_in(self, block: Any, at: int, numbers: np.ndarray) -> EventBuffer:
        """A buffer that was written by a run like this one's: its requests are in the block at number `at`, its rows
        are the first of the numbers.
        """
        other = EventBuffer.__new__(EventBuffer)
        other._asked, other._at, other._bounces = self._asked, self._at, self._bounces
        other._requests = _Requests.from_buffer(block, 8 * at)
        room, width = other._requests.room, self._rows.shape[1]
        other._rows = numbers[: room * width].reshape(room, width)
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

    @property
    def bounces(self) -> np.ndarray | None:
        """(bounces, 2, …): the rows before and after each; None where there were none, or none was allowed. What ended
        the run is a row by itself, the last.
        """
        pairs = 0 if self._bounces is None else self.rows.shape[0] // 2
        return self._rows[: 2 * pairs].reshape(pairs, 2, -1) if pairs else None
