"""How exact a motion can be: what rounding in the forces of constraints makes of it in a short time."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.motion.integrate.settings import ROUNDING, Settings

# Rounding units: forces are sums of some terms, found by some eliminations.
UNITS = 16


def above_rounding(atol: Array, settings: Settings, q: Array, start: Fundamental) -> Array:
    """Tolerances of (q, q̇) that are no smaller than what rounding in |Aᵀ||λ| makes of them, in the time in which such
    forces move a coordinate as far as it is from zero. Where constraints hold everything, velocities are nothing else,
    and steps would be cut for ever to make it small: lengths of 1e8 units, whose tolerance counts in single units.
    """
    if settings.atol is not None or not start.multipliers.size:
        return atol
    mass = np.abs(np.diagonal(start.M))
    with np.errstate(all="ignore"):
        pulled = np.nan_to_num(np.abs(start.multipliers) @ np.abs(start.A) / mass, posinf=0.0)
        times = np.sqrt(np.nan_to_num(np.abs(q) / pulled, posinf=0.0))
    time = min(float(times.max(initial=0.0)), float(settings.times[-1] - settings.times[0]))
    least = UNITS * ROUNDING * time * pulled
    return np.maximum(atol, np.concatenate([time * least, least]))
