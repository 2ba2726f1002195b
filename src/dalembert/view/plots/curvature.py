"""A picture of the curvature along a motion."""

from __future__ import annotations

import os

import numpy as np
from matplotlib.figure import Figure

from dalembert.motion.result.motion import Motion
from dalembert.view.figures import Given, finish, given_axes
from dalembert.view.plots.figure import draw_panels
from dalembert.view.plots.labels import names_of
from dalembert.view.plots.panel import Curve, Panel


def plot_curvature(
    motion: Motion,
    curvature: np.ndarray,
    file: str | os.PathLike[str] | None = None,
    given: Given = None,
    style: str = "light",
) -> Figure:
    """Draw √K of a motion; write it to `file` (png, pdf, svg) where that is given."""
    curve = Curve("", motion.t, np.asarray(curvature, dtype=float))
    panel = Panel("curvature", "curvature in the metric of the masses", names_of(motion.system).time, "√K", (curve,))
    figure = draw_panels([panel], given, style, motion.system.name)
    (place,) = figure.axes if given is None else given_axes(given, 1)[1]
    place.set_ylim(bottom=0)
    return finish(figure, file)
