"""How long and how fast a motion with contacts is, seen from its start: what is small is small against these."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.switched import SLOW

# Slides below this share of the speeds of all coordinates may be rounding of those.
OTHERS = 1e-3


@dataclass(frozen=True)
class Scale:
    """Never zero, so that shares of them are not. slide: the speed of the contacts, of which an angular velocity beside
    them, in other units, says little. slow: the speed at which a contact on a surface has stopped, its direction being
    without meaning at zero.
    """

    length: float
    speed: float
    slide: float
    slow: float


def scale_of(contacts: Contacts, q: Array, v: Array, t: float, span: float) -> Scale:
    """From the state and the forces there. Speeds are those it has, or would reach over its own lengths; from rest at
    the origin, where nothing has a length, those that the forces make in the time given.
    """
    rate = largest(contacts.free(q, v, t))
    own = largest(contacts.at(q, v, t).slide)
    place = largest(q)
    given = max(largest(v), own)
    speed = max(given, float(np.sqrt(rate * place))) or rate * span or 1.0
    length = place or (speed**2 / rate if rate else speed * span) or 1.0
    sliding = max(own, OTHERS * speed) if own else speed
    return Scale(length, speed, sliding, SLOW * sliding)
