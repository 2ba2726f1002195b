"""The type of every array of numbers in the package: double precision, of any shape; and how large one is."""

from __future__ import annotations

from math import sqrt

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
# Up to here Python is done before NumPy has begun.
SHORT = 24


def norm_of(vector: Array) -> float:
    """The length of a vector, as `np.linalg.norm` has it, in a quarter of its time."""
    return sqrt(vector.dot(vector))


def largest(values: Array) -> float:
    """The largest absolute value of an array, 0 where it has none. What is no number does not count."""
    if values.size > SHORT:
        return float(np.fmax.reduce(np.abs(values), axis=None, initial=0.0))
    sizes = [abs(x) for x in values.ravel().tolist()]
    most = sum(sizes)
    if most == most:
        return max(sizes, default=0.0)
    return max((x for x in sizes if x == x), default=0.0)
