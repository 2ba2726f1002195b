"""What an impact on arrays is asked with and answers with: the contacts that meet, and their blows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.contacts.impacts.blow import LAWS, Path
from dalembert.motion.contacts.impacts.guided import GuideImpulse


@dataclass(frozen=True)
class Meeting:
    """A contact in an impact. normal (n,), tangents (d, n), with d = 0, 1 or 2, and their offsets: u = J v + c. mu: of
    the sliding speed. law: "newton", "poisson" or "stronge". slowest: a bounce slower than this is none.
    takes_guides: whether it slides along a line with one coefficient, so that rough guides have a part in its blows.
    """

    name: str
    normal: Array
    offset: float = 0.0
    tangents: Array = field(default_factory=lambda: np.zeros((0, 0)))
    slide_offset: Array = field(default_factory=lambda: np.zeros(0))
    mu: Callable[[float], float] = lambda speed: 0.0
    mu_static: float = 0.0
    e: float = 0.0
    law: str = LAWS[0]
    slowest: float = 0.0
    takes_guides: bool = True

    @property
    def d(self) -> int:
        return int(self.slide_offset.size)

    def rows(self) -> Array:
        return np.vstack([self.normal, self.tangents]) if self.d else self.normal[None, :]

    def offsets(self) -> Array:
        return np.concatenate([[self.offset], self.slide_offset])

    def restitution(self, speed: float) -> float:
        return self.e if self.e * speed > self.slowest else 0.0


@dataclass(frozen=True)
class Share:
    """What a contact did in a blow: its velocities before and after (normal first), its impulses in all and when
    compression ended, the energy lost at it, the restitution that held, and "slip", "stick", "reversal", "smooth" (no
    friction) or "open" (no impulse). path: of a contact alone.
    """

    name: str
    before: Array
    after: Array
    impulse: Array
    compression: Array
    loss: float
    e: float
    state: str
    path: Path | None = None


@dataclass(frozen=True)
class Blow:
    """A blow at one instant. constraint_impulses: p_A. limited: restitution was less than its law says, which would
    have made energy. guides: the friction of two-sided constraints that it presses.
    """

    before: Array
    after: Array
    shares: tuple[Share, ...]
    constraint_impulses: Array
    law: str
    limited: bool
    guides: tuple[GuideImpulse, ...] = ()

    @property
    def loss(self) -> float:
        return sum(share.loss for share in self.shares) + sum(guide.loss for guide in self.guides)
