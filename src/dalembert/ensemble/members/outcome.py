"""What becomes of members: status codes with their meaning, and the arrays that runs fill."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum

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
}


@dataclass
class Outcome:
    """Of K members with T output points, Y = 2n + 3 entries of a state (q, q̇, work of impressed, ideal and nonideal
    forces) and E events, filled as they are run.

    points (K,): output points that were reached; t and y: where each ended. along (K, T, Y): the states at the
    output points, None where nobody asks for them; where an event ended a member, the last is its own. counts,
    first, latest (K, E): how often events were passed, and when. alone (K,): integrated one by one; lanes (K,):
    side by side. certificate (K, 4), of those run one by one: position, velocity, energy, and whether it holds.
    """

    status: np.ndarray
    points: np.ndarray
    t: Array
    y: Array
    along: Array | None
    steps: np.ndarray
    ended: np.ndarray
    counts: Array
    first: Array
    latest: Array
    alone: np.ndarray
    lanes: np.ndarray
    certificate: Array
    reasons: dict[int, str] = field(default_factory=dict)

    def note(self, k: int, status: Status, reason: str) -> None:
        self.status[k] = status
        self.reasons[k] = reason


def empty_outcome(count: int, points: int, width: int, events: int, along: bool) -> Outcome:
    return Outcome(
        status=np.full(count, Status.MISSING, dtype=np.int8),
        points=np.zeros(count, dtype=np.int64),
        t=np.full(count, np.nan),
        y=np.full((count, width), np.nan),
        along=np.full((count, points, width), np.nan) if along else None,
        steps=np.zeros(count, dtype=np.int64),
        ended=np.full(count, -1, dtype=np.int16),
        counts=np.zeros((count, events)),
        first=np.full((count, events), np.nan),
        latest=np.full((count, events), np.nan),
        alone=np.zeros(count, dtype=bool),
        lanes=np.zeros(count, dtype=bool),
        certificate=np.full((count, 4), np.nan),
    )
