"""Bodies on two feet that are shaken along a line: at rest, set off, stop and set off again, the loads of their feet
changing with push and friction.

Both feet slide alike, so that the motion has one coordinate and a closed form between its events: with a push
P(t) = A sin(ωt + φ) at a height, friction f and the loads follow from balances of forces and of moments.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

import dalembert as da

from .case import Array, Case, ContactReference, Reference, Unsuited, away, drawn, outputs

G = 9.81
DURATION = 3.0
#: The first crossing of a function is looked for at so many instants of a leg.
GRID = 4001
#: Of the weight or of the speeds: what is closer to a limit than this is a knife edge.
EDGE = 1e-3


def case(seed: int) -> Case:
    return drawn(7, seed, _case)


@dataclass(frozen=True)
class Sled:
    """mass; arms: of its feet, to the left and to the right; height of the mass above the feet, and of the push above
    the mass. amplitude, rate, phase: of the push.
    """

    mass: float
    arms: tuple[float, float]
    height: float
    above: float
    mu: Array
    mu_static: Array
    amplitude: float
    rate: float
    phase: float

    def push(self, t: Array | float) -> Array | float:
        return self.amplitude * np.sin(self.rate * t + self.phase)

    def pushed(self, t: float, since: float) -> tuple[float, float]:
        """The integrals of the push over the time, and of these."""
        a, w, p = self.amplitude, self.rate, self.phase
        start = np.cos(w * since + p)
        once = a / w * (start - np.cos(w * t + p))
        twice = a / w * (start * (t - since) - (np.sin(w * t + p) - np.sin(w * since + p)) / w)
        return float(once), float(twice)

    def loads(self, friction: Array | float, push: Array | float) -> Array:
        left, right = self.arms
        second = (left * self.mass * G - self.height * friction + self.above * push) / (left + right)
        return np.array([self.mass * G - second, second])

    def slides(self, way: float, mu: Array) -> tuple[float, float]:
        """Friction of both feet that slide one way, f = c + d P: f = −way Σ μ N(f, P)."""
        left, right = self.arms
        lever = self.height / (left + right)
        share = 1.0 + way * lever * (mu[0] - mu[1])
        weight = mu[0] * self.mass * G + (mu[1] - mu[0]) * left * self.mass * G / (left + right)
        return -way * weight / share, -way * (mu[1] - mu[0]) * self.above / (left + right) / share

    def room(self, t: float) -> float:
        """By how much friction at its limit exceeds the push."""
        push = float(self.push(t))
        c, d = self.slides(float(np.sign(push)) or 1.0, self.mu_static)
        return abs(c + d * push) - abs(push)


def _case(rng: np.random.Generator) -> Case:
    mass, arms = 10 ** rng.uniform(-1, 1), tuple(rng.uniform(0.4, 1, 2).tolist())
    mu = rng.uniform(0.15, 0.6, 2)
    more = 1.0 if rng.random() < 0.4 else rng.uniform(1.05, 1.5)
    sled = Sled(
        mass, arms, rng.uniform(0.05, 0.3), rng.uniform(-0.05, 0.05), mu, more * mu,
        rng.uniform(0.4, 0.9) * mass * G, rng.uniform(2, 5), rng.uniform(0, 3),
    )  # fmt: skip
    speed = 0.0 if rng.random() < 0.6 else rng.uniform(-1, 1)
    one_sided = bool(rng.random() < 0.6)
    right = reference(sled, speed)
    feet = [
        (f"x {sign} {arm}*cos(a) + {sled.height}*sin(a)", f"y {sign} {arm}*sin(a) - {sled.height}*cos(a)")
        for sign, arm in zip("-+", arms, strict=True)
    ]
    push = f"{sled.amplitude}*sin({sled.rate}*t + {sled.phase})"
    system = da.System(
        "sled",
        coordinates="x y a",
        kinetic=f"m*(x'^2 + y'^2)/2 + {0.2 * mass}*a'^2/2",
        potential="m*g*y",
        forces={"x": push, "a": f"-({sled.above})*{push}"},
        constraints={f"foot{k}": f"{y} {'>=' if one_sided else '='} 0" for k, (_, y) in enumerate(feet)},
        nonideal=[
            da.Coulomb(f"foot{k}", float(sled.mu[k]), mu_static=float(sled.mu_static[k]), point=foot)
            for k, foot in enumerate(feet)
        ],
        parameters={"m": mass, "g": G},
        initial={"x": 0, "y": sled.height, "a": 0, "x'": speed, "y'": 0, "a'": 0},
    )
    kind = f"{'one' if one_sided else 'two'}-sided, {'from rest' if speed == 0 else 'thrown'}, static {more:.3g}"
    return Case(kind, system, DURATION, right)


def reference(sled: Sled, speed: float) -> Reference:
    """From event to event."""
    t = outputs(DURATION)
    x, v, friction = np.zeros(t.size), np.zeros(t.size), np.zeros(t.size)
    sticks = np.zeros(t.size, dtype=bool)
    now, place, events = 0.0, 0.0, list[float]()
    way = float(np.sign(speed))
    if way == 0.0 and abs(sled.room(0.0)) < EDGE * sled.mass * G:
        raise Unsuited
    way = way or (0.0 if sled.room(0.0) > 0 else float(np.sign(sled.push(0.0))))
    while now < DURATION:
        if way == 0.0:
            end = _first(sled.room, now)
            here = (t >= now) & (t <= end)
            x[here], friction[here], sticks[here] = place, -sled.push(t[here]), True
            now, way = end, float(np.sign(sled.push(end)))
        else:
            c, d = sled.slides(way, sled.mu)
            since, start, from_place, sign = now, speed, place, way

            def state(
                at: float, since: float = since, start: float = start, place: float = from_place, c: float = c,
                d: float = d,
            ) -> tuple[float, float]:  # fmt: skip
                once, twice = sled.pushed(at, since)
                moved = start * (at - since) + (c * (at - since) ** 2 / 2 + (1 + d) * twice) / sled.mass
                return place + moved, start + (c * (at - since) + (1 + d) * once) / sled.mass

            end = _first(lambda at, state=state, sign=sign: sign * state(at)[1], now)
            here = np.flatnonzero((t >= now) & (t <= end))
            for k in here:
                x[k], v[k] = state(float(t[k]))
            friction[here] = c + d * sled.push(t[here])
            place, speed, now = state(end)[0], 0.0, end
            if end < DURATION:
                left = sled.room(end)
                if abs(left) < EDGE * sled.mass * G:
                    raise Unsuited
                way = 0.0 if left > 0 else float(np.sign(sled.push(end)))
        if now < DURATION:
            if events and now - events[-1] < EDGE * DURATION:
                raise Unsuited
            events.append(now)
    loads = sled.loads(friction, sled.push(t))
    if loads.min() < EDGE * sled.mass * G:
        raise Unsuited  # a foot lifts off
    asked = away(t, tuple(events), DURATION)
    contacts = {}
    for k in range(2):
        rubs = np.where(asked & ~sticks, sled.mu[k] * loads[k], np.nan)  # at rest nobody knows how feet share it
        state_of = np.where(asked, np.where(sticks, "stick", "slip"), "")
        contacts[f"foot{k}"] = ContactReference(
            state_of, np.where(asked, loads[k], np.nan), rubs, float(sled.mu[k]), float(sled.mu_static[k])
        )
    columns = {"x": x, "x'": v, "y": np.full(t.size, sled.height), "y'": 0 * t, "a": 0 * t, "a'": 0 * t}
    return Reference(t, columns, 1e-9, contacts, {"x": np.where(asked, friction, np.nan)}, tuple(events))


def _first(of: Callable[[float], float], now: float) -> float:
    """When a function that is positive after now first falls to zero, or the end."""
    grid = np.linspace(now, DURATION, GRID)[1:]
    values = np.array([of(at) for at in grid.tolist()])
    below = np.flatnonzero(values < 0)
    if not below.size:
        return DURATION
    if below[0] == 0:
        raise Unsuited  # it turns at once
    return float(brentq(of, grid[below[0] - 1], grid[below[0]], xtol=1e-14))
