"""κ, by which kernels complete a singular mass matrix: M + κ AᵀA is regular where constraints make up for it."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.fundamental import Fundamental

# A kernel has κ as a constant. It has only to be of the size of M beside AᵀA, so powers of this are taken: motions from
# other starts, and members of a sweep, have the same kernel.
BASE = 4.0


def completions(found: Fundamental) -> Array:
    """Of points (K, …) or of one: 0 where M is regular."""
    M, A = found.M, found.A
    singular = np.isnan(found.unconstrained).any(axis=-1)  # it has no value where M is singular
    if not singular.any():
        return np.zeros(singular.shape)
    size = np.trace(M, axis1=-2, axis2=-1) / np.maximum(np.sum(A * A, axis=(-2, -1)), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        power = np.clip(np.round(np.log(size) / np.log(BASE)), -250, 250)
    return np.where(singular & np.isfinite(power), BASE ** np.nan_to_num(power), 0.0)
