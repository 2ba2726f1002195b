"""What a progress bar looks like: in a terminal drawn by rich, in a notebook an element of its page."""

from __future__ import annotations

import html
import time
from importlib import import_module
from typing import Any, Protocol

# A page that is changed more often flickers.
PAUSE_S = 0.1


class ShownBar(Protocol):
    """A bar that is shown. done: of what there is in all; text: the same in words."""

    def update(self, done: float, text: str) -> None: ...

    def stop(self) -> None: ...


def bar_of(title: str, total: float, done: float, notebook: bool) -> ShownBar:
    """done: what was there before; it says nothing about the time that the rest takes."""
    return (NotebookBar if notebook else TerminalBar)(title, total, done)


class TerminalBar:
    """On standard error; gone when it stops."""

    def __init__(self, title: str, total: float, done: float) -> None:
        from rich.console import Console
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"), TimeRemainingColumn()
        )  # fmt: skip
        self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self.task = self.bar.add_task(escape(title), total=total, completed=int(done), text="")
        self.bar.start()

    def update(self, done: float, text: str) -> None:
        self.bar.update(self.task, completed=done, text=text)

    def stop(self) -> None:
        self.bar.stop()


class NotebookBar:
    """Below the cell that runs. It needs nothing but what every notebook has, and is empty when it stops."""

    def __init__(self, title: str, total: float, done: float) -> None:
        shown: Any = import_module("IPython.display")
        self.title, self.total, self.first, self.page = title, total, done, shown.HTML
        self.began = self.changed = time.monotonic()
        self.handle: Any = shown.display(shown.HTML(self.text_of(done, "")), display_id=True)

    def update(self, done: float, text: str) -> None:
        now = time.monotonic()
        if now - self.changed >= PAUSE_S:
            self.changed = now
            self.handle.update(self.page(self.text_of(done, text)))

    def stop(self) -> None:
        self.handle.update(self.page(""))

    def text_of(self, done: float, text: str) -> str:
        share = min(max(done / self.total, 0.0), 1.0) if self.total > 0 else 0.0
        pace = (done - self.first) / max(time.monotonic() - self.began, 1e-9)
        left = f", {(self.total - done) / pace:.0f} s left" if pace > 0 else ""
        title = html.escape(self.title)
        bar = f'<progress value="{share:.4f}" max="1" aria-label="{title}" style="width: 16em"></progress>'
        return f"<div>{title} {bar} {html.escape(text)}{left}</div>"
