"""What is named after the name of a panel: "forces x, y"."""

from __future__ import annotations

from collections.abc import Sequence

from dalembert.errors import OutputError
from dalembert.model.language.suggest import suggest
from dalembert.view.plots.panel import Panel


def choose_names(panel: str, of: tuple[str, ...], known: Sequence[str], what: str) -> list[str]:
    """The names asked for, or all; `OutputError` where one is not known. what: they are, in words."""
    for name in of:
        if name not in known:
            there = suggest(name, known) if known else " This system has none."
            raise OutputError(f"panel {panel!r}: {name!r} is no {what} of this motion.{there}")
    return list(of) if of else list(known)


def nothing(title: str, text: str) -> list[Panel]:
    """A panel that says that there is nothing to show."""
    return [Panel("", title, "", "", over_time=False, text=text)]
