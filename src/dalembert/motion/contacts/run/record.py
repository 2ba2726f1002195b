"""What a motion with contacts keeps of its legs: output points with their modes, events, and the trajectory of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import InconsistentState
from dalembert.motion.contacts.impacts.impacts import Impact, left_out, with_impulses
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import Mode
from dalembert.motion.integrate.trajectory import Trajectory, fastest_of, in_order
from dalembert.remember import made

UNDETERMINED = (
    "more contacts stick than are needed to hold the system, so that their forces are not determined: those given are "
    "one choice inside the cones of friction, and they hold while there is one"
)


class Record:
    """legs: all parts of the motion. modes: of each output point. events: of contacts, between legs; passages: those of
    the system just there. times: the output times asked for.
    """

    def __init__(self, contacts: Contacts, times: Array) -> None:
        self.contacts, self.times = contacts, times
        self.masses = np.ones(contacts.n)  # of each coordinate, as they are at the start
        self.legs: list[Trajectory] = []
        self.modes: list[Mode] = []
        self.events: list[dict[str, Any]] = []
        self.passages: list[dict[str, Any]] = []
        self._t: list[Array] = []
        self._y: list[Array] = []

    @property
    def count(self) -> int:
        """Of output points so far."""
        return len(self.modes)

    @property
    def is_empty(self) -> bool:
        return not self._t

    def keep(self, leg: Trajectory, mode: Mode, inner: bool) -> None:
        """A leg and its output points: its start was the end of the one before, its end is none unless asked for.
        inner: it ended with its mode, not with the motion.
        """
        near = self.times.searchsorted(leg.t)
        near[near == self.times.size] = 0
        wanted = self.times[near] == leg.t
        if self._t:
            wanted[0] = False
        if not inner and leg.ended is not None:
            wanted[-1] = True
        self.legs.append(leg)
        self._t.append(leg.t[wanted])
        self._y.append(leg.y[wanted])
        self.modes += [mode] * int(wanted.sum())

    def hand_over(self, since: float) -> None:
        """Leave output points from a time on to what follows, as far as they belong to the last leg."""
        inside = int(self._t[-1].searchsorted(since)) if self._t else 0
        if self._t and inside < self._t[-1].size and sum(times.size for times in self._t[:-1]) + inside:
            del self.modes[inside - self._t[-1].size :]
            self._t[-1], self._y[-1] = self._t[-1][:inside], self._y[-1][:inside]

    def add(self, times: Array, q: Array, v: Array, work: Array, mode: Mode) -> None:
        """Output points at a state between legs."""
        if not times.size:
            return
        times = times[times > (self._t[-1][-1] if self._t and self._t[-1].size else -np.inf)]
        self._t.append(times)
        self._y.append(np.tile(np.concatenate([q, v, work]), (times.size, 1)))
        self.modes += [mode] * times.size

    def passage_counts(self) -> tuple[int, ...]:
        """How often each event of the system was passed in the legs so far."""
        if not self.contacts.system.events:
            return ()
        names = [event["name"] for leg in self.legs for event in leg.events]
        names += [event["name"] for event in self.passages]
        return tuple(names.count(event.name) for event in self.contacts.system.events)

    def is_reported(self, report: Mapping[str, Any], since: float) -> bool:
        """Whether the last leg, which ended with a passage, has reported it already, located by itself."""
        return any(
            one["t"] >= since and report["name"] == one["name"] and report["direction"] == one["direction"]
            for one in self.legs[-1].events
        )

    def trajectory(
        self, failure: str | None, ended: str | None, impacts: Sequence[Impact], undetermined: bool, spent: bool
    ) -> Trajectory:
        """spent: the motion may be left unfinished, where the last leg ended, because it took too many steps."""
        legs, n = self.legs, self.contacts.n
        if not legs:
            raise InconsistentState(failure or "no motion")
        reports = [e for leg in legs for e in leg.events if not self.contacts.is_own(e["name"])]
        alone = len(self._t) == 1
        return made(
            Trajectory,
            t=self._t[0] if alone else np.concatenate(self._t),
            y=self._y[0] if alone else np.concatenate(self._y),
            guesses=None,
            method=legs[0].method,
            backend=legs[0].backend,
            steps=sum(leg.steps for leg in legs),
            evaluations=sum(leg.evaluations for leg in legs),
            compile_s=sum(leg.compile_s for leg in legs),
            events=with_impulses(in_order(reports, self.passages, self.events), impacts),
            failure=failure,
            ended=ended,
            looked=(legs[-1].looked or _end(legs[-1], n)) if spent else None,
            fastest=fastest_of(legs, self.masses),
            kernel=legs[-1].kernel,
            warnings=(
                *dict.fromkeys(w for leg in legs for w in leg.warnings),
                *((UNDETERMINED,) if undetermined else ()),
                *left_out(self.contacts, impacts),
            ),
        )


def _end(leg: Trajectory, n: int) -> tuple[float, Array, Array]:
    return float(leg.t[-1]), leg.y[-1, :n].copy(), leg.y[-1, n : 2 * n].copy()
