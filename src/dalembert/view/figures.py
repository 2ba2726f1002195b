"""Figures that show themselves in notebooks, the panels that pictures are drawn into, and files of them."""

from __future__ import annotations

import io
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure

from dalembert.errors import OutputError
from dalembert.model.documents.write_files import write_atomically

DPI = 130
#: Where a picture is to be drawn: one panel, or as many as it has, in any arrangement; None for a figure of its own.
Given = Axes | Sequence[Axes] | np.ndarray | None


class Picture(Figure):
    """A figure that Jupyter shows without `%matplotlib inline`: it belongs to no window, and gives its own image."""

    def _repr_png_(self) -> bytes:
        return as_bytes(self, "png")


def panels(
    axes: Given, rows: int, columns: int, size: tuple[float, float], heights: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """The figure and its panels, row by row: those given, or new ones in a figure of this size, in inches."""
    if axes is None:
        figure: Figure = Picture(figsize=size, layout="constrained")
        return figure, list(figure.subplots(rows, columns, squeeze=False, height_ratios=heights).flat)
    return given_axes(axes, rows * columns)


def given_axes(axes: Given, count: int, names: str = "") -> tuple[Figure, list[Axes]]:
    """The figure of axes that were given, and these one by one; `OutputError` where they are not as many as panels.
    names: of the panels, for the message.
    """
    given = [axes] if isinstance(axes, Axes) else list(np.asarray(axes, dtype=object).flat)
    if len(given) != count or not all(isinstance(item, Axes) for item in given):
        told = f" ({names})" if names else ""
        raise OutputError(
            f"this picture has {count} panel{'s' if count > 1 else ''}{told}, got {len(given)} axes: "
            "give as many, or none"
        )
    whole = given[0].figure
    return (whole.figure if isinstance(whole, SubFigure) else whole), given


def finish(figure: Figure, path: str | os.PathLike[str] | None) -> Figure:
    """The figure, written to `path` (png, pdf, svg) where that is given."""
    if path is not None:
        write_atomically(path, as_bytes(figure, Path(path).suffix.lstrip(".") or "png"))
    return figure


def as_bytes(figure: Figure, kind: str) -> bytes:
    """The figure as the bytes of a file."""
    buffer = io.BytesIO()
    try:
        figure.savefig(buffer, format=kind, dpi=DPI)
    except ValueError as error:
        raise OutputError(f"a picture cannot be written as {kind!r}: {error}") from None
    return buffer.getvalue()


def printable(text: str) -> str:
    """Text that a picture can show: no control characters, and no dollar sign that would begin a formula."""
    return "".join(character for character in text if character.isprintable()).replace("$", r"\$")
