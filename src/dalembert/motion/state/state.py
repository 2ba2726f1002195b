"""A state: where a system is and how it moves, at a time."""

from __future__ import annotations

from dataclasses import dataclass

from dalembert.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Coordinates q (n), velocities v (n), and the time t."""

    q: Array
    v: Array
    t: float
