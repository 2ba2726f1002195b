"""Rough guides in a blow: two-sided constraints with dry friction, along each of which something slides on a line.

A blow presses a guide with what its constraints hold back, λ of either sign, and friction within the blow is at most
μ |N| with |N| = |force λ|. Guides on surfaces, and those whose reactions are not determined, are not among these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import RANK_TOLERANCE
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.contacts.modes.contacts import Contacts

# A reaction that could change by more than this share without a change of the motion is not determined.
DETERMINED = 1e-9


@dataclass(frozen=True)
class Guide:
    """A guide at a state: the sliding velocity is tangent·v + offset, the reaction N = force λ, (r,), with the
    multipliers λ of the two-sided constraints.
    """

    name: str
    tangent: Array
    offset: float
    force: Array
    mu: float
    mu_static: float


def guides_at(contacts: Contacts, t: float, q: Array, v: Array, shared: bool = False) -> tuple[Guide, ...]:
    """The guides that take part in the blows of a state. shared: with those whose reactions are not determined."""
    which = contacts.sliding_guides
    if not which:
        return ()
    M, _, A, _ = contacts.unconstrained(q, v, t)
    always = contacts.always
    frames = contacts.frames_at(q, v, t)
    seen = contacts.at(q, v, t, frames=frames)
    unit_forces = contacts.forces(q, v, t, frames)
    free = _balanced_reactions(A[always], M)
    found = []
    for k in which:
        own = [contacts.rows[name] for name in contacts.contacts[k].constraints]
        force = np.zeros((len(own), len(always)))
        force[:, [always.index(row) for row in own]] = _reaction(contacts, k, own, q, v, t, frames)
        if not shared and np.linalg.norm(force @ free) > DETERMINED * np.linalg.norm(force):
            continue
        at = contacts.components[k].start
        tangent = unit_forces[:, at].copy()
        offset = float(seen.slide[at] - tangent @ v)
        mu = float(seen.mu[k])
        found.append(Guide(contacts.contacts[k].name, tangent, offset, force, mu, max(mu, float(seen.mu_static[k]))))
    return tuple(found)


def _reaction(
    contacts: Contacts, k: int, own: Sequence[int], q: Array, v: Array, t: float, frames: tuple[float, ...]
) -> Array:
    """F with |N| = |F λ| for the multipliers of the constraints of contact k: N² is a quadratic form in them."""

    def squared(rows: Sequence[int]) -> float:
        multipliers = np.zeros(contacts.m)
        multipliers[list(rows)] = 1.0
        return float(contacts.at(q, v, t, multipliers=multipliers, frames=frames).normal[k]) ** 2

    form = np.diag([squared([row]) for row in own])
    for i in range(len(own)):
        for j in range(i):
            both = squared([own[i], own[j]]) - form[i, i] - form[j, j]
            form[i, j] = form[j, i] = both / 2
    values, vectors = np.linalg.eigh(form)
    return np.asarray(np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T)


def _balanced_reactions(A: Array, M: Array) -> Array:
    """The multipliers that together do nothing, as columns: those of constraints that follow from others."""
    rows = A / mass_scale(M)
    lengths = np.linalg.norm(rows, axis=1)
    lengths[lengths == 0.0] = 1.0
    U, sigma, _ = np.linalg.svd(rows / lengths[:, None])
    rank = int((sigma > RANK_TOLERANCE).sum())
    return np.asarray(U[:, rank:] / lengths[:, None])
