"""Tables of texts and numbers, with a word about what was left out of long ones."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from dalembert.view.markup.elements import Content, Html, element, fragment

# Rows that a reader looks through.
MOST_ROWS = 40


def number(value: float | None, form: str = ".6g") -> str:
    """A number as text, with a minus sign for the eye, without the sign of −0."""
    if value is None or math.isnan(value):
        return "–"
    return format(value + 0.0, form).replace("-", "−").replace("inf", "∞")


def table(headings: Sequence[Content], rows: Iterable[Sequence[Content]], class_: str = "numbers") -> Html:
    """A table whose first column names its rows."""
    head = element("thead", element("tr", [element("th", heading, scope="col") for heading in headings]))
    body = [
        element("tr", element("th", first, scope="row"), [element("td", cell) for cell in cells])
        for first, *cells in rows
    ]
    whole = element("table", head if any(headings) else None, element("tbody", body), class_=class_)
    return scrolling(whole)


def scrolling(content: Html) -> Html:
    """What may be wider than a narrow screen; keys scroll it too."""
    return element("div", content, class_="wide", tabindex="0")


def long_table(
    headings: Sequence[Content],
    rows: Sequence[Sequence[Content]],
    what: str,
    most: int = MOST_ROWS,
    where: str = "",
    class_: str = "numbers",
) -> Html:
    """The first rows of a table, and how many there are where that is not all. where: how to get the others."""
    shown = table(headings, rows[:most], class_)
    if len(rows) <= most:
        return shown
    rest = f"The first {most} of {len(rows)} {what}.{' ' if where else ''}{where}"
    return fragment(shown, element("p", rest, class_="note"))


def facts(pairs: Iterable[tuple[Content, Content]]) -> Html:
    """Names and what they are, two columns without a head."""
    return table((), [pair for pair in pairs if pair[1] is not None], class_="facts")
