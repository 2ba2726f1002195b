"""A page inside of a notebook: `motion.animate()` without a file."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.view.player.page import frame_of


@dataclass(frozen=True, repr=False)
class InlinePage:
    """A whole page, which a notebook shows in a frame of its own: it cannot reach what is around it."""

    page: str
    title: str

    def __repr__(self) -> str:
        return f"<InlinePage of {self.title!r}: a notebook shows it; give animate a file to write one>"

    def _repr_html_(self) -> str:
        return frame_of(self.page, self.title)
