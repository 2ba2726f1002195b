"""A progress bar for sweeps: members, and the time left. On a terminal or in a notebook, only after a moment."""

from __future__ import annotations

from dalembert.motion.integrate.progress import Progress


class Bar(Progress):
    """done: members that were finished before this sweep was resumed."""

    def __init__(self, title: str, members: int, done: int, wanted: bool | None) -> None:
        super().__init__(title, 0, members, wanted, done)
        self.members = members

    def update(self, t: float) -> None:
        """t: how many members are finished."""
        self.show(t, f"{t:.0f}/{self.members}")
