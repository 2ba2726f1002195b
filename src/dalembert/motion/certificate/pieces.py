"""The pieces of a motion with contacts that end at a change of contacts: from an output to a change, from one change to
the next, from a change to an output; and what contacts do on them.

Stretches between outputs that have changes in them say nothing as a whole. Piece by piece they say whether the velocity
goes on where nothing strikes, and whether a blow falls at the velocity that the motion has there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.graph.kinks import kink_graph
from dalembert.motion.certificate.consistency import kinks_passed
from dalembert.motion.certificate.stretches import cubic, rounding_of_times
from dalembert.motion.certificate.told_modes import Told
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# The events of a contact, and what it did before each of them; and what it does after.
BEFORE = {"stick": SLIP, "slip": STICK, "reversal": SLIP}
AFTER = {"stick": STICK, "slip": SLIP, "reversal": SLIP}
# Kinks are looked for at these places of a piece, next to both ends too.
INSIDE = np.concatenate([[1e-3], np.linspace(0.0, 1.0, 9)[1:-1], [1 - 1e-3]])


@dataclass(frozen=True, eq=False)
class Pieces:
    """P pieces. t, length (P,). start, end (P, 2n): states just after what they begin with, and just before what they
    end with. known (P, 2): whether their ends are outputs. stretch (P,): the number of the first output before.
    """

    t: Array
    length: Array
    start: Array
    end: Array
    known: NDArray[np.bool_]
    stretch: NDArray[np.int_]
    outputs: NDArray[np.int_]  # those that are not at the very time of a change
    changes: tuple[tuple[Mapping[str, Any], ...], ...]  # the events at each instant of change, in order
    instants: Array  # their times
    ending: NDArray[np.int_]  # (P,): the number of the instant at the end of a piece, -1 where that is an output

    def told(self, motion: Motion, contacts: Contacts, which: Sequence[int]) -> list[Told]:
        """What contacts do on some of the pieces, in order."""
        found: dict[int, Told] = {}
        for stretch in dict.fromkeys(int(self.stretch[k]) for k in which):
            own = np.flatnonzero(self.stretch == stretch).tolist()
            found.update(zip(own, self._told_of_stretch(motion, contacts, own), strict=True))
        return [found[k] for k in which]

    def departing(self, which: Iterable[int]) -> list[list[str]]:
        """Of some pieces, the contacts that set off from rest at their end, without a blow."""
        return self._changing(which, "slip")

    def stopping(self, which: Iterable[int]) -> list[list[str]]:
        """Of some pieces, the contacts that come to rest at their end, without a blow."""
        return self._changing(which, "stick")

    def _changing(self, which: Iterable[int], how: str) -> list[list[str]]:
        found: list[list[str]] = []
        for k in self.ending[list(which)].tolist():
            here = self.changes[k] if k >= 0 else ()
            blow = any("impulse" in event for event in here)
            found.append([] if blow else [event["contact"] for event in here if event["name"] == how])
        return found

    def _told_of_stretch(self, motion: Motion, contacts: Contacts, own: Sequence[int]) -> list[Told]:
        """Of all pieces between two outputs: back from what the later one tells, undoing one change after the other."""
        assert motion.acting is not None
        first, last = (int(self.outputs[self.stretch[own[0]] + k]) for k in (0, 1))
        inside = slice(*np.searchsorted(self.instants, (motion.t[first], motion.t[last])))
        changes, names = self.changes[inside], [contact.name for contact in contacts.contacts]
        rows = [contacts.system.constraints[row].name for row in contacts.one_sided]
        states: list[str | None] = [str(motion.contacts[name].state[last]) for name in names]
        closed = motion.acting[last, list(contacts.one_sided)].tolist()
        told: list[tuple[tuple[str | None, ...], tuple[bool, ...]]] = [(tuple(states), tuple(closed))]
        for number in reversed(range(len(changes))):
            for event in reversed(changes[number]):
                what, name = event["name"], event["contact"]
                if what in BEFORE and name in names:
                    states[names.index(name)] = BEFORE[what]
                elif what in ("release", "contact") and name in rows:
                    row = rows.index(name)
                    closed[row] = what == "release"
                    for k in (k for k, carrier in enumerate(contacts.carrier) if carrier == row):
                        known = what == "release"
                        states[k] = _state_before(changes[:number], names[k], name, motion, first) if known else OPEN
            told.append((tuple(states), tuple(closed)))
        return [Told(states_then, shut, (first, last)) for states_then, shut in reversed(told)]


def _state_before(
    changes: Sequence[Sequence[Mapping[str, Any]]], contact: str, row: str, motion: Motion, first: int
) -> str | None:
    """What a contact did before it opened: told by its last change, or by the output before them all."""
    for event in (event for instant in reversed(changes) for event in reversed(instant)):
        if event["contact"] == contact and event["name"] in AFTER:
            return AFTER[event["name"]]
        if event["contact"] == row and event["name"] == "contact":
            return None
    return str(motion.contacts[contact].state[first])


def pieces_beside_changes(motion: Motion) -> Pieces | None:
    """None where no contact changes between the first output and the last."""
    instants = list(_instants(motion))
    if not instants:
        return None
    times = np.array([t for t, *_ in instants])
    after = np.minimum(times.searchsorted(motion.t), times.size - 1)
    near = np.minimum(np.abs(times[after] - motion.t), np.abs(times[np.maximum(after - 1, 0)] - motion.t))
    outputs = np.flatnonzero(near > rounding_of_times(motion.t))
    t = np.concatenate([motion.t[outputs], times])
    states = np.concatenate([motion.q, motion.v], axis=1)[outputs]
    q, before, after = (np.array(part) for part in list(zip(*instants, strict=True))[1:4])
    order, known = np.argsort(t, kind="stable"), np.arange(t.size) < outputs.size
    arriving = np.concatenate([states, np.concatenate([q, before], axis=1)])[order]
    leaving = np.concatenate([states, np.concatenate([q, after], axis=1)])[order]
    t, known = t[order], known[order]
    # What lies before the first output or after the last one belongs to no stretch.
    stretch = np.cumsum(known) - 1
    beside = ~(known[:-1] & known[1:]) & (stretch[:-1] >= 0) & (stretch[:-1] < outputs.size - 1)
    at = np.flatnonzero(beside)
    return Pieces(
        t[at], t[at + 1] - t[at], leaving[at], arriving[at + 1], np.stack([known[at], known[at + 1]], axis=1),
        stretch[at], outputs, tuple(events for *_, events in instants), times,
        np.maximum(order[at + 1] - outputs.size, -1),
    )  # fmt: skip


def _instants(motion: Motion) -> Iterator[tuple[float, Array, Array, Array, tuple[Mapping[str, Any], ...]]]:
    """The instants at which contacts change, in order: t, q, the velocities just before and just after, and the events.
    These are the same but where there is a blow.
    """
    names = [coordinate.name + mark for mark in ("", "'") for coordinate in motion.system.coordinates]
    events: dict[float, list[Mapping[str, Any]]] = {}
    first, last = float(motion.t[0]), float(motion.t[-1])
    for event in motion.events:
        if "contact" in event and "state" in event and first < event["t"] < last:
            events.setdefault(event["t"], []).append(event)
    arriving: dict[float, Array] = {}
    for blow in motion.blows:
        arriving.setdefault(blow.t, blow.before)
    for t in sorted(events):
        state = events[t][-1]["state"]
        y = np.array([state[name] for name in names])
        after = y[y.size // 2 :]
        yield t, y[: y.size // 2], arriving.get(t, after), after, tuple(events[t])


def pieces_with_kinks(motion: Motion, pieces: Pieces, which: Sequence[int]) -> NDArray[np.bool_]:
    """Which of some pieces pass a kink of the model inside, looked at on the cubics through both ends. One
    may lie at the ends: a change of contacts there may be what it does.
    """
    if kink_graph(motion.system) is None:
        return np.zeros(len(which), dtype=bool)
    n, h, x = motion.q.shape[1], pieces.length[which, None], INSIDE[:, None, None]
    start, end = pieces.start[which], pieces.end[which]
    q = cubic(x, start[:, :n], end[:, :n], h * start[:, n:], h * end[:, n:])
    v = start[:, n:] + x * (end[:, n:] - start[:, n:])
    t = pieces.t[which] + INSIDE[:, None] * pieces.length[which]
    flat = (t.reshape(-1), q.reshape(-1, n), v.reshape(-1, n))
    return kinks_passed(motion.system, *flat, INSIDE.size)
