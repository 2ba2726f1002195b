"""States between two output points, on the cubics through the states at both."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def states_inside(motion: Motion, shares: Array | float) -> tuple[Array, Array, Array]:
    """Times (S · (T − 1)), q and q̇ at shares (S) of every stretch from one output point to the next, all stretches at
    the first share first.
    """
    x, h = np.reshape(shares, (-1, 1, 1)), np.diff(motion.t)[:, None]
    first, last = 1 - 3 * x**2 + 2 * x**3, 3 * x**2 - 2 * x**3
    leaving, arriving = h * (x - 2 * x**2 + x**3), h * (x**3 - x**2)
    q, v = (
        (first * y[:-1] + last * y[1:] + (leaving * dy[:-1] + arriving * dy[1:])).reshape(-1, y.shape[1])
        for y, dy in ((motion.q, motion.v), (motion.v, motion.a))
    )
    return (motion.t[:-1, None] + x * h).reshape(-1), q, v
