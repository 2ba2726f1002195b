"""Whether rough guides rub in a blow as their laws say: from the velocities and impulses on each piece of its way.

The reactions of the guides come from the whole [M Aᵀ; A 0], and friction is held against the definition of its law:
against the slipping with μ|N|, or at rest within μ_s|N|. A guide that a blow presses and that has not rubbed in it is
looked at as one whose friction is zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.contacts.impacts.blow import Piece
from dalembert.motion.contacts.impacts.guided import GuideImpulse
from dalembert.motion.contacts.impacts.guides import Guide

# Sliding slower than this share of the velocities of a blow is rest: rounding.
STILL = 1e-9


class GuideLaws:
    """The guides of a blow of one contact. rows: of the contact, normal first. inverse (n, n), reactions (m, n): the
    velocities and the multipliers of the two-sided constraints per generalized impulse.
    """

    def __init__(
        self, guides: Sequence[Guide], told: Sequence[GuideImpulse], rows: Array, inverse: Array, reactions: Array
    ) -> None:
        self.guides, self.rows, self.inverse, self.reactions = guides, rows, inverse, reactions
        self.told = {one.name: one for one in told}

    def impulse(self) -> Array:
        """The generalized impulse of all their friction."""
        total = np.zeros(self.inverse.shape[0])
        for guide in self.guides:
            if guide.name in self.told:
                total = total + guide.tangent * float(self.told[guide.name].friction[0])
        return total

    def along(self, number: int, points: int) -> Array:
        """(points, n): the same at the points of a piece of the way."""
        total = np.zeros((points, self.inverse.shape[0]))
        for guide in self.guides:
            if guide.name in self.told:
                total = total + self.told[guide.name].pieces[number].friction * guide.tangent
        return total

    def lost(self, before: Array, after: Array) -> float:
        """−Σ f (u⁻ + u⁺)/2."""
        return -sum(
            float(self.told[g.name].friction[0]) * (float(g.tangent @ (before + after)) / 2 + g.offset)
            for g in self.guides
            if g.name in self.told
        )

    def misses(self, pieces: Sequence[Piece], before: Array, slow: float) -> list[tuple[Guide, float]]:
        """How far each guide is from its law on the pieces of a contact, as impulses. slow: what counts as rest."""
        found: list[tuple[Guide, float]] = []
        reached = {guide.name: np.zeros(2) for guide in self.guides}
        for number, piece in enumerate(pieces) if self.guides else ():
            own = np.column_stack([piece.normal, piece.friction]) @ self.rows
            pushed = own + self.along(number, piece.normal.size)
            v = before + pushed @ self.inverse.T
            multipliers = np.diff(pushed, axis=0) @ self.reactions.T
            for guide in self.guides:
                told = self.told.get(guide.name)
                normal = np.linalg.norm(multipliers @ guide.force.T, axis=1)
                rubbed = np.zeros(normal.size)
                if told is not None:
                    way = told.pieces[number]
                    rubbed = np.diff(way.friction[:, 0])
                    found.append((guide, float(np.abs(np.diff(way.normal) - normal).max())))
                    ends = np.array([way.normal[0], way.friction[0, 0]]) - reached[guide.name]
                    found.append((guide, float(np.abs(ends).max())))
                    reached[guide.name] = np.array([way.normal[-1], way.friction[-1, 0]])
                u = v @ guide.tangent + guide.offset
                found.append((guide, _miss(guide, u, rubbed, normal, slow)))
        for guide in self.guides:
            told = self.told.get(guide.name)
            if told is not None:
                ends = np.array([told.normal, float(told.friction[0])]) - reached[guide.name]
                found.append((guide, float(np.abs(ends).max())))
        return found

    def hold(self, mu: float) -> bool:
        """Whether friction alone holds what the contact pushes: held guides leave its normal no velocity, and what
        holds them is inside their cones, and inside that of the contact, μ.
        """
        guides = [guide for guide in self.guides if guide.name in self.told]
        tangents = np.vstack([self.rows[1:], *(guide.tangent for guide in guides)])
        G = tangents @ self.inverse @ tangents.T
        held = -np.linalg.pinv(G, rcond=1e-10) @ (tangents @ self.inverse @ self.rows[0])
        pushed = self.rows[0] + held @ tangents
        free = float(self.rows[0] @ self.inverse @ self.rows[0])
        if abs(float(self.rows[0] @ self.inverse @ pushed)) > STILL * free:
            return False
        multipliers, own = self.reactions @ pushed, self.rows.shape[0] - 1
        limits = [mu] * own + [g.mu_static * float(np.linalg.norm(g.force @ multipliers)) for g in guides]
        return bool(np.all(np.abs(held) <= np.array(limits) + STILL * np.abs(held).max(initial=0.0)))


def _miss(guide: Guide, u: Array, rubbed: Array, normal: Array, slow: float) -> float:
    """Of friction and normal impulses between points with the sliding velocities u."""
    fast = int(np.argmax(np.abs(u)))
    if abs(u[fast]) <= slow:
        return float((np.abs(rubbed) - guide.mu_static * normal).max())
    way = np.sign(u[fast])
    # It slips one way on a piece, but for its ends, which may be at rest; or nothing presses it.
    if float(np.maximum(-way * u - slow, 0.0).max()) > 0.0:
        return float((np.abs(rubbed) + guide.mu * normal).max())
    return float(np.abs(rubbed + guide.mu * normal * way).max())
