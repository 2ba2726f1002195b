"""Parts of a large system that do not touch: coordinates which neither masses nor constraints join.

Hundred blocks on a belt pull each other by springs, which are forces; M and A fall apart into hundred small ones. Dense
algebra takes the cube of the size, so that parts are solved by themselves, all of one shape at once.
"""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array

Indices = NDArray[np.int_]

# Below this many coordinates and constraints, looking for parts takes longer than dense algebra.
WORTHWHILE = 48


def parts_of(M: Array, A: Array) -> list[tuple[Indices, Indices]] | None:
    """The parts of M (…, n, n) and A (…, m, n), those of one shape together: their coordinates (parts, n′) and their
    constraints (parts, m′). None where looking for them does not pay, or there is only one.
    """
    n, m = M.shape[-1], A.shape[-2]
    if n + m < WORTHWHILE:
        return None
    return _parts(n, m, _anywhere(M).tobytes(), _anywhere(A).tobytes())


@lru_cache(maxsize=64)  # along a motion it is the same again and again
def _parts(n: int, m: int, masses: bytes, constraints: bytes) -> list[tuple[Indices, Indices]] | None:
    """The parts for the places where M and A have entries."""
    joined = np.zeros((n + m, n + m), dtype=bool)
    joined[:n, :n] = np.frombuffer(masses, dtype=bool).reshape(n, n)
    rows = np.frombuffer(constraints, dtype=bool).reshape(m, n).copy()
    # A constraint that is switched off touches nothing, and may stand anywhere.
    rows[~rows.any(axis=1), 0] = True
    joined[n:, :n] = rows
    found = grouped(joined)
    if found is None:
        return None
    parts = []
    for group in found:
        # Coordinates come before constraints, and how many of them there are may differ at one size.
        count = (group < n).sum(axis=1)
        for own in sorted(set(count.tolist())):
            alike = group[count == own]
            parts.append((alike[:, :own], alike[:, own:] - n))
    return parts


def groups_of(matrices: Array) -> list[Indices] | None:
    """The indices of matrices (…, n, n) that belong together; None where looking for them does not pay."""
    if matrices.shape[-1] < WORTHWHILE:
        return None
    return _groups(matrices.shape[-1], _anywhere(matrices).tobytes())


@lru_cache(maxsize=256)
def _groups(n: int, entries: bytes) -> list[Indices] | None:
    return grouped(np.frombuffer(entries, dtype=bool).reshape(n, n))


def grouped(joined: NDArray[np.bool_]) -> list[Indices] | None:
    """The indices that belong together, (parts, size) for each size, in ascending order; None where all do."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(csr_matrix(joined), directed=False)
    if count == 1:
        return None
    order = np.argsort(label, kind="stable")
    by_size: defaultdict[int, list[Indices]] = defaultdict(list)
    for own in np.split(order, np.cumsum(np.bincount(label))[:-1]):
        by_size[own.size].append(own)
    return [np.array(members) for members in by_size.values()]


def block(matrices: Array, rows: Indices, columns: Indices) -> Array:
    """The blocks (…, parts, rows′, columns′) of matrices (…, rows, columns)."""
    return matrices[..., rows[:, :, None], columns[:, None, :]]


def solve_by_parts(matrices: Array, right: Array) -> Array:
    """The solutions x (T, n) of matrices (T, n, n) with right sides (T, n), by plain elimination."""
    groups = groups_of(matrices)
    if groups is None:
        return np.asarray(np.linalg.solve(matrices, right[..., None])[..., 0])
    x = np.empty_like(right)
    for own in groups:
        x[:, own] = np.linalg.solve(block(matrices, own, own), right[:, own, None])[..., 0]
    return x


def _anywhere(matrices: Array) -> NDArray[np.bool_]:
    """Where any matrix of a batch has an entry."""
    return np.any(matrices != 0.0, axis=tuple(range(matrices.ndim - 2)))
