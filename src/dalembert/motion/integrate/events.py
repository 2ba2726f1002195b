"""Events of an integration, in plain Python: passages of functions g(q, q̇, t) through zero, found on the dense output.

The same method as runtime/events in C, name by name: a step is sampled (`event_samples`), the passages between samples
are located (`event_passages`), and what is known of each event goes on from step to step, here.

Kinks of a model (`model/kinks.py`) are looked for with them: the last functions, counted so that they are positive on
the side where the motion is. Falling from there ends the step, see `motion/integrate/kinks.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.kernel.limits import (
    EVENT_FAR,
    EVENT_MOST_PIECES,
    EVENT_NOISE,
    EVENT_PIECES,
    EVENT_SHIFT,
    EVENT_START_NOISE,
)
from dalembert.motion.integrate.event_passages import Scan, Track
from dalembert.motion.integrate.event_samples import UNKNOWN, Sample, is_resolved, sign_of, states_inside
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True)
class Crossing:
    """Event number `which` passes zero at `t` in the state `y` (q, q̇, work), rising (1) or falling (-1)."""

    which: int
    t: float
    direction: int
    y: Array


@dataclass(frozen=True)
class Turn:
    """Kink number `which` is passed at `t` in the state `y`, a share of the step. left: it was at zero before, and has
    left it on the side where the motion was not said to be, `direction` of zero.
    """

    which: int
    t: float
    y: Array
    share: float
    left: bool
    direction: int


@dataclass(frozen=True)
class Outcome:
    """What the events of an integration came to. `ended`: the number of the event that ended it, or None."""

    passages: tuple[Crossing, ...] = ()
    ended: int | None = None

    def of_first(self, count: int) -> Outcome:
        """What the first so many events came to."""
        return Outcome(tuple(passage for passage in self.passages if passage.which < count), self.ended)

    def reports(self, system: System) -> list[dict[str, Any]]:
        """The entries of `motion.events`."""
        symbols, n = (*system.coordinates, *system.velocities), len(system.coordinates)
        return [
            {
                "name": system.events[p.which].name,
                "t": float(p.t),
                "state": {s.name: float(x) for s, x in zip(symbols, p.y[: 2 * n], strict=True)},
                "direction": "rising" if p.direction > 0 else "falling",
            }
            for p in self.passages
        ]

    def ended_by(self, system: System) -> str | None:
        return None if self.ended is None else system.events[self.ended].name


class EventWatch:
    """The events along one integration at `rtol`. `sizes`: of (q, q̇), what counts as large for each.

    `settle(t, y)` returns a state to the constraints, `multipliers(t, y)` gives theirs there, and the sizes of those.
    The last events, as many as `sides` has entries, are kinks; `sides` are changed by who steers the integration.
    """

    def __init__(
        self,
        evaluation: Evaluation,
        sizes: Array,
        settings: Settings,
        settle: Callable[[float, Array], Array],
        multipliers: Callable[[float, Array], tuple[Array, Array]],
        sides: list[int] | None = None,
    ) -> None:
        self.evaluation, self.sizes, self.far, self.settle = evaluation, sizes, EVENT_FAR * settings.rtol, settle
        self.multipliers = multipliers if evaluation.graph.events_use_multipliers else None
        self.events = evaluation.system.events
        self.sides = [] if sides is None else sides
        self.of_user = len(self.events) - len(self.sides)
        self.tracks = [
            Track(left=left, leaving=leaving)
            for left, leaving in zip(settings.passages_left(self.events), settings.from_zero(self.events), strict=True)
        ]
        self.passages: list[Crossing] = []
        self.ended: int | None = None
        self._last: Sample  # at the last accepted state
        self._found: list[tuple[float, int, int]] | None = None  # in a step that was looked through for kinks already

    def _look(self, t: float, y: Array, noise: float = EVENT_NOISE) -> Sample:
        multipliers = None if self.multipliers is None else self.multipliers(t, y)
        g, scale = self.evaluation.events(y, t, self.sizes, multipliers)
        if self.sides:
            g, own = g.copy(), g[self.of_user :]
            g[self.of_user :] = np.where(self.sides, np.multiply(self.sides, own), -np.abs(own))
        level = np.where(np.isfinite(scale), noise * scale, 0.0)
        return Sample(g, level, [sign_of(float(value), float(zero)) for value, zero in zip(g, level, strict=True)])

    def start(self, t: float, y: Array) -> None:
        self._last = self._look(t, y, EVENT_START_NOISE)
        for k, (track, sign) in enumerate(zip(self.tracks, self._last.signs, strict=True)):
            track.sign = 0 if sign == UNKNOWN else sign
            track.leaving = (track.leaving or k >= self.of_user) and sign == 0

    def go_on_from(self, t: float, y: Array) -> None:
        """Go on from a state at which sides of kinks have changed; what is known of the events stays."""
        self._last, here = self._look(t, y), self._look(t, y, EVENT_START_NOISE)
        for k in range(self.of_user, len(self.tracks)):
            sign = self._last.signs[k] = here.signs[k]
            self.tracks[k] = Track(0 if sign == UNKNOWN else sign, leaving=sign == 0)

    @property
    def kinks_at_zero(self) -> list[int]:
        """The kinks that have been at zero since the motion started, or since sides changed."""
        return [k for k, track in enumerate(self.tracks[self.of_user :]) if track.leaving]

    def snapshot(self) -> Any:
        """What is known now, for `back_to`."""
        return self._last, [replace(track) for track in self.tracks], len(self.passages)

    def back_to(self, known: Any) -> None:
        self._last, tracks, count = known
        self.tracks = [replace(track) for track in tracks]
        del self.passages[count:]
        self._found = None

    def turn(self, t: float, y: Array, t_new: float, y_new: Array, at: Callable[[float], Array]) -> Turn | None:
        """The first kink that is passed in an accepted step, of which nothing else is then noted."""
        known = self.snapshot()
        found, fallen, state = self._scan(t, y, t_new, y_new, at)
        first = next(((x, k) for x, k, _ in found if k >= self.of_user), None)
        if first is None:
            self._found = found
            return None
        self.back_to(known)
        x, k = first
        time = t_new if x == 1.0 else t + x * (t_new - t)
        side = self.sides[k - self.of_user]
        direction = -side if side else int(np.sign(self.evaluation.events(state(x), time, self.sizes)[0][k]))
        return Turn(k - self.of_user, time, state(x).copy(), x, k in fallen, direction)

    def step(self, t: float, y: Array, t_new: float, y_new: Array, at: Callable[[float], Array]) -> Crossing | None:
        """Look through an accepted step with interpolant `at(time)`. Returns the passage that ends the motion."""
        found, self._found = self._found, None
        state = states_inside(t, y, t_new, y_new, at, self.settle)
        if found is None:
            found, _, state = self._scan(t, y, t_new, y_new, at)
        for x, k, direction in found:
            time = t_new if x == 1.0 else t + x * (t_new - t)
            if k < self.of_user and self._record(Crossing(k, time, direction, state(x).copy())):
                return self.passages[-1]
        return None

    def _scan(
        self, t: float, y: Array, t_new: float, y_new: Array, at: Callable[[float], Array]
    ) -> tuple[list[tuple[float, int, int]], set[int], Callable[[float], Array]]:
        """All passages in a step that count, in order: its share, which, direction. Then which of them fell from where
        they had been at zero, and the states at shares of the step.
        """
        h, state = t_new - t, states_inside(t, y, t_new, y_new, at, self.settle)

        def time(x: float) -> float:
            return t_new if x == 1.0 else t + x * h

        def look(x: float) -> Sample:
            try:
                if 0.0 < x < 1.0 and (raw := self._look(time(x), at(time(x)))).far(self.far / EVENT_NOISE):
                    return raw
                return self._look(time(x), state(x))
            except (DalembertError, np.linalg.LinAlgError):
                count = len(self.events)
                return Sample(np.full(count, np.nan), np.zeros(count), [UNKNOWN] * count)

        pieces = EVENT_PIECES
        while True:
            places = [(i + EVENT_SHIFT * (i % 2)) / pieces for i in range(pieces + 1)]
            samples = [self._last, *(look(x) for x in places[1:])]
            if pieces == EVENT_MOST_PIECES or is_resolved(samples):
                break
            pieces *= 2
        found: list[tuple[float, int, int]] = []
        fallen: set[int] = set()
        until = 1.0  # what comes after a passage that ends the motion need not be found, except kinks before it
        for k, track in enumerate(self.tracks):
            kink, left = k >= self.of_user, track.left
            scan = Scan(look, k, abs(t_new) / h, 1.0 if kink else until, kink)
            values, signs = [float(s.g[k]) for s in samples], [s.signs[k] for s in samples]
            scan.changes(places, signs, [s.away(k) for s in samples], track)
            scan.turns(places, values, signs)
            own = [(x, k, d) for x, d in scan.found if self.events[k].direction in (0, d)]
            found += own
            until = min([until, *(x for x, _, _ in own)]) if left == 1 and not kink else until
            fallen |= {k} if scan.fell else set()
        self._last = samples[-1]
        return sorted(found), fallen, state

    def finish(self, t: float, y: Array) -> None:
        """At the end of a motion, a function that has just become zero has arrived there."""
        for k, track in enumerate(self.tracks[: self.of_user]):
            if track.waiting and self.events[k].direction in (0, -track.sign):
                self._record(Crossing(k, t, -track.sign, y.copy()))

    def _record(self, passage: Crossing) -> bool:
        """Keep a passage; whether it ends the motion."""
        self.passages.append(passage)
        track = self.tracks[passage.which]
        if track.left:
            track.left -= 1
            if track.left == 0 and self.ended is None:
                self.ended = passage.which
                return True
        return False

    @property
    def outcome(self) -> Outcome:
        return Outcome(tuple(self.passages), self.ended)
