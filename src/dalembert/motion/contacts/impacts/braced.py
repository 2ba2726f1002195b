"""Contacts that can be braced against each other: impulses inside their cones of friction that together do nothing.

A disc that falls into a groove whose walls are rough enough cannot be pushed out of it by these walls, however hard
they push: friction holds as much. No velocities after the blow would then obey Newton's law with restitution, by which
all that is braced would have to part.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.motion.contacts.decide.cone_programs import Entries, Programme


def braced(felt: Array, places: Sequence[slice], mu: Array) -> NDArray[np.bool_]:
    """Which contacts have a part in impulses p inside all cones with felt · p = 0. felt (…, R): velocities, or
    generalized impulses, that p gives; places: rows of each contact in p, normal first; mu (K,).
    """
    size = felt.shape[1]
    # |p_T| ≤ μ p_N of each contact, then p_N alone of the one that is asked for.
    cones = np.zeros((size + 1, size))
    for at, limit in zip(places, mu, strict=True):
        cones[at, at] = -np.eye(at.stop - at.start)
        cones[at.start, at.start] = -limit if at.stop - at.start > 1 else -1.0
    sizes = [at.stop - at.start for at in places] + [1]
    weights = np.append(np.zeros(len(places)), 1.0)
    equations = Entries.of(felt / (float(np.abs(felt).max(initial=0.0)) or 1.0))
    found = np.zeros(len(places), dtype=bool)
    for k, at in enumerate(places):
        cones[-1] = 0.0
        cones[-1, at.start] = -1.0
        asked = Programme(Entries.of(cones), np.zeros(size + 1), sizes, weights, equations, np.zeros(felt.shape[0]))
        deepest = asked.deepest()
        # Any multiple of such impulses does as well: they are as large as is asked for, or there are none.
        found[k] = deepest is not None and deepest.depth > 0.5
    return found
