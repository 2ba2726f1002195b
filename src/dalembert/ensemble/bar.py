"""A progress bar for sweeps: members, and the time left. On standard error, only on a terminal, only after a moment."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

from dalembert.motion.integrate.progress import PATIENCE_S


class Bar:
    """done: members that were finished before this sweep was resumed."""

    def __init__(self, title: str, members: int, done: int, wanted: bool | None) -> None:
        self.title, self.members, self.done = title, members, done
        self.on = sys.stderr.isatty() if wanted is None else wanted
        self.began = time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, kind: type | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()

    def update(self, finished: int) -> None:
        if not self.on or time.monotonic() - self.began < PATIENCE_S:
            return
        if self.bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            self.bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self.task = self.bar.add_task(self.title, total=self.members, completed=self.done)
            self.bar.start()
        self.bar.update(self.task, completed=finished)
