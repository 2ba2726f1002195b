"""Sizes of places and velocities that count as small in a motion with contacts."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.integrate.settings import ROUNDING, Settings, share_of, tolerances

# A leg may be short, and something turn in it by rounding only: components need not be known to less than what the
# tolerance is of this share of the size they have in the whole motion.
SMALL = 1e-3


def small_sizes(contacts: Contacts, settings: Settings, q: Array, v: Array, t: float) -> Array:
    """Of (q, q̇): a share of what they are over the whole motion, as one without contacts would have it."""
    M, free = contacts.unconstrained(q, v, t)[0], contacts.free(q, v, t)
    share = max(share_of(settings), 1e-300)
    sizes = np.array(tolerances(settings, q, v, free) / share)
    # An angle that begins at zero says nothing of its size, and lengths in small units would say far too little:
    # one as large in the metric of the masses. One next to zero beside large forces has their rounding.
    weight = mass_scale(M, massless=0.0)
    heavy = weight > 0
    silent = (q == 0.0) & (v == 0.0) & (np.abs(free) <= 1e-12 * np.abs(free).max(initial=0.0)) & heavy
    rounding = np.zeros_like(sizes)
    for part, least in zip(np.split(sizes, 2), np.split(rounding, 2), strict=True):
        as_large = np.minimum(float((weight * part)[~silent].max(initial=0.0)) / weight[heavy], 1.0)
        part[silent] = np.maximum(part[silent], as_large[silent[heavy]])
        least[heavy] = ROUNDING / share * as_large
    return np.maximum(SMALL * sizes, rounding)
