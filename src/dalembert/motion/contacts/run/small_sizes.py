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
# Forces that hold a system against others leave accelerations of their rounding. What these do within this share of the
# time is no error: otherwise steps would be the shorter the larger all numbers are, while nothing moves.
HELD = 1e-3


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


def small_sizes_of_leg(least: Array, settings: Settings, masses: Array, unconstrained: Array) -> Array:
    """The same for a leg: and how far it may go by the rounding of the forces at its start, compared in the metric of
    the masses. What one coordinate is held against comes to others through the constraints.

    least: of the motion; unconstrained: accelerations without constraints at the start of the leg.
    """
    weight, forced = np.sqrt(masses), np.fmax(np.abs(unconstrained), 0.0)
    heavy, while_held = weight > 0, HELD * float(settings.times[-1] - settings.times[0])
    rate = np.zeros_like(weight)
    rate[heavy] = ROUNDING * float((weight * forced)[heavy].max(initial=0.0)) / weight[heavy]
    rounded = np.concatenate([rate * while_held**2, rate * while_held])
    return np.maximum(least, rounded / max(share_of(settings), 1e-300))
