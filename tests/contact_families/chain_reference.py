"""Blocks on a moving belt, joined by springs and held by others, from event to event.

m_i ẍ_i = F_i + f_i with F = −K x + c + g t. Each block's load is its weight, and friction acts on its own block only,
so that every block decides for itself: it slips with f = −μ m g sign(ẋ − V) or rides with the belt while
|F_i| ≤ μ_s m_i g.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from .case import Array, ContactReference, Reference, Unsuited, away, outputs

G = 9.81
#: Decisions closer to their limit than this are knife edges, unless blocks are exactly alike.
MARGIN = 1e-4
#: Of the speeds: what stops with the block that an event is for stops with it.
TOGETHER = 1e-9


@dataclass(frozen=True)
class Chain:
    """mass (n,), stiffness K (n, n), pull (2, n): constant and growing with t, belt speed V, mu, mu_static (n,)."""

    mass: Array
    stiffness: Array
    pull: Array
    belt: float
    mu: Array
    mu_static: Array
    start: tuple[Array, Array]


def reference(chain: Chain, duration: float, names: list[str]) -> Reference:
    """Columns x1, y1, x1', y1', …; the error is the difference to a coarser computation."""
    times = outputs(duration)
    fine, coarse = (_Run(chain, duration, times, rtol) for rtol in (1e-12, 1e-10))
    n = chain.mass.size
    scales = [max(1e-3, float(np.abs(fine.y[:, part]).max())) for part in (slice(0, n), slice(n, None))]
    error = float((np.abs(fine.y - coarse.y) / np.repeat(scales, n)).max())
    asked = away(times, tuple(fine.events), duration)
    columns, contacts, pull = {}, {}, {}
    for k, name in enumerate(names):
        columns |= {f"x{k + 1}": fine.y[:, k], f"x{k + 1}'": fine.y[:, n + k]}
        columns |= {f"y{k + 1}": 0 * times, f"y{k + 1}'": 0 * times}
        weight = chain.mass[k] * G
        held = -np.array([fine.force(t, y[:n])[k] for t, y in zip(times, fine.y, strict=True)])
        sticks = fine.mode[:, k] == 0
        friction = np.where(asked, np.where(sticks, held, -fine.mode[:, k] * chain.mu[k] * weight), np.nan)
        pull[f"x{k + 1}"] = friction
        contacts[name] = ContactReference(
            np.where(asked, np.where(sticks, "stick", "slip"), ""),
            np.where(asked, weight, np.nan),
            np.abs(friction),
            float(chain.mu[k]),
            float(chain.mu_static[k]),
        )
    return Reference(times, columns, error, contacts, pull, tuple(fine.events))


class _Run:
    """y (T, 2n) and mode (T, n): 0 sticks, ±1 slips that way."""

    def __init__(self, chain: Chain, duration: float, times: Array, rtol: float) -> None:
        self.c, self.rtol, self.n = chain, rtol, chain.mass.size
        self.y, self.mode = np.zeros((times.size, 2 * self.n)), np.zeros((times.size, self.n), dtype=int)
        self.events: list[float] = [0.0]
        x, v = chain.start
        t, y = 0.0, np.concatenate([x, v])
        self.scale = max(1e-2, abs(chain.belt), float(np.abs(v).max()))
        modes = np.sign(v - chain.belt).astype(int)
        modes = self._decided(t, y, modes, np.abs(v - chain.belt) < TOGETHER)
        self.y[0], self.mode[0] = y, modes
        for _ in range(4000):
            t, y, modes = self._leg(t, y, modes, times, duration)
            if t >= duration:
                return
            self.events.append(float(t))
        raise Unsuited("too many events")

    def force(self, t: float, x: Array) -> Array:
        return self.c.pull[0] + self.c.pull[1] * t - self.c.stiffness @ x

    def _decided(self, t: float, y: Array, modes: Array, stopped: Array) -> Array:
        """The modes of blocks that move with the belt at this instant."""
        force, limit = self.force(t, y[: self.n]), self.c.mu_static * self.c.mass * G
        share = np.abs(force) / limit - 1
        if np.any(stopped & (np.abs(share) < MARGIN)):
            raise Unsuited("at the limit")
        return np.where(stopped, np.where(share < 0, 0, np.sign(force)), modes).astype(int)

    def _leg(self, t: float, y: Array, modes: Array, times: Array, duration: float):
        c, n = self.c, self.n
        slips = modes != 0
        limit = c.mu_static * c.mass * G

        def slope(t: float, y: Array) -> Array:
            a = np.where(slips, (self.force(t, y[:n]) - modes * c.mu * c.mass * G) / c.mass, 0.0)
            return np.concatenate([y[n:], a])

        def event(k: int):
            def left(t: float, y: Array) -> float:
                """What is left: of the speed over the belt of a block that slips, of the limit of one that sticks."""
                if slips[k]:
                    return modes[k] * (y[n + k] - c.belt)
                force = c.pull[0, k] + c.pull[1, k] * t - c.stiffness[k] @ y[:n]
                return 1 - abs(force) / limit[k]

            left.terminal, left.direction = True, -1
            return left

        y = y.copy()
        y[n:][~slips] = c.belt
        asked = times[(times > t) & (times <= duration)]
        events = [event(k) for k in range(n)]
        found = solve_ivp(slope, (t, duration), y, "DOP853", asked, events=events, rtol=self.rtol, atol=1e-13)
        for time, state in zip(found.t, np.transpose(found.y), strict=True):
            k = int(np.argmin(np.abs(times - time)))
            self.y[k], self.mode[k] = state, modes
        if found.status == 0:
            return duration, found.y[:, -1], modes
        which = next(k for k, at in enumerate(found.t_events) if at.size)
        t, y = found.t_events[which][0], found.y_events[which][0]
        ends = np.array([abs(g(t, y)) < TOGETHER * (self.scale if slips[k] else 1) for k, g in enumerate(events)])
        ends[which] = True
        stops, gives = ends & slips, ends & ~slips
        new = self._decided(t, y, modes, stops)
        # One that stops and slips on goes the other way: a stop is approached against friction.
        return t, y, np.where(gives, np.sign(self.force(t, y[:n])), new).astype(int)
