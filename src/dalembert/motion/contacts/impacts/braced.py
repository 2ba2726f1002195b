"""Contacts that can be braced against each other: impulses inside their cones of friction that together do next to
nothing.

A disc that falls into a groove whose walls are rough enough cannot be pushed out of it by these walls, however hard
they push: friction holds as much. No velocities after the blow would then obey Newton's law with restitution, by which
all that is braced would have to part; or only with impulses out of all proportion.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.motion.contacts.decide.cone_programs import Entries, Programme

# Impulses that give less than this share of the velocities that each would give by itself do next to nothing: a blow
# whose impulses are a thousand times its change of momentum is none of two bodies that meet.
NOTHING = 1e-3


def braced(G: Array, places: Sequence[slice], mu: Array) -> NDArray[np.bool_]:
    """Which contacts have a part in impulses p inside all cones with |G p| ≤ NOTHING · p_N. G (R, R): the velocities
    that they give; places: rows of each contact in p, normal first; mu (K,).
    """
    size = G.shape[0]
    # |p_T| ≤ μ p_N of each contact, then G p as a vector, then p_N of the one that is asked for.
    cones = np.zeros((2 * size + 2, size))
    for at, limit in zip(places, mu, strict=True):
        cones[at, at] = -np.eye(at.stop - at.start)
        cones[at.start, at.start] = -limit if at.stop - at.start > 1 else -1.0
    cones[size + 1 : -1] = -G / (float(np.abs(G).max(initial=0.0)) or 1.0)
    limits = np.zeros(2 * size + 2)
    limits[size] = NOTHING
    sizes = [*(at.stop - at.start for at in places), size + 1, 1]
    weights = np.append(np.zeros(len(places) + 1), 1.0)
    none = Entries.of(np.zeros((0, size)))
    found = np.zeros(len(places), dtype=bool)
    for k, at in enumerate(places):
        cones[-1] = 0.0
        cones[-1, at.start] = -1.0
        deepest = Programme(Entries.of(cones), limits, sizes, weights, none, np.zeros(0)).deepest()
        # p_N is sought up to one.
        found[k] = deepest is not None and deepest.depth > 0.999
    return found
