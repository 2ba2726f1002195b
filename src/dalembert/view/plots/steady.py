"""Values that do not change are shown as such: not as a picture of their rounding errors."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.view.plots.panel import Panel

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


def limits_of_steady_panel(panel: Panel) -> tuple[float, float] | None:
    """The same for the upright axis of a panel of curves."""
    if not panel.curves or panel.log or panel.bands or panel.text:
        return None
    return steady_limits(np.concatenate([curve.y for curve in panel.curves]))
