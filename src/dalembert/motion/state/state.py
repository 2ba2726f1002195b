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

    def with_arrays(self) -> State:
        """The same, where a user has given sequences or whole numbers."""
        q, v = (np.asarray(part) for part in (self.q, self.v))
        q, v = (part.astype(float) if part.dtype.kind in "iu" else part for part in (q, v))
        return State(q, v, self.t)
