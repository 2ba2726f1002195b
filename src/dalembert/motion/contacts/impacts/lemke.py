"""Linear complementarity by Lemke's method: z ≥ 0, w = M z + q ≥ 0, z·w = 0.

It ends at a solution for copositive-plus M, those of contacts with friction along lines among them. Ties are broken
lexicographically, so that it does not cycle where contacts are redundant or at rest.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array

# Entries of a column of the tableau below this share of its largest are rounding.
PIVOT = 1e-11
# Ratios that differ by less than this share tie.
TIE = 1e-12


def solve_complementarity(M: Array, q: Array) -> Array | None:
    """z, or None where Lemke's method ends on a ray."""
    n = q.size
    if n == 0 or q.min() >= 0.0:
        return np.zeros(n)
    # Columns of w, z, the artificial variable, and the right side.
    tableau = np.hstack([np.eye(n), -M, -np.ones((n, 1)), q[:, None]])
    basis = list(range(n))
    row, entering = int(np.argmin(q)), 2 * n
    for _ in range(50 * (n + 1)):
        leaving = basis[row]
        _pivot(tableau, row, entering)
        basis[row] = entering
        if leaving == 2 * n:
            return _refined(M, q, basis, tableau[:, -1])
        entering = leaving + n if leaving < n else leaving - n
        found = _leaving(tableau, entering, basis, n)
        if found is None:
            return None
        row = found
    return None


def _pivot(tableau: Array, row: int, column: int) -> None:
    tableau[row] /= tableau[row, column]
    factors = tableau[:, column].copy()
    factors[row] = 0.0
    tableau -= np.outer(factors, tableau[row])


def _leaving(tableau: Array, entering: int, basis: list[int], n: int) -> int | None:
    column = tableau[:, entering]
    rows = np.flatnonzero(column > PIVOT * max(1.0, float(np.abs(column).max())))
    if not rows.size:
        return None
    for key in (2 * n + 1, *range(n)):
        ratios = tableau[rows, key] / column[rows]
        least = float(ratios.min())
        rows = rows[ratios <= least + TIE * max(1.0, float(np.abs(ratios).max()))]
        if rows.size == 1:
            break
        if key == 2 * n + 1:
            # The artificial variable leaves as soon as it can.
            for row in rows:
                if basis[row] == 2 * n:
                    return int(row)
    return int(rows[0])


def _refined(M: Array, q: Array, basis: list[int], values: Array) -> Array:
    """z of a basis, solved once more from the data: pivots have gathered rounding."""
    n = q.size
    z = np.zeros(n)
    for k, value in zip(basis, values, strict=True):
        if n <= k < 2 * n:
            z[k - n] = value
    at = np.flatnonzero(z)
    if at.size:
        again = z.copy()
        again[at] -= np.linalg.lstsq(M[np.ix_(at, at)], M[np.ix_(at, at)] @ z[at] + q[at], rcond=1e-13)[0]
        if np.abs(again - z).max() <= 1e-6 * np.abs(z).max():
            z = again
    return np.maximum(z, 0.0)
