"""The explicit equation of motion (26) in closed form, impressed, ideal and nonideal forces kept apart.

    M q̈ = Q + Q_i + Q_ni,    Q_i = Aᵀ(A M⁻¹Aᵀ)⁻¹(b − A M⁻¹Q),    Q_ni = C − Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹C

with redundant rows of A left out. Where M is singular and the constraints determine the motion, the same
forces come from M q̈ − Aᵀλ = Q + C, A q̈ = b. Where no closed form is sensible, the equations stay in that
implicit form and say why.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.errors import InconsistentConstraints
from dalembert.mechanics.cofactors import TooLarge, inverse_of
from dalembert.mechanics.equations import Equations, Line, Section, conditions
from dalembert.mechanics.fundamental import CONSISTENCY_TOLERANCE, independent_rows, null_space, solve
from dalembert.mechanics.held import held_coordinates
from dalembert.mechanics.parts import budget_for
from dalembert.mechanics.printing import lambda_of, plain
from dalembert.mechanics.sample import Sampler, undecidable
from dalembert.mechanics.standard_form import StandardForm, standard_form
from dalembert.mechanics.tidy import Budget, exact, tidy_matrix
from dalembert.model.symbols import ideal, multiplier
from dalembert.model.system import System

Solver = Callable[[Matrix, Matrix], tuple[Matrix, Matrix]]

# Operations of the model itself, and of one entry of the result, beyond which nobody reads a closed form. The
# printed equations of the papers have entries of fewer than 40; 300 fill a third of a page.
LARGEST_MODEL = 1500
LARGEST_ENTRY = 300


@dataclass(frozen=True, kw_only=True)
class FundamentalEquations(Equations):
    """(26) of Udwadia 2005. `impressed` Q, `ideal` Q_i, `nonideal` Q_ni, `acceleration`: n×1; `multipliers`:
    m×1, with M q̈ = Q + C + Aᵀλ. All are None where `explicit` is False, except `impressed`. `dropped` names
    redundant constraints that were left out (their multipliers are zero). In C, `ideal(x)` is replaced by the
    force it stands for.
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

    def to_dict(self) -> dict[str, Any]:
        coordinates = [q.name for q in self.system.coordinates]
        constraints = [constraint.name for constraint in self.system.constraints]
        data = super().to_dict()
        for key in ("impressed", "ideal", "nonideal", "acceleration", "C", "multipliers", "b"):
            vector = getattr(self, key)
            names = constraints if key in ("multipliers", "b") else coordinates
            data[key] = None if vector is None else dict(zip(names, map(plain, vector), strict=True))
        for key in ("M", "A"):
            data[key] = [[plain(entry) for entry in row] for row in getattr(self, key).tolist()]
        return {**data, "dropped": list(self.dropped)}


def applies(system: System) -> str:
    """Always: dry friction is shown sliding and one-sided constraints closed, and the equations say so."""
    return ""


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
        return _with_conditions(_implicit(raw, kept, reason))
    budget = budget_for(system)
    held = held_coordinates(system, [entry for matrix in (raw.M, raw.Q, raw.A, raw.b, raw.C) for entry in matrix])
    M, Q, A, b, C = (
        tidy_matrix(m.applyfunc(exact).xreplace(held), budget) for m in (raw.M, raw.Q, raw.A, raw.b, raw.C)
    )
    form = StandardForm(system, M, Q, A, b, C, ())
    try:
        found = _closed(form, kept, regular, budget)
    except TooLarge as limit:
        found = _implicit(form, kept, str(limit))
    values = [f"{q.name} = {plain(value)}" for q, value in held.items() if q in system.coordinates]
    note = f"at {', '.join(values)}, as the constraints demand" if values else ""
    return _with_conditions(replace(found, reason="; ".join(filter(None, [found.reason, note]))))


def _with_conditions(found: FundamentalEquations) -> FundamentalEquations:
    return replace(found, reason="; ".join(filter(None, [found.reason, *conditions(found.system)])))


def _numeric(form: StandardForm) -> tuple[list[int], bool, str | None]:
    """Rows of A that are independent at generic consistent states, whether M is regular there, why there is
    no motion.
    """
    sampler = Sampler(form)
    consistent = sampler.states(4)
    states = consistent or [sampler.start() for _ in range(4)]
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
        elif consistent and np.all(eigenvalues > 0):
            residual = solve(M, Q, A, b, np.zeros(n)).residual
            if np.any(residual > CONSISTENCY_TOLERANCE):
                name = form.system.constraints[int(np.argmax(residual))].name
                raise InconsistentConstraints(
                    f"{form.system.name}: the constraints contradict each other: {name!r} cannot hold with "
                    f"the others (relative residual {np.max(residual):.2g}). Remove or correct one of them."
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
            raise TooLarge(
                f"an entry of the closed form has {operations} operations; it is shown up to {LARGEST_ENTRY}"
            )
    multipliers = sp.zeros(form.A.rows, 1)
    for k, value in zip(kept, lam, strict=True):
        multipliers[k] = value
    names = [constraint.name for constraint in system.constraints]
    return FundamentalEquations(
        system=system,
        form="fundamental",
        explicit=True,
        reason=_dropped_text(dropped := tuple(name for k, name in enumerate(names) if k not in kept)),
        title=_title(bool(names), any(C)),
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


def _split_regular(M: Matrix, A: Matrix, budget: Budget) -> Solver:
    """(force, right) ↦ (M⁻¹(force + Aᵀλ), λ) with A of the first equal to right, by M⁻¹ and A M⁻¹Aᵀ."""
    inverse = tidy_matrix(inverse_of(M, budget), budget)
    AW = tidy_matrix(A * inverse, budget)
    schur = inverse_of(tidy_matrix(AW * A.T, budget), budget) if A.rows else sp.zeros(0, 0)

    def solver(force: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
        lam = tidy_matrix(schur * tidy_matrix(right - AW * force, budget), budget)
        return tidy_matrix(inverse * (force + A.T * lam), budget), lam

    return solver


def _split_singular(M: Matrix, A: Matrix, budget: Budget) -> Solver:
    """The same from the matrix [M −Aᵀ; A 0], which is regular where the motion is unique."""
    n, m = M.rows, A.rows
    inverse = inverse_of(Matrix(sp.BlockMatrix([[M, -A.T], [A, sp.zeros(m, m)]]).as_explicit()), budget)

    def solver(force: Matrix, right: Matrix) -> tuple[Matrix, Matrix]:
        both = tidy_matrix(inverse * Matrix([*force, *right]), budget)
        return Matrix(both[:n, 0]), Matrix(both[n:, 0])

    return solver


# -- what is shown


def _title(constrained: bool, nonideal: bool) -> str:
    if nonideal:
        return "M q'' = Q + Q_i + Q_ni (impressed + ideal + nonideal)"
    return "M q'' = Q + Q_i (impressed + ideal)" if constrained else "M q'' = Q"


def _dropped_text(dropped: Sequence[str]) -> str:
    if not dropped:
        return ""
    return f"redundant, follows from the others and is left out: {', '.join(dropped)}"


def _sections(
    form: StandardForm,
    Q_i: Matrix,
    Q_ni: Matrix | None,
    acceleration: Matrix,
    multipliers: Matrix,
    kept: list[int],
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
        rows = [Line(lambda_of(k), (("", multipliers[k]),), system.constraints[k].name) for k in kept]
        sections.append(Section("multipliers", tuple(rows)))
    return tuple(sections)


def _implicit(form: StandardForm, kept: list[int], reason: str) -> FundamentalEquations:
    """M q̈ = Q + C + Aᵀλ together with A q̈ = b (or h = 0), unsolved."""
    system = form.system
    inertia = form.M * Matrix(system.accelerations)
    dropped = tuple(c.name for k, c in enumerate(system.constraints) if k not in kept)
    work = form.C.xreplace({multiplier(c.name): lambda_of(k) for k, c in enumerate(system.constraints)})
    lines = []
    for j in range(form.M.rows):
        reaction = sp.Add(*(lambda_of(k) * form.A[k, j] for k in kept))
        terms = [("Q", form.Q[j]), ("A^T\\lambda", reaction)]
        terms += [("C", work[j])] if any(form.C) else []
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
