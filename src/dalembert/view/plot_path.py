"""A picture of a way between two points, at a given energy or in a given time: where it goes, and when it is there."""

from __future__ import annotations

import os
from pathlib import Path as File

from matplotlib.figure import Figure

from dalembert.model.documents.document import write_atomically
from dalembert.study.between import Passage
from dalembert.study.path import Path
from dalembert.view.plot import MOST_CURVES, PLANES, picture


def plot_path(path: Path, file: str | os.PathLike[str] | None = None) -> Figure:
    """Draw a path; write it to `file` (png, pdf, svg) where that is given."""
    return _drawn(path, f"path at energy {path.energy:g}", f"time {path.duration:.6g}, action {path.action:.6g}", file)


def plot_passage(passage: Passage, file: str | os.PathLike[str] | None = None) -> Figure:
    """Draw a motion between two places; write it to `file` where that is given."""
    time = f"motion in the time {passage.t[-1] - passage.t[0]:g}"
    return _drawn(passage, time, f"action {passage.action:.6g}: {passage.kind}", file)


def _drawn(way: Path | Passage, place: str, time: str, file: str | os.PathLike[str] | None) -> Figure:
    figure = Figure(figsize=(10, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
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
    figure.suptitle("".join(character for character in way.system.name if character.isprintable()), fontsize=12)
    if file is not None:
        write_atomically(file, picture(figure, File(file).suffix.lstrip(".") or "png"))
    return figure
