"""A progress bar for long runs: on standard error, only on a terminal, only after a moment."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import Any

# Shorter runs are over before a bar could be read.
PATIENCE_S = 0.7


class Progress(ExitStack):
    """Shows how far an integration has come in its own time. What it showed is gone at the end of the context."""

    def __init__(self, title: str, start: float, end: float, wanted: bool | None) -> None:
        super().__init__()
        self.title, self.start, self.end = title, start, end
        self.on = sys.stderr.isatty() if wanted is None else wanted
        self.began = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def update(self, t: float) -> None:
        if not self.on or time.monotonic() - self.began < PATIENCE_S:
            return
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
            from rich.progress import Progress as RichProgress

            self.bar = RichProgress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("t = {task.fields[t]:.4g}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self.task = self.bar.add_task(self.title, total=self.end - self.start, t=t)
            self.bar.start()
            self.callback(self.bar.stop)
        self.bar.update(self.task, completed=t - self.start, t=t)
