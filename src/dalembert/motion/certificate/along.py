"""Products and lengths at every output point at once: the leading axis is time."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array


def times(matrices: Array, vectors: Array) -> Array:
    """The products of matrices (T, m, n) and vectors (T, n)."""
    return np.einsum("tij,tj->ti", matrices, vectors)


def norm(vectors: Array) -> Array:
    """The lengths of vectors (T, n)."""
    return np.sqrt(np.einsum("ti,ti->t", vectors, vectors))
