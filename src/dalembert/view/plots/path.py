"""A picture of a way between two points, at a given energy or in a given time: where it goes, and when it is there."""

from __future__ import annotations

import os
from dataclasses import replace

from matplotlib.figure import Figure

from dalembert.study.between import Passage
from dalembert.study.path import Path
from dalembert.study.vakonomic import VakonomicMotion
from dalembert.view.figures import Given, finish
from dalembert.view.plots.figure import draw_panels
from dalembert.view.plots.panels.over_time import coordinates_of
from dalembert.view.plots.panels.paths import way_of

Way = Path | Passage | VakonomicMotion


def plot_path(
    path: Path, file: str | os.PathLike[str] | None = None, axes: Given = None, style: str = "light"
) -> Figure:
    """Draw a path; write it to `file` (png, pdf, svg) where that is given."""
    time = f"time {path.duration:.6g}, action {path.action:.6g}"
    return _draw(path, f"path at energy {path.energy:g}", time, file, axes, style)


def plot_passage(
    passage: Passage, file: str | os.PathLike[str] | None = None, axes: Given = None, style: str = "light"
) -> Figure:
    """Draw a motion between two places; write it to `file` where that is given."""
    time = f"motion in the time {passage.t[-1] - passage.t[0]:g}"
    return _draw(passage, time, f"action {passage.action:.6g}: {passage.kind}", file, axes, style)


def plot_vakonomic(
    way: VakonomicMotion, file: str | os.PathLike[str] | None = None, axes: Given = None, style: str = "light"
) -> Figure:
    """Draw a vakonomic path; write it to `file` where that is given."""
    return _draw(way, "vakonomic path, not the motion", "coordinates", file, axes, style)


def _draw(way: Way, place: str, time: str, file: str | os.PathLike[str] | None, axes: Given, style: str) -> Figure:
    left = replace(way_of(way.system, way.__getitem__), title=place)
    right = replace(coordinates_of(way.system, way.t, way.__getitem__), title=time)
    return finish(draw_panels([left, right], axes, style, way.system.name), file)
