"""A picture of the curve that a point draws: the curve, and how much it bends along its length."""

from __future__ import annotations

import os
from dataclasses import replace

from matplotlib.figure import Figure

from dalembert.model.units import unit_of
from dalembert.motion.result.trace import Trace
from dalembert.view.figures import Given, finish
from dalembert.view.plots.figure import draw_panels
from dalembert.view.plots.labels import symbol, with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.paths import Point, views


def plot_trace(
    trace: Trace, file: str | os.PathLike[str] | None = None, axes: Given = None, style: str = "light"
) -> Figure:
    """Draw a trace, of one in space the view that shows most of it; write it to `file` where that is given."""
    names = list(trace.place)
    unit = unit_of(trace.system, names[0])
    point = Point("", tuple(map(symbol, names)), tuple(trace.place.values()), unit)
    seen = views([point]) or [_line(trace, unit)]
    curve = replace(seen[0], title=f"curve, length {trace.distance[-1]:.6g}")
    along = with_unit("distance", unit)
    bend = with_unit("curvature", f"1/{unit}" if unit else "")
    right = Panel("curvature", "curvature", along, bend, (Curve("", trace.distance, trace.curvature),), over_time=False)
    return finish(draw_panels([curve, right], axes, style, trace.system.name), file)


def _line(trace: Trace, unit: str) -> Panel:
    """A trace along one axis: there is nothing to see but that."""
    (first, x), (second, y) = list(trace.place.items())[:2]
    labels = with_unit(symbol(first), unit), with_unit(symbol(second), unit)
    return Panel("paths", "", *labels, (Curve("", x, y),), over_time=False)
