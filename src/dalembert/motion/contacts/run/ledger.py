"""What the work integrals of a motion with contacts are: a mode has those of its own laws, the motion those of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.contacts.modes.contacts import Contacts

IMPRESSED, IDEAL, NONIDEAL = range(3)


@dataclass(frozen=True)
class Ledger:
    """The entries: work of impressed, ideal and nonideal forces, heat in each of `places`, energy lost in impacts."""

    places: tuple[str, ...]

    def empty(self) -> Array:
        return np.zeros(4 + len(self.places))

    def columns(self, heats: Sequence[str]) -> list[int]:
        """Where the integrals of a mode stand, whose friction makes heat in the given places."""
        return [IMPRESSED, IDEAL, NONIDEAL, *(3 + self.places.index(name) for name in heats)]

    def along(self, before: Array, heats: Sequence[str], integrals: Array) -> Array:
        """The entries (T, …) along a leg, from its own integrals and the entries before it."""
        entries = np.empty((integrals.shape[0], before.size))
        if (*heats,) == self.places:
            entries[:, :-1], entries[:, -1] = integrals, before[-1]
        else:
            entries[:] = before
            entries[:, self.columns(heats)] = integrals
        return entries

    def held_as_friction(self, before: Array, entries: Array) -> Array:
        """While a contact sticks, the force that holds it is a constraint of its mode. What constraints did along
        the leg, where the system's own do no work, was done by friction.
        """
        moved = entries.copy()
        moved[:, NONIDEAL] += entries[:, IDEAL] - before[IDEAL]
        moved[:, IDEAL] = before[IDEAL]
        return moved

    def after_impact(
        self, contacts: Contacts, entries: Array, t: float, q: Array, before: Array, after: Array, lost: float
    ) -> Array:
        """The entries after an impact that changed the velocity and lost energy at its contacts.

        Impulses p along the rows u = A q̇ + c, which are gap rates, sliding velocities and rates of the other
        constraints, do the work p·A(q̇₁ + q̇₂)/2 on the system. What is lost is −p·(u₁ + u₂)/2: a surface that moves
        (c ≠ 0) gives or takes the rest, as an ideal force.
        """
        M = contacts.unconstrained(q, before, t)[0]
        gained = (after - before) @ M @ (after + before) / 2
        return np.asarray(entries + self.change(np.array([gained]), np.array([lost]))[0])

    def change(self, gained: Array, lost: Array) -> Array:
        """What impacts add to the entries, (impacts, …). gained: the kinetic energy after each less that before."""
        made = np.zeros((gained.size, 4 + len(self.places)))
        made[:, IDEAL], made[:, NONIDEAL], made[:, -1] = gained + lost, -lost, lost
        return made

    def after_settling(
        self, contacts: Contacts, entries: Array, t: float, q: Array, before: Array, after: Array
    ) -> tuple[Array, float]:
        """The entries where contacts stay closed that would part too slowly to be followed, and what that loses: the
        energy ½ΔᵀM Δ of the velocity Δ that the constraints of the next mode take away, as an impact without bounce.
        """
        M = contacts.unconstrained(q, before, t)[0]
        lost = max(float((after - before) @ M @ (after - before)) / 2, 0.0)
        return self.after_impact(contacts, entries, t, q, before, after, lost), lost
