"""Paths of points: of Cartesian coordinates (read off the kinetic energy), of particles, and of outputs that come in
pairs or triples, "tip x" and "tip y".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.model.units import unit_of
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import phrase, symbol, with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import chosen, nothing

if TYPE_CHECKING:
    from dalembert.model.system import System

NONE = "no points are known: no coordinates are Cartesian, there are no particles, and no outputs x, y of a point"
# Along an axis a point does not move that moves this much more along another.
STILL = 1e-6
# With one scale for both axes a path more slender than this would not be seen.
SLENDER = 15.0
OUTPUT = (re.compile(r"^(?P<of>.+?)[ _](?P<axis>[xyz])$"), re.compile(r"^(?P<axis>[xyz])[ _]?(?P<of>.*)$"))


@dataclass(frozen=True, eq=False)
class Point:
    """A point: label, names of its axes, and its places (K,) along each. unit: of length."""

    label: str
    axes: tuple[str, ...]
    places: tuple[Array, ...]
    unit: str

    @property
    def moves(self) -> bool:
        reach, size = (max(float(f(values)) for values in self.places) for f in (np.ptp, _largest))
        return reach > STILL * size


def _largest(values: Array) -> float:
    return float(np.abs(values).max())


def paths(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """Every point that moves; those of one kind of axes in one panel, of points in space two views."""
    known = {point.label: point for point in points_of(along) if point.moves or point.label in of}
    wanted = [known[label] for label in chosen("paths", of, list(known), "point")]
    families: dict[tuple[str, ...], list[Point]] = {}
    for point in wanted:
        families.setdefault(point.axes, []).append(point)
    found = [panel for family in families.values() for panel in views(family)]
    return found or nothing("path", NONE if not known else "no point moves along more than one axis")


def points_of(along: Along) -> Iterator[Point]:
    """The points that a model gives, each once."""
    system, q = along.system, along.points.q
    yield from cartesian(system, lambda name: np.asarray(q[:, along.coordinates.index(name)]))
    freed = system.as_written.particles if system.has_particles else None
    for particle in () if freed is None else freed.particles:
        if len(particle.position) > 1:
            places = tuple(along.motion.evaluate(entry) for entry in particle.position)
            yield Point(symbol(particle.name), tuple("xyz"[: len(places)]), places, "")
    for label, axes in output_points(list(along.motion.outputs)).items():
        places = tuple(along.motion.outputs[name] for name in axes.values())
        yield Point(phrase(label), tuple(axes), places, unit_of(system, next(iter(axes.values()))))


def cartesian(system: System, column: Callable[[str], Array]) -> Iterator[Point]:
    """The points whose Cartesian coordinates are among those of a system. column: gives a coordinate by its name."""
    for names in system.cartesian_points:
        stems = tuple(symbol(name.rstrip("0123456789_")) for name in names)
        yield Point(", ".join(map(symbol, names)), stems, tuple(map(column, names)), unit_of(system, names[0]))


def way_of(system: System, column: Callable[[str], Array]) -> Panel:
    """One view of where a way leads: of its points, or of its first two coordinates where it has none."""
    points = [point for point in cartesian(system, column) if point.moves]
    seen = views([point for point in points if point.axes == points[0].axes]) if points else []
    if seen:
        return seen[0]
    names = [coordinate.name for coordinate in system.coordinates]
    first, second = names[0], names[min(1, len(names) - 1)]
    x, y = column(first), column(second)
    ends = (Curve("start", x[[0]], y[[0]], "start"), Curve("end", x[[-1]], y[[-1]], "end"))
    labels = [with_unit(symbol(name), unit_of(system, name)) for name in (first, second)]
    return Panel("paths", "way", labels[0], labels[1], (Curve("", x, y), *ends), over_time=False)


def output_points(names: Sequence[str]) -> dict[str, dict[str, str]]:
    """Outputs that are the coordinates of one point, by their axes: "tip x" with "tip y", or "x1" with "y1"."""
    found: dict[str, dict[str, str]] = {}
    for name in names:
        for form in OUTPUT:
            told = form.match(name)
            if told is not None:
                found.setdefault(told["of"] or "point", {})[told["axis"]] = name
                break
    return {of: dict(sorted(axes.items())) for of, axes in found.items() if len(axes) > 1}


def views(family: list[Point]) -> list[Panel]:
    """One view of points in a plane; of those in space two, without axes along which nothing moves."""
    axes = family[0].axes
    reach = [max(float(np.nanmax(p.places[k]) - np.nanmin(p.places[k])) for p in family) for k in range(len(axes))]
    moving = [k for k in range(len(axes)) if reach[k] > STILL * max(reach)]
    if len(moving) < 2:
        return []
    planes = list(combinations(moving, 2))
    if len(planes) == 3:
        # From above, and from the side from which more is seen.
        planes = [planes[0], planes[1] if reach[moving[0]] >= reach[moving[1]] else planes[2]]
    return [_view(family, *plane, reach) for plane in planes]


def _view(family: list[Point], across: int, up: int, reach: Sequence[float]) -> Panel:
    curves: list[Curve] = []
    for hue, point in enumerate(family):
        x, y = point.places[across], point.places[up]
        curves.append(Curve(point.label if len(family) > 1 else "", x, y, hue=hue))
        for at, role in ((0, "start"), (-1, "end")):
            curves.append(Curve(role if hue == 0 else "", x[[at]], y[[at]], role, hue))
    axes, unit = family[0].axes, family[0].unit
    slender = max(reach[across], reach[up]) / min(reach[across], reach[up])
    labels = with_unit(axes[across], unit), with_unit(axes[up], unit)
    title = "path" if len(family) == 1 else "paths"
    note = "" if slender <= SLENDER else ", scales differ"
    return Panel("", title + note, *labels, tuple(curves), equal=not note, over_time=False)
