"""Values that do not change are shown as such: not as a picture of their rounding errors."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array

# Values that differ by less, relative to their size, are the same to the eye of a picture.
SAME = 1e-7


def steady_limits(values: Array) -> tuple[float, float] | None:
    """The limits of an axis for values that are all the same, as far as computed ones are; None where they change."""
    there = values[np.isfinite(values)]
    if not there.size:
        return None
    low, high = float(there.min()), float(there.max())
    size = max(abs(low), abs(high))
    if high - low > SAME * size:
        return None
    middle, reach = (low + high) / 2, 0.1 * size or 1.0
    return middle - reach, middle + reach
