"""The Gibbs–Appell equations: with u̇ the accelerations that the constraints leave free,

    ∂S/∂u̇_r = U_r,      S = ½ q̈ᵀM q̈ + q̈ᵀΓ + …,      q̈ = N u̇ + n₀,      U = Nᵀ(Q + C)

S is Gibbs's function, the energy of acceleration ½ Σ m|r̈|² of the particles, here from T alone: its derivatives are

    ∂S/∂q̈_j = ∂Ṫ/∂q̇_j − 2 ∂T/∂q_j                                     (Appell's relation, Nielsen's form)

which is M q̈ + Γ; what S holds besides is free of accelerations and left out. Constraints enter only by q̈ = N u̇ + n₀,
so that no multiplier appears. Q are the impressed forces, C the work of the constraints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from dalembert.arrays import Array
from dalembert.mechanics.algebra.cofactors import TooLarge, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy, tidy_matrix
from dalembert.mechanics.explicit.explicit import LARGEST_ENTRY, LARGEST_MODEL
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of, affine_parts, kinetic_part
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    NotHere,
    Solver,
    first,
    has_modes,
    nonlinear_in_acceleration,
)
from dalembert.mechanics.principles.shared.quasi_velocities import Quasi, choose, freedom, kinematics
from dalembert.mechanics.principles.shared.scaled_constraints import column_scale, require_met, solve_refined, unit_rows
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.solve.fundamental import RANK_TOLERANCE
from dalembert.mechanics.standard_form import diff, impressed_forces, time_derivative
from dalembert.model.system import System


@dataclass(frozen=True, kw_only=True)
class AppellEquations(Equations):
    """`quasi` the quasi-velocities; `gibbs` S in their rates and `gibbs_of_accelerations` S(q̈), both without what is
    free of accelerations; `forces` U; `rates` the u̇ solved for, None where that cannot be read. `quasi` and what
    depends on it is None where the quasi-velocities cannot be written out. In long models all of them hold named parts,
    and all velocities, which `quasi` gives; see `unabridged`.
    """

    quasi: Quasi | None
    gibbs: sp.Expr | None
    gibbs_of_accelerations: sp.Expr
    forces: tuple[sp.Expr, ...] | None
    rates: tuple[sp.Expr, ...] | None


def applies(system: System) -> str:
    return first(has_modes(system), nonlinear_in_acceleration(system))


def state_size(system: System) -> int:
    return len(system.coordinates) + freedom(system)


def acceleration_gradient(system: System) -> list[sp.Expr]:
    """∂S/∂q̈, n expressions affine in q̈."""
    T = kinetic_part(system)
    if T is None:
        return list(system.mass * sp.Matrix(system.accelerations))
    rate = time_derivative(T, system.coordinates)
    return [diff(rate, q.d) - 2 * diff(T, q) for q in system.coordinates]


# -- what is shown


def derive(system: System, quasi_velocities: Mapping[str, Any] | None = None) -> AppellEquations:
    """S, the quasi-velocities (those given, by name, or some of the velocities) and the equations in them."""
    budget = budget_for(system)
    gradient = [exact(g) for g in acceleration_gradient(system)]
    none = dict.fromkeys(system.accelerations, sp.S.Zero)
    inertial = [tidy(g.xreplace(none), budget) for g in gradient]
    n, q2 = len(gradient), system.accelerations
    M = tidy_matrix(sp.Matrix(n, n, [diff(g, a) for g in gradient for a in q2]), budget)
    try:
        quasi, limit = choose(system, quasi_velocities, budget), ""
    except TooLarge as error:
        quasi, limit = None, str(error)
    parts = quasi.parts if quasi is not None else None
    if parts is not None:
        M, inertial = parts.matrix(M), [parts.name(g) for g in inertial]
    S = sp.Add(*(M[i, j] * q2[i] * q2[j] / (2 if i == j else 1) for i in range(n) for j in range(i, n)))
    S += sp.Add(*(a * g for a, g in zip(q2, inertial, strict=True)))
    if quasi is None:
        return _only_s(system, S, limit)
    p, N = len(quasi.symbols), quasi.partial
    still = dict.fromkeys(quasi.rates, sp.S.Zero)
    n0 = sp.Matrix([a.xreplace(still) for a in quasi.accelerations])
    H = [[quasi.on_motion(entry, budget) for entry in row] for row in (N.T * M * N).tolist()]
    linear = [quasi.on_motion(entry, budget) for entry in N.T * (M * n0 + sp.Matrix(inertial))]
    if parts is not None:
        H, linear = [[parts.name(entry) for entry in row] for row in H], [parts.name(entry) for entry in linear]
    quadratic = [
        H[r][s] * quasi.rates[r] * quasi.rates[s] / (2 if r == s else 1) for r in range(p) for s in range(r, p)
    ]
    gibbs = sp.Add(*quadratic, *(a * u for a, u in zip(linear, quasi.rates, strict=True)))
    forces = quasi.along([f + c for f, c in zip(impressed_forces(system), system.C, strict=True)], budget)
    if parts is not None:
        forces = [parts.name(f) for f in forces]
    rates = _rates(H, [f - a for f, a in zip(forces, linear, strict=True)], budget)
    lines = [
        Line(sp.Add(*(H[r][s] * quasi.rates[s] for s in range(p)), linear[r]), (("", forces[r]),)) for r in range(p)
    ]
    symbol = sp.Symbol("S", real=True)
    functions = (
        Line(symbol, (("", S),), "of all accelerations"),
        Line(symbol, (("", gibbs),), "on the constraints, but for terms without accelerations"),
    )
    sections = [*kinematics(quasi), Section("Gibbs function", functions)]
    sections += [Section("motion, dS/du' = U", tuple(lines))] if lines else []
    if rates is not None and p:
        closed = (Line(u, (("", value),)) for u, value in zip(quasi.rates, rates, strict=True))
        sections.append(Section("accelerations of the quasi-velocities", tuple(closed)))
    return AppellEquations(
        system=system,
        form="appell",
        explicit=rates is not None,
        reason=quasi.note,
        title="Gibbs-Appell, dS/du' = U in quasi-velocities",
        sections=tuple(sections),
        parts=tuple(parts.values.items()) if parts is not None else (),
        quasi=quasi,
        gibbs=gibbs,
        gibbs_of_accelerations=S,
        forces=tuple(forces),
        rates=rates,
    )


def _rates(H: list[list[sp.Expr]], right: list[sp.Expr], budget: Budget) -> tuple[sp.Expr, ...] | None:
    """u̇ in closed form, where that is short enough to read."""
    if sum(int(sp.count_ops(entry)) for entry in (*right, *(entry for row in H for entry in row))) > LARGEST_MODEL:
        return None
    try:
        inverse = inverse_of(sp.ImmutableMatrix(len(H), len(H), [entry for row in H for entry in row]), budget)
    except TooLarge:
        return None
    found = [tidy(entry, budget) for entry in inverse * sp.Matrix(len(H), 1, right)] if H else []
    if any(sp.count_ops(entry) > LARGEST_ENTRY or entry.has(sp.zoo, sp.nan) for entry in found):
        return None
    return tuple(found)


def _only_s(system: System, S: sp.Expr, reason: str) -> AppellEquations:
    return AppellEquations(
        system=system,
        form="appell",
        explicit=False,
        reason=f"the quasi-velocities are not written out: {reason}",
        title="Gibbs-Appell, S is least but for U u' among all accelerations that the constraints allow",
        sections=(Section("Gibbs function", (Line(sp.Symbol("S", real=True), (("", S),)),)),),
        quasi=None,
        gibbs=None,
        gibbs_of_accelerations=S,
        forces=None,
        rates=None,
    )


# -- numbers


def prepare(system: System, sampler: Sampler) -> Solver:
    """At a state the quasi-velocities are an orthonormal basis of the mass-scaled null space of A."""
    gradient = affine_parts(sampler, acceleration_gradient(system))
    constraints = affine_parts(sampler, accelerations_of(system))
    forces = sampler.function(list(impressed_forces(system)))

    def solve(state: Sample, C: Array) -> Answer:
        M, inertial = gradient(state)
        A, h = constraints(state)
        Q = forces(state)
        scale = column_scale(M, A)
        H = M * np.outer(scale, scale)
        rows, right = unit_rows(A * scale, -h)
        N, inverse = _allowed_directions(rows)
        try:
            factor = cho_factor(N.T @ H @ N) if N.shape[1] else None
        except LinAlgError:
            raise NotHere("M is singular and the constraints do not determine the acceleration") from None

        def motion(force: Array, right: Array) -> Array:
            """dS/du' = U, S being quadratic."""
            n0 = inverse @ right
            return n0 if factor is None else n0 + N @ cho_solve(factor, N.T @ (force - H @ n0))

        y = solve_refined(motion, H, scale * (Q + C - inertial), rows, right)
        require_met(rows, right, y)
        q2 = scale * y
        return Answer(q2, M @ q2 + inertial - Q)

    return solve


def _allowed_directions(A: Array) -> tuple[Array, Array]:
    """An orthonormal basis of A z = 0, and the matrix that takes b to the shortest z with A z = b. The rows of A have
    length one.
    """
    m, n = A.shape
    if m == 0:
        return np.eye(n), np.zeros((n, 0))
    U, sigma, Vt = np.linalg.svd(A)
    rank = int(np.count_nonzero(sigma > RANK_TOLERANCE))
    return Vt[rank:].T, np.asarray(Vt[:rank].T / sigma[:rank] @ U[:, :rank].T)
