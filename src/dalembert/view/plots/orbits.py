"""Figures 2 and 3 of Flannery 2011: orbits of the penny, downhill pointing down as on the plane."""

from __future__ import annotations

import os

import numpy as np
from matplotlib.figure import Figure

from dalembert.library.orbits import Orbit, OrbitFigure
from dalembert.view.figures import Given, finish, panels
from dalembert.view.plots.figure import paint
from dalembert.view.plots.style import LIGHT

# Inches: the width of the page, and the least height of a panel so that its labels fit.
WIDTH, LEAST = 9.0, 1.1


def draw_orbit(orbit: Orbit, path: str | os.PathLike[str] | None = None, given: Given = None) -> Figure:
    """Three periods of one orbit, with the places where it stops; written to `path` where that is given."""
    figure, (axes,) = panels(given, 1, 1, (WIDTH, 4.0))
    phi = np.linspace(0, 6 * np.pi, 1201)
    paint(axes, LIGHT, painted=given is None)
    axes.plot(orbit.y(phi), orbit.x(phi), lw=1.2, color=LIGHT.hues[0])
    if orbit.phi1 is not None and orbit.phi2 is not None:
        stops = np.array([2 * np.pi * k + angle for k in range(3) for angle in (orbit.phi1, orbit.phi2)])
        axes.plot(orbit.y(stops), orbit.x(stops), "o", ms=4, color=LIGHT.hues[1], label="stops")
        axes.legend(fontsize=8, frameon=False, loc="lower right", bbox_to_anchor=(1, 1))
    axes.set(xlabel="y", ylabel="x", aspect="equal", title=f"R'/a = {orbit.ratio:g}")
    axes.invert_yaxis()  # x points downhill
    return finish(figure, path)


def draw(figure: OrbitFigure, path: str | os.PathLike[str] | None = None, given: Given = None) -> Figure:
    """One panel below the other, all in one scale; written to `path` (png, pdf, svg) where that is given."""
    curves = [figure.curve(panel) for panel in range(len(figure.orbits))]
    left, right = min(float(y.min()) for y, _ in curves), max(float(y.max()) for y, _ in curves)
    margin = 0.02 * (right - left)
    heights = [max(LEAST, (WIDTH - 0.8) * float(np.ptp(x)) / (right - left) + 0.85) for _, x in curves]
    page, places = panels(given, len(curves), 1, (WIDTH, sum(heights) + 0.4), heights)
    for k, (panel, (y, x)) in enumerate(zip(places, curves, strict=True)):
        paint(panel, LIGHT, painted=given is None)
        panel.plot(y, x, lw=0.9, color=LIGHT.hues[0])
        panel.plot(y[0], x[0], "o", ms=3, color=LIGHT.hues[1])
        panel.set(xlabel=f"y/{figure.unit}", ylabel=f"x/{figure.unit}", aspect="equal")
        panel.set_xlim(left - margin, right + margin)
        panel.set_title(f"({'abcdefgh'[k]})  R'/a = {figure.orbits[k].ratio:g}", fontsize=9, loc="left")
        panel.invert_yaxis()  # x points downhill
    if given is None:
        name = figure.motions[0].system.name
        page.suptitle(f"Figure {figure.number}: {name}, in units of {figure.unit}", fontsize=11)
    return finish(page, path)
