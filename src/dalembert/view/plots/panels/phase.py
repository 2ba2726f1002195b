"""Phase portraits: velocities against their coordinates."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import choose_names, nothing
from dalembert.view.plots.panels.over_time import MOST_CURVES, NOTHING, axis_label, counted_title

# Of the largest coordinate, what others that depend on it may change by though nothing moves.
ROUNDING = 1e-13


def phase(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """Of every coordinate that moves, with its start and its end."""
    names = choose_names("phase", of, along.coordinates, "coordinate")
    q, v = along.points.q, along.points.v
    rounding = ROUNDING * float(np.abs(q).max())
    moving = [name for name in names if _moves(q[:, along.coordinates.index(name)], rounding)]
    shown = moving[:MOST_CURVES]
    if not shown:
        return nothing("phase portrait", "nothing moves")
    across, each = axis_label(shown, along.names, "q")
    up, _ = axis_label([f"{name}'" for name in shown], along.names, "q̇")
    curves: list[Curve] = []
    for k, name in enumerate(shown):
        at = along.coordinates.index(name)
        x, y = q[:, at], v[:, at]
        unit = along.names.units.get(name, "") if each else ""
        label = with_unit(along.names.shown[name], unit) if len(shown) > 1 else ""
        curves.append(Curve(label, x, y, hue=k, t=along.points.t))
        for end, role in ((0, "start"), (-1, "end")):
            curves.append(Curve(role if k == 0 else "", x[[end]], y[[end]], role, k))
    title = counted_title("phase portrait", len(shown), len(moving))
    return [Panel("", title, across, up, tuple(curves), over_time=False)]


def _moves(values: Array, rounding: float) -> bool:
    """Whether a coordinate changes by more than rounding: of its own size, or of the others, which it is held by."""
    return float(np.ptp(values)) > max(NOTHING * float(np.abs(values).max()), rounding)
