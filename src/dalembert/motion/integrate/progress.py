"""A progress bar for long runs: on a terminal or in a notebook, only after a moment."""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import Any

# Shorter runs are over before a bar could be read.
PATIENCE_S = 0.7


class Progress(ExitStack):
    """Shows how far an integration has come in its own time. What it showed is gone at the end of the context."""

    def __init__(self, title: str, start: float, end: float, wanted: bool | None, done: float = 0.0) -> None:
        """done: of the way from start to end, before this run."""
        super().__init__()
        self.title, self.start, self.end, self.done = title, start, end, done
        self.on = is_watched() if wanted is None else wanted
        self.began = time.monotonic()
        self.bar: Any = None

    def update(self, t: float) -> None:
        self.show(t, f"t = {t:.4g}")

    def show(self, at: float, text: str) -> None:
        """How far it is between start and end, and the same in words."""
        if not self.on or time.monotonic() - self.began < PATIENCE_S:
            return
        if self.bar is None:
            from dalembert.motion.integrate.bars import bar_of

            self.bar = bar_of(self.title, self.end - self.start, self.done, is_notebook())
            self.callback(self.bar.stop)
        self.bar.update(at - self.start, text)


def is_watched() -> bool:
    """Whether somebody looks at what is shown on the way."""
    return sys.stderr.isatty() or is_notebook()


def is_notebook() -> bool:
    """Whether this runs in the kernel of a notebook."""
    python = sys.modules.get("IPython")
    return python is not None and getattr(python.get_ipython(), "kernel", None) is not None
