"""The curve that a point draws: how far it has gone, and how much the curve bends, in plain geometry.

    κ = (ẋÿ − ẏẍ)/(ẋ² + ẏ²)^(3/2) = 1/ρ        (73) of Flannery 2011

This is not the curvature of Hertz's principle, which is that of the whole configuration in the metric of the masses.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import BPoly
from scipy.optimize import minimize_scalar

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of
from dalembert.model.system import System
from dalembert.motion.contacts.impacts.impacts import Impact
from dalembert.motion.result.motion import Motion
from dalembert.results import Table, plain_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.view.figures import Given

Point = tuple[float, Array, Array]  # t, q, q̇
# Nodes of Gauss and Legendre between two outputs: exact for polynomials of degree 15, where the path has degree 5.
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)


@dataclass(frozen=True, eq=False)
class Trace(Table):
    """The curve of a point at the output times, each (T,). `trace["distance"]` and so on give them by name, and those
    of t and the coordinates of the point.

    place: the coordinates of the point by their names. distance: the length of the curve so far, to and fro,
    interpolated between outputs: as exact as they are dense, and impacts are followed. speed: ds/dt ≥ 0. curvature: in
    a plane positive where it bends to the left, from the first coordinate towards the second; in space it has no sign.
    NaN where it stops. radius: 1/curvature, infinite where it is straight.
    """

    system: System
    t: Array
    place: Mapping[str, Array]
    distance: Array
    speed: Array
    curvature: Array

    @property
    def radius(self) -> Array:
        with np.errstate(divide="ignore"):
            return 1 / self.curvature

    def columns(self) -> dict[str, Array]:
        measures = ("distance", "speed", "curvature", "radius")
        return {"t": self.t, **self.place, **{name: getattr(self, name) for name in measures}}

    def text(self) -> str:
        lines = [f"{self.system.name}: curve of the point ({', '.join(self.place)}), length {self.distance[-1]:.10g}"]
        for name in ("speed", "curvature"):
            values = getattr(self, name)
            known = values[np.isfinite(values)]
            lines.append(f"  {name} {known.min():.6g} … {known.max():.6g}" if known.size else f"  {name} not defined")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.system.name, **{key: plain_values(value) for key, value in self.columns().items()}}

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None, style: str = "light") -> Figure:
        """The curve, and its curvature along it. Written to `path` where it is given. axes: two panels."""
        from dalembert.view.plots.trace import plot_trace

        return plot_trace(self, path, axes, style)


def trace(motion: Motion, coordinates: tuple[object, ...]) -> Trace:
    """The curve of the point with these two or three Cartesian coordinates.

    >>> import dalembert as da
    >>> swing = da.library.pendulum(l=2.0, angle=3.0).simulate(1.0)
    >>> bool(abs(abs(swing.trace("x", "y").radius[1:]) - 2).max() < 1e-8)  # it starts from rest, so velocities round
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
        curvature = _turn(v, a) / speed**3
    steps = _steps(motion.t, q, v, a)
    for k, blows in _blows_between(motion).items():
        ends = ((motion.t[i], q[i], v[i]) for i in (k, k + 1))
        steps[k] = _through(blows, columns, *ends)
    place = dict(zip(wanted, q.T, strict=True))
    distance = np.concatenate([[0.0], np.cumsum(steps)])
    return Trace(motion.system, motion.t, place, distance, speed, curvature)


def _turn(v: Array, a: Array) -> Array:
    """q̇ × q̈: in a plane with its sign, in space its length."""
    if v.shape[1] == 2:
        return np.asarray(v[:, 0] * a[:, 1] - v[:, 1] * a[:, 0])
    return np.linalg.norm(np.cross(v, a), axis=1)


def _steps(t: Array, q: Array, v: Array, a: Array) -> Array:
    """∫|q̇| dt from each output to the next along the polynomials of degree 5 that take q, q̇ and q̈ from both ends."""
    if t.size < 2:
        return np.zeros(0)
    rate = BPoly.from_derivatives(t, np.stack([q, v, a], axis=1)).derivative()
    steps = _lengths(rate, t[:-1], t[1:])
    for k in np.flatnonzero(np.sum(v[:-1] * v[1:], axis=1) <= 0):
        steps[k] = _to_and_fro(rate, t[k], t[k + 1])
    return steps


def _lengths(rate: BPoly, low: Array, high: Array) -> Array:
    x = low[:, None] + (high - low)[:, None] * (NODES + 1) / 2
    return np.asarray(np.linalg.norm(rate(x), axis=-1) @ WEIGHTS * (high - low) / 2)


def _to_and_fro(rate: BPoly, low: float, high: float) -> float:
    """Where it goes back it may have stopped in between, where the speed has a kink."""
    slowest = minimize_scalar(
        lambda x: float(np.sum(rate(x) ** 2)), bounds=(low, high), method="bounded", options={"xatol": 1e-12}
    )
    marks = np.array([low, slowest.x, high])
    return float(_lengths(rate, marks[:-1], marks[1:]).sum())


def _blows_between(motion: Motion) -> dict[int, list[Impact]]:
    """The blows between an output and the next, by the number of the first; one at an output is both before it and
    after it, for its velocity there may be that of either side.
    """
    found: dict[int, list[Impact]] = {}
    for blow in motion.blows:
        first, last = (int(np.searchsorted(motion.t, blow.t, side)) - 1 for side in ("left", "right"))
        for k in range(max(first, 0), min(last, motion.t.size - 2) + 1):
            found.setdefault(k, []).append(blow)
    return found


def _through(blows: list[Impact], columns: list[int], start: Point, end: Point) -> float:
    """The length from one (t, q, q̇) to another through blows, along cubics between them."""
    before = [*((blow.t, blow.q[columns], blow.before[columns]) for blow in blows), end]
    after = [start, *((blow.t, blow.q[columns], blow.after[columns]) for blow in blows)]
    total = 0.0
    for (low, q0, v0), (high, q1, v1) in zip(after, before, strict=True):
        if high > low:
            rate = BPoly.from_derivatives([low, high], np.array([[q0, v0], [q1, v1]])).derivative()
            total += _to_and_fro(rate, low, high)
    return total
