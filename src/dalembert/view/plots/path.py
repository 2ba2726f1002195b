"""A picture of a way between two points, at a given energy or in a given time: where it goes, and when it is there."""

from __future__ import annotations

import os

from matplotlib.figure import Figure

from dalembert.study.between import Passage
from dalembert.study.path import Path
from dalembert.study.vakonomic import VakonomicMotion
from dalembert.view.figures import Given, finish, panels, printable
from dalembert.view.plot import MOST_CURVES, PLANES


def plot_path(path: Path, file: str | os.PathLike[str] | None = None, axes: Given = None) -> Figure:
    """Draw a path; write it to `file` (png, pdf, svg) where that is given."""
    time = f"time {path.duration:.6g}, action {path.action:.6g}"
    return _draw(path, f"path at energy {path.energy:g}", time, file, axes)


def plot_passage(passage: Passage, file: str | os.PathLike[str] | None = None, axes: Given = None) -> Figure:
    """Draw a motion between two places; write it to `file` where that is given."""
    time = f"motion in the time {passage.t[-1] - passage.t[0]:g}"
    return _draw(passage, time, f"action {passage.action:.6g}: {passage.kind}", file, axes)


def plot_vakonomic(way: VakonomicMotion, file: str | os.PathLike[str] | None = None, axes: Given = None) -> Figure:
    """Draw a vakonomic path; write it to `file` where that is given."""
    return _draw(way, "vakonomic path, not the motion", "coordinates", file, axes)


def _draw(
    way: Path | Passage | VakonomicMotion, place: str, time: str, file: str | os.PathLike[str] | None, axes: Given
) -> Figure:
    figure, (left, right) = panels(axes, 1, 2, (10, 4.2))
    names = [q.name for q in way.system.coordinates]
    plane = next((pair for pair in PLANES if set(pair) <= set(names)), (names[0], names[min(1, len(names) - 1)]))
    x, y = way[plane[0]], way[plane[1]]
    left.plot(x, y, lw=1.2)
    left.plot(x[0], y[0], "o", ms=5, label="start")
    left.plot(x[-1], y[-1], "s", ms=5, label="end")
    left.set(xlabel=plane[0], ylabel=plane[1], title=place)
    left.legend(fontsize=8)
    for name in names[:MOST_CURVES]:
        right.plot(way.t, way[name], lw=1.2, label=name)
    right.set(xlabel="t", title=time)
    right.legend(fontsize=8)
    if axes is None:
        figure.suptitle(printable(way.system.name), fontsize=12)
    return finish(figure, file)
