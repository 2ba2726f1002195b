"""What panels draw of a motion: its points with both sides of every jump, names as they are shown, marks of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dalembert.motion.result.jumps import BothSides
from dalembert.motion.result.motion import Motion
from dalembert.view.plots.labels import Names
from dalembert.view.plots.panel import Mark

if TYPE_CHECKING:
    from dalembert.model.system import System


@dataclass(frozen=True, eq=False)
class Along:
    """One motion, as all panels of a picture see it. points: the motion itself, or, where contacts may make it jump,
    the motion with both sides of the jumps. coordinates, constraints: their names, in the order of its arrays.
    """

    motion: Motion
    system: System
    points: Motion | BothSides
    coordinates: tuple[str, ...]
    constraints: tuple[str, ...]
    names: Names
    marks: tuple[Mark, ...]
