"""The size of each coordinate: how far it must move to change the equations at rest by their own size.

Lengths, steps and tolerances of the search are shares of it, so that no unit is preferred. Along each coordinate the
balance and the constraints F(q + h eₖ) are followed outwards until what their slopes do not tell,

    |Fᵢ(q + h eₖ) − Fᵢ − h ∂ₖFᵢ| ≥ ½ max(|Fᵢ|, |∂ₖFᵢ| h, |∂ⱼFᵢ| sⱼ)     (j ≠ k, s the sizes known so far),

for the first i. On x² + y² = R² that is about R, wherever the search begins. A coordinate in which everything is linear
has no size of its own and takes the largest in the configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array

if TYPE_CHECKING:
    from dalembert.statics.statics import Statics

# Distances tried, as shares of the largest coordinate: atoms in a laboratory, and back, in steps of about two.
SHARES = 10 ** np.linspace(-18, 18, 109)
# Nearer than this to a coordinate's own value, or to the largest, differences are mostly rounding.
NEAR_OWN, NEAR_ANY = 1e-6, 1e-12
# The sizes of others enter that of each; two rounds settle them to a factor that does not matter.
ROUNDS = 2


def sizes(statics: Statics, q: Array, turns: list[bool]) -> Array:
    """At a configuration q; 1 for angles."""
    angle = np.array(turns, dtype=bool)
    largest = float(np.abs(q[~angle]).max(initial=0.0))
    # cos(π/2) is 6e-17 and means zero.
    q = np.where(~angle & (np.abs(q) <= NEAR_ANY * largest), 0.0, q)
    l, f = _loads(statics, q)
    F, slope = _equations(statics, q[None], l, f)[0], _slopes(statics, q, l, f)
    distances = SHARES * (largest or 1.0)
    known = np.where(angle, 1.0, np.abs(q))
    for _ in range(ROUNDS):
        found = np.where(angle, 1.0, np.inf)
        for k in np.flatnonzero(~angle):
            others = np.maximum(np.abs(F), np.delete(np.abs(slope) * known, k, axis=1).max(axis=1, initial=0.0))
            h = distances[distances >= max(NEAR_OWN * abs(q[k]), NEAR_ANY * largest)]
            for way in (-1.0, 1.0):
                places = np.repeat(q[None], h.size, axis=0)
                places[:, k] += way * h
                with np.errstate(all="ignore"):  # powers overflow, far out
                    rest = np.abs(_equations(statics, places, l, f) - F - way * h[:, None] * slope[:, k])
                own = np.maximum(others, np.abs(slope[:, k]) * h[:, None]) / 2
                # What has no value there is beyond what the model describes. Against nothing, nothing is large.
                beyond = ((rest >= own) | ~np.isfinite(rest)) & (own > 0)
                if beyond.any():
                    found[k] = min(found[k], float(h[np.argmax(beyond.any(axis=1))]))
        known = np.where(np.isfinite(found), found, known)
    lengths = found[~angle & np.isfinite(found)]
    return np.where(np.isfinite(found), found, largest or float(lengths.max(initial=0.0)) or 1.0)


def _loads(statics: Statics, q: Array) -> tuple[Array, Array]:
    """Multipliers and friction that come nearest to a balance."""
    r, _, reach = statics.balance(q, np.zeros(statics.m), np.zeros(statics.columns))
    lengths = np.linalg.norm(reach, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    both = np.linalg.lstsq(reach / lengths, -r, rcond=1e-10)[0] / lengths
    return both[: statics.m], both[statics.m :]


def _equations(statics: Statics, places: Array, l: Array, f: Array) -> Array:
    return np.hstack(statics.many(places, l, f))


def _slopes(statics: Statics, q: Array, l: Array, f: Array) -> Array:
    return np.vstack([statics.balance(q, l, f)[1], statics.conditions(q)[1]])
