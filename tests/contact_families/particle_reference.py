"""A particle on a surface φ(r) = 0 with dry friction, from event to event (no smoothing, no mode solver).

m a = F(t) + N n − μ|N| v/|v| with n = ∇φ/|∇φ| and N = −(m vᵀHv/|∇φ| + n·F), H the second derivatives of φ. At rest:
tangential part of F against the cone μ_s|N|. One-sided surfaces push only (N ≥ 0 along n) and let go for good.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from .case import Array, ContactReference, Reference, Unsuited, away, outputs

#: Decisions closer to their limit than this, in parts of it, are knife edges.
MARGIN = 1e-3
#: Evaluations of an integration: most take some thousand.
MOST = 50_000


@dataclass(frozen=True)
class Particle:
    """gradient (3,) and hessian (3, 3) of φ at r; force (3,) at t, gravity included."""

    gradient: Callable[[Array], Array]
    hessian: Callable[[Array], Array]
    force: Callable[[float], Array]
    m: float
    mu: float
    mu_static: float
    one_sided: bool
    start: tuple[Array, Array]


@dataclass(frozen=True)
class Accuracy:
    """rtol of the integration; the speed, in units of one, at which the rest of a stop is extrapolated; the time that
    a gentle start (from a force that grows through its limit) takes by its series.
    """

    rtol: float
    stop: float
    gentle: float


FINE = Accuracy(1e-12, 1e-6, 1e-3)
COARSE = Accuracy(1e-10, 4e-6, 2e-3)


def reference(particle: Particle, duration: float, name: str) -> Reference:
    """Columns x, y, z, x', y', z' and the contact `name`; the error is the difference to a coarser computation."""
    fine, coarse = (_Run(particle, duration, accuracy) for accuracy in (FINE, COARSE))
    times = outputs(duration)
    asked = away(times, tuple(fine.events), duration)
    scales = [max(1e-3, float(np.abs(fine.y[:, part]).max())) for part in (slice(0, 3), slice(3, 6))]
    error = max(
        float(np.abs(fine.y[:, part] - coarse.y[:, part]).max()) / scale
        for part, scale in zip((slice(0, 3), slice(3, 6)), scales, strict=True)
    )
    forces = [fine.forces(t, y, state) for t, y, state in zip(times, fine.y, fine.state, strict=True)]
    normal = np.where(asked, [N for N, _ in forces], np.nan)
    pull = np.where(asked[:, None], [f for _, f in forces], np.nan)
    friction = np.linalg.norm(pull, axis=1)
    contact = ContactReference(np.where(asked, fine.state, ""), normal, friction, particle.mu, particle.mu_static)
    names = ["x", "y", "z", "x'", "y'", "z'"]
    return Reference(
        times,
        dict(zip(names, fine.y.T, strict=True)),
        error,
        {name: contact},
        dict(zip("xyz", pull.T, strict=True)),
        tuple(fine.events),
    )


class _Run:
    """The motion at the output times: y (T, 6), state (T,), events."""

    def __init__(self, particle: Particle, duration: float, accuracy: Accuracy) -> None:
        self.p, self.duration, self.accuracy = particle, duration, accuracy
        self.times = outputs(duration)
        self.y = np.full((self.times.size, 6), np.nan)
        self.state = np.full(self.times.size, "slip", dtype="<U5")
        self.events: list[float] = []
        r, v = particle.start
        t, state = 0.0, np.concatenate([r, v])
        self.y[0] = state
        if not np.any(v):
            self.events.append(0.0)
        mode = "slip" if np.any(v) else "rest"
        for _ in range(60):
            if t >= duration:
                return
            t, state, mode = {"slip": self._slip, "rest": self._rest, "open": self._fly}[mode](t, state)
            if t < duration:
                self.events.append(float(t))
        raise Unsuited("too many events")

    def reaction(self, t: float, r: Array, v: Array) -> tuple[Array, float]:
        gradient = self.p.gradient(r)
        length = np.sqrt(gradient @ gradient)
        n = gradient / length
        return n, -self.p.m * (v @ self.p.hessian(r) @ v) / length - n @ self.p.force(t)

    def acceleration(self, t: float, y: Array) -> Array:
        v = y[3:]
        n, N = self.reaction(t, y[:3], v)
        return (self.p.force(t) + N * n - self.p.mu * abs(N) * v / np.sqrt(v @ v)) / self.p.m

    def forces(self, t: float, y: Array, state: str) -> tuple[float, Array]:
        """|N| and the friction force."""
        if state == "open":
            return 0.0, np.zeros(3)
        n, N = self.reaction(t, y[:3], y[3:])
        if state == "slip":
            speed = np.linalg.norm(y[3:])
            return abs(N), -self.p.mu * abs(N) * y[3:] / speed if speed else np.full(3, np.nan)
        F = self.p.force(t)
        return abs(N), (F @ n) * n - F

    def _integrate(self, t: float, y: Array, slope, events, mode: str):
        asked = self.times[self.times > t]
        calls = count()

        def counted(t: float, y: Array) -> Array:
            if next(calls) > MOST:
                raise Unsuited("too many evaluations")  # through the apex of a cone
            return slope(t, y)

        found = solve_ivp(
            counted, (t, self.duration), y, "DOP853", asked, events=events, rtol=self.accuracy.rtol, atol=1e-13
        )
        if found.status < 0:
            raise Unsuited(found.message)
        self._keep(found.t, np.transpose(found.y), mode)
        which = next((k for k, times in enumerate(found.t_events or ()) if times.size), None)
        if which is None:
            return self.duration, found.y[:, -1], None
        return found.t_events[which][0], found.y_events[which][0], which

    def _keep(self, times: Array, y: Array, mode: str) -> None:
        for time, state in zip(times, y, strict=True):
            k = int(np.argmin(np.abs(self.times - time)))
            self.y[k], self.state[k] = state, mode

    def _slip(self, t: float, y: Array):
        limit = self.accuracy.stop
        sign = np.sign(self.reaction(t, y[:3], y[3:])[1])

        def stopped(_, y):
            return np.sqrt(y[3:] @ y[3:]) - limit

        def unloaded(t, y):
            return sign * self.reaction(t, y[:3], y[3:])[1] + 1e-12

        for event in (stopped, unloaded):
            event.terminal, event.direction = True, -1
        t, y, which = self._integrate(
            t, y, lambda t, y: np.concatenate([y[3:], self.acceleration(t, y)]), [stopped, unloaded], "slip"
        )
        if which == 1:
            return t, y, "open" if self.p.one_sided else "slip"
        if which is None:
            return t, y, "slip"
        speed = float(np.linalg.norm(y[3:]))
        rate = -self.acceleration(t, y) @ y[3:] / speed
        if rate <= 0:
            raise Unsuited("does not slow down at a stop")
        rest = np.concatenate([y[:3] + y[3:] * speed / rate / 2, np.zeros(3)])
        later = self.times[(self.times > t) & (self.times <= t + speed / rate)]
        self._keep(later, [rest] * later.size, "stick")
        return t + speed / rate, rest, "rest"

    def _rest(self, t: float, y: Array):
        def excess(time: float) -> float:
            """Tangential force over its limit, less one."""
            n, N = self.reaction(time, y[:3], np.zeros(3))
            F = self.p.force(time)
            return float(np.linalg.norm(F - (F @ n) * n)) / (self.p.mu_static * abs(N)) - 1

        y = np.concatenate([y[:3], np.zeros(3)])
        if self.p.one_sided and self.reaction(t, y[:3], y[3:])[1] < 0:
            raise Unsuited("not held")
        if abs(excess(t)) < MARGIN:
            raise Unsuited("at the limit")
        if excess(t) > 0:
            return self._start(t, y, sudden=True)
        grid = np.linspace(t, self.duration, 2001)
        values = np.array([excess(time) for time in grid])
        above = np.flatnonzero(values > 0)
        end = self.duration if not above.size else brentq(excess, grid[above[0] - 1], grid[above[0]], xtol=1e-14)
        if values.max() < 0 and values.max() > -MARGIN:
            raise Unsuited("nearly gives way")
        held = self.times[(self.times > t) & (self.times <= end)]
        self._keep(held, [y] * held.size, "stick")
        if not above.size:
            return self.duration, y, "rest"
        self.events.append(end)
        return self._start(end, y, sudden=self.p.mu_static > self.p.mu * (1 + MARGIN))

    def _start(self, t: float, y: Array, sudden: bool):
        """From rest to a small speed along the tangential force: by a jump of the acceleration, or, where the force
        grows through its limit and μ_s = μ, with an acceleration k t that begins at zero.
        """

        def drive(time: float) -> tuple[float, Array]:
            n, N = self.reaction(time, y[:3], np.zeros(3))
            F = self.p.force(time)
            along = F - (F @ n) * n
            size = float(np.linalg.norm(along))
            return (size - self.p.mu * abs(N)) / self.p.m, along / size

        step = 1e-7 if sudden else self.accuracy.gentle
        if t + step >= self.duration:
            raise Unsuited("starts at the very end")
        a, way = drive(t + step)
        if a <= 0:
            raise Unsuited("does not start")
        shares = (1 / 2, 1) if sudden else (1 / 6, 1 / 2)  # a = const: a t²/2, a t; a = k t: k t³/6, k t²/2
        later = np.concatenate([y[:3] + shares[0] * a * step**2 * way, shares[1] * a * step * way])
        between = self.times[(self.times > t) & (self.times <= t + step)]
        self._keep(between, [later] * between.size, "slip")
        return t + step, later, "slip"

    def _fly(self, t: float, y: Array):
        t, y, _ = self._integrate(t, y, lambda t, y: np.concatenate([y[3:], self.p.force(t) / self.p.m]), None, "open")
        return t, y, "open"
