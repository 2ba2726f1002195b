"""What panels draw of a motion: its points with both sides of every jump, columns by name, and the marks of events."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.result.jumps import BothSides
from dalembert.motion.result.motion import Motion
from dalembert.view.plots.labels import phrase
from dalembert.view.plots.panel import Mark

# A curve is left out that is smaller than this share of the largest beside it: rounding.
NOTHING = 1e-9
# Beyond this many curves a legend hides more than it tells.
MOST_CURVES = 10


class Along:
    """One motion, as all panels of a picture see it."""

    def __init__(self, motion: Motion) -> None:
        self.motion, self.system = motion, motion.system
        self.coordinates = [coordinate.name for coordinate in motion.system.coordinates]
        self.constraints = [constraint.name for constraint in motion.system.constraints]

    @cached_property
    def points(self) -> BothSides:
        return BothSides(self.motion)

    @property
    def t(self) -> Array:
        return self.points.t

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        return tuple(_mark(event) for event in self.motion.events)


def _mark(event: Any) -> Mark:
    name = str(event["name"])
    if "contact" in event:
        return Mark(float(event["t"]), phrase(f"{name}: {event['contact']}"), name)
    return Mark(float(event["t"]), phrase(name), "event")


def worth_drawing(values: Sequence[Array], share: float = NOTHING) -> tuple[list[int], int]:
    """Which of several columns are more than rounding beside the others, the largest of them where they are more than
    `MOST_CURVES`; and how many they are.
    """
    sizes = [float(np.nanmax(np.abs(column), initial=0.0)) if column.size else 0.0 for column in values]
    largest = max(sizes, default=0.0)
    found = [k for k, size in enumerate(sizes) if size > share * largest]
    return sorted(sorted(found, key=lambda k: -sizes[k])[:MOST_CURVES]), len(found)


def counted_title(title: str, shown: int, of: int) -> str:
    """A title that says where not all is shown."""
    return title if shown == of else f"{title} ({shown} of {of})"
