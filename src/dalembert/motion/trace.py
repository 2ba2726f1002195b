"""The curve that a point draws: how far it has gone, and how much the curve bends, in plain geometry.

    κ = (ẋÿ − ẏẍ)/(ẋ² + ẏ²)^(3/2) = 1/ρ        (73) of Flannery 2011

This is not the curvature of Hertz's principle, which is that of the whole configuration in the metric of the masses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import BPoly
from scipy.optimize import minimize_scalar

from dalembert.errors import ModelError
from dalembert.mechanics.fundamental import Array
from dalembert.model.parse import suggest
from dalembert.model.symbols import name_of
from dalembert.motion.motion import Motion

# Nodes of Gauss and Legendre between two outputs: exact for polynomials of degree 15, where the path has degree 5.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


@dataclass(frozen=True, eq=False)
class Trace:
    """The curve of a point at the output times, each (T,).

    distance: the length of the curve so far, to and fro. speed: ds/dt ≥ 0. curvature: in a plane positive where it
    bends to the left, from the first coordinate towards the second; in space it has no sign. NaN where it stops.
    radius: 1/curvature, infinite where it is straight.
    """

    distance: Array
    speed: Array
    curvature: Array

    @property
    def radius(self) -> Array:
        with np.errstate(divide="ignore"):
            return 1 / self.curvature


def trace(motion: Motion, coordinates: tuple[object, ...]) -> Trace:
    """The curve of the point with these two or three Cartesian coordinates.

    >>> import dalembert as da
    >>> swing = da.library.pendulum(l=2.0, angle=3.0).simulate(1.0)
    >>> bool(abs(abs(swing.trace("x", "y").radius[1:]) - 2).max() < 1e-9)
    True
    """
    names = [q.name for q in motion.system.coordinates]
    wanted = [name_of(item) for item in coordinates]
    if not 2 <= len(set(wanted)) == len(wanted) <= 3:
        raise ModelError(motion.system.name, [f"trace: two or three coordinates make a point, got {wanted}"])
    unknown = [name for name in wanted if name not in names]
    if unknown:
        raise ModelError(
            motion.system.name, [f"trace: {unknown[0]!r} is not a coordinate.{suggest(unknown[0], names)}"]
        )
    columns = [names.index(name) for name in wanted]
    q, v, a = (values[:, columns] for values in (motion.q, motion.v, motion.a))
    speed = np.linalg.norm(v, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        curvature = _turning(v, a) / speed**3
    return Trace(_distances(motion.t, q, v, a), speed, curvature)


def _turning(v: Array, a: Array) -> Array:
    if v.shape[1] == 2:
        return np.asarray(v[:, 0] * a[:, 1] - v[:, 1] * a[:, 0])
    return np.linalg.norm(np.cross(v, a), axis=1)


def _distances(t: Array, q: Array, v: Array, a: Array) -> Array:
    """∫|q̇| dt along the polynomials of degree 5 that take q, q̇ and q̈ from both ends of each interval."""
    if t.size < 2:
        return np.zeros(t.size)
    rate = BPoly.from_derivatives(t, np.stack([q, v, a], axis=1)).derivative()

    def length(low: Array, high: Array) -> Array:
        x = low[:, None] + (high - low)[:, None] * (NODES + 1) / 2
        return np.linalg.norm(rate(x), axis=-1) @ WEIGHTS * (high - low) / 2

    steps = length(t[:-1], t[1:])
    # Where it goes back it may have stopped in between, where the speed has a kink.
    for k in np.flatnonzero(np.sum(v[:-1] * v[1:], axis=1) <= 0):
        slowest = minimize_scalar(
            lambda x: float(np.sum(rate(x) ** 2)), bounds=(t[k], t[k + 1]), method="bounded", options={"xatol": 1e-12}
        )
        marks = np.array([t[k], slowest.x, t[k + 1]])
        steps[k] = length(marks[:-1], marks[1:]).sum()
    return np.concatenate([[0.0], np.cumsum(steps)])
