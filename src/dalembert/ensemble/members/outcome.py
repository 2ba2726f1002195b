"""What becomes of members: status codes with their meaning, and the arrays that runs fill."""

from __future__ import annotations

from enum import IntEnum
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel import kernel as kernels


class Status(IntEnum):
    """Of a member. Those from FAILED on did not come to their end."""

    DONE = 0
    ENDED = 1  # by an event
    FAILED = 2  # the motion could not be continued
    INCONSISTENT = 3  # the start violates a constraint
    REFUSED = 4  # the start has no value, or another fault
    BUDGET = 5  # more steps or seconds than were granted
    MISSING = 6  # not run, because the sweep was interrupted


MEANING = {
    Status.DONE: "reached the end",
    Status.ENDED: "ended by an event",
    Status.FAILED: "could not be continued",
    Status.INCONSISTENT: "start violates a constraint",
    Status.REFUSED: "could not start",
    Status.BUDGET: "stopped: its budget was spent",
    Status.MISSING: "not run",
}
# Why a kernel stopped. Of one motion `simulate` says more: which constraint, which direction.
STOPPED = {
    kernels.STEP_TOO_SMALL: "the step size became too small: the motion may end here",
    kernels.STALLED: "the steps became so short that the end would not be reached",
    kernels.UNDEFINED: "the model has no finite value",
    kernels.INCONSISTENT: "no acceleration satisfies the constraints together",
    kernels.UNDETERMINED: "a direction has neither mass nor constraint",
    kernels.NO_PROJECTION: "the state could not be returned to the constraints",
    kernels.CHATTERS: "the motion would chatter at a kink of the model",
    kernels.CORNER: "a constraint has a corner at a kink of the model",
    kernels.EDGE: "the constraints have a corner there",
}


class Outcome:
    """Of K members with T output points, Y = 2n + 3 entries of a state (q, q̇, work of impressed, ideal and nonideal
    forces) and E events, filled as they are run. Arrays are made when they are first asked for: a run that has all
    members whole hands over its own instead.

    points (K,): output points that were reached; t and y: where each ended. along (K, T, Y): the states at the
    output points, None where nobody asks for them; where an event ended a member, the last is its own. counts,
    first, latest (K, E): how often events were passed, and when. alone (K,): integrated one by one; lanes (K,):
    side by side. certificate (K, 4), of those run one by one: position, velocity, energy, and whether it holds.
    """

    def __init__(self, count: int, points: int, width: int, events: int, along: bool) -> None:
        self.count, self._points, self._width, self._events, self._along = count, points, width, events, along
        self.reasons: dict[int, str] = {}

    def note(self, k: int, status: Status, reason: str) -> None:
        self.status[k] = status
        self.reasons[k] = reason

    def _unknown(self, *shape: int) -> Array:
        return np.full((self.count, *shape), np.nan)

    @cached_property
    def status(self) -> np.ndarray:
        return np.full(self.count, Status.MISSING, dtype=np.int8)

    @cached_property
    def points(self) -> np.ndarray:
        return np.zeros(self.count, dtype=np.int64)

    @cached_property
    def t(self) -> Array:
        return self._unknown()

    @cached_property
    def y(self) -> Array:
        return self._unknown(self._width)

    @cached_property
    def along(self) -> Array | None:
        return self._unknown(self._points, self._width) if self._along else None

    @cached_property
    def steps(self) -> np.ndarray:
        return np.zeros(self.count, dtype=np.int64)

    @cached_property
    def ended(self) -> np.ndarray:
        return np.full(self.count, -1, dtype=np.int16)

    @cached_property
    def counts(self) -> Array:
        return np.zeros((self.count, self._events))

    @cached_property
    def first(self) -> Array:
        return self._unknown(self._events)

    @cached_property
    def latest(self) -> Array:
        return self._unknown(self._events)

    @cached_property
    def alone(self) -> np.ndarray:
        return np.zeros(self.count, dtype=bool)

    @cached_property
    def lanes(self) -> np.ndarray:
        return np.zeros(self.count, dtype=bool)

    @cached_property
    def certificate(self) -> Array:
        return self._unknown(4)
