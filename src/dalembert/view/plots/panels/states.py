"""Coordinates and velocities over time, and one against the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.view.plots.along import MOST_CURVES, NOTHING, Along, counted_title
from dalembert.view.plots.labels import axis_label, curve_labels, time_label
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import chosen, nothing

if TYPE_CHECKING:
    from dalembert.model.system import System

# Of the largest coordinate, what others that depend on it may change by though nothing moves.
ROUNDING = 1e-13


def coordinates(along: Along, of: tuple[str, ...]) -> list[Panel]:
    return _over_time(along, of, "q", "", "coordinates")


def velocities(along: Along, of: tuple[str, ...]) -> list[Panel]:
    return _over_time(along, of, "v", "'", "velocities")


def _over_time(along: Along, of: tuple[str, ...], kind: str, mark: str, title: str) -> list[Panel]:
    names = chosen(title, of, along.coordinates, "coordinate")
    shown = names[:MOST_CURVES]
    columns = [name + mark for name in shown]
    label, each = axis_label(along.system, columns, "q̇" if mark else "q")
    values = along.points[kind]
    curves = tuple(
        Curve(text, along.t, values[:, along.coordinates.index(name)], hue=k)
        for k, (name, text) in enumerate(zip(shown, curve_labels(along.system, columns, each), strict=True))
    )
    return [Panel("", counted_title(title, len(shown), len(names)), time_label(along.system), label, curves)]


def coordinates_of(system: System, t: Array, column: Callable[[str], Array]) -> Panel:
    """The coordinates of any way over its times. column: gives one by its name."""
    names = [coordinate.name for coordinate in system.coordinates]
    shown = names[:MOST_CURVES]
    label, each = axis_label(system, shown, "q")
    texts = curve_labels(system, shown, each)
    curves = tuple(Curve(text, t, column(name), hue=k) for k, (name, text) in enumerate(zip(shown, texts, strict=True)))
    title = counted_title("coordinates", len(shown), len(names))
    return Panel("coordinates", title, time_label(system), label, curves)


def phase(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """Velocities against their coordinates."""
    names = chosen("phase", of, along.coordinates, "coordinate")
    q, v = along.points["q"], along.points["v"]
    rounding = ROUNDING * float(np.abs(q).max())
    moving = [name for name in names if _moves(q[:, along.coordinates.index(name)], rounding)]
    shown = moving[:MOST_CURVES]
    if not shown:
        return nothing("phase portrait", "nothing moves")
    across, each = axis_label(along.system, shown, "q")
    up, _ = axis_label(along.system, [name + "'" for name in shown], "q̇")
    curves: list[Curve] = []
    for k, (name, text) in enumerate(zip(shown, curve_labels(along.system, shown, each), strict=True)):
        at = along.coordinates.index(name)
        x, y = q[:, at], v[:, at]
        curves += [Curve(text if len(shown) > 1 else "", x, y, hue=k)]
        first, last = np.array([0]), np.array([x.size - 1])
        curves += [Curve("start" if k == 0 else "", x[first], y[first], "start", k)]
        curves += [Curve("end" if k == 0 else "", x[last], y[last], "end", k)]
    title = counted_title("phase portrait", len(shown), len(moving))
    return [Panel("", title, across, up, tuple(curves), over_time=False)]


def _moves(values: Array, rounding: float) -> bool:
    """Whether a coordinate changes by more than rounding: of its own size, or of the others, which it is held by."""
    return float(np.ptp(values)) > max(NOTHING * float(np.abs(values).max()), rounding)
