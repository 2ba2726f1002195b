"""Geodesics of Jacobi's metric between two points, on the constraints; see `path`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_bvp, solve_ivp
from scipy.interpolate import CubicSpline
from scipy.linalg import null_space

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import solve
from dalembert.motion.state.evaluation import Evaluation

Curve = Callable[[Array], Array]

# Collocation only has to come into the reach of Newton's method.
COLLOCATION = 1e-5
# Curves without cusps need some hundred nodes for that; one that needs more runs into a singularity.
NODES = 1000
# The push that holds a curve on its guess is taken away in steps of this, shorter ones where they are needed.
RELEASE = 0.25
# Shooting: relative local errors of the integration, and steps that are forward differences of it.
LOCAL = 1e-12
STEP = 1e-6
ITERATIONS = 15
# Integrations meet the end to 1e-13 or so; a long and unstable path may lose some digits of that.
MISS = 1e-9
# Outside Hill's region trial curves see this part of the kinetic energy at the ends, and so have a way back; while they
# are pushed, a larger one, because a guess is seldom so careful.
FLOOR = 1e-4
SOFT = 2e-2


class NoGeodesic(Exception):
    """No curve was found; the text says why."""


class Geodesic:
    """The boundary-value problem: a system at an energy, from `start` to `end`."""

    def __init__(self, evaluation: Evaluation, energy: float, start: Array, end: Array) -> None:
        self.evaluation, self.energy, self.start, self.end = evaluation, energy, start, end
        self.system, self.n = evaluation.system, start.size
        # Lengths by which coordinates are measured, so that no tolerance depends on their units.
        reach = np.maximum(np.abs(start), np.abs(end))
        self.scale = np.where(reach > 0, reach, max(float(reach.max()), 1e-300))
        self.reference = float(np.abs(self.kinetic(np.array([start, end]))).max())

    def at_energy(self, energy: float) -> Geodesic:
        return Geodesic(self.evaluation, energy, self.start, self.end)

    def kinetic(self, q: Array) -> Array:
        """E − V at points (K, n)."""
        V, _ = self.evaluation.energetics_along(q, np.zeros_like(q), np.zeros(len(q)))
        return np.asarray(self.energy - V)

    def rates(self, y: Array, floor: float = FLOOR) -> Array:
        """d/dτ of (q, u, t, S₀) at points; y: (2n or more, K). E − V counts as at least `floor` of that at the ends."""
        n = self.n
        q, u, none = y[:n].T, y[n : 2 * n].T, np.zeros(y.shape[1])
        M, Q, A, b = self.evaluation.dynamics_along(q, u, none)
        _, slope, _, _ = self.evaluation.dynamics_along(q, np.zeros_like(u), none)  # −∇V
        left = np.maximum(self.kinetic(q), floor * self.reference)
        momentum = np.einsum("kij,kj->ki", M, u)
        length2 = np.maximum(np.einsum("ki,ki->k", u, momentum), 0.0)
        along = np.einsum("ki,ki->k", u, slope)
        force = Q - slope + (length2[:, None] * slope - along[:, None] * momentum) / (2 * left[:, None])
        turn = solve(M, force, A, b, np.zeros_like(u)).acceleration
        root = np.sqrt(2 * left)
        return np.vstack([u.T, turn.T, np.sqrt(length2) / root, np.sqrt(length2) * root])

    def collocate(self, tau: Array, guess: Array, push: Curve | None = None, most: int = NODES) -> tuple[Array, Array]:
        """Nodes and (q, u) there, from a guess of the same shape. push: added to du/dτ. most: nodes it may take."""
        n, unit = self.n, np.tile(self.scale, 2)[:, None]

        def rates(tau: Array, y: Array) -> Array:
            found = self.rates(unit * y, FLOOR if push is None else SOFT)[: 2 * n]
            if push is not None:
                found[n:] += push(tau)
            return np.asarray(found / unit)

        def ends(first: Array, last: Array) -> Array:
            return np.concatenate([first[:n] - self.start / self.scale, last[:n] - self.end / self.scale])

        with np.errstate(all="ignore"):
            found = solve_bvp(rates, ends, tau, guess / unit, tol=COLLOCATION, max_nodes=most)
        if not found.success or not np.isfinite(found.y).all():
            raise NoGeodesic("collocation found no curve")
        return found.x, unit * found.y

    def follow(self, tau: Array, guess: Array) -> tuple[Array, Array]:
        """`collocate` without leaps to other geodesics: the push that makes the guess a solution is taken away in
        steps.
        """
        n = self.n
        curve = CubicSpline(tau, guess[:n], axis=1)
        bent, straight = curve.derivative(2), curve.derivative(1)

        def push(part: float) -> Curve:
            return lambda at: part * (bent(at) - self.rates(np.vstack([curve(at), straight(at)]), SOFT)[n : 2 * n])

        y = np.vstack([curve(tau), straight(tau)])
        part, step = 1.0, RELEASE
        while part > 0:
            rest = max(part - step, 0.0)
            try:
                tau, y = self.collocate(tau, y, push(rest) if rest else None)
                part = rest
            except NoGeodesic:
                step /= 2
                if step < RELEASE / 16:
                    raise
        return tau, y

    def shoot(self, curve: tuple[Array, Array], samples: int) -> tuple[Array, Array, Array, float, float]:
        """t, q, v at samples, S₀ and the relative miss of the end, for the geodesic near a curve."""
        n = self.n
        u = curve[1][n:, 0]
        _, _, A, _ = self.evaluation.dynamics(self.start, u, 0.0)
        free = null_space(A) if A.size else np.eye(n)  # directions that the constraints allow at the start
        u = free @ (free.T @ u)
        step = STEP * max(float(np.abs(u / self.scale).max()), 1e-300)
        free = self.scale[:, None] * np.linalg.qr(free / self.scale[:, None])[0]  # unit steps in these lengths
        best, least, stalled = None, np.inf, 0
        for _ in range(ITERATIONS):
            # The path and its neighbours, in one integration: neighbours give the slopes for Newton's method.
            all_ends = self._run(np.column_stack([u, u[:, None] + step * free]), samples)
            ends = all_ends[:n, :, -1]
            off = ends[:, 0] - self.end
            miss = float(np.abs(off / self.scale).max())
            if not np.isfinite(miss):
                break
            stalled = 0 if miss < least / 2 else stalled + 1
            if miss < least:
                best, least = all_ends[:, 0], miss
            if least <= LOCAL or stalled == 2:
                break
            slopes = (ends[:, 1:] - ends[:, :1]) / step
            u = u - free @ np.linalg.lstsq(slopes / self.scale[:, None], off / self.scale, rcond=None)[0]
        if best is None or not least <= MISS:
            raise NoGeodesic(f"the end is missed by {least:.1e} of the size of the coordinates")
        q, rates = best[:n].T, best[n : 2 * n].T
        left = self.kinetic(q)
        if not np.all(left > FLOOR * self.reference):
            raise NoGeodesic("the curve found leaves Hill's region, or touches its border")
        M, _, _, _ = self.evaluation.dynamics_along(q, rates, np.zeros(samples))
        pace = np.sqrt(2 * left / np.einsum("ki,kij,kj->k", rates, M, rates))
        return best[2 * n], q, rates * pace[:, None], float(best[2 * n + 1, -1]), least

    def _run(self, u: Array, samples: int) -> Array:
        """(q, u, t, S₀) along the curves that leave the start with the given rates (n, K): (2n + 2, K, samples)."""
        count = u.shape[1]
        first = np.vstack([np.repeat(self.start[:, None], count, axis=1), u, np.zeros((2, count))])
        sizes = np.concatenate([np.tile(self.scale, 2), np.abs(self.rates(first)[2 * self.n :]).max(axis=1)])
        with np.errstate(all="ignore"):
            found = solve_ivp(
                lambda _, y: self.rates(y.reshape(-1, count)).ravel(),
                (0.0, 1.0),
                first.ravel(),
                method="DOP853",
                t_eval=np.linspace(0.0, 1.0, samples),
                rtol=LOCAL,
                atol=LOCAL * np.repeat(sizes, count),
            )
        if not found.success or not np.isfinite(found.y).all():
            raise NoGeodesic("the path could not be integrated")
        return np.asarray(found.y).reshape(-1, count, samples)
