"""The fundamental equation at many points in one call of C; points where M is singular, or constraints depend on each
other, are left to singular values.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.ready.many import LONG, address, entry, solve_room
from dalembert.kernel.ready.sparse import Pattern
from dalembert.mechanics.solve.blocks import WORTHWHILE
from dalembert.mechanics.solve.fundamental import Fundamental, solve


def solve_points(M: Array, Q: Array, A: Array, b: Array, C: Array, pattern: Pattern | None = None) -> Fundamental:
    """`fundamental.solve` on arrays (T, …). pattern: of M and A where they are large."""
    count, n = Q.shape
    m = b.shape[1]
    found = None
    if pattern is not None:
        solved = pattern.solve(M, Q, A, b, C)
        if solved is not None:
            dependent = np.zeros((count, m), dtype=bool)
            if int(solved[2].min(initial=m)) < m:
                dependent |= ~A.any(axis=2)
            found = (*solved, dependent)
    elif n + m < WORTHWHILE:
        found = _solve_dense(M, Q, A, b, C)
    if found is None:
        return solve(M, Q, A, b, C)
    vectors, rows, rank, dependent = found
    least = int(rank.min(initial=m))
    if least < 0:
        at = np.flatnonzero(rank < 0)
        other = solve(M[at], Q[at], A[at], b[at], C[at])
        for values, name in zip(vectors, ("acceleration", "unconstrained", "ideal", "nonideal"), strict=True):
            values[at] = getattr(other, name)
        rows[0, at], rows[1, at] = other.multipliers, other.residual
        rank[at], dependent[at] = other.rank, other.dependent
    a, unconstrained, ideal, nonideal = vectors
    ranks = rank.astype(int, copy=False)
    return Fundamental(a, unconstrained, ideal, nonideal, rows[0], ranks, dependent, rows[1], M, Q, A, b, C)


def _solve_dense(
    M: Array, Q: Array, A: Array, b: Array, C: Array
) -> tuple[Array, Array, np.ndarray, np.ndarray] | None:
    """As `Pattern.solve`, for small systems; and which constraints depend on those before them."""
    run = entry("da_solve_points", "lllppppppppp")
    if run is None:
        return None
    count, n = Q.shape
    m = b.shape[1]
    M, Q, A, b, C = (np.ascontiguousarray(x) for x in (M, Q, A, b, C))
    rank, dependent = np.empty(count, dtype=LONG), np.empty((count, m), dtype=bool)
    size = count * (4 * n + 2 * m)
    block = np.empty(size + solve_room(n, m))
    start = address(block)
    given = (address(M), address(Q), address(A), address(b), address(C))
    run(count, n, m, *given, start, address(rank), address(dependent), start + 8 * size)
    rows = block[4 * count * n : size].reshape(2, count, m)
    return block[: 4 * count * n].reshape(4, count, n), rows, rank, dependent
