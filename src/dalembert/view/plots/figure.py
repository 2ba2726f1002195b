"""Panels drawn by Matplotlib: for files, and for axes that somebody else has made.

Legends stand above the axes, below the title, so that they never hide a curve.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from math import ceil
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import LogLocator, NullFormatter

from dalembert.errors import OutputError
from dalembert.view.figures import Given, Picture, given_axes, printable
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.steady import limits_of_steady_panel
from dalembert.view.plots.style import LIGHT, STROKES, STYLES, Style, style_named

# Inches: of one panel. Points: of type.
WIDTH, HEIGHT, LOW = 4.9, 3.3, 1.7
TITLE, TEXT, SMALL = 10.5, 9.0, 8.0
# A curve of more points than these is drawn by fewer: more are not seen, but take time and room in files.
MOST_POINTS = 4000
# Marks of so many kinds are told in a legend; more would fill it.
MOST_MARKS = 4
# More marks than these are ticks at the upper edge: lines would hide the curves.
MOST_LINES = 40
DOTTED = re.compile(r"([^\W\d_])([\u0307\u0308])")
COMMANDS = {"\u0307": r"\dot", "\u0308": r"\ddot"}


def draw_panels(panels: Sequence[Panel], axes: Given, name: str, title: str = "") -> Figure:
    """All panels: in the axes given, one for each, or in a new figure under a title. name: of the style."""
    style = STYLES[name] if name in STYLES else style_named(name)
    if not panels:
        raise OutputError("there is nothing to draw: none of these panels has something to show")
    if axes is not None:
        figure, places = given_axes(axes, len(panels), ", ".join(panel.name for panel in panels))
    else:
        figure, places = new_figure(len(panels), style, title, low=[bool(panel.bands) for panel in panels])
    told = False
    for place, panel in zip(places, panels, strict=True):
        draw_panel(place, panel, style, painted=axes is None or style is not LIGHT, tell_marks=not told)
        told = told or (bool(panel.marks) and panel.over_time)
    for place, panel in zip(places, panels, strict=True):
        _steady(place, panel)
    return figure


def new_figure(
    count: int,
    style: Style,
    title: str = "",
    size: tuple[float, float] | None = None,
    low: Sequence[bool] = (),
) -> tuple[Figure, list[Axes]]:
    """A figure with so many panels in rows of up to three; those of a short last row are wider. size: in inches. low:
    which panels need little height, so that a row of them alone gets less.
    """
    columns = {1: 1, 2: 2, 3: 3, 4: 2}.get(count, 3)
    rows = ceil(count / columns)
    heights = [LOW if all(low[k : k + columns]) and low else HEIGHT for k in range(0, count, columns)]
    size = size or (WIDTH * columns, sum(heights) + 0.35)
    layout = ConstrainedLayoutEngine(w_pad=0.08, h_pad=0.08)
    figure = Picture(figsize=size, layout=layout, facecolor=style.paper)
    grid = figure.add_gridspec(rows, 6, height_ratios=heights)
    places = []
    for k in range(count):
        row = k // columns
        inside = columns if row < rows - 1 else count - columns * (rows - 1)
        width = 6 // inside
        at = k - row * columns
        places.append(figure.add_subplot(grid[row, at * width : (at + 1) * width]))
    if title:
        figure.suptitle(typeset(title), fontsize=12, color=style.ink)
    return figure, places


def draw_panel(axes: Axes, panel: Panel, style: Style, painted: bool = True, tell_marks: bool = True) -> None:
    """One panel. painted: its background and axes take the colours of the style. tell_marks: a legend says what the
    marks of events are.
    """
    if panel.text:
        _say(axes, panel, style)
        return
    for curve in panel.curves:
        _curve(axes, curve if curve.x.size <= MOST_POINTS else curve.thinned(MOST_POINTS), style)
    if panel.bands:
        _bands(axes, panel, style)
    if panel.log:
        axes.set_yscale("log")
        axes.yaxis.set_minor_locator(LogLocator(subs=()))
        axes.yaxis.set_minor_formatter(NullFormatter())
    if panel.over_time:
        _time_limits(axes, panel)
    if panel.equal:
        axes.set_aspect("equal", adjustable="datalim")
    axes.set_xlabel(typeset(panel.x_label), fontsize=TEXT)
    axes.set_ylabel(typeset(panel.y_label), fontsize=TEXT)
    paint(axes, style, painted)
    handles = _marks(axes, panel, style)
    _legend(axes, panel, style, handles if tell_marks else [])
    if not panel.log and not panel.bands:
        plain_numbers(axes)


def paint(axes: Axes, style: Style, painted: bool = True) -> None:
    """Grid, and the frame without its upper and right side; in the colours of a style, where they are not another's."""
    axes.grid(visible=True, color=style.faint, lw=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=SMALL)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if not painted:
        return
    axes.set_facecolor(style.paper)
    axes.tick_params(colors=style.ink, which="both")
    for spine in axes.spines.values():
        spine.set_color(style.muted)
    for label in (axes.xaxis.label, axes.yaxis.label, axes.title):
        label.set_color(style.ink)


def typeset(text: str) -> str:
    """Text for Matplotlib: no control characters, no formulas of others; dots over letters by its own formulas, since
    its fonts set them beside.
    """
    plain = text if text.isprintable() and "$" not in text else printable(text)
    plain = unicodedata.normalize("NFD", plain)
    dotted = DOTTED.sub(lambda found: rf"$\mathregular{{{COMMANDS[found[2]]}{{{found[1]}}}}}$", plain)
    return unicodedata.normalize("NFC", dotted)


def _say(axes: Axes, panel: Panel, style: Style) -> None:
    """What is said in the place of a picture."""
    axes.set_axis_off()
    axes.set_title(typeset(panel.title), fontsize=TITLE, loc="left", color=style.ink)
    text = fill(typeset(panel.text), 44)
    axes.text(0.5, 0.5, text, ha="center", va="center", fontsize=TEXT, color=style.muted, transform=axes.transAxes)


def _curve(axes: Axes, curve: Curve, style: Style) -> None:
    stroke = STROKES[curve.role]
    colour = style.ink if curve.hue < 0 else style.hues[curve.hue % len(style.hues)]
    label = typeset(curve.label) or "_"  # Matplotlib leaves out what begins like this
    if stroke.marker == ".":
        axes.plot(curve.x, curve.y, ".", ms=3, color=colour, label=label)
    elif stroke.marker:
        own: dict[str, Any] = {"mfc": style.paper if curve.role == "start" else colour, "mec": colour, "mew": 1.3}
        axes.plot(curve.x, curve.y, stroke.marker, ms=5.5, zorder=3, label=label, **own)
    else:
        colour = style.muted if curve.role == "limit" else colour
        dashes: Any = (0, stroke.dash) if stroke.dash else "-"
        axes.plot(curve.x, curve.y, ls=dashes, lw=stroke.width, color=colour, label=label)


def _bands(axes: Axes, panel: Panel, style: Style) -> None:
    for band in panel.bands:
        place, colour = (band.row - 0.32, 0.64), style.states.get(band.state, style.muted)
        axes.broken_barh([(band.start, band.end - band.start)], place, color=colour, lw=0)
    axes.set_yticks(range(len(panel.rows)), [typeset(name) for name in panel.rows])
    spare = 0.6 if len(panel.rows) > 1 else 1.0
    axes.set_ylim(len(panel.rows) - 1 + spare, -spare)


def _steady(axes: Axes, panel: Panel) -> None:
    """A value that does not change is a straight line, not a picture of its rounding errors."""
    limits = limits_of_steady_panel(panel)
    if limits is not None:
        axes.set_ylim(limits)


def plain_numbers(axes: Axes) -> None:
    """Numbers at axes are no differences to another; the power of ten of very large and small ones stands left of the
    upright axis, since the legend is above.
    """
    axes.ticklabel_format(useOffset=False)
    axes.ticklabel_format(axis="y", style="sci", scilimits=(-4, 5))
    power = axes.yaxis.get_offset_text()
    power.set(x=-0.01, ha="right", fontsize=SMALL)
    axes.xaxis.get_offset_text().set_fontsize(SMALL)


def _time_limits(axes: Axes, panel: Panel) -> None:
    """From the first to the last instant, without margins."""
    times = [value for curve in panel.curves for value in (curve.x.min(initial=np.inf), curve.x.max(initial=-np.inf))]
    times += [value for band in panel.bands for value in (band.start, band.end)]
    if times and min(times) < max(times):
        axes.set_xlim(min(times), max(times))


def _marks(axes: Axes, panel: Panel, style: Style) -> list[Line2D]:
    """Lines at events, and what a legend says of them: by name, or by kind where these are many."""
    if not panel.over_time or not panel.marks:
        return []
    labels = dict.fromkeys(mark.label for mark in panel.marks)
    by_kind = len(labels) > MOST_MARKS
    kinds = list(dict.fromkeys(mark.kind if by_kind else mark.label for mark in panel.marks))
    dashes = [(1, 1.5), (3, 1.5), (5, 1.5, 1, 1.5), (1, 3)]
    handles = []
    for k, kind in enumerate(kinds):
        times = [mark.time for mark in panel.marks if (mark.kind if by_kind else mark.label) == kind]
        look: dict[str, Any] = {"color": style.muted, "lw": 0.8, "ls": (0, dashes[k % len(dashes)])}
        if len(panel.marks) > MOST_LINES:
            look = {"color": style.muted, "ls": "", "marker": "|", "ms": 7, "mew": 0.8}
            at = np.full(len(times), 0.985)
            axes.plot(times, at, transform=axes.get_xaxis_transform(), scalex=False, scaley=False, label="_", **look)
        else:
            for time in times:
                axes.axvline(time, zorder=1, alpha=0.8 if len(times) < 12 else 0.4, **look)
        handles.append(Line2D([], [], label=typeset(kind), **look))
    return handles[:MOST_MARKS]


def _legend(axes: Axes, panel: Panel, style: Style, marks: Sequence[Line2D]) -> None:
    """The legend in as many columns as fit above the axes, and the title above it."""
    handles: list[Any] = [line for line in axes.get_lines() if not str(line.get_label()).startswith("_")]
    states = dict.fromkeys(band.state for band in panel.bands)
    handles += [Patch(color=style.states.get(state, style.muted), label=state) for state in states]
    handles.sort(
        key=lambda handle: isinstance(handle, Line2D) and handle.get_linestyle() == "None"
    )  # start and end last
    if len(handles) == 1 and len(panel.curves) == 1 and panel.y_label.startswith(panel.curves[0].label):
        handles = []  # its name stands at the axis
    handles += marks
    rows = 0
    if handles:
        room = 72 * _width(axes)
        widths = [SMALL * (0.56 * len(_plain(str(handle.get_label()))) + 3.6) for handle in handles]
        columns = next((k for k in range(len(handles), 1, -1) if _row_length(widths, k) <= room), 1)
        handles = _by_rows(handles, columns)
        rows = ceil(len(handles) / columns)
        own: dict[str, Any] = {"labelcolor": style.ink, "frameon": False, "handlelength": 1.9, "columnspacing": 1.1}
        own |= {"borderaxespad": 0.15, "borderpad": 0.1, "labelspacing": 0.25, "handletextpad": 0.45}
        axes.legend(
            handles=handles, loc="lower left", bbox_to_anchor=(0, 1), ncols=columns, fontsize=SMALL, **own
        )  # fmt: skip
    pad = 5 + rows * SMALL * 1.55
    axes.set_title(typeset(panel.title), fontsize=TITLE, loc="left", pad=pad, color=style.ink)


def _width(axes: Axes) -> float:
    """Inches that are left for axes across, about: the layout is found only when they are drawn."""
    place, whole = axes.get_subplotspec(), axes.figure.get_figure(root=True).get_figwidth()
    if place is None:
        return float(whole * axes.get_position().width)
    return float(whole * len(place.colspan) / place.get_gridspec().ncols - 0.8)


def _row_length(widths: Sequence[float], columns: int) -> float:
    """Points that a legend in so many columns takes."""
    return sum(max(widths[k::columns]) for k in range(columns))


def _by_rows(handles: list[Any], columns: int) -> list[Any]:
    """In the order in which Matplotlib, which fills a legend column by column, shows them row by row."""
    return [handle for k in range(columns) for handle in handles[k::columns]]


def _plain(label: str) -> str:
    """A label without the commands of formulas, for its length."""
    return re.sub(r"\\\w+|[${}]", "", label)
