"""A picture of the curvature along a motion."""

from __future__ import annotations

import os

import numpy as np
from matplotlib.figure import Figure

from dalembert.motion.result.motion import Motion
from dalembert.view.figures import Given, finish, panels, printable


def plot_curvature(
    motion: Motion, curvature: np.ndarray, file: str | os.PathLike[str] | None = None, given: Given = None
) -> Figure:
    """Draw √K of a motion; write it to `file` (png, pdf, svg) where that is given."""
    figure, (axes,) = panels(given, 1, 1, (7.2, 4.2))
    axes.plot(motion.t, curvature, lw=1.2)
    axes.set(xlabel="t", ylabel=r"$\sqrt{K}$")
    axes.set_ylim(bottom=0)
    axes.set_title(f"{printable(motion.system.name)}: curvature in the metric of the masses", fontsize=11)
    return finish(figure, file)
