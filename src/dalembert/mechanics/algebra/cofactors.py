"""Inverses of small symbolic matrices by cofactors: no pivot has to be tested for zero."""

from __future__ import annotations

import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.mechanics.algebra.tidy import Budget, tidy

# A determinant of 4 has 24 products; at 5 the inverse no longer fits on a page, at 8 not into memory.
LARGEST_BLOCK = 4


class TooLarge(Exception):
    """The closed form is not worth having; the text says why."""


def inverse_of(matrix: Matrix, budget: Budget) -> Matrix:
    """The inverse by cofactors, one block of coupled rows at a time; `TooLarge` beyond `LARGEST_BLOCK`."""
    result = sp.zeros(matrix.rows, matrix.rows)
    for block in blocks_of(matrix):
        if len(block) > LARGEST_BLOCK:
            raise TooLarge(
                f"{len(block)} coupled equations would have to be inverted; "
                f"a closed form is derived for up to {LARGEST_BLOCK}"
            )
        part = matrix.extract(block, block)
        size = len(block)
        cofactors = [[(-1) ** (i + j) * determinant(_minor(part, i, j)) for j in range(size)] for i in range(size)]
        total = tidy(sp.Add(*(part[0, j] * cofactors[0][j] for j in range(size))), budget)
        for i in range(size):
            for j in range(size):
                result[block[i], block[j]] = tidy(cofactors[j][i] / total, budget)
    return Matrix(result)


def determinant(matrix: Matrix) -> sp.Expr:
    """By expansion along the first row, skipping zeros: no division, so no pivot to test for zero."""
    if matrix.rows == 0:
        return sp.S.One
    terms = [
        (-1) ** j * matrix[0, j] * determinant(_minor(matrix, 0, j)) for j in range(matrix.cols) if matrix[0, j] != 0
    ]
    return sp.Add(*terms)


def _minor(matrix: Matrix, i: int, j: int) -> Matrix:
    size = matrix.rows
    return matrix.extract([r for r in range(size) if r != i], [c for c in range(size) if c != j])


def blocks_of(matrix: Matrix) -> list[list[int]]:
    """Groups of indices coupled by nonzero entries."""
    left, found = set(range(matrix.rows)), []
    while left:
        group, frontier = set(), {min(left)}
        while frontier:
            group |= frontier
            frontier = {j for i in frontier for j in left if matrix[i, j] != 0 or matrix[j, i] != 0} - group
        left -= group
        found.append(sorted(group))
    return found
