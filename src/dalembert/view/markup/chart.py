"""A panel of a picture as a drawing inside a page. It follows the colours of the page, light or dark, and on paper.

Browsers lay out its texts; so it takes a hundredth of the time that a figure for a file does.
"""

from __future__ import annotations

from dalembert.view.markup.elements import Html, element
from dalembert.view.markup.scales import Scale, equal_scales, path_of, span_of
from dalembert.view.plots.panel import Band, Curve, Mark, Panel
from dalembert.view.plots.style import LIGHT, STROKES

# Of the drawing, in its own units, and of the room for numbers beside the axes.
WIDTH, HEIGHT = 480.0, 290.0
LEFT, RIGHT, TOP, BOTTOM = 58.0, 10.0, 12.0, 42.0
# More points than these are not seen, more marks only darken the picture.
MOST_POINTS, MOST_MARKS = 600, 150
TICKS = 6
# The width of a letter, and how many a name of a row, and what stands along either axis, may have.
LETTER, IN_ROW, ACROSS, UP = 6.2, 22, 64, 38


def chart(panel: Panel) -> Html:
    """A figure: the title, a legend where there is more than one curve, and the drawing."""
    thin = panel.thinned(MOST_POINTS)
    return element(
        "figure", element("figcaption", panel.title), _legend(thin), _drawing(thin), class_="chart"
    )  # fmt: skip


def _drawing(panel: Panel) -> Html:
    x, y = _scales(panel)
    parts = [*_frame(panel, x, y)]
    if panel.over_time:
        parts += [_mark(mark, x) for mark in panel.marks[:MOST_MARKS]]
    parts += [_band(band, x, y) for band in panel.bands]
    parts += [_curve(curve, x, y) for curve in panel.curves]
    box = f"0 0 {WIDTH:g} {HEIGHT:g}"
    label = f"{panel.title}: {', '.join(curve.label for curve in panel.curves if curve.label)}"
    return element("svg", parts, viewBox=box, role="img", aria_label=label)


def _scales(panel: Panel) -> tuple[Scale, Scale]:
    if panel.bands:
        ends = [time for band in panel.bands for time in (band.start, band.end)]
        low, high = min(ends), max(ends)
        spare = max(3.0 - len(panel.rows), 0.2) / 2  # a single row is no wall
        bottom, top = len(panel.rows) - 0.5 + spare, -0.5 - spare
    else:
        margin = 0.0 if panel.over_time else 0.04
        low, high = span_of([curve.x for curve in panel.curves], False, margin)
        bottom, top = span_of([curve.y for curve in panel.curves], panel.log, 0.04)
    x = Scale(low, high, _left(panel), WIDTH - RIGHT)
    y = Scale(bottom, top, HEIGHT - BOTTOM, TOP, panel.log)
    return equal_scales(x, y) if panel.equal else (x, y)


def _left(panel: Panel) -> float:
    """The room for what stands beside the axis: numbers, or the names of rows."""
    return max(LEFT, *(LETTER * len(_shortened(name)) + 12 for name in panel.rows)) if panel.rows else LEFT


def _shortened(text: str, most: int = IN_ROW) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _frame(panel: Panel, x: Scale, y: Scale) -> list[Html]:
    """The grid, the numbers, and what the axes are."""
    below, left, parts = HEIGHT - BOTTOM, x.first, list[Html]()
    numbers, factor = x.ticks(TICKS)
    for value, label in numbers:
        at = f"{float(x(value)):.1f}"
        parts.append(element("line", x1=at, x2=at, y1=f"{TOP:g}", y2=f"{below:g}", class_="grid"))
        parts.append(element("text", label, x=at, y=f"{below + 15:g}", text_anchor="middle"))
    if panel.rows:
        levels, power = [(float(k), _shortened(name)) for k, name in enumerate(panel.rows)], ""
    else:
        levels, power = y.ticks(TICKS)
    ends = {"x1": f"{left:g}", "x2": f"{WIDTH - RIGHT:g}"}
    for value, label in levels:
        up = float(y(value))
        parts.append(element("line", **ends, y1=f"{up:.1f}", y2=f"{up:.1f}", class_="grid"))
        parts.append(element("text", label, x=f"{left - 6:g}", y=f"{up + 3.5:.1f}", text_anchor="end"))
    parts.append(element("path", d=f"M{left:g} {TOP:g}V{below:g}H{WIDTH - RIGHT:g}", class_="axis"))
    middle = f"{(left + WIDTH - RIGHT) / 2:g}"
    parts.append(
        element(
            "text",
            _with(_shortened(panel.x_label, ACROSS), factor),
            x=middle,
            y=f"{HEIGHT - 8:g}",
            text_anchor="middle",
        )
    )
    if not panel.rows:
        turn = f"translate(12 {(TOP + below) / 2:g}) rotate(-90)"
        parts.append(element("text", _with(_shortened(panel.y_label, UP), power), transform=turn, text_anchor="middle"))
    return parts


def _curve(curve: Curve, x: Scale, y: Scale) -> Html:
    stroke, colour = STROKES[curve.role], _colour(curve)
    across, up = x(curve.x), y(curve.y)
    if not stroke.marker:
        dash = " ".join(f"{1.3 * length:g}" for length in stroke.dash) or None
        width = f"{stroke.width:g}"
        return element(
            "path", d=path_of(across, up), stroke=colour, stroke_width=width, stroke_dasharray=dash, class_="curve"
        )
    if stroke.marker == ".":
        dots = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(across.tolist(), up.tolist(), strict=True))
        return element("path", d=dots, stroke=colour, stroke_width="3", class_="curve")
    shapes = []
    for a, b in zip(across.tolist(), up.tolist(), strict=True):
        if stroke.marker == "o":
            shapes.append(element("circle", cx=f"{a:.1f}", cy=f"{b:.1f}", r="4", stroke=colour, class_="start"))
        else:
            shapes.append(element("rect", x=f"{a - 3.5:.1f}", y=f"{b - 3.5:.1f}", width="7", height="7", fill=colour))
    return element("g", shapes)


def _band(band: Band, x: Scale, y: Scale) -> Html:
    left, right, up, down = (
        float(x(band.start)),
        float(x(band.end)),
        float(y(band.row - 0.32)),
        float(y(band.row + 0.32)),
    )
    width = f"{max(right - left, 0.5):.1f}"
    return element(
        "rect", x=f"{left:.1f}", y=f"{up:.1f}", width=width, height=f"{down - up:.1f}", fill=_state(band.state)
    )


def _mark(mark: Mark, x: Scale) -> Html:
    at = f"{float(x(mark.time)):.1f}"
    title = element("title", f"{mark.label}, t = {mark.time:.6g}")
    return element("line", title, x1=at, x2=at, y1=f"{TOP:g}", y2=f"{HEIGHT - BOTTOM:g}", class_="mark")


def _legend(panel: Panel) -> Html | None:
    entries = [(curve.label, _colour(curve), curve.role) for curve in panel.curves if curve.label]
    if len(entries) == 1 and entries[0][0] in panel.y_label:
        entries = []  # its name stands at the axis
    entries += [(state, _state(state), "band") for state in dict.fromkeys(band.state for band in panel.bands)]
    if panel.over_time and panel.marks:
        kinds = dict.fromkeys(mark.kind for mark in panel.marks)
        entries.append((", ".join(kinds), "var(--quiet)", "mark"))
    if not entries:
        return None
    return element(
        "ul", [element("li", _sample(colour, role), label) for label, colour, role in entries], class_="legend"
    )


def _sample(colour: str, role: str) -> Html:
    """What a curve looks like, beside its name."""
    stroke = STROKES.get(role)
    if role == "start":
        line = element("circle", cx="11", cy="5.5", r="4", stroke=colour, class_="start")
    elif role in ("band", "end", "points"):
        line = element("rect", x="6", y="1", width="9", height="9", fill=colour)
    else:
        dash = "2 2" if stroke is None else " ".join(f"{length:g}" for length in stroke.dash) or None
        line = element("path", d="M0 5.5H22", stroke=colour, stroke_width="2", stroke_dasharray=dash)
    return element("svg", line, viewBox="0 0 22 11", width="22", height="11", aria_hidden="true")


def _with(label: str, factor: str) -> str:
    return f"{label}   {factor}" if factor else label


def _colour(curve: Curve) -> str:
    """A variable of the page's style."""
    if curve.role == "limit":
        return "var(--quiet)"
    return "var(--ink)" if curve.hue < 0 else f"var(--hue-{curve.hue % len(LIGHT.hues)})"


def _state(name: str) -> str:
    return f"var(--{name})" if name in LIGHT.states else "var(--quiet)"
