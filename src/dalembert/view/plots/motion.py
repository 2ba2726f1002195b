"""One picture of a motion: the panels asked for, or those that have something to show."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from dalembert.errors import OutputError
from dalembert.motion.result.motion import Motion
from dalembert.view.figures import Given, finish
from dalembert.view.plots.figure import draw_panels
from dalembert.view.plots.panel import Panel
from dalembert.view.plots.panels import make_panels
from dalembert.view.plots.style import style_named


def plot(
    motion: Motion,
    path: str | os.PathLike[str] | None = None,
    *,
    panels: str | Sequence[str] | None = None,
    axes: Given = None,
    style: str = "light",
    interactive: bool = False,
    free: bool = False,
    outputs: bool = False,
) -> Any:
    """Draw a motion; `Motion.plot` says what may be asked for."""
    look = style_named(style)
    if interactive and axes is not None:
        raise OutputError("an interactive picture makes its own axes: leave axes out, or interactive")
    shown = _panels(motion, panels, free, outputs)
    verdict = "certificate holds" if motion.certificate.holds else "certificate DOES NOT HOLD"
    title = f"{motion.system.name}   ·   {verdict}"
    if interactive:
        from dalembert.view.plots.interactive import interactive_figure, write_page

        figure = interactive_figure(shown, look, title)
        return write_page(figure, path)
    return finish(draw_panels(shown, axes, look, title), path)


def _panels(motion: Motion, names: str | Sequence[str] | None, free: bool, outputs: bool) -> list[Panel]:
    """Those asked for. free: and what the free motion misses, and what the constraints make of it. outputs: and those
    of the system.
    """
    more = [*(("extent", "deviation") if free else ()), *(("outputs",) if outputs else ())]
    found = make_panels(motion, names)
    return [*found, *make_panels(motion, more)] if more else found
