"""Panels drawn by Plotly, for a browser: to zoom into, and to read numbers off. The page needs nothing else."""

from __future__ import annotations

import html
import os
from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import OutputError
from dalembert.model.documents.write_files import write_atomically
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.steady import limits_of_steady_panel
from dalembert.view.plots.style import STROKES, Style, style_named

MISSING = "an interactive picture needs Plotly: pip install 'dalembert[plotly]', or leave interactive out"
# Pixels.
WIDTH, HEIGHT, LEGEND, BETWEEN = 430, 270, 240, 90
MOST_POINTS = 20_000
# Of events in a panel: more lines would hide the curves.
MOST_MARKS = 200
MARKERS = {".": "circle", "o": "circle-open", "s": "square"}


def interactive_figure(panels: Sequence[Panel], name: str, title: str) -> Any:
    """A figure of Plotly with one subplot for each panel, and a legend beside each."""
    style = style_named(name)
    try:
        from plotly.graph_objects import Figure
        from plotly.subplots import make_subplots
    except ImportError:
        raise OutputError(MISSING) from None
    if not panels:
        raise OutputError("there is nothing to draw: none of these panels has something to show")
    columns = min(len(panels), 2)
    rows = ceil(len(panels) / columns)
    width, height = columns * (WIDTH + LEGEND), rows * (HEIGHT + BETWEEN)
    gaps = {"horizontal_spacing": LEGEND / width, "vertical_spacing": BETWEEN / height}
    titles = [_text(panel.title) for panel in panels]
    figure: Figure = make_subplots(rows=rows, cols=columns, subplot_titles=titles, **gaps)
    lines: list[dict[str, Any]] = []
    for k, panel in enumerate(panels):
        row, column = k // columns + 1, k % columns + 1
        _draw(figure, panel, k, row, column, style)
        lines += _marks(panel, figure.get_subplot(row, column), style)
    figure.update_layout(shapes=lines)  # all at once: one by one, each would take longer than the one before
    _paint(figure, style)
    head = {
        "text": _text(title),
        "font": {"size": 16},
        "y": 1.0,
        "yref": "container",
        "yanchor": "top",
        "pad": {"t": 14},
    }
    margin = {"l": 70, "r": LEGEND, "t": 90, "b": 60}
    figure.update_layout(title=head, width=width, height=height, margin=margin)
    return figure


def write_page(figure: Any, path: str | os.PathLike[str] | None) -> Any:
    """The figure, written as a page that needs no network, where a path is given."""
    if path is not None:
        kind = Path(path).suffix
        if kind not in (".html", ".htm"):
            raise OutputError(f"an interactive picture is written as .html, not {kind or 'without a suffix'!r}")
        page = figure.to_html(include_plotlyjs=True, full_html=True)
        write_atomically(path, page.encode("utf-8"))
    return figure


def _draw(figure: Any, panel: Panel, number: int, row: int, column: int, style: Style) -> None:
    from plotly.graph_objects import Scatter

    place = {"row": row, "col": column}
    key = "legend" if number == 0 else f"legend{number + 1}"
    for curve in panel.curves:
        figure.add_trace(Scatter(**_trace(curve.thinned(MOST_POINTS), style), legend=key), **place)
    told: set[str] = set()
    for band in panel.bands:
        ends, name = [band.start, band.end], _text(panel.rows[band.row])
        line = {"color": style.states.get(band.state, style.muted), "width": 18}
        own = {"name": band.state, "legendgroup": band.state, "showlegend": band.state not in told}
        figure.add_trace(Scatter(x=ends, y=[name, name], mode="lines", line=line, legend=key, **own), **place)
        told.add(band.state)
    axes = {"x": figure.get_subplot(row, column).xaxis, "y": figure.get_subplot(row, column).yaxis}
    axes["x"].title.text, axes["y"].title.text = _text(panel.x_label), _text(panel.y_label)
    if panel.log:
        axes["y"].type, axes["y"].exponentformat = "log", "power"
    axes["y"].range = limits_of_steady_panel(panel)
    if panel.equal:
        axes["y"].update(scaleanchor=axes["x"].plotly_name.replace("axis", ""), scaleratio=1)
    if panel.text:
        axes["x"].visible = axes["y"].visible = False
        where = {"x": sum(axes["x"].domain) / 2, "y": sum(axes["y"].domain) / 2, "xref": "paper", "yref": "paper"}
        figure.add_annotation(text=_text(panel.text), showarrow=False, **where)
    legend = {"x": axes["x"].domain[1], "y": axes["y"].domain[1], "xanchor": "left", "yanchor": "top"}
    figure.update_layout({key: {**legend, "font": {"size": 11}, "bgcolor": "rgba(0,0,0,0)"}})
    figure.layout.annotations[number].update(x=axes["x"].domain[0], xanchor="left", font={"size": 14})


def _marks(panel: Panel, place: Any, style: Style) -> list[dict[str, Any]]:
    """Lines at events, over the whole height of a panel over time."""
    x, y = (axis.plotly_name.replace("axis", "") for axis in (place.xaxis, place.yaxis))
    across = {"type": "line", "xref": x, "yref": f"{y} domain", "y0": 0, "y1": 1}
    line = {"color": style.muted, "width": 0.8, "dash": "dot"}
    times = [mark.time for mark in panel.marks[:MOST_MARKS]] if panel.over_time else []
    return [{**across, "x0": time, "x1": time, "line": line} for time in times]


def _trace(curve: Curve, style: Style) -> dict[str, Any]:
    stroke, colour = STROKES[curve.role], style.muted if curve.role == "limit" else style.hue(curve.hue)
    own: dict[str, Any] = {"x": curve.x, "y": np.where(np.isfinite(curve.y), curve.y, np.nan)}
    own |= {"name": _text(curve.label), "showlegend": bool(curve.label)}
    if stroke.marker:
        return own | {"mode": "markers", "marker": {"symbol": MARKERS[stroke.marker], "color": colour, "size": 8}}
    dash = ",".join(f"{1.4 * length:g}px" for length in stroke.dash) or "solid"
    return own | {"mode": "lines", "line": {"color": colour, "width": 1.4 * stroke.width, "dash": dash}}


def _paint(figure: Any, style: Style) -> None:
    figure.update_layout(paper_bgcolor=style.paper, plot_bgcolor=style.paper, font={"color": style.ink, "size": 12})
    line = {"gridcolor": style.faint, "linecolor": style.muted, "zerolinecolor": style.faint, "showline": True}
    figure.update_xaxes(**line)
    figure.update_yaxes(**line)


def _text(text: str) -> str:
    """Text that Plotly shows as it is: it would read tags."""
    return html.escape("".join(character for character in text if character.isprintable()), quote=False)
