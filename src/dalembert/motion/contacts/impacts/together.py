"""Several contacts in one blow. What their order within it would be is not known: the velocities after it decide.

newton (Moreau 1988): u_N⁺ + e u_N⁻ ≥ 0 where nothing pushes, equal where it does; friction by u_T⁺.
poisson (Pfeiffer and Glocker 1996): compression ends with u_N ≥ 0; restitution adds at least e times its impulse.
stronge: as poisson, with ratios of the impulses for which each contact gives back e² of the work it took.

Where a law has no solution, contacts that are braced against each other by friction give nothing back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import InconsistentConstraints
from dalembert.motion.contacts.impacts.blow import NEWTON, STRONGE
from dalembert.motion.contacts.impacts.braced import braced
from dalembert.motion.contacts.impacts.impulses import Problem, impulses, places_of

# An energy that grows by less than this share of what is exchanged is rounding.
GROWS = 1e-12
# The ratios of Stronge's law are found to this, in at most so many passes.
RATIO, MOST_RATIOS = 1e-12, 300
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
    by_law = {NEWTON: problem.newton, STRONGE: problem.stronge}.get(law, problem.poisson)

    held, limited = e, False
    try:
        compression, total = by_law(e)
    except InconsistentConstraints:
        held, limited = np.where(braced(G, problem.places, problem.mu_static), 0.0, e), True
        if (held == e).all():
            raise
        compression, total = by_law(held)
    if not _grows(G, u, total):
        return Shock(compression, total, held, limited)
    low, high = 0.0, 1.0  # without restitution energy does not grow
    for _ in range(HALVINGS):
        share = (low + high) / 2
        grows = _grows(G, u, by_law(share * held)[1])
        low, high = (low, share) if grows else (share, high)
    return Shock(*by_law(low * held), low * held, True)


def _grows(G: Array, u: Array, p: Array) -> bool:
    change = G @ p
    return float(p @ (u + change / 2)) > GROWS * float(np.abs(p) @ np.abs(change))


class _Rough:
    """Contacts that hold up to μ_s and rub with μ."""

    def __init__(self, G: Array, u: Array, sizes: Sequence[int], mu: Array, mu_static: Array) -> None:
        self.G, self.u, self.mu = G, u, mu
        self.mu_static = np.maximum(mu, mu_static)
        self.places = places_of(sizes)
        self.normals = [at.start for at in self.places]

    def newton(self, e: Array) -> tuple[Array, Array]:
        b = self.u.copy()
        b[self.normals] += e * np.minimum(self.u[self.normals], 0.0)
        total = self._impulses(b, np.zeros(e.size))
        return total, total

    def poisson(self, ratios: Array) -> tuple[Array, Array]:
        compression = self._impulses(self.u, np.zeros(ratios.size))
        return compression, self._restored(compression, ratios)

    def stronge(self, e: Array) -> tuple[Array, Array]:
        compression = self._impulses(self.u, np.zeros(e.size))
        middle = self.u + self.G @ compression
        at = self.normals
        taken = -compression[at] * (self.u[at] + middle[at]) / 2
        working = (taken > 0.0) & (e > 0.0)
        ratios = np.where(working, e, 0.0)
        for _ in range(MOST_RATIOS):
            total = self._restored(compression, ratios)
            after = self.u + self.G @ total
            back = (total - compression)[at] * (middle[at] + after[at]) / 2
            wanted = e**2 * taken
            good = working & (back > 0.0)
            change = np.ones(e.size)
            change[good] = np.sqrt(wanted[good] / back[good])
            if np.abs(change - 1.0).max() <= RATIO:
                return compression, total
            ratios = ratios * np.clip(change, 0.5, 2.0)
        raise InconsistentConstraints(
            'no restitution gives back e² of the work of each contact that meets here at once (impact = "stronge"): '
            'impacts = "sequence" takes them one after the other'
        )

    def _restored(self, compression: Array, ratios: Array) -> Array:
        given = np.zeros(self.u.size)
        given[self.normals] = ratios * compression[self.normals]
        more = self._impulses(self.u + self.G @ (compression + given), given[self.normals])
        return np.asarray(compression + given + more)

    def _impulses(self, b: Array, given: Array) -> Array:
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
