"""Whether the events of contacts, one after the other, lead from what each output tells of them to what the next tells.

An output at the very time of a change agrees where it is on either side.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dalembert.motion.certificate.stretches import rounding_of_times
from dalembert.motion.contacts.modes.modes import OPEN, STICK

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# What a contact does; constraints on one side are open or closed.
UNKNOWN, OPENED, SLIPS, STICKS, CLOSED = range(5)
# What each event changes: from, and to.
FROM_TO = {
    "stick": (SLIPS, STICKS),
    "slip": (STICKS, SLIPS),
    "reversal": (SLIPS, SLIPS),
    "release": (CLOSED, OPENED),
    "contact": (OPENED, CLOSED),
}
BLOW = "impact"


def changes_lead_on(motion: Motion, events: Sequence[Mapping[str, Any]]) -> bool:
    """events: all about contacts, in order of time, with the impulses of the blows."""
    names, columns, carried = _told(motion)
    if not names:
        return not events
    times = np.array([event["t"] for event in events])
    near = rounding_of_times(motion.t)
    # How many events each output has behind it for certain, and how many at most.
    least, most = times.searchsorted(motion.t - near), times.searchsorted(motion.t + near, side="right")
    sure = np.flatnonzero(least == most)
    ends = least[sure].searchsorted(np.arange(times.size + 1), side="right").tolist()
    asked = {j for a, b in zip(least[least < most], most[least < most], strict=True) for j in range(a, b + 1)}
    now, first, kept = [UNKNOWN] * len(names), 0, {}
    for number, last in enumerate(ends):
        if number and not _takes(now, events[number - 1], names, carried):
            return False
        if last > first:
            own = columns[sure[first:last]]
            known = np.array(now)
            if not ((own == own[0]).all() and (own[0] == known)[known != UNKNOWN].all()):
                return False
            now, first = own[0].tolist(), last
        if number in asked:
            kept[number] = np.array(now)
    for k in np.flatnonzero(least < most).tolist():
        states = np.array([kept[j] for j in range(least[k], most[k] + 1)])
        if not ((states == columns[k]) | (states == UNKNOWN)).any(axis=0).all():
            return False
    return True


def _told(motion: Motion) -> tuple[dict[tuple[str, bool], int], NDArray[np.int_], dict[int, list[int]]]:
    """The number of each contact, and of each one-sided constraint; what they do at the output points (T, numbers); and
    the contacts on each of these constraints. A constraint and its contact may have one name.
    """
    system, parts = motion.system, []
    names: dict[tuple[str, bool], int] = {}
    carried: dict[int, list[int]] = {}
    if motion.acting is not None:
        for k, constraint in enumerate(system.constraints):
            if constraint.one_sided:
                carried[len(names)] = []
                names[constraint.name, True] = len(names)
                parts.append(np.where(motion.acting[:, k], CLOSED, OPENED))
    for contact in system.contacts:
        carriers = [names[name, True] for name in contact.constraints if (name, True) in names]
        if carriers:
            carried[carriers[0]].append(len(names))
        names[contact.name, False] = len(names)
        state = motion.contacts[contact.name].state
        parts.append(np.where(state == OPEN, OPENED, np.where(state == STICK, STICKS, SLIPS)))
    return names, np.stack(parts, axis=1) if parts else np.zeros((motion.t.size, 0), dtype=int), carried


def _takes(
    now: list[int], event: Mapping[str, Any], names: Mapping[tuple[str, bool], int], carried: Mapping[int, list[int]]
) -> bool:
    """Take an event into what contacts do; whether it could happen then."""
    what = event["name"]
    opens = what in ("release", "contact", BLOW)
    k = names.get((event["contact"], opens))
    if k is None or (what == BLOW and "impulse" not in event):
        return False
    if what == BLOW:
        return True
    before, after = FROM_TO[what]
    if now[k] not in (before, UNKNOWN):
        return False
    now[k] = after
    for contact in carried.get(k, ()):
        now[contact] = OPENED if after == OPENED else UNKNOWN
    return True
