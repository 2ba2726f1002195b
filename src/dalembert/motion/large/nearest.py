"""The state on its constraints nearest to a given one, for large systems: by sparse arrays."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array, largest
from dalembert.graph.structure.at_rest import AtRest
from dalembert.graph.structure.read import structured_of
from dalembert.model.system import System
from dalembert.motion.large.saddle import saddle
from dalembert.motion.state.project import size_of

# As there: rounds of the search for the nearest, and of the return to the constraints after it.
ROUNDS, PASSES = 200, 60


def nearest_of_large(system: System, q: Array, v: Array, t: float, free: Array) -> tuple[Array, Array, float] | None:
    """As `project.nearest`: positions, velocities, and the relative residual that is left. None where the system has
    more than ideal constraints on positions, not moved by the time, or quantities that are defined.
    """
    if system.nonideal or system.definitions or not system.constraints:
        return None
    if any(constraint.level != "position" or constraint.one_sided for constraint in system.constraints):
        return None
    structured = structured_of(system)
    if structured is None or structured.timed or structured.rates_only:
        return None
    rest, n = AtRest(structured, system.parameter_values()), q.size
    moving, going = np.flatnonzero(free[:n]), np.flatnonzero(free[n:])
    masses = rest.masses(q)
    metric = masses[moving][:, moving]

    def change(x: Array, wanted: Array) -> Array:
        """The least one of what may move, with G · change as wanted."""
        found = np.zeros(n)
        found[moving] = saddle(metric, rest.held(x).G[:, moving])(np.zeros(moving.size), wanted)[0]
        return found

    x = q
    for _ in range(ROUNDS):
        held = rest.held(x)
        new = q + change(x, -held.c - held.G @ (q - x))
        if not np.isfinite(new).all():
            return None
        moved, x = largest(new - x), new
        if moved <= 1e-14 * (1.0 + largest(x)):
            break
    else:
        x = q  # it did not settle: the next place on the constraints
    for _ in range(PASSES):
        step = change(x, -rest.held(x).c)
        x = x + step
        if not largest(step) > 4e-16 * largest(x):
            break
    G = rest.held(x).G
    w = v.copy()
    w[going] += saddle(masses[going][:, going], G[:, going])(np.zeros(going.size), -(G @ v))[0]
    lengths = np.sqrt((G**2).sum(axis=1))
    lengths = np.where(lengths > 0, lengths, 1.0)
    left = largest(rest.held(x).c / lengths) / size_of(x, w), largest(G @ w / lengths) / size_of(w, x)
    found = max(left)
    return (x, w, found) if np.isfinite(found) else None
