"""States between two output points, on the cubics through the states at both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def states_inside(motion: Motion, share: float) -> tuple[Array, Array, Array]:
    """Times (T − 1), q and q̇ at a share of every stretch from one output point to the next."""
    x, h = share, np.diff(motion.t)[:, None]
    first, last = 1 - 3 * x**2 + 2 * x**3, 3 * x**2 - 2 * x**3
    leaving, arriving = x - 2 * x**2 + x**3, x**3 - x**2
    q, v = (
        first * y[:-1] + last * y[1:] + h * (leaving * dy[:-1] + arriving * dy[1:])
        for y, dy in ((motion.q, motion.v), (motion.v, motion.a))
    )
    return motion.t[:-1] + x * h[:, 0], q, v
