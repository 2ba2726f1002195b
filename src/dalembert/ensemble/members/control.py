"""What a running sweep is told from outside: that a member has had its time, that all is to end."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from dalembert.kernel.members import MembersWatch
from dalembert.motion.integrate.progress import Progress


@dataclass(frozen=True)
class Budget:
    """What each member may take: steps, and seconds of waiting for it; 0 where there is no limit."""

    steps: int = 0
    seconds: float = 0.0


class Cancelled(Exception):
    """The sweep is to end."""


class OutOfTime(Exception):
    """A member has had its seconds."""


class Control:
    """Of one process. Workers say what they are at; whoever waits for them calls `look` now and then."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.cancelled = False
        self._running: dict[MembersWatch, tuple[int, float]] = {}
        self._changing = threading.Lock()

    @contextmanager
    def watching(self, count: int) -> Iterator[MembersWatch]:
        """A watch for so many members that are integrated in one call."""
        watch = MembersWatch(count, self.budget.steps)
        with self._changing:
            self._running[watch] = (-1, time.monotonic())
            if self.cancelled:
                watch.end()
        try:
            yield watch
        finally:
            with self._changing:
                del self._running[watch]

    def look(self) -> None:
        """End the members that have had their seconds."""
        if not self.budget.seconds:
            return
        now = time.monotonic()
        with self._changing:
            for watch, (member, since) in list(self._running.items()):
                at = int(watch.current.value)
                if at != member:
                    self._running[watch] = (at, now)
                elif at >= 0 and now - since > self.budget.seconds:
                    watch.stop[at] = 1

    def cancel(self) -> None:
        with self._changing:
            self.cancelled = True
            for watch in self._running:
                watch.end()


class Patience(Progress):
    """Stands where one run shows its progress, and ends it where its seconds are spent or the sweep is to end."""

    def __init__(self, control: Control) -> None:
        super().__init__("", 0.0, 1.0, False)
        self._control = control

    def update(self, t: float) -> None:
        if self._control.cancelled:
            raise Cancelled
        seconds = self._control.budget.seconds
        if seconds and time.monotonic() - self.began > seconds:
            raise OutOfTime
