"""Figures 2 and 3 of Flannery 2011: orbits of the penny, downhill pointing down as on the plane."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from dalembert.library.orbits import OrbitFigure
from dalembert.model.documents.document import write_atomically
from dalembert.view.plot import picture

# Inches: the width of the page, and the least height of a panel so that its labels fit.
WIDTH, LEAST = 9.0, 1.1


def draw(figure: OrbitFigure, path: str | os.PathLike[str] | None = None) -> Figure:
    """One panel below the other, all in one scale; written to `path` (png, pdf, svg) where that is given."""
    curves = [figure.curve(panel) for panel in range(len(figure.orbits))]
    left, right = min(float(y.min()) for y, _ in curves), max(float(y.max()) for y, _ in curves)
    margin = 0.02 * (right - left)
    heights = [max(LEAST, (WIDTH - 0.8) * float(np.ptp(x)) / (right - left) + 0.85) for _, x in curves]
    page = Figure(figsize=(WIDTH, sum(heights) + 0.4), layout="constrained")
    panels = page.subplots(len(curves), 1, squeeze=False, height_ratios=heights)[:, 0]
    for k, (panel, (y, x)) in enumerate(zip(panels, curves, strict=True)):
        panel.axhline(0, lw=0.5, color="0.7")
        panel.plot(y, x, lw=0.9)
        panel.plot(y[0], x[0], "o", ms=3)
        panel.set(xlabel=f"y/{figure.unit}", ylabel=f"x/{figure.unit}", aspect="equal")
        panel.set_xlim(left - margin, right + margin)
        panel.set_title(f"({'abcdefgh'[k]})  R'/a = {figure.orbits[k].ratio:g}", fontsize=9, loc="left")
        panel.invert_yaxis()  # x points downhill
    page.suptitle(f"Figure {figure.number}: {figure.motions[0].system.name}, in units of {figure.unit}", fontsize=11)
    if path is not None:
        write_atomically(path, picture(page, Path(path).suffix.lstrip(".") or "png"))
    return page
