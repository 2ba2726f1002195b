"""M q̈ = force + Aᵀλ with A q̈ given, solved in symbols for q̈ and λ."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.mechanics.algebra.cofactors import inverse_of
from dalembert.mechanics.algebra.tidy import Budget, tidy_matrix

# (force, right) ↦ (q̈, λ) with M q̈ = force + Aᵀλ and A q̈ = right.
Solver = Callable[[Matrix, Matrix], tuple[Matrix, Matrix]]


def solver_of(M: Matrix, A: Matrix, regular: bool, budget: Budget) -> Solver:
    """By M⁻¹ and A M⁻¹Aᵀ where M is regular, else by [M −Aᵀ; A 0], which is so where the motion is unique. The rows of
    A are independent. `TooLarge` where there is no closed form.
    """
    return _by_inverses(M, A, budget) if regular else _by_both(M, A, budget)


def _by_inverses(M: Matrix, A: Matrix, budget: Budget) -> Solver:
    inverse = tidy_matrix(inverse_of(M, budget), budget)
    AW = tidy_matrix(A * inverse, budget)
    schur = inverse_of(tidy_matrix(AW * A.T, budget), budget) if A.rows else sp.zeros(0, 0)

    def solver(force: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
        lam = tidy_matrix(schur * tidy_matrix(right - AW * force, budget), budget)
        return tidy_matrix(inverse * (force + A.T * lam), budget), lam

    return solver


def _by_both(M: Matrix, A: Matrix, budget: Budget) -> Solver:
    n, m = M.rows, A.rows
    inverse = inverse_of(Matrix(sp.BlockMatrix([[M, -A.T], [A, sp.zeros(m, m)]]).as_explicit()), budget)

    def solver(force: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
        both = tidy_matrix(inverse * Matrix([*force, *right]), budget)
        return Matrix(both[:n, 0]), Matrix(both[n:, 0])

    return solver
