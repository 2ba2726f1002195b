"""`Panel`: what one panel of a picture shows, as a value that anything can draw.

Panels are made of a motion by name, `panels_of(motion, ["paths", "energy"])`. Matplotlib draws them for files
(`view.plots.figure`), Plotly for a browser (`view.plots.interactive`), and pages of HTML draw them by themselves. Texts
are plain Unicode, as a model has them: whoever writes them into a page must escape them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.view.plots.decimate import decimate

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

__all__ = ["Band", "Curve", "Mark", "Panel", "decimate", "panels_of"]

#: How a curve is drawn; `view.plots.style` has the strokes.
ROLES = ("line", "impressed", "ideal", "nonideal", "other", "ghost", "limit", "points", "start", "end")


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve. label: for the legend; empty: none. x, y (K,); NaN in y parts it. role: one of `ROLES`. hue: number of
    its colour, the same for curves that belong together; −1 is the colour of the text. t (K,): the times of its points,
    in panels that are not over time, where they are known.
    """

    label: str
    x: Array
    y: Array
    role: str = "line"
    hue: int = 0
    t: Array | None = None

    def thinned(self, most: int) -> Curve:
        """The same curve by at most so many points, extremes kept."""
        if self.t is not None and self.t.size > most:
            numbers = np.arange(self.t.size, dtype=float)
            kept = [decimate(numbers, values, most // 2)[0] for values in (self.x, self.y)]
            rows = np.union1d(*kept).astype(int)
            return replace(self, x=self.x[rows], y=self.y[rows], t=self.t[rows])
        x, y = decimate(self.x, self.y, most)
        return self if x is self.x else replace(self, x=x, y=y)


@dataclass(frozen=True)
class Band:
    """From `start` to `end` on the row of this number, something is the case: `state`, such as "slip"."""

    row: int
    start: float
    end: float
    state: str


@dataclass(frozen=True)
class Mark:
    """An event at a time. kind: "event", "impact", "stick", "slip", or what else contacts do."""

    time: float
    label: str
    kind: str


@dataclass(frozen=True, eq=False)
class Panel:
    """One panel. name: what it is asked for by. over_time: x is the time, so that a cursor may run along it. log: y has
    a logarithmic scale. equal: x and y have one scale. rows: names of the rows that bands lie on. marks: of events, in
    panels over time. text: what is said in place of a picture where there is nothing to show.
    """

    name: str
    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...] = ()
    bands: tuple[Band, ...] = ()
    rows: tuple[str, ...] = ()
    marks: tuple[Mark, ...] = ()
    log: bool = False
    equal: bool = False
    over_time: bool = True
    text: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bands and not any(np.isfinite(curve.y).any() for curve in self.curves)

    def thinned(self, most: int) -> Panel:
        """The same panel with curves of at most so many points each."""
        return replace(self, curves=tuple(curve.thinned(most) for curve in self.curves))


def panels_of(motion: Motion, names: Sequence[str] | None = None) -> list[Panel]:
    """The panels of a motion, by name; without names the standard set, of what has something to show. A name may give
    several panels ("paths" of a point in space: two views), and one panel with a `text` where it has nothing to show.
    """
    from dalembert.view.plots.motion import make_panels  # which makes them of the values defined here

    return make_panels(motion, names)
