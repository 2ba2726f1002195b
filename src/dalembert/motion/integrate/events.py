"""Events of an integration, in plain Python: passages of functions g(q, q̇, t) through zero, found on the dense output.

The same method as runtime/events.h, name by name. Within an accepted step, g is sampled on the interpolant, each point
returned to the constraints, on a grid fine enough that half of the samples foretell the others. A change of sign is a
passage. Where g turns back without having changed its sign, its least distance from zero is sought, and where that lies
on the other side, there are two passages.

Kinks of a model (`model/kinks.py`) are looked for with them: the last functions, counted so that they are positive on
the side where the motion is. Falling from there ends the step, see `motion/integrate/kinks.py`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.model.system import System
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.state.evaluation import Evaluation

# A step covers at most about one period of the fastest motion in it: eight pieces show g where it follows the motion.
# Where g varies faster (the sine of an angle in free flight), the grid is doubled, up to sixteen periods in a step.
PIECES = 8
MOST_PIECES = 128
# Cubics through the even samples foretell the odd ones to this share of their range while a period of g has at least
# about eight samples: pieces then hold one extremum at most.
FORETOLD = 0.1
# Odd samples are moved by this share of a piece: on an even grid, a fast oscillation could pass for a slow one.
SHIFT = 0.118
# Below this, relative to what the state and its rounding contribute to it, g counts as zero: projection leaves as much.
NOISE = 32 * 2.0**-52
# The same at the start of a motion, where a state that was computed elsewhere is zero to fewer digits.
START_NOISE = 1e-12
# The interpolant lies off the constraints by about the tolerance. Where g is farther from zero than this many
# tolerances of what it is made of, the return to them, which costs as much as a stage of the step, cannot matter.
FAR = 1e3
# Where g stays this many times its own range away from zero, there is nothing to resolve.
ALOOF = 4.0
# A least distance from zero is flat there: closer than the root of rounding, no difference can be seen.
FLAT = 1e-8
UNKNOWN = 2  # the sign of g where it has no value


@dataclass(frozen=True)
class Passage:
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

    passages: tuple[Passage, ...] = ()
    ended: int | None = None

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


@dataclass
class _Track:
    """What is known of one event between steps. sign: the last one g had, 0 where it stands at zero or has no value.

    waiting: g has just become zero, coming from `sign`; what it does next decides whether that was a passage.
    leaving: g has been zero since the start, and falling away from there counts.
    """

    sign: int = 0
    waiting: bool = False
    left: int = 0  # passages until the motion ends; 0: it never does
    leaving: bool = False


class Watch:
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
        self.evaluation, self.sizes, self.far, self.settle = evaluation, sizes, FAR * settings.rtol, settle
        self.multipliers = multipliers if evaluation.graph.events_use_multipliers else None
        self.events = evaluation.system.events
        self.sides = [] if sides is None else sides
        self.of_user = len(self.events) - len(self.sides)
        self.tracks = [
            _Track(left=left, leaving=leaving)
            for left, leaving in zip(settings.passages_left(self.events), settings.from_zero(self.events), strict=True)
        ]
        self.passages: list[Passage] = []
        self.ended: int | None = None
        self._last: _Sample  # at the last accepted state
        self._found: list[tuple[float, int, int]] | None = None  # in a step that was looked through for kinks already

    def _look(self, t: float, y: Array, noise: float = NOISE) -> _Sample:
        multipliers = None if self.multipliers is None else self.multipliers(t, y)
        g, scale = self.evaluation.events(y, t, self.sizes, multipliers)
        if self.sides:
            g, own = g.copy(), g[self.of_user :]
            g[self.of_user :] = np.where(self.sides, np.multiply(self.sides, own), -np.abs(own))
        level = np.where(np.isfinite(scale), noise * scale, 0.0)
        return _Sample(g, level, [_sign(float(value), float(zero)) for value, zero in zip(g, level, strict=True)])

    def start(self, t: float, y: Array) -> None:
        self._last = self._look(t, y, START_NOISE)
        for k, (track, sign) in enumerate(zip(self.tracks, self._last.signs, strict=True)):
            track.sign = 0 if sign == UNKNOWN else sign
            track.leaving = (track.leaving or k >= self.of_user) and sign == 0

    def turned(self, t: float, y: Array) -> None:
        """Go on from a state at which sides of kinks have changed; what is known of the events stays."""
        self._last, here = self._look(t, y), self._look(t, y, START_NOISE)
        for k in range(self.of_user, len(self.tracks)):
            sign = self._last.signs[k] = here.signs[k]
            self.tracks[k] = _Track(0 if sign == UNKNOWN else sign, leaving=sign == 0)

    @property
    def leaving(self) -> list[int]:
        """The kinks that have been at zero since the motion started, or since sides changed."""
        return [k for k, track in enumerate(self.tracks[self.of_user :]) if track.leaving]

    def known(self) -> Any:
        """What is known now, for `back_to`."""
        return self._last, [replace(track) for track in self.tracks], len(self.passages)

    def back_to(self, known: Any) -> None:
        self._last, tracks, count = known
        self.tracks = [replace(track) for track in tracks]
        del self.passages[count:]
        self._found = None

    def turn(self, t: float, y: Array, t_new: float, y_new: Array, at: Callable[[float], Array]) -> Turn | None:
        """The first kink that is passed in an accepted step, of which nothing else is then noted."""
        known = self.known()
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

    def step(self, t: float, y: Array, t_new: float, y_new: Array, at: Callable[[float], Array]) -> Passage | None:
        """Look through an accepted step with interpolant `at(time)`. Returns the passage that ends the motion."""
        found, self._found = self._found, None
        state = _states(t, y, t_new, y_new, at, self.settle)
        if found is None:
            found, _, state = self._scan(t, y, t_new, y_new, at)
        for x, k, direction in found:
            time = t_new if x == 1.0 else t + x * (t_new - t)
            if k < self.of_user and self._record(Passage(k, time, direction, state(x).copy())):
                return self.passages[-1]
        return None

    def _scan(
        self, t: float, y: Array, t_new: float, y_new: Array, at: Callable[[float], Array]
    ) -> tuple[list[tuple[float, int, int]], set[int], Callable[[float], Array]]:
        """All passages in a step that count, in order: its share, which, direction. Then which of them fell from where
        they had been at zero, and the states at shares of the step.
        """
        h, state = t_new - t, _states(t, y, t_new, y_new, at, self.settle)

        def time(x: float) -> float:
            return t_new if x == 1.0 else t + x * h

        def look(x: float) -> _Sample:
            try:
                if 0.0 < x < 1.0 and (raw := self._look(time(x), at(time(x)))).far(self.far / NOISE):
                    return raw
                return self._look(time(x), state(x))
            except (DalembertError, np.linalg.LinAlgError):
                count = len(self.events)
                return _Sample(np.full(count, np.nan), np.zeros(count), [UNKNOWN] * count)

        pieces = PIECES
        while True:
            places = [(i + SHIFT * (i % 2)) / pieces for i in range(pieces + 1)]
            samples = [self._last, *(look(x) for x in places[1:])]
            if pieces == MOST_PIECES or _resolved(samples):
                break
            pieces *= 2
        found: list[tuple[float, int, int]] = []
        fallen: set[int] = set()
        until = 1.0  # what comes after a passage that ends the motion need not be found, except kinks before it
        for k, track in enumerate(self.tracks):
            kink, left = k >= self.of_user, track.left
            scan = _Scan(look, k, abs(t_new) / h, 1.0 if kink else until, kink)
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
                self._record(Passage(k, t, -track.sign, y.copy()))

    def _record(self, passage: Passage) -> bool:
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


@dataclass(frozen=True)
class _Sample:
    """All event functions at one state, below which level each counts as zero, and their signs."""

    g: Array
    level: Array
    signs: list[int]

    def far(self, levels: float) -> bool:
        """Whether all functions are farther from zero than so many levels."""
        return bool((np.abs(self.g) > levels * self.level).all())

    def away(self, which: int) -> int:
        """The sign of a function that began at zero: it has left where that is seen in the same way."""
        return _sign(float(self.g[which]), float(self.level[which]) * (START_NOISE / NOISE))


def _states(
    t: float,
    y: Array,
    t_new: float,
    y_new: Array,
    at: Callable[[float], Array],
    settle: Callable[[float, Array], Array],
) -> Callable[[float], Array]:
    """The states at shares of a step, on the constraints."""

    def state(x: float) -> Array:
        time = t + x * (t_new - t)
        return y if x == 0.0 else y_new if x == 1.0 else settle(time, at(time))

    return state


def _resolved(samples: list[_Sample]) -> bool:
    """Whether cubics through the even samples foretell the odd ones."""
    g = np.array([sample.g for sample in samples])
    last = len(samples) - 1
    for i in range(1, last, 2):
        start = min(max(i - 3, 0), last - 6)
        u = (i + SHIFT - start) / 2
        a, b, c, d = g[start : start + 7 : 2]
        foretold = (u * (u - 1) * (u - 2) * d - (u - 1) * (u - 2) * (u - 3) * a) / 6
        foretold += (u * (u - 2) * (u - 3) * b - u * (u - 1) * (u - 3) * c) / 2
        near = np.array([a, b, c, d, g[i]])
        span = near.max(axis=0) - near.min(axis=0)
        # Written so that a function without a value somewhere is left as it is.
        missed = np.abs(foretold - g[i]) > FORETOLD * span + 4 * samples[i].level
        if (missed & (np.abs(near).min(axis=0) < ALOOF * span)).any():
            return False
    return True


class _Scan:
    """Event number `which` in one step; `look` gives all g and their signs at a share of it.

    `found` gets the share and the direction of each passage up to `until`. kink: it is one; `fell`: it did, from zero
    at the start.
    """

    def __init__(self, look: Callable[[float], _Sample], which: int, age: float, until: float, kink: bool) -> None:
        self.look, self.which, self.until, self.kink, self.fell = look, which, until, kink, False
        self.resolution = 2.0**-52 * max(1.0, age)  # rounding of the time, as a share of the step
        self.found: list[tuple[float, int]] = []

    def g(self, x: float) -> float:
        return float(self.look(x).g[self.which])

    def sign(self, x: float) -> int:
        return self.look(x).signs[self.which]

    def changes(self, x: list[float], signs: list[int], away: list[int], track: _Track) -> None:
        """Passages that the signs at the samples show; `track` goes from the step's start to its end. away: the signs
        of a function that began at zero.
        """
        for i in range(1, len(x)):
            if x[max(i - 2, 0)] > self.until:  # a passage may be found one sample late
                return
            now, was = signs[i], track.sign
            if track.leaving and away[i] == 0:
                continue
            if track.leaving and self.kink:
                self._leaves(x[i - 1], x[i], away[i], track)
                continue
            if track.leaving and away[i] == -1:
                self.found.append((self.departure(x[i - 1], x[i]), -1))
                track.sign, track.leaving = -1, False
                continue
            track.leaving = False
            if now == UNKNOWN:
                track.sign, track.waiting = 0, False
            elif track.waiting:
                track.waiting = False
                if now == -was:
                    self.found.append((0.0 if i == 1 else self.root(x[i - 2], x[i], now), now))
                    track.sign = now
                elif now == 0:
                    self.found.append((0.0 if i == 1 else self.arrival(x[i - 2], x[i - 1], was), -was))
                    track.sign = 0
            elif was == 0:
                if now != 0:
                    # It leaves zero, which is no passage; it may have left to the other side and come back.
                    early = x[i - 1] + (x[i] - x[i - 1]) / 64
                    if signs[i - 1] == 0 and self.sign(early) == -now:
                        self.found.append((self.root(early, x[i], now), now))
                    track.sign = now
            elif now == 0:
                track.waiting = True
            elif now == -was:
                self.found.append((self.root(x[i - 1], x[i], now), now))
                track.sign = now

    def turns(self, x: list[float], values: list[float], signs: list[int]) -> None:
        """Pairs of passages between samples of one sign, where g turns back in between."""
        last = len(x) - 1
        for i, s in enumerate(signs):
            if x[max(i - 1, 0)] > self.until:
                return
            if s not in (-1, 1) or (i > 0 and signs[i - 1] != s) or (i < last and signs[i + 1] != s):
                continue
            if (i > 0 and s * values[i] > s * values[i - 1]) or (i < last and s * values[i] >= s * values[i + 1]):
                continue
            first = min(max(i - 1, 0), last - 2)  # three of them: between two at an end it may fall and rise again
            near = values[first : first + 3]
            if s * values[i] > ALOOF * (max(near) - min(near)):
                continue  # as a function does that is constant but for rounding
            # At the ends of the step, the slope says whether it turns inside.
            middle = x[1] / 1024 if i == 0 else 1.0 - (1.0 - x[last - 1]) / 1024 if i == last else x[i]
            value = s * self.g(middle) if i in (0, last) else s * values[i]
            if i in (0, last) and not value < s * values[i]:
                continue
            left, right = x[max(i - 1, 0)], x[min(i + 1, last)]
            beyond = self.beyond(left, middle, right, value, s)
            if beyond is not None:
                self.found += [(self.root(left, beyond, -s), -s), (self.root(beyond, right, s), s)]

    def beyond(self, a: float, x: float, b: float, fx: float, s: int) -> float | None:
        """Where s·g, which has its least value between a and b, is negative; None where it is nowhere.

        Brent's minimisation (parabolas, guarded by golden sections), which ends as soon as the sign changes.
        """
        w = v = x
        fw = fv = fx
        step = before = 0.0
        for _ in range(60):
            middle = (a + b) / 2
            if abs(x - middle) <= 2 * FLAT - (b - a) / 2:
                return None
            golden = True
            if abs(before) > FLAT:
                r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
                p = (x - v) * q - (x - w) * r
                q = 2 * (q - r)
                p, q = (-p if q > 0 else p), abs(q)
                if abs(p) < abs(q * before / 2) and q * (a - x) < p < q * (b - x):
                    before, step, golden = step, p / q, False
                    if x + step - a < 2 * FLAT or b - (x + step) < 2 * FLAT:
                        step = math.copysign(FLAT, middle - x)
            if golden:
                before = (a if x >= middle else b) - x
                step = 0.3819660112501051 * before
            u = x + (step if abs(step) >= FLAT else math.copysign(FLAT, step))
            if self.sign(u) == -s:
                return u
            fu = s * self.g(u)
            if fu <= fx:
                a, b = (a, x) if u < x else (x, b)
                v, w, x, fv, fw, fx = w, x, u, fw, fx, fu
            else:
                a, b = (u, b) if u < x else (a, u)
                if fu <= fw or w == x:
                    v, w, fv, fw = w, u, fw, fu
                elif fu <= fv or v in (x, w):
                    v, fv = u, fu
        return None

    def root(self, a: float, b: float, sign: int) -> float:
        """Where g, of opposite signs at a and b, has just become zero or of the given sign, that at b.

        Chandrupatla's method: inverse quadratic interpolation where it is safe, halving otherwise.
        """
        x1, x2, f1, f2 = b, a, self.g(b), self.g(a)
        part = 0.5
        for _ in range(120):
            x = x1 + part * (x2 - x1)
            f = self.g(x)
            if (f > 0) == (f1 > 0):
                x3, f3 = x1, f1
            else:
                x3, f3, x2, f2 = x2, f2, x1, f1
            x1, f1 = x, f
            if f1 == 0.0:
                return x1
            least = self.resolution / abs(x2 - x1)
            if least > 0.5:
                break
            part = 0.5
            if f3 != f2 and f3 != f1:
                xi, phi = (x1 - x2) / (x3 - x2), (f1 - f2) / (f3 - f2)
                if phi**2 < xi and (1 - phi) ** 2 < 1 - xi:
                    part = f1 / (f2 - f1) * f3 / (f2 - f3)
                    part += (x3 - x1) / (x2 - x1) * f1 / (f3 - f1) * f2 / (f3 - f2)
            part = min(max(part, least), 1 - least)
        return x1 if (f1 > 0) == (sign > 0) else x2

    def arrival(self, a: float, b: float, sign: int) -> float:
        """Where g, of a sign at a, has become zero, as it is at b."""
        return self._halved(a, b, lambda x: self.sign(x) == sign)

    def departure(self, a: float, b: float) -> float:
        """Where g, zero since the start at a, has fallen below it, as it is at b."""
        return self._halved(a, b, lambda x: self.look(x).away(self.which) != -1)

    def _leaves(self, a: float, b: float, away: int, track: _Track) -> None:
        """A kink whose function was zero until a, and is `away` at b. It may have left to one side and come back."""
        early = a + (b - a) / 64
        first = self.look(early).away(self.which)
        track.sign, track.leaving = (0 if away == UNKNOWN else away), False
        if first == -1 or (first != 1 and away == -1):
            self.found.append((b, -1))
            self.fell = True
        elif first == 1 and away == -1:
            self.found.append((self.root(early, b, -1), -1))

    def _halved(self, a: float, b: float, before: Callable[[float], bool]) -> float:
        while b - a > self.resolution:
            x = (a + b) / 2
            if not a < x < b:
                break
            a, b = (x, b) if before(x) else (a, x)
        return b


def _sign(value: float, level: float) -> int:
    if not math.isfinite(value):
        return UNKNOWN
    return 0 if abs(value) <= level else 1 if value > 0 else -1
