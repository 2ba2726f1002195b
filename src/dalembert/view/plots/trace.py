"""A picture of the curve that a point draws: the curve, and how much it bends along its length."""

from __future__ import annotations

import os

from matplotlib.figure import Figure

from dalembert.motion.result.trace import Trace
from dalembert.view.figures import Given, finish, panels, printable


def plot_trace(trace: Trace, file: str | os.PathLike[str] | None = None, axes: Given = None) -> Figure:
    """Draw a trace, of one in space its first two coordinates; write it to `file` where that is given."""
    figure, (left, right) = panels(axes, 1, 2, (10, 4.2))
    (first, x), (second, y) = list(trace.place.items())[:2]
    left.plot(x, y, lw=1.2)
    left.plot(x[0], y[0], "o", ms=5, label="start")
    left.plot(x[-1], y[-1], "s", ms=5, label="end")
    left.set(xlabel=first, ylabel=second, title=f"curve, length {trace.distance[-1]:.6g}")
    left.set_aspect("equal", adjustable="datalim")
    left.legend(fontsize=8)
    right.plot(trace.distance, trace.curvature, lw=1.2)
    right.set(xlabel="distance", title="curvature")
    if axes is None:
        figure.suptitle(printable(trace.system.name), fontsize=12)
    return finish(figure, file)
