"""The unit in which coordinates of any kind may be compared: the root of each one's own mass."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array


def mass_scale(M: Array, massless: float = 1.0, none: float = 0.0) -> Array:
    """√|M_jj| (…, n) of mass matrices (…, n, n), `massless` where that is zero, or at most the share `none` of the
    largest.

    A velocity multiplied by it, or a force divided by it, has the same unit in every coordinate, whether length or
    angle and in whatever unit it was written.

    >>> mass_scale(np.array([[4.0, 1.0], [1.0, 0.0]]))
    array([2., 1.])
    """
    scale = np.sqrt(np.abs(np.diagonal(M, axis1=-2, axis2=-1)))
    return np.where(scale > none * scale.max(axis=-1, keepdims=True, initial=0.0), scale, massless)
