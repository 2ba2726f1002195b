"""The explicit equation of motion (26) in closed form, impressed, ideal and nonideal forces kept apart.

    M q̈ = Q + Q_i + Q_ni,    Q_i = Aᵀ(A M⁻¹Aᵀ)⁻¹(b − A M⁻¹Q),    Q_ni = C − Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹C

with redundant rows of A left out. Where M is singular and the constraints determine the motion, the same forces come
from M q̈ − Aᵀλ = Q + C, A q̈ = b. Where no closed form is sensible, the equations stay in that implicit form and say why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import sympy as sp

from dalembert.errors import InconsistentConstraints
from dalembert.mechanics.equations import Equations, Line, Section
from dalembert.mechanics.fundamental import CONSISTENCY_TOLERANCE, independent_rows, null_space, solve
from dalembert.mechanics.sample import Sampler, undecidable
from dalembert.mechanics.standard_form import StandardForm, standard_form
from dalembert.mechanics.tidy import Budget, exact, tidy, tidy_matrix
from dalembert.model.symbols import ideal
from dalembert.model.system import System

Matrix = sp.ImmutableMatrix

# A closed form needs inverses of M and A M⁻¹Aᵀ, block by block. Cofactors of a block of 4 have 24 products; at 5 the result no
# longer fits on a page, at 8 not into memory.
LARGEST_BLOCK = 4
# Operations of the model itself, and of one entry of the result, beyond which nobody reads a closed form. The printed
# equations of the papers have entries of fewer than 40; a page of text holds about 600.
LARGEST_MODEL = 1500
LARGEST_ENTRY = 600


class TooLarge(Exception):  # noqa: N818 - not an error: it turns the derivation to the implicit form
    """The closed form is not worth having; the text says why."""


@dataclass(frozen=True, kw_only=True)
class FundamentalEquations(Equations):
    """(26) of Udwadia 2005. `impressed` Q, `ideal` Q_i, `nonideal` Q_ni, `acceleration`: n×1; `multipliers`: m×1, with
    M q̈ = Q + C + Aᵀλ. All are None where `explicit` is False, except `impressed`. `dropped` names redundant constraints
    that were left out (their multipliers are zero). In C, `ideal(x)` is replaced by the force it stands for.
    """

    M: Matrix
    Q: Matrix
    A: Matrix
    b: Matrix
    C: Matrix
    impressed: Matrix
    ideal: Matrix | None
    nonideal: Matrix | None
    acceleration: Matrix | None
    multipliers: Matrix | None
    dropped: tuple[str, ...]


def derive(system: System) -> FundamentalEquations:
    """The fundamental form of the equations of motion of a system."""
    raw = standard_form(system)
    size = sum(sp.count_ops(entry) for matrix in (raw.M, raw.Q, raw.A, raw.b, raw.C) for entry in matrix)
    reason = undecidable(raw)
    if reason is None and size > LARGEST_MODEL:
        reason = f"M, Q, A, b and C have {size} operations; a closed form is derived up to {LARGEST_MODEL}"
    kept, regular = list(range(raw.A.rows)), True
    if reason is None:
        kept, regular, reason = _numeric(raw)
    if reason is not None:
        return _implicit(raw, kept, reason)
    budget = Budget()
    form = StandardForm(system, *(tidy_matrix(m.applyfunc(exact), budget) for m in (raw.M, raw.Q, raw.A, raw.b, raw.C)), ())
    try:
        return _closed(form, kept, regular, budget)
    except TooLarge as limit:
        return _implicit(form, kept, str(limit))


def _numeric(form: StandardForm) -> tuple[list[int], bool, str | None]:
    """Rows of A that are independent at generic consistent states, whether M is regular there, why there is no motion."""
    sampler = Sampler(form)
    states = sampler.states(4) or [sampler.start() for _ in range(4)]
    n, m = form.A.cols, form.A.rows
    table = sampler.values([*form.M, *form.A, *form.Q, *form.b], states)
    if not table.size:
        return list(range(m)), True, "the model has no finite value at the states tried"
    best: list[int] = []
    regular = True
    for row in table:
        M, A, Q, b = np.split(row, np.cumsum([n * n, m * n, n]))
        M, A = M.reshape(n, n), A.reshape(m, n)
        rows = independent_rows(A)
        best = rows if len(rows) > len(best) else best
        eigenvalues = np.linalg.eigvalsh(_unit_diagonal(M))
        # Rounding leaves zero eigenvalues of a matrix with unit diagonal near 1e-16.
        regular = regular and bool(np.min(np.abs(eigenvalues)) > 1e-11)
        if not regular:
            N = null_space(A)
            free = np.linalg.eigvalsh(N.T @ M @ N) if N.shape[1] else np.ones(1)
            if np.min(np.abs(free)) <= 1e-11 * np.max(np.abs(M), initial=1e-300):
                return list(range(m)), False, "M is singular and the constraints do not determine the motion"
        elif np.all(eigenvalues > 0):
            residual = solve(M, Q, A, b, np.zeros(n)).residual
            if np.any(residual > CONSISTENCY_TOLERANCE):
                name = form.system.constraints[int(np.argmax(residual))].name
                raise InconsistentConstraints(
                    f"{form.system.name}: the constraints contradict each other: {name!r} cannot hold together with the others "
                    f"(relative residual {np.max(residual):.2g}). Remove or correct one of them."
                )
    return best, regular, None


def _unit_diagonal(M: np.ndarray) -> np.ndarray:
    scale = np.sqrt(np.abs(np.diag(M)))
    scale = np.where(scale > 0, scale, 1.0)
    return M / np.outer(scale, scale)


def _closed(form: StandardForm, kept: list[int], regular: bool, budget: Budget) -> FundamentalEquations:
    """The three forces and the acceleration in closed form."""
    n, system = form.M.rows, form.system
    A, b = form.A.extract(kept, list(range(n))), form.b.extract(kept, [0])
    zero = sp.zeros(len(kept), 1)
    split = _split_regular if regular else _split_singular
    solver = split(form.M, A, budget)
    free, lam = solver(form.Q, b)
    Q_i = tidy_matrix(A.T * lam, budget) if regular else tidy_matrix(form.M * free - form.Q, budget)
    C = form.C.xreplace({ideal(q): force for q, force in zip(system.coordinates, Q_i, strict=True)})
    C = tidy_matrix(C, budget)
    Q_ni, acceleration = Matrix(sp.zeros(n, 1)), free
    if not C.is_zero_matrix:
        moved, more = solver(C, zero)
        Q_ni = tidy_matrix(form.M * moved, budget) if not regular else tidy_matrix(C + A.T * more, budget)
        acceleration, lam = tidy_matrix(free + moved, budget), tidy_matrix(lam + more, budget)
    for entry in (*Q_i, *Q_ni, *acceleration):
        if (operations := sp.count_ops(entry)) > LARGEST_ENTRY:
            raise TooLarge(f"an entry of the closed form has {operations} operations; it is shown up to {LARGEST_ENTRY}")
    multipliers = sp.zeros(form.A.rows, 1)
    for k, value in zip(kept, lam, strict=True):
        multipliers[k] = value
    names = [constraint.name for constraint in system.constraints]
    return FundamentalEquations(
        system=system,
        form="fundamental",
        explicit=True,
        reason=_dropped_text(dropped := tuple(name for k, name in enumerate(names) if k not in kept)),
        title="M q'' = Q + Q_i + Q_ni (impressed + ideal + nonideal)" if any(C) else "M q'' = Q + Q_i (impressed + ideal)",
        sections=_sections(form, Q_i, Q_ni if any(C) else None, acceleration, multipliers, kept),
        M=form.M,
        Q=form.Q,
        A=form.A,
        b=form.b,
        C=C,
        impressed=form.Q,
        ideal=Q_i,
        nonideal=Q_ni,
        acceleration=acceleration,
        multipliers=Matrix(multipliers),
        dropped=dropped,
    )


def _split_regular(M: Matrix, A: Matrix, budget: Budget):  # type: ignore[no-untyped-def]  # returns the solver below
    inverse = tidy_matrix(inverse_of(M, budget), budget)
    AW = tidy_matrix(A * inverse, budget)
    schur = inverse_of(tidy_matrix(AW * A.T, budget), budget) if A.rows else sp.zeros(0, 0)

    def solver(force: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
        lam = tidy_matrix(schur * tidy_matrix(right - AW * force, budget), budget)
        return tidy_matrix(inverse * (force + A.T * lam), budget), lam

    return solver


def _split_singular(M: Matrix, A: Matrix, budget: Budget):  # type: ignore[no-untyped-def]  # returns the solver below
    n, m = M.rows, A.rows
    inverse = inverse_of(Matrix(sp.BlockMatrix([[M, -A.T], [A, sp.zeros(m, m)]]).as_explicit()), budget)

    def solver(force: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
        both = tidy_matrix(inverse * Matrix([*force, *right]), budget)
        return Matrix(both[:n, 0]), Matrix(both[n:, 0])

    return solver


def inverse_of(matrix: Matrix, budget: Budget) -> Matrix:
    """The inverse by cofactors, one block of coupled rows at a time; `TooLarge` beyond `LARGEST_BLOCK`."""
    result = sp.zeros(matrix.rows, matrix.rows)
    for block in _blocks(matrix):
        if len(block) > LARGEST_BLOCK:
            raise TooLarge(
                f"{len(block)} coupled equations would have to be inverted; a closed form is derived for up to {LARGEST_BLOCK}"
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
    terms = [(-1) ** j * matrix[0, j] * determinant(_minor(matrix, 0, j)) for j in range(matrix.cols) if matrix[0, j] != 0]
    return sp.Add(*terms)


def _minor(matrix: Matrix, i: int, j: int) -> Matrix:
    size = matrix.rows
    return matrix.extract([r for r in range(size) if r != i], [c for c in range(size) if c != j])


def _blocks(matrix: Matrix) -> list[list[int]]:
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


# -- what is shown ------------------------------------------------------------------------------------------------------


def _dropped_text(dropped: Sequence[str]) -> str:
    if not dropped:
        return ""
    return f"redundant, follows from the others and is left out: {', '.join(dropped)}"


def _sections(
    form: StandardForm, Q_i: Matrix, Q_ni: Matrix | None, acceleration: Matrix, multipliers: Matrix, kept: list[int]
) -> tuple[Section, ...]:
    system = form.system
    inertia = form.M * Matrix(system.accelerations)
    lines, closed = [], []
    for j, q in enumerate(system.coordinates):
        terms = [("Q", form.Q[j]), ("Q_i", Q_i[j])] if system.constraints else [("", form.Q[j])]
        terms += [("Q_{ni}", Q_ni[j])] if Q_ni is not None else []
        lines.append(Line(inertia[j], tuple(terms)))
        closed.append(Line(q.dd, (("", acceleration[j]),)))
    sections = [Section("motion", tuple(lines)), Section("accelerations", tuple(closed))]
    if kept:
        rows = [Line(_multiplier(k), (("", multipliers[k]),), system.constraints[k].name) for k in kept]
        sections.append(Section("multipliers", tuple(rows)))
    return tuple(sections)


def _multiplier(k: int) -> sp.Symbol:
    return sp.Symbol(f"lambda_{k + 1}", real=True)


def _implicit(form: StandardForm, kept: list[int], reason: str) -> FundamentalEquations:
    """M q̈ = Q + C + Aᵀλ together with A q̈ = b (or h = 0), unsolved."""
    system = form.system
    inertia = form.M * Matrix(system.accelerations)
    dropped = tuple(c.name for k, c in enumerate(system.constraints) if k not in kept)
    lines = []
    for j in range(form.M.rows):
        reaction = sp.Add(*(_multiplier(k) * form.A[k, j] for k in kept))
        terms = [("Q", form.Q[j]), ("A^T\\lambda", reaction)]
        terms += [("C", form.C[j])] if any(form.C) else []
        lines.append(Line(inertia[j], tuple(terms)))
    rows = []
    for k in kept:
        constraint = system.constraints[k]
        if constraint.name in form.nonlinear:
            rows.append(Line(constraint.expression, (("", sp.S.Zero),), constraint.name))
        else:
            left = sp.Add(*(a * q2 for a, q2 in zip(form.A.row(k), system.accelerations, strict=True)))
            rows.append(Line(left, (("", form.b[k]),), constraint.name))
    why = f"not solved for the accelerations: {reason}"
    return FundamentalEquations(
        system=system,
        form="fundamental",
        explicit=False,
        reason=". ".join(filter(None, [why, _dropped_text(dropped)])),
        title="M q'' = Q + C + A^T lambda, A q'' = b",
        sections=(Section("motion", tuple(lines)), Section("constraints", tuple(rows))),
        M=form.M,
        Q=form.Q,
        A=form.A,
        b=form.b,
        C=form.C,
        impressed=form.Q,
        ideal=None,
        nonideal=None,
        acceleration=None,
        multipliers=None,
        dropped=dropped,
    )
