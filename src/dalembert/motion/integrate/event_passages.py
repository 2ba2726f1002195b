"""Where one event function passes zero inside a step. As runtime/events/locate.h and passages.h, name by name.

A change of sign between samples is a passage. Where g turns back without having changed its sign, its least distance
from zero is sought, and where that lies on the other side, there are two passages.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from dalembert.kernel.limits import EVENT_ALOOF, EVENT_FLAT
from dalembert.motion.integrate.event_samples import UNKNOWN, Sample


@dataclass
class Track:
    """What is known of one event between steps. sign: the last one g had, 0 where it stands at zero or has no value.

    waiting: g has just become zero, coming from `sign`; what it does next decides whether that was a passage.
    leaving: g has been zero since the start, and falling away from there counts.
    """

    sign: int = 0
    waiting: bool = False
    left: int = 0  # passages until the motion ends; 0: it never does
    leaving: bool = False


class Scan:
    """Event number `which` in one step; `look` gives all g and their signs at a share of it.

    `found` gets the share and the direction of each passage up to `until`. kink: it is one; `fell`: it did, from zero
    at the start.
    """

    def __init__(self, look: Callable[[float], Sample], which: int, age: float, until: float, kink: bool) -> None:
        self.look, self.which, self.until, self.kink, self.fell = look, which, until, kink, False
        self.resolution = 2.0**-52 * max(1.0, age)  # rounding of the time, as a share of the step
        self.found: list[tuple[float, int]] = []

    def g(self, x: float) -> float:
        return float(self.look(x).g[self.which])

    def sign(self, x: float) -> int:
        return self.look(x).signs[self.which]

    def changes(self, x: list[float], signs: list[int], away: list[int], track: Track) -> None:
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
            if s * values[i] > EVENT_ALOOF * (max(near) - min(near)):
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
            if abs(x - middle) <= 2 * EVENT_FLAT - (b - a) / 2:
                return None
            golden = True
            if abs(before) > EVENT_FLAT:
                r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
                p = (x - v) * q - (x - w) * r
                q = 2 * (q - r)
                p, q = (-p if q > 0 else p), abs(q)
                if abs(p) < abs(q * before / 2) and q * (a - x) < p < q * (b - x):
                    before, step, golden = step, p / q, False
                    if x + step - a < 2 * EVENT_FLAT or b - (x + step) < 2 * EVENT_FLAT:
                        step = math.copysign(EVENT_FLAT, middle - x)
            if golden:
                before = (a if x >= middle else b) - x
                step = 0.3819660112501051 * before
            u = x + (step if abs(step) >= EVENT_FLAT else math.copysign(EVENT_FLAT, step))
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

    def _leaves(self, a: float, b: float, away: int, track: Track) -> None:
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
