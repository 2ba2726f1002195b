"""The least energy at which a path joins two points, for the message where none is found at the energy wanted.

From far above, where paths are nearly straight, the energy comes down until the path that leads straight there ends: a
ball thrown too weakly reaches no further point at any angle. How far down it goes is found by halving.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.study.geodesic import FLOOR, Geodesic, NoGeodesic

# Energies above the one wanted, in parts of the largest kinetic energy at the ends.
PARTS = (100.0, 30.0, 8.0, 2.0, 0.5, 0.1, 0.0)
# Halvings between an energy with a path and one without: a five-hundredth of what lies between.
HALVINGS = 9
# Nodes that a curve may take. Where there is no path, collocation tries as many as it may; paths need a hundred.
NODES = 250
# Collocation ends a little above the energy where the path does. Closer than this, nothing is said.
APART = 1e-3


def least_energy(problem: Geodesic, nodes: Array, guess: Array) -> float | None:
    """The least energy at which the direct path was found; None where that is not above the one wanted, or where none
    was found at all.
    """
    surplus = float(problem.kinetic(np.array([problem.start, problem.end])).max())
    curve, good, bad = (nodes, guess), None, None
    for part in PARTS:
        found = _try(problem, part * surplus, *curve)
        if found is None:
            if good is None:
                continue  # a guess may be too far from the path at any one energy
            bad = part
            break
        curve, good = found, part
    if good is None or bad is None:
        return None
    for _ in range(HALVINGS):
        middle = (good + bad) / 2
        found = _try(problem, middle * surplus, *curve)
        if found is None:
            bad = middle
        else:
            curve, good = found, middle
    return problem.energy + good * surplus if good > APART else None


def _try(problem: Geodesic, above: float, nodes: Array, guess: Array) -> tuple[Array, Array] | None:
    """The path at an energy that is `above` the one wanted, or None where none is found inside Hill's region."""
    higher = problem.at_energy(problem.energy + above)
    try:
        nodes, y = higher.collocate(nodes, guess, most=NODES)
    except (NoGeodesic, DalembertError, np.linalg.LinAlgError):
        return None
    inside = higher.kinetic(y[: problem.n].T) > FLOOR * higher.reference
    return (nodes, y) if bool(np.all(inside)) else None
