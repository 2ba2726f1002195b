"""A state: where a system is and how it moves, at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Coordinates q (n), velocities v (n), and the time t."""

    q: Array
    v: Array
    t: float = 0.0

    def __post_init__(self) -> None:
        """Sequences of numbers as arrays."""
        for name in ("q", "v"):
            value = np.asarray(getattr(self, name))
            object.__setattr__(self, name, value.astype(float) if value.dtype.kind in "iu" else value)
