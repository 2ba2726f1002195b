"""Gauss's principle of least constraint, as Udwadia 2005 extends it to constraints that do work: the acceleration
is, of all that the constraints allow, the one with the least

    G_ni(z) = (Mz − Q − C)ᵀ M⁻¹ (Mz − Q − C)                            (16), (25)
            = (F̂ − C)ᵀ M⁻¹ (F̂ − C),       F̂ = Mz − Q                   (17)
            = (z − a − c)ᵀ M (z − a − c),  a = M⁻¹Q, c = M⁻¹C           (19)

Numbers come from the minimisation itself. With M = L Lᵀ, (16) is |Lᵀz − L⁻¹(Q + C)|², and LAPACK's gglse finds its
least value subject to A z = b by a generalized QR factorisation. Where M is singular, |A z|², which is the same for
all z allowed, makes it regular. On constraints that are nonlinear in q̈ the minimum is searched from many places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.cofactors import TooLarge, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, tidy, tidy_matrix
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.printing import lambda_of
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of, affine_parts, euler_operator
from dalembert.mechanics.principles.shared.formulation import Answer, Solver, has_modes, nonlinear_in_acceleration
from dalembert.mechanics.principles.shared.gauss_minimum import Search, least_deviation
from dalembert.mechanics.principles.shared.scaled_constraints import column_scale
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, standard_form
from dalembert.model.system import System

# Beyond this many operations nobody reads G written out; the papers' examples stay below 100.
LARGEST = 400


@dataclass(frozen=True, kw_only=True)
class GaussEquations(Equations):
    """G_ni in its three forms: `by_acceleration` (16), `by_force` (17) in the symbols `forces`, `by_deviation` (19);
    None where M has no inverse that can be written out. `multiplier` is the Gaussian multiplier λ of a single
    constraint linear in q̈, M q̈ = Q + C + λ A.
    """

    by_acceleration: sp.Expr | None
    by_force: sp.Expr | None
    by_deviation: sp.Expr | None
    forces: tuple[sp.Symbol, ...]
    multiplier: sp.Expr | None


def applies(system: System) -> str:
    return has_modes(system)


def state_size(system: System) -> int:
    return 2 * len(system.coordinates)


# -- what is shown


def derive(system: System) -> GaussEquations:
    """G in its three forms, the accelerations among which it is least, and where that is."""
    budget = budget_for(system)
    n = len(system.coordinates)
    operator, accelerations = euler_operator(system), system.accelerations
    none = dict.fromkeys(accelerations, sp.S.Zero)
    M = tidy_matrix(sp.Matrix(n, n, [diff(E, a) for E in operator for a in accelerations]), budget)
    Q = tidy_matrix(sp.Matrix([-E.xreplace(none) for E in operator]), budget)
    C = sp.Matrix(system.C)
    forces = tuple(sp.Symbol(f"Fhat_{q.name}", real=True) for q in system.coordinates)
    inertia = M * sp.Matrix(accelerations)
    rows = [tidy(h, budget) for h in accelerations_of(system)]
    sections = []
    if rows:
        lines = (Line(sp.S.Zero, (("", h),), c.name) for h, c in zip(rows, system.constraints, strict=True))
        sections.append(Section("possible accelerations", tuple(lines)))
    forms, reason = _forms(M, Q, C, inertia, forces, system, budget)
    G, unknown = sp.Symbol("G_ni", real=True), (None, None, None)
    by_acceleration, by_force, by_deviation = forms or unknown
    if by_acceleration is not None:
        possible = [Line(f, (("", tidy(i - Q_j, budget)),)) for f, i, Q_j in zip(forces, inertia, Q, strict=True)]
        sections += [
            Section("least constraint", (Line(G, (("", by_acceleration),), "(16)"),)),
            Section("in possible forces of constraint", (*possible, Line(G, (("", by_force),), "(17)"))),
            Section("in deviations from the free acceleration", (Line(G, (("", by_deviation),), "(19)"),)),
        ]
    else:
        expanded = sp.Add(
            *(a * (i - 2 * (Q_j + C_j)) for a, i, Q_j, C_j in zip(accelerations, inertia, Q, C, strict=True))
        )
        sections.append(
            Section("least constraint, without the part that is free of q''", (Line(G, (("", expanded),)),))
        )
    sections.append(Section("least where", _stationary_lines(system, inertia, Q, C, rows, budget)))
    if by_acceleration is not None and not nonlinear_in_acceleration(system):
        sections.append(Section("beside the motion, at q'' + d", _excess_lines(system, M, rows, budget)))
    found = _multiplier(system, rows, M, Q, C, budget) if by_acceleration is not None else None
    if found is not None:
        sections.append(
            Section("Gaussian multiplier", (Line(lambda_of(0), (("", found),), system.constraints[0].name),))
        )
    sections.append(_conventions(G, found is not None))
    return GaussEquations(
        system=system,
        form="gauss",
        explicit=False,
        reason=reason,
        title="q'' makes G_ni least among all accelerations that the constraints allow, Udwadia (16), (17), (19)",
        sections=tuple(sections),
        by_acceleration=by_acceleration,
        by_force=by_force,
        by_deviation=by_deviation,
        forces=forces,
        multiplier=found,
    )


def _conventions(G: sp.Symbol, multiplier: bool) -> Section:
    """What Somani 2019 calls G and λ: ½(a − a_u)ᵀM(a − a_u), and m q̈ = F − λn."""
    lines = [Line(sp.Symbol("G_Somani"), (("", G / 2),), "(1), as in Gauss")]
    if multiplier:
        lines.append(Line(sp.Symbol("lambda_Somani"), (("", -lambda_of(0)),), "m q'' = F - lambda n"))
    return Section("conventions", tuple(lines))


def _forms(
    M: sp.Matrix,
    Q: sp.Matrix,
    C: sp.Matrix,
    inertia: sp.Matrix,
    forces: tuple[sp.Symbol, ...],
    system: System,
    budget: Budget,
) -> tuple[tuple[sp.Expr, sp.Expr, sp.Expr] | None, str]:
    """(16), (17) and (19), or why they cannot be written out."""
    if _is_singular(system, M):
        return None, "M is singular: G is shown without a part that is the same for all accelerations"
    try:
        inverse = inverse_of(sp.ImmutableMatrix(M), budget)
    except TooLarge as limit:
        return None, str(limit)
    free = tidy_matrix(inverse * (Q + C), budget)
    found = (
        _quadratic(inverse, inertia - Q - C),
        _quadratic(inverse, sp.Matrix(forces) - C),
        _quadratic(M, sp.Matrix(system.accelerations) - free),
    )
    size = max(int(sp.count_ops(form)) for form in found)
    if size > LARGEST:
        return None, f"G written out has {size} operations; its forms are shown up to {LARGEST}"
    return found, ""


def _is_singular(system: System, M: sp.Matrix) -> bool:
    """By numbers: SymPy may not see that a determinant is zero. A generic state decides."""
    sampler = Sampler(standard_form(system))
    n = M.rows
    for row in sampler.values(list(M), [sampler.start() for _ in range(3)]):
        numbers = row.reshape(n, n)
        scale = column_scale(numbers, np.zeros((0, n)))
        if np.linalg.matrix_rank(numbers * np.outer(scale, scale), tol=1e-11) == n:
            return False
    return True


def _quadratic(matrix: sp.Matrix, vector: sp.Matrix) -> sp.Expr:
    """vᵀ matrix v, its squares left as squares."""
    n = len(vector)
    return sp.Add(*((1 if i == j else 2) * matrix[i, j] * vector[i] * vector[j] for i in range(n) for j in range(i, n)))


def _stationary_lines(
    system: System, inertia: sp.Matrix, Q: sp.Matrix, C: sp.Matrix, rows: list[sp.Expr], budget: Budget
) -> tuple[Line, ...]:
    """½ ∂G/∂q̈_j = λ_k ∂h_k/∂q̈_j."""
    lines = []
    for j, acceleration in enumerate(system.accelerations):
        right = sp.Add(*(lambda_of(k) * tidy(diff(h, acceleration), budget) for k, h in enumerate(rows)))
        lines.append(Line(inertia[j] - Q[j] - C[j], (("", right),)))
    return tuple(lines)


def _excess_lines(system: System, M: sp.Matrix, rows: list[sp.Expr], budget: Budget) -> tuple[Line, ...]:
    """G_ni(q̈ + d) − G_ni(q̈) = (d, d)_M for all d with A d = 0: (12) to (15)."""
    d = sp.Matrix([sp.Symbol(f"d_{q.name}", real=True) for q in system.coordinates])
    lines = []
    for h, constraint in zip(rows, system.constraints, strict=True):
        along = sp.Add(*(tidy(diff(h, q2), budget) * part for q2, part in zip(system.accelerations, d, strict=True)))
        lines.append(Line(along, (("", sp.S.Zero),), constraint.name))
    return (*lines, Line(sp.Symbol("Delta_G_ni", real=True), (("", _quadratic(M, d)),), "(15)"))


def _multiplier(
    system: System, rows: list[sp.Expr], M: sp.Matrix, Q: sp.Matrix, C: sp.Matrix, budget: Budget
) -> sp.Expr | None:
    """λ = (b − A(a + c))/(A M⁻¹Aᵀ). In Somani 2019, with m q̈ = F − λ n, it has the other sign."""
    if len(rows) != 1 or nonlinear_in_acceleration(system):
        return None
    A = sp.Matrix([[diff(rows[0], acceleration) for acceleration in system.accelerations]])
    b = -rows[0].xreplace(dict.fromkeys(system.accelerations, sp.S.Zero))
    AW = A * inverse_of(sp.ImmutableMatrix(M), budget)
    return tidy(tidy(b - (AW * (Q + C))[0], budget) / tidy((AW * A.T)[0], budget), budget)


# -- numbers


def prepare(system: System, sampler: Sampler) -> Solver:
    motion = affine_parts(sampler, euler_operator(system))
    if nonlinear_in_acceleration(system):
        search = Search.of(sampler, accelerations_of(system))

        def searched(state: Sample, C: Array) -> Answer:
            M, r = motion(state)
            q2 = search.lowest(state, M, C - r)
            return Answer(q2, M @ q2 + r)

        return searched
    constraints = affine_parts(sampler, accelerations_of(system))

    def solve(state: Sample, C: Array) -> Answer:
        M, r = motion(state)
        A, h = constraints(state)
        q2 = least_deviation(M, C - r, A, -h)
        return Answer(q2, M @ q2 + r)

    return solve
