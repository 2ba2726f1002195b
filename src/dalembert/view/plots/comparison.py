"""A picture of `compare`: how far each formulation is from the fundamental equation, and what counts as agreement."""

from __future__ import annotations

import os

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.study.compare import AGREEMENT, Comparison, Row
from dalembert.view.figures import Given, finish, given_axes
from dalembert.view.plots.figure import SMALL, TEXT, TITLE, new_figure, paint, typeset
from dalembert.view.plots.style import LIGHT, Style, style_named

# Below this share of their size numbers are the same; exact agreement has no place on a logarithmic scale.
LEAST = 1e-17
# Inches: of the picture, and of one formulation in it.
WIDTH, LINE = 7.6, 0.3


def plot_comparison(
    comparison: Comparison, path: str | os.PathLike[str] | None = None, axes: Given = None, style: str = "light"
) -> Figure:
    """One line for each formulation: differences in acceleration and in force; those that do not apply say so."""
    look = style_named(style)
    if axes is None:
        size = (WIDTH, 1.5 + LINE * len(comparison.rows))
        figure, (place,) = new_figure(1, look, size=size)
    else:
        figure, (place,) = given_axes(axes, 1)
    _draw(place, comparison, look)
    paint(place, look, painted=axes is None or look is not LIGHT)
    place.grid(visible=False, axis="y")
    verdict = "all that apply agree" if comparison.agree else "NOT all that apply agree"
    title = typeset(f"{comparison.system.name}: {verdict}")
    place.set_title(title, fontsize=TITLE, loc="left", color=look.ink, pad=24)
    keys = {"frameon": False, "labelcolor": look.ink, "ncols": 3, "fontsize": SMALL, "borderaxespad": 0.15}
    place.legend(loc="lower left", bbox_to_anchor=(0, 1), **keys)
    return finish(figure, path)


def _draw(axes: Axes, comparison: Comparison, style: Style) -> None:
    rows = comparison.rows
    kinds = (
        ("acceleration", "acceleration_difference", "o", 0),
        ("force of the constraints", "force_difference", "D", 1),
    )
    for number, (label, key, marker, hue) in enumerate(kinds):
        at = [k for k, row in enumerate(rows) if getattr(row, key) is not None]
        values = [max(float(getattr(rows[k], key)), LEAST) for k in at]
        places = np.array(at) + (0.14 if number else -0.14)
        axes.plot(values, places, marker, ms=5, color=style.hue(hue), label=label, zorder=3)
    axes.axvline(AGREEMENT, color=style.muted, lw=1.0, ls=(0, (4, 3)), label=f"agreement, {AGREEMENT:.0e}")
    axes.set_xscale("log")
    axes.set_xlim(LEAST / 3, max([1.0, *(row.acceleration_difference or 0.0 for row in rows)]) * 3)
    axes.set_yticks(range(len(rows)), [row.form for row in rows])
    axes.set_ylim(len(rows) - 0.4, -0.6)
    axes.set_xlabel("relative difference from the fundamental equation", fontsize=TEXT)
    axes.set_ylabel("formulation", fontsize=TEXT)
    for k, row in enumerate(rows):
        if note := _note(row):
            colour = style.muted if row.agrees else style.hue(1)
            shown = [value for value in (row.acceleration_difference, row.force_difference) if value is not None]
            # Beside its points, on the side where there is room.
            left = LEAST if not shown or max(shown) > AGREEMENT else 10 * max(*shown, LEAST)
            box = {"fc": style.paper, "ec": "none", "pad": 1.0}
            axes.text(left, k, note, va="center", fontsize=SMALL - 0.5, color=colour, clip_on=True, bbox=box)


def _note(row: Row) -> str:
    if row.acceleration_difference is None:
        return f"does not apply: {_short(row.reason)}"
    return _short(row.reason) if row.contrast else ""


def _short(text: str, most: int = 84) -> str:
    plain = typeset(" ".join(text.split()))
    return plain if len(plain) <= most else plain[: most - 1].rstrip() + "…"
