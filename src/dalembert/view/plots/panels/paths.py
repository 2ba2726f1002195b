"""Paths of points: of Cartesian coordinates (read off the kinetic energy), of particles, and of outputs that come in
pairs or triples, "tip x" and "tip y"; or, where there are none, those of the drawing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import Names, names_of, phrase, symbol, with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import choose_names, nothing
from dalembert.view.plots.steady import SAME

if TYPE_CHECKING:
    from dalembert.model.system import System

NONE = "no points that move are known: no Cartesian coordinates, no particles, no outputs x, y of a point, none drawn"
# Along an axis a point does not move that moves this much more along another.
STILL = 1e-6
# With one scale for both axes a path more slender than this would not be seen.
SLENDER = 15.0
OUTPUT = (re.compile(r"^(?P<of>.+?)[ _](?P<axis>[xyz])$"), re.compile(r"^(?P<axis>[xyz])[ _]?(?P<of>.*)$"))


@dataclass(frozen=True, eq=False)
class Point:
    """A point: label, names of its axes, and its places (K,) along each. unit: of length. t (K,): when it is there."""

    label: str
    axes: tuple[str, ...]
    places: tuple[Array, ...]
    unit: str
    t: Array | None = None

    @property
    def moves(self) -> bool:
        reach, size = (max(float(f(values)) for values in self.places) for f in (np.ptp, _largest))
        return reach > SAME * size


def _largest(values: Array) -> float:
    return float(np.abs(values).max())


def paths(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """Every point that moves; those of one kind of axes in one panel, of points in space two views."""
    given = list(points_of(along))
    of = tuple(_labels(of, {point.label for point in given}))
    known = {point.label: point for point in given if point.moves or point.label in of}
    if not known or not known.keys() >= set(of):
        known |= {point.label: point for point in drawn_points(along) if point.moves or point.label in of}
    wanted = [known[label] for label in (choose_names("paths", of, list(known), "point") if of else known)]
    families: dict[tuple[str, ...], list[Point]] = {}
    for point in wanted:
        families.setdefault(point.axes, []).append(point)
    found = [panel for family in families.values() for panel in views(family)]
    return found or nothing("path", NONE if not known else "no point moves along more than one axis")


def _labels(of: tuple[str, ...], known: Collection[str]) -> Iterator[str]:
    """The labels of points asked for, of which some have commas of their own: "x1, y1" is the point x₁, y₁."""
    rest = list(of)
    while rest:
        tried = (", ".join(map(symbol, rest[:count])) for count in (3, 2, 1))
        found = next((label for label in tried if label in known), rest[0])
        yield found
        rest = rest[found.count(",") + 1 :]


def points_of(along: Along) -> Iterator[Point]:
    """The points that a model gives, each once."""
    system, q = along.system, along.points.q
    places_of = {name: np.asarray(q[:, k]) for k, name in enumerate(along.coordinates)}
    yield from cartesian(system, along.names, places_of.__getitem__, along.points.t)
    freed = system.as_written.particles if system.has_particles else None
    for particle in () if freed is None else freed.particles:
        if len(particle.position) > 1:
            places = tuple(along.motion.evaluate(entry) for entry in particle.position)
            yield Point(symbol(particle.name), tuple("xyz"[: len(places)]), places, "", along.motion.t)
    for label, axes in output_points(list(along.motion.outputs)).items():
        places = tuple(along.motion.outputs[name] for name in axes.values())
        unit = along.names.units.get(next(iter(axes.values())), "")
        yield Point(phrase(label), tuple(axes), places, unit, along.motion.t)


def drawn_points(along: Along) -> Iterator[Point]:
    """The points of the drawing of a system: those whose way it traces, or that it names."""
    from dalembert.model.drawings import shapes  # most models show their points otherwise

    traces: list[Any] = [shape for shape in along.system.draw if isinstance(shape, shapes.Trace)]
    named: list[Any] = [shape for shape in along.system.draw if isinstance(shape, shapes.Point) and shape.label]
    for number, shape in enumerate(traces or named, 1):
        places = tuple(along.motion.evaluate(entry) for entry in shape.at)
        label = phrase(shape.label) or ("drawn point" if len(traces) == 1 else f"drawn point {number}")
        yield Point(label, tuple("xyz"[: len(places)]), places, "", along.motion.t)


def cartesian(system: System, names: Names, column: Callable[[str], Array], t: Array | None = None) -> Iterator[Point]:
    """The points whose Cartesian coordinates are among those of a system. column: gives a coordinate by its name."""
    for own in system.cartesian_points:
        # x and y of x_A, y_A, so that all points share a panel.
        told = next((tuple(each) for each in output_points(own).values() if len(each) == len(own)), None)
        axes = told or tuple(names.shown[name.rstrip("0123456789_")] for name in own)
        label = ", ".join(names.shown[name] for name in own)
        yield Point(label, axes, tuple(column(name) for name in own), names.units.get(own[0], ""), t)


def way_of(system: System, column: Callable[[str], Array]) -> Panel:
    """One view of where a way leads: of its points, or of its first two coordinates where it has none."""
    names = names_of(system)
    points = [point for point in cartesian(system, names, column) if point.moves]
    seen = views([point for point in points if point.axes == points[0].axes]) if points else []
    if seen:
        return seen[0]
    own = [coordinate.name for coordinate in system.coordinates]
    first, second = own[0], own[min(1, len(own) - 1)]
    x, y = column(first), column(second)
    ends = (Curve("start", x[[0]], y[[0]], "start"), Curve("end", x[[-1]], y[[-1]], "end"))
    labels = [with_unit(names.shown[name], names.units.get(name, "")) for name in (first, second)]
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
        curves.append(Curve(point.label if len(family) > 1 else "", x, y, hue=hue, t=point.t))
        for at, role in ((0, "start"), (-1, "end")):
            curves.append(Curve(role if hue == 0 else "", x[[at]], y[[at]], role, hue))
    axes, unit = family[0].axes, family[0].unit
    slender = max(reach[across], reach[up]) / min(reach[across], reach[up])
    labels = with_unit(axes[across], unit), with_unit(axes[up], unit)
    title = "path" if len(family) == 1 else "paths"
    note = "" if slender <= SLENDER else ", scales differ"
    return Panel("", title + note, *labels, tuple(curves), equal=not note, over_time=False)
