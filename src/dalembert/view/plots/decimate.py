"""Curves by fewer points, without losing what is seen of them."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array

LEAST = 8


def decimate(x: Array, y: Array, most: int) -> tuple[Array, Array]:
    """At most `most` points of a curve: its ends, and of each of equal stretches of points those where x and y are
    least and greatest, so that no peak gets lost. Parts of a curve stay apart: a stretch with NaN keeps one.

    The arrays themselves, where they are short enough.
    """
    count = x.size
    if count <= max(most, LEAST):
        return x, y
    # Each stretch gives at most five points: extremes of x and y, and one that parts the curve.
    stretches = max((max(most, LEAST) - 2) // 5, 1)
    edges = np.linspace(0, count, stretches + 1).astype(int)
    kept = {0, count - 1}
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        part = slice(first, last)
        for values in (x[part], y[part]):
            finite = np.flatnonzero(np.isfinite(values))
            if finite.size:
                kept |= {first + int(finite[np.argmin(values[finite])]), first + int(finite[np.argmax(values[finite])])}
        gaps = np.flatnonzero(~np.isfinite(y[part]))
        if gaps.size:
            kept.add(first + int(gaps[0]))
    at = np.array(sorted(kept))
    return x[at], y[at]
