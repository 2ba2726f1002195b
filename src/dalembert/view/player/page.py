"""`page_of`: motions as one HTML file that opens from disk without a network; `fragment_of`: as a part of a page."""

from __future__ import annotations

import json
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from dalembert.errors import OutputError
from dalembert.view.player.assets import content_policy, script_text, style_text
from dalembert.view.player.pack import pack_panel, pack_scene
from dalembert.view.plots.panel import Panel
from dalembert.view.plots.style import STROKES, STYLES
from dalembert.view.scene.scene import Scene

THEMES = ("auto", "light", "dark")
_PAGE_STYLE = "html{color-scheme:light dark}body{margin:0}"


def page_of(
    scenes: Sequence[Scene],
    panels: Sequence[Panel] = (),
    title: str = "",
    *,
    speed: float = 1.0,
    unit: str = "s",
    theme: str = "auto",
    autoplay: bool = True,
    repeat: bool = True,
) -> str:
    """A page with scenes side by side, one row of controls for them all, and panels whose cursor goes with the time.

    speed: seconds of the motion to a second of the viewer. unit: of time. theme: "light", "dark", or "auto", as the
    reader's system has it. autoplay, repeat: whether it moves at once, unless the reader's system asks for less motion,
    and begins again at its end.
    """
    title = title or _name(scenes)
    player = _player(
        scenes, panels, title, speed=speed, unit=unit, theme=theme, autoplay=autoplay, repeat=repeat, inside=False
    )
    style, script = _PAGE_STYLE + style_text(), script_text()
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(content_policy([script], [style]))}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        f"<main>\n{player}\n</main>\n<script>{script}</script>\n</body>\n</html>\n"
    )


def fragment_of(
    scenes: Sequence[Scene],
    panels: Sequence[Panel] = (),
    title: str = "",
    *,
    speed: float = 1.0,
    unit: str = "s",
    theme: str = "auto",
    autoplay: bool = False,
    repeat: bool = False,
) -> str:
    """The same as an element of a longer page, which may have several. That page has `style_text()` in a <style> and,
    after all players, `script_text()` in a <script>, once; both are in `view.player.assets`.
    """
    return _player(
        scenes, panels, title, speed=speed, unit=unit, theme=theme, autoplay=autoplay, repeat=repeat, inside=True
    )


def frame_of(page: str, title: str = "Motion", height: int = 640) -> str:
    """A page inside another one, such as a notebook, with its own scripts and styles and without access to it."""
    return (
        f'<iframe srcdoc="{escape(page)}" title="{escape(title)}" sandbox="allow-scripts" width="100%" '
        f'height="{int(height)}" style="border:0"></iframe>'
    )


def _player(
    scenes: Sequence[Scene], panels: Sequence[Panel], title: str, *, theme: str, inside: bool, **settings: Any
) -> str:
    if theme not in THEMES:
        raise OutputError(f"a page has the theme {', '.join(map(repr, THEMES))}, got {theme!r}")
    if not (np.isfinite(settings["speed"]) and settings["speed"] > 0):
        raise OutputError(f"speed is seconds of the motion per second, a positive number, got {settings['speed']!r}")
    start, end = _span(scenes, panels)
    data = {
        "scenes": [pack_scene(scene) for scene in scenes],
        "panels": [pack_panel(panel) for panel in panels],
        "start": start,
        "end": end,
        "inside": inside,
        "palette": {s.name: {"hues": s.hues, "states": dict(s.states)} for s in STYLES.values()},
        "strokes": {role: {"dash": stroke.dash, "width": stroke.width} for role, stroke in STROKES.items()},
        **settings,
    }
    heading = "" if inside or not title else f'<header class="title"><h1>{escape(title)}</h1></header>'
    label = escape(title or _name(scenes))
    return (
        f'<section class="dalembert-player{" inside" if inside else ""}" data-theme="{theme}" aria-label="{label}">'
        f"{heading}<noscript>This part moves, which needs JavaScript.</noscript>"
        f'<script type="application/json">{embedded(data)}</script></section>'
    )


def _name(scenes: Sequence[Scene]) -> str:
    return ", ".join(dict.fromkeys(scene.name for scene in scenes)) or "Motion"


def _span(scenes: Sequence[Scene], panels: Sequence[Panel]) -> tuple[float, float]:
    """The first and last time that is shown."""
    times = [np.asarray(scene.times, dtype=float) for scene in scenes]
    times += [curve.x for panel in panels if panel.over_time for curve in panel.curves if not scenes]
    times = [each[np.isfinite(each)] for each in times]
    times = [each for each in times if each.size]
    if not times:
        raise OutputError("there is nothing to show: give a scene, or a panel over time")
    return float(min(each.min() for each in times)), float(max(each.max() for each in times))


def embedded(data: Any) -> str:
    """JSON that cannot end the element it stands in, nor be read as anything but text: only ASCII, and no <, > or &."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
