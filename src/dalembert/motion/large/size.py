"""Which systems are large. Without SymPy, so that others need none."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dalembert.model.system import System

# Smaller systems are compiled as a whole: straight-line code is faster than loops, and goes through singular places.
LARGE = 64


def is_large(system: System) -> bool:
    return len(system.coordinates) >= LARGE
