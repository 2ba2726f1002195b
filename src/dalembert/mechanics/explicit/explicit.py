"""The explicit equation of motion (26) in closed form, impressed, ideal and nonideal forces kept apart.

    M q̈ = Q + Q_i + Q_ni,    Q_i = Aᵀ(A M⁻¹Aᵀ)⁻¹(b − A M⁻¹Q),    Q_ni = C − Aᵀ(A M⁻¹Aᵀ)⁻¹A M⁻¹C

with redundant rows of A left out. Where M is singular and the constraints determine the motion, the same
forces come from M q̈ − Aᵀλ = Q + C, A q̈ = b. Where no closed form is sensible, the equations stay in that
implicit form and say why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.errors import InconsistentConstraints
from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.splitting import solver_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy_matrix
from dalembert.mechanics.explicit.friction import solve_reactions
from dalembert.mechanics.explicit.gain import gain_of, gain_page
from dalembert.mechanics.explicit.held_coordinates import held_coordinates
from dalembert.mechanics.explicit.signs import Signs
from dalembert.mechanics.explicit.sliding_work import work_while_sliding
from dalembert.mechanics.explicit.sticking import sticking_page
from dalembert.mechanics.page.equations import Equations, Line, Section, conditions
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.printing import lambda_of, plain
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, independent_rows, null_space, solve
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.mechanics.standard_form import StandardForm, impressed_forces, standard_form
from dalembert.model.language.symbols import Reaction, ideal, multiplier
from dalembert.model.system import System

# Operations of the model itself, and of one entry of the result, beyond which nobody reads a closed form. The
# printed equations of the papers have entries of fewer than 40; 300 fill a third of a page.
LARGEST_MODEL = 1500
LARGEST_ENTRY = 300


@dataclass(frozen=True, kw_only=True)
class FundamentalEquations(Equations):
    """(26) of Udwadia 2005. M q̈ = `impressed` + `inertial` + `ideal` + `nonideal`, where the first two are Q and the
    other two Q_i and Q_ni: n×1, with `acceleration` q̈. `multipliers` λ: m×1, with M q̈ = Q + C + Aᵀλ. What the
    constraints make of the free motion, (17)–(19) of Udwadia and Kalaba 1993: `unconstrained` a, `e`, `K`, and `c`,
    which is M⁻¹C.

    Where `explicit` is False, ideal, nonideal, acceleration and multipliers are None; where M is singular or they are
    too long, so are those of the free motion. `dropped` names redundant constraints that were left out (their
    multipliers and columns of K are zero). In C, reactions are replaced by the forces they stand for where `explicit`.
    """

    M: Matrix
    Q: Matrix
    A: Matrix
    b: Matrix
    C: Matrix
    impressed: Matrix
    inertial: Matrix
    ideal: Matrix | None
    nonideal: Matrix | None
    acceleration: Matrix | None
    multipliers: Matrix | None
    dropped: tuple[str, ...]
    unconstrained: Matrix | None = None
    c: Matrix | None = None
    e: Matrix | None = None
    K: Matrix | None = None

    @property
    def constraint_force(self) -> Matrix | None:
        """F^c = Q_i + Q_ni = M q̈ − Q, all that the constraints do."""
        return None if self.ideal is None or self.nonideal is None else self.ideal + self.nonideal

    @property
    def deviation(self) -> Matrix | None:
        """q̈ − a, which is K e where constraints do no work, K (e − A c) + c otherwise."""
        if self.acceleration is None or self.unconstrained is None:
            return None
        return tidy_matrix(self.acceleration - self.unconstrained)

    @property
    def a_ni(self) -> Matrix | None:
        """a + c, the free acceleration under Q and C together: (18)."""
        return None if self.unconstrained is None or self.c is None else self.unconstrained + self.c

    def to_dict(self) -> dict[str, Any]:
        coordinates = [q.name for q in self.system.coordinates]
        constraints = [constraint.name for constraint in self.system.constraints]
        data = super().to_dict()
        by_constraint = ("multipliers", "b", "e")
        by_coordinate = ("impressed", "inertial", "ideal", "nonideal", "acceleration", "unconstrained", "C", "c")
        for key in (*by_coordinate, *by_constraint):
            vector = getattr(self, key)
            names = constraints if key in by_constraint else coordinates
            data[key] = None if vector is None else dict(zip(names, map(plain, vector), strict=True))
        for key in ("M", "A", "K"):
            matrix = getattr(self, key)
            data[key] = None if matrix is None else [[plain(entry) for entry in row] for row in matrix.tolist()]
        return {**data, "dropped": list(self.dropped)}


def applies(system: System) -> str:
    """Always: dry friction is shown sliding and one-sided constraints closed, and the equations say so."""
    return ""


def derive(system: System) -> FundamentalEquations:
    """The fundamental form of the equations of motion of a system."""
    raw = standard_form(system)
    size = sum(sp.count_ops(entry) for matrix in (raw.M, raw.Q, raw.A, raw.b, raw.C) for entry in matrix)
    reason = f"nonlinear in the accelerations: {', '.join(raw.nonlinear)}" if raw.nonlinear else None
    if reason is None and size > LARGEST_MODEL:
        reason = f"M, Q, A, b and C have {size} operations; a closed form is derived up to {LARGEST_MODEL}"
    kept, regular = list(range(raw.A.rows)), True
    if reason is None:
        kept, regular, reason = _numeric(raw)
    if reason is not None:
        return _with_conditions(_implicit(raw, impressed_forces(system), kept, reason))
    budget = budget_for(system)
    if system.contacts:
        raw = replace(raw, C=work_while_sliding(system, budget))
    matrices = (raw.M, raw.Q, raw.A, raw.b, raw.C, impressed_forces(system))
    held = held_coordinates(system, [entry for matrix in matrices for entry in matrix])
    M, Q, A, b, C, F = (tidy_matrix(m.applyfunc(exact).xreplace(held), budget) for m in matrices)
    form = StandardForm(system, M, Q, A, b, C, ())
    signs = Signs(system, M)
    try:
        found = _closed_form(form, F, kept, regular, signs, budget)
    except TooLarge as limit:
        found = _implicit(form, F, kept, str(limit))
    values = [f"{q.name} = {plain(value)}" for q, value in held.items() if q in system.coordinates]
    note = f"at {', '.join(values)}, as the constraints demand" if values else ""
    if system.constraints:
        found = _beside_the_free_motion(found, form, kept, regular, _budget_beside(system, budget))
    if system.contacts and found.explicit:
        more, why = sticking_page(form, kept, regular, signs, _budget_beside(system, budget))
        found = _with(found, more, why)
    return _with_conditions(_with(_with(found, [], signs.note), [], note))


def _budget_beside(system: System, budget: Budget) -> Budget:
    """A fresh budget for what is shown beside the equations, so that it takes nothing away from them. What was
    already simplified is known to it.
    """
    fresh = budget_for(system)
    fresh.seen = budget.seen
    return fresh


def _beside_the_free_motion(
    found: FundamentalEquations, form: StandardForm, kept: list[int], regular: bool, budget: Budget
) -> FundamentalEquations:
    """What constraints make of the free motion, where it has a closed form."""
    if not regular:
        return _with(found, [], "M is singular, so that there is no free motion: neither a, e nor K")
    gain = gain_of(form, kept, budget)
    c = None if found.C.atoms(Reaction) else gain.given_by(found.C, budget)
    page, why = gain_page(form.system, kept, gain, found.C, c)
    what, _, limit = why.partition(": ")
    if limit and limit in found.reason:
        why = f"{what}, for the same reason"
    return _with(replace(found, unconstrained=gain.unconstrained, c=c, e=gain.e, K=gain.K), page, why)


def _with(found: FundamentalEquations, sections: Sequence[Section], note: str) -> FundamentalEquations:
    """The same equations with further sections on their page, and a further remark."""
    reason = "; ".join(filter(None, [found.reason, note]))
    return replace(found, sections=(*found.sections, *sections), reason=reason)


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
    scale = mass_scale(M)
    return M / np.outer(scale, scale)


def _closed_form(
    form: StandardForm, F: Matrix, kept: list[int], regular: bool, signs: Signs, budget: Budget
) -> FundamentalEquations:
    """The forces and the acceleration in closed form. F: the impressed part of Q."""
    n, system = form.M.rows, form.system
    A, b = form.A.extract(kept, list(range(n))), form.b.extract(kept, [0])
    zero = sp.zeros(len(kept), 1)
    solver = solver_of(form.M, A, regular, budget)
    free, lam = solver(form.Q, b)
    Q_i = tidy_matrix(A.T * lam, budget) if regular else tidy_matrix(form.M * free - form.Q, budget)
    C = form.C.xreplace({ideal(q): force for q, force in zip(system.coordinates, Q_i, strict=True)})
    notes: tuple[str, ...] = ()
    if C.atoms(Reaction):
        known = solve_reactions(form, C, solver, kept, signs, budget)
        C, notes = known.C, known.notes
    C = tidy_matrix(C, budget)
    if form.C.atoms(Reaction):
        C = tidy_matrix(C.applyfunc(signs.without_bars), budget)  # sizes of reactions, √(m²…), have bars
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
    dropped = tuple(name for k, name in enumerate(names) if k not in kept)
    inertial = tidy_matrix(form.Q - F, budget)
    return FundamentalEquations(
        system=system,
        form="fundamental",
        explicit=True,
        reason="; ".join(filter(None, [_dropped_text(dropped), *notes])),
        title=_title(bool(names), any(C), any(inertial)),
        sections=_sections(form, F, inertial, Q_i, Q_ni if any(C) else None, acceleration, multipliers, kept),
        M=form.M,
        Q=form.Q,
        A=form.A,
        b=form.b,
        C=C,
        impressed=F,
        inertial=inertial,
        ideal=Q_i,
        nonideal=Q_ni,
        acceleration=acceleration,
        multipliers=Matrix(multipliers),
        dropped=dropped,
    )


# -- what is shown


def _title(constrained: bool, nonideal: bool, inertial: bool) -> str:
    given = "impressed + inertial" if inertial else "impressed"
    if nonideal:
        return f"M q'' = Q + Q_i + Q_ni ({given} + ideal + nonideal)"
    if constrained:
        return f"M q'' = Q + Q_i ({given} + ideal)"
    return f"M q'' = Q ({given})" if inertial else "M q'' = Q"


def _dropped_text(dropped: Sequence[str]) -> str:
    if not dropped:
        return ""
    return f"redundant, follows from the others and is left out: {', '.join(dropped)}"


def _sections(
    form: StandardForm,
    F: Matrix,
    inertial: Matrix,
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
        if any(inertial):
            terms = [(r"\text{impressed}", F[j]), (r"\text{inertial}", inertial[j])]
        else:
            terms = [("Q" if system.constraints else "", F[j])]
        terms += [("Q_i", Q_i[j])] if system.constraints else []
        terms += [("Q_{ni}", Q_ni[j])] if Q_ni is not None else []
        lines.append(Line(inertia[j], tuple(terms)))
        closed.append(Line(q.dd, (("", acceleration[j]),)))
    when = " while sliding" if system.contacts else ""
    sections = [Section(f"motion{when}", tuple(lines)), Section(f"accelerations{when}", tuple(closed))]
    if kept:
        rows = [Line(lambda_of(k), (("", multipliers[k]),), system.constraints[k].name) for k in kept]
        sections.append(Section("multipliers", tuple(rows)))
    return tuple(sections)


def _implicit(form: StandardForm, F: Matrix, kept: list[int], reason: str) -> FundamentalEquations:
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
        impressed=F,
        inertial=form.Q - F,
        ideal=None,
        nonideal=None,
        acceleration=None,
        multipliers=None,
        dropped=dropped,
    )
