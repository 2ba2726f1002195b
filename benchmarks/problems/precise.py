"""Two ways to true values: Taylor series in many digits, and Runge–Kutta of order 8 at its tightest tolerance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
from scipy.integrate import solve_ivp

from .base import Array


def taylor_end(f: Callable[[Any, Any], Sequence[Any]], start: Sequence[Any], duration: float) -> Sequence[Any]:
    """The state at the end, by Taylor series at mpmath's working precision."""
    return mpmath.odefun(f, 0, list(start))(mpmath.mpf(duration))


def tight_end(f: Callable[[float, Array], Array], start: Array, duration: float) -> Array:
    """The state at the end by DOP853 at rtol 1e-13: true to about 1e-12 for motions that do not magnify errors."""
    found = solve_ivp(f, (0.0, duration), np.asarray(start, dtype=float), method="DOP853", rtol=1e-13, atol=1e-15)
    if not found.success:
        raise RuntimeError(found.message)
    return found.y[:, -1]
