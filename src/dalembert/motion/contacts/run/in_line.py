"""Contacts in line: which of those that touch, but for rounding, touch together.

Discs that just fill the room between two walls, side by side, have gaps that are quadratic in how far they are out of
line: 1e-5 of the radius is a gap of 1e-10. To close it all the same, where the walls leave no other way, they would be
brought back into line, and be as fast as each other: that is far more than rounding, in places and in velocities.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.contacts.modes.contacts import Contacts

# Closing gaps moves nothing by more than so many times the largest of them, or this share of the size of places …
FAR, SEEN = 1e3, 1e-7
# … and changes no velocity by more than so many times the slowest bounce.
FASTER = 1e2
# Rows that others imply to this share ask for nothing by themselves.
IMPLIED = 1e-12


class InLine:
    """One-sided constraints at a state, with their gaps and rates as lengths and velocities of the coordinates."""

    def __init__(self, contacts: Contacts, t: float, q: Array, v: Array, gap: Array, rate: Array) -> None:
        M, _, A, _ = contacts.unconstrained(q, v, t)
        self.gap, self.rate, self.scale = gap, rate, mass_scale(M)
        steep = contacts.steepness(q, v, t)[:, None]
        self.rows, self.always = A[list(contacts.one_sided)] / steep / self.scale, A[contacts.always] / self.scale

    def within_reach(self, touching: set[int], reach: float) -> set[int]:
        """Those that can be at zero together without moving anything far: the others are open. reach: the size of
        places.
        """
        return self._without(touching, self.gap, SEEN * reach)

    def at_rest(self, touching: set[int], slow: float) -> set[int]:
        """Those that can stay closed together without changing velocities by much: the others part. slow: the speed of
        the slowest bounce.
        """
        return self._without(touching, self.rate, FASTER * slow)

    def _without(self, touching: set[int], off: Array, small: float) -> set[int]:
        """Those among which no more is left to close than moves everything by a small number, or in proportion."""
        left = set(touching)
        while len(left) > 1:
            at = np.array(sorted(left))
            own = off[at]
            most = int(own.argmax())
            if not own[most] > 0.0:
                break
            asked = np.concatenate([own, np.zeros(self.always.shape[0])])
            moved = np.linalg.lstsq(np.vstack([self.rows[at], self.always]), asked, rcond=IMPLIED)[0] / self.scale
            if largest(moved) <= max(small, FAR * largest(own)):
                break
            left.discard(int(at[most]))
        return left
