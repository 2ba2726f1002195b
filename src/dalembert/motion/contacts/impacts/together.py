"""Several contacts in one blow. What their order within it would be is not known: the velocities after it decide.

newton (Moreau 1988): u_N⁺ + e u_N⁻ ≥ 0 where nothing pushes, equal where it does; friction by u_T⁺.
poisson (Pfeiffer and Glocker 1996): compression ends with u_N ≥ 0; restitution adds at least e times its impulse.
stronge: as poisson, with ratios of the impulses for which each contact gives back e² of the work it took.

Where a law has no solution, contacts that are braced against each other by friction give nothing back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.errors import InconsistentConstraints
from dalembert.motion.contacts.impacts.blow import NEWTON, STRONGE
from dalembert.motion.contacts.impacts.braced import braced
from dalembert.motion.contacts.impacts.impulses import Problem, impulses, places_of

# An energy that grows by less than this share of what is exchanged is rounding.
GROWS = 1e-12
# The ratios of Stronge's law are found to this, in at most so many passes, each ratio by itself; then in so many steps
# of Newton's method, with slopes over this share of them: the works are quadratic in them between kinks.
RATIO, MOST_RATIOS = 1e-12, 60
MOST_STEPS, NEAR = 40, 1e-6
# Halvings of the restitution that keeps the energy: to rounding.
HALVINGS = 50


@dataclass(frozen=True)
class Shock:
    """compression, total: the impulses (R,) when compression ends, and at the end. e (K,): the restitutions that held;
    limited: some are less than they should be, because they would have made energy, or no impulses were left.
    """

    compression: Array
    total: Array
    e: Array
    limited: bool


def together(G: Array, u: Array, sizes: Sequence[int], mu: Array, mu_static: Array, e: Array, law: str) -> Shock:
    """The impulses of contacts with so many tangents each, that meet with u (R,)."""
    problem = _Rough(G, u, sizes, mu, mu_static)
    by_law = problem.by_law(law)

    held, limited = e, False
    try:
        compression, total = by_law(e)
    except InconsistentConstraints:
        held, limited = np.where(braced(G, problem.places, problem.mu_static), 0.0, e), True
        if (held == e).all():
            raise
        compression, total = by_law(held)
    if law == STRONGE and not limited:
        silent = problem.gives_nothing(compression, total) & (e > 0.0)
        silent &= braced(G, problem.places, problem.mu_static) if silent.any() else silent
        if silent.any():
            held, limited = np.where(silent, 0.0, e), True
            compression, total = by_law(held)
    if not _grows(G, u, total):
        return Shock(compression, total, held, limited)
    low, high = 0.0, 1.0  # without restitution energy does not grow
    for _ in range(HALVINGS):
        share = (low + high) / 2
        grows = _grows(G, u, by_law(share * held)[1])
        low, high = (low, share) if grows else (share, high)
    return Shock(*by_law(low * held), low * held, True)


def makes_energy(G: Array, u: Array, sizes: Sequence[int], mu: Array, mu_static: Array, e: Array, law: str) -> bool:
    """Whether the blow of such contacts with these restitutions would make energy."""
    return _grows(G, u, _Rough(G, u, sizes, mu, mu_static).by_law(law)(e)[1])


def _grows(G: Array, u: Array, p: Array) -> bool:
    change = G @ p
    return float(p @ (u + change / 2)) > GROWS * float(np.abs(p) @ np.abs(change))


def impulses_that_hold(G: Array, b: Array, sizes: Sequence[int], mu: Array, mu_static: Array) -> Array:
    """The impulses of contacts with so many tangents each, after which none approaches: with velocities b without them,
    and friction that holds what it can.
    """
    return _Rough(G, b, sizes, mu, mu_static).holding(b, np.zeros(len(sizes)))


class _Rough:
    """Contacts that hold up to μ_s and rub with μ."""

    def __init__(self, G: Array, u: Array, sizes: Sequence[int], mu: Array, mu_static: Array) -> None:
        self.G, self.u, self.mu, self.sizes = G, u, mu, sizes
        self.mu_static = np.maximum(mu, mu_static)
        self.places = places_of(sizes)
        self.normals = [at.start for at in self.places]

    def by_law(self, law: str) -> Callable[[Array], tuple[Array, Array]]:
        """The impulses when compression ends and at the end, for restitutions of the contacts."""
        return {NEWTON: self.newton, STRONGE: self.stronge}.get(law, self.poisson)

    def newton(self, e: Array) -> tuple[Array, Array]:
        b = self.u.copy()
        b[self.normals] += e * np.minimum(self.u[self.normals], 0.0)
        total = self.holding(b, np.zeros(e.size))
        return total, total

    def gives_nothing(self, compression: Array, total: Array) -> NDArray[np.bool_]:
        """Which contacts push while what was pressed goes back, and give back no work but rounding."""
        at, middle, after = self.normals, self.u + self.G @ compression, self.u + self.G @ total
        taken = -compression[at] * (self.u[at] + middle[at]) / 2
        back = (total - compression)[at] * (middle[at] + after[at]) / 2
        return np.asarray((taken > 0.0) & (total[at] > compression[at]) & (back <= GROWS * taken))

    def poisson(self, ratios: Array) -> tuple[Array, Array]:
        compression = self.holding(self.u, np.zeros(ratios.size))
        return compression, self._restored(compression, ratios)

    def stronge(self, e: Array) -> tuple[Array, Array]:
        found = self._stronge(e)
        if found is None and (self.mu_static > self.mu).any():
            # Friction that jumps where a contact begins to slip may jump over what is wanted. What holds inside the
            # cone of sliding friction obeys the law as well.
            found = _Rough(self.G, self.u, self.sizes, self.mu, self.mu)._stronge(e)
        if found is None:
            raise InconsistentConstraints(
                'no restitution gives back e² of the work of each contact that meets here at once (impact = "stronge"):'
                ' impacts = "sequence" takes them one after the other'
            )
        return found

    def _stronge(self, e: Array) -> tuple[Array, Array] | None:
        compression = self.holding(self.u, np.zeros(e.size))
        middle = self.u + self.G @ compression
        at = self.normals
        taken = -compression[at] * (self.u[at] + middle[at]) / 2
        working = (taken > 0.0) & (e > 0.0)
        wanted = e**2 * taken
        size = float(wanted[working].sum())

        def given_back(ratios: Array) -> tuple[Array, Array]:
            total = self._restored(compression, ratios)
            after = self.u + self.G @ total
            return total, (total - compression)[at] * (middle[at] + after[at]) / 2

        ratios = np.where(working, e, 0.0)
        best, least = ratios, np.inf
        for _ in range(MOST_RATIOS):
            total, back = given_back(ratios)
            good = working & (back > GROWS * taken)
            change = np.ones(e.size)
            change[good] = np.sqrt(wanted[good] / back[good])
            far = float(np.abs(change - 1.0).max())
            if far <= RATIO:
                return compression, total
            if far < least and (good == working).all():
                best, least = ratios, far
            ratios = ratios * np.clip(change, 0.5, 2.0)
        # Contacts that give each other back what they took swing: all together by Newton's method.
        ratios, which = best, np.flatnonzero(working)
        total, back = given_back(ratios)
        off = (back - wanted)[which] / size
        for _ in range(MOST_STEPS):
            if float(np.abs(off).max()) <= RATIO:
                return compression, total
            slope = np.zeros((which.size, which.size))
            for j, k in enumerate(which):
                moved = ratios.copy()
                moved[k] *= 1.0 + NEAR
                slope[:, j] = ((given_back(moved)[1] - wanted)[which] / size - off) / NEAR
            step = np.linalg.lstsq(slope, -off, rcond=1e-12)[0]
            for share in (1.0, 0.5, 0.25, 0.1, 0.03, 0.01):
                moved = ratios.copy()
                moved[which] *= np.clip(1.0 + share * step, 0.5, 2.0)
                there, back = given_back(moved)
                closer = (back - wanted)[which] / size
                if np.abs(closer).max() < np.abs(off).max():
                    break
            else:
                return None
            ratios, total, off = moved, there, closer
        return None

    def _restored(self, compression: Array, ratios: Array) -> Array:
        given = np.zeros(self.u.size)
        given[self.normals] = ratios * compression[self.normals]
        if not given.any():
            return compression  # and velocities of rounding are left, of which nothing can be made
        more = self.holding(self.u + self.G @ (compression + given), given[self.normals])
        return np.asarray(compression + given + more)

    def holding(self, b: Array, given: Array) -> Array:
        """Static friction holds what it can hold; what it cannot slips with μ."""
        mu = self.mu_static.copy()
        for _ in range(mu.size + 1):
            p = impulses(Problem(self.G, b, self.places, mu, given))
            slips = np.array([self._slips(k, p, given, mu) for k in range(mu.size)])
            less = slips & (mu > self.mu)
            if not less.any():
                break
            mu = np.where(less, self.mu, mu)
        return p

    def _slips(self, k: int, p: Array, given: Array, mu: Array) -> bool:
        """Whether friction is at its limit."""
        at = self.places[k]
        limit = mu[k] * (p[at.start] + given[k])
        return bool(limit > 0.0 and np.linalg.norm(p[at][1:]) >= limit * (1.0 - 1e-9))
