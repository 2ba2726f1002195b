"""Which systems are large. Without SymPy, so that others need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dalembert.model.system import System

# Smaller systems are compiled as a whole: straight-line code is faster than loops, and goes through singular places.
LARGE = 64


def is_large(system: System) -> bool:
    return len(system.coordinates) >= LARGE


def is_soon_whole(coordinates: int) -> bool:
    """Whether a large system is still quickly taken as a whole: programs for constraints that depend on each other take
    longer to make than it does, up to some 160 coordinates.
    """
    return coordinates < 2.5 * LARGE


class LeftToTheSmallWay(Exception):
    """The small way can take the system and does better: steps are short for stability alone, and it has a stiff
    method; or constraints depend on each other or seem to contradict each other, and it looks by
    singular values.
    """
