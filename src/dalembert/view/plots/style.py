"""Colours and strokes of pictures: those of Okabe and Ito, which colour-blind people tell apart; light and dark.

Roles of curves have strokes as well as colours, so that a print in grey can be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dalembert.errors import OutputError
from dalembert.model.language.suggest import suggest

BLACK, ORANGE, SKY, GREEN = "#000000", "#e69f00", "#56b4e9", "#009e73"
YELLOW, BLUE, VERMILLION, PURPLE = "#f0e442", "#0072b2", "#d55e00", "#cc79a7"


@dataclass(frozen=True)
class Style:
    """paper: behind all. ink: of texts and axes, and of curves of hue −1. faint: of the grid. muted: of marks and
    limits. hues: of curves, by number. states: of contacts, by name.
    """

    name: str
    paper: str
    ink: str
    faint: str
    muted: str
    hues: tuple[str, ...]
    states: Mapping[str, str]

    def hue(self, number: int) -> str:
        return self.ink if number < 0 else self.hues[number % len(self.hues)]


LIGHT = Style(
    "light", "#ffffff", "#1a1a1a", "#e3e3e3", "#6b6b6b", (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, "#5b5b5b"),
    MappingProxyType({"slip": ORANGE, "stick": BLUE, "closed": GREEN, "open": "#d9d9d9"}),
)  # fmt: skip
DARK = Style(
    "dark", "#15181d", "#e8e8e8", "#343a43", "#a0a7b0", (SKY, ORANGE, "#2bc79b", PURPLE, YELLOW, VERMILLION, "#b9b9b9"),
    MappingProxyType({"slip": ORANGE, "stick": SKY, "closed": "#2bc79b", "open": "#3d444e"}),
)  # fmt: skip
STYLES = MappingProxyType({style.name: style for style in (LIGHT, DARK)})


@dataclass(frozen=True)
class Stroke:
    """dash: lengths of strokes and gaps in points, none for a full line; marker: of Matplotlib, in place of a line."""

    dash: tuple[float, ...] = ()
    width: float = 1.4
    marker: str = ""


STROKES: Mapping[str, Stroke] = MappingProxyType(
    {
        "line": Stroke(),
        "ideal": Stroke(),
        "nonideal": Stroke((5, 2.5)),
        "impressed": Stroke((1.2, 1.8)),
        "other": Stroke((6, 2, 1.2, 2), 1.2),
        "ghost": Stroke((5, 2.5)),
        "limit": Stroke((4, 3), 1.0),
        "points": Stroke(marker="."),
        "start": Stroke(marker="o"),
        "end": Stroke(marker="s"),
    }
)


def style_named(name: str) -> Style:
    if name not in STYLES:
        raise OutputError(f"there is no style {name!r}.{suggest(str(name), STYLES)}")
    return STYLES[name]
