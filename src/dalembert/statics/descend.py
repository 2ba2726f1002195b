"""A large system let down to rest: the least potential on its constraints near a configuration, by sparse factors.

Each step goes to the minimum of the potential as curved as it is, constraints included, and then back onto the
constraints; where it does not fall on the way, inertia is added to the curvature, as if the system had only a while to
move in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import diags

from dalembert.arrays import Array
from dalembert.graph.structure.at_rest import AtRest, Held
from dalembert.motion.large.saddle import saddle

# The balance holds where this share of its terms is left (as `BALANCED` of statics.py); steps go on to rounding.
BALANCED, SETTLED = 1e-9, 1e-13
STEPS, PASSES = 300, 40
# From far away: so many steps back onto the constraints, of which no less than this share is taken; steps this small
# against the state converge as they are.
FAR, SHORTEST, NEAR = 200, 1e-4, 1e-3
# Inertia added first, relative to the largest curvature, and the most of it; and shares of a step that are tried.
FIRST, MOST = 1e-7, 1e8
SHARES = (1.0, 0.3)


@dataclass(frozen=True)
class Rest:
    """z: all quantities; multipliers of constraints, then of definitions; miss: what is left of the balance, relative
    to its terms.
    """

    z: Array
    multipliers: Array
    miss: float


def descend(rest: AtRest, q: Array) -> Rest | None:
    """The configuration at rest that is reached from q; None where none is."""
    z = onto_constraints(rest, np.concatenate([q, np.zeros(rest.nz - rest.n)]))
    if z is None:
        return None
    here, more = _balance(rest, z), 0.0
    best = here
    for _ in range(STEPS):
        if here.miss <= SETTLED:
            break
        found = _step(rest, here, more)
        if found is None:
            break
        here, more = found
        if here.miss < best.miss:
            best = here
        elif here.miss <= BALANCED:
            break  # rounding
    return best if best.miss <= BALANCED else None


def onto_constraints(rest: AtRest, z: Array, patient: bool = True) -> Array | None:
    """The nearest place where all is held, in the metric of the masses; None where it is not found. patient: also from
    far away, by parts of steps that come nearer each time.
    """
    missed, z = np.inf, follow_definitions(rest, z)
    for k in range(FAR if patient else PASSES):
        held, masses = rest.held(z), rest.masses(z)
        if not np.isfinite(held.c).all():
            return None
        change = saddle(masses, held.G)(np.zeros(rest.nz), -held.c)[0]
        size = max(float(np.abs(z).max(initial=0.0)), 1e-8)
        moved = float(np.abs(change).max(initial=0.0))
        if not np.isfinite(moved):
            return None
        near = not patient or moved <= NEAR * size
        z = follow_definitions(rest, z + change) if near else _nearer(rest, z, change, held)
        if moved <= 1e-14 * size or (moved <= 1e-11 * size and moved > missed / 4):
            return z
        if not patient and k > 1 and moved > 0.5 * missed:
            return None
        missed = moved
    return None


def _nearer(rest: AtRest, z: Array, change: Array, held: Held) -> Array:
    """As much of a step back onto the constraints as leaves less of what they miss.

    Where all of it does not leave a tenth, all coordinates count alike: in the metric of the masses the last links of a
    chain, far from where it is held, would turn many times round, and the others stay.
    """
    lengths = np.sqrt(np.asarray(held.G[: rest.m].power(2).sum(axis=1)).ravel())

    def missed(place: Array) -> float:
        return float(np.linalg.norm(rest.held(place).c[: rest.m] / np.where(lengths > 0, lengths, 1.0)))

    before, share = missed(z), 1.0
    place = follow_definitions(rest, z + change)
    if missed(place) <= 0.1 * before:  # NaN is no less
        return place
    alike = diags(np.where(np.arange(rest.nz) < rest.n, 1.0, 0.0), format="csc")
    change = saddle(alike, held.G)(np.zeros(rest.nz), -held.c)[0]
    while share > SHORTEST:
        place = follow_definitions(rest, z + share * change)
        if missed(place) <= (1 - 0.1 * share) * before:
            return place
        share /= 2
    return place  # next to a singular configuration: the next step is another


def follow_definitions(rest: AtRest, z: Array) -> Array:
    """The defined quantities that belong to the coordinates in z."""
    if rest.nz == rest.n:
        return z
    from scipy.sparse.linalg import splu

    for _ in range(PASSES):  # one, where each is linear in those before it
        held = rest.held(z)
        off = held.c[rest.m :]
        if not np.abs(off).max() > 1e-15 * np.abs(z).max():
            break
        among = held.G[rest.m :, rest.n :].tocsc()
        change = splu(among, permc_spec="NATURAL", diag_pivot_thresh=0.0).solve(-off)
        z = np.concatenate([z[: rest.n], z[rest.n :] + change])
        if not np.abs(change).max() > 1e-12 * np.abs(z).max():
            break
    return z


def _balance(rest: AtRest, z: Array) -> Rest:
    """With the multipliers that leave the least acceleration."""
    (slopes, size), held, masses = rest.slopes(z), rest.held(z), rest.masses(z)
    _, turned = saddle(masses, held.G)(-slopes, np.zeros(held.c.size))
    left = slopes + held.G.T @ turned
    terms = size + abs(held.G.T) @ np.abs(turned)
    share = np.abs(left) / np.maximum(terms, 1e-6 * terms.max(initial=0.0) + 1e-300)
    return Rest(z, -turned, float(share.max(initial=0.0)))


def _step(rest: AtRest, here: Rest, more: float) -> tuple[Rest, float] | None:
    """The next place, lower or better balanced, and how much inertia to begin with there."""
    z = here.z
    slopes, held, masses = rest.slopes(z)[0], rest.held(z), rest.masses(z)
    curvature = rest.curvature(z, here.multipliers)
    left, energy = slopes - held.G.T @ here.multipliers, rest.energy(z)
    unit = _unit(curvature, masses)
    while more <= MOST:
        bent = curvature + (more * unit) * masses
        step = saddle(bent, held.G)(-left, np.zeros(held.c.size))[0]
        falls = float(left @ step)
        if np.isfinite(step).all() and step @ (bent @ step) > 0 and falls < 0:
            for share in SHARES:
                place = onto_constraints(rest, z + share * step, patient=False)
                if place is None:
                    continue
                now = _balance(rest, place)
                lower = rest.energy(place) < energy + 1e-4 * share * falls
                if lower or (now.miss < 0.5 * here.miss and now.miss < 1e-3):
                    return now, more if share < 1.0 else more / 10 if more > FIRST else 0.0
        if here.miss <= BALANCED:
            return None  # what is left is rounding
        more = max(10 * more, FIRST)
    return None


def _unit(curvature: Any, masses: Any) -> float:
    """The largest curvature against the largest mass: the square of the fastest frequency that may be there."""
    largest = float(np.abs(curvature.data).max(initial=0.0))
    return (largest or 1.0) / float(np.abs(masses.data).max(initial=1e-300))
