"""Kane's equations, and Maggi's: forces projected on the partial velocities.

    F_r + F*_r = 0,      F_r = Σ_j (∂q̇_j/∂u_r)(Q_j + C_j),      F*_r = −Σ_j (∂q̇_j/∂u_r)(d/dt ∂T/∂q̇_j − ∂T/∂q_j)

F_r are the generalized active forces, F*_r the generalized inertia forces. Put together with Euler's operator
E = d/dt ∂L/∂q̇ − ∂L/∂q − Q_np they are Maggi's equations, Σ_j (∂q̇_j/∂u_r)(E_j − C_j) = 0. The constraint forces, which
they never hold, are E_j along the motion.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from scipy.linalg import lu_factor, lu_solve, qr

from dalembert.arrays import Array
from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.tidy import Budget, tidy
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.principles.shared.euler_operator import (
    accelerations_of,
    affine_parts,
    euler_operator,
    force_along,
    kinetic_part,
)
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
from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System


@dataclass(frozen=True, kw_only=True)
class KaneEquations(Equations):
    """`active` F_r and `inertia` F*_r on the quasi-velocities of `quasi`, which also holds the partial velocities;
    `reactions` are the constraint forces by coordinate, along the motion. All None where the quasi-velocities
    cannot be written out.
    """

    quasi: Quasi | None
    active: tuple[sp.Expr, ...] | None
    inertia: tuple[sp.Expr, ...] | None
    reactions: tuple[sp.Expr, ...] | None


class Partial(sp.Symbol):
    """∂q̇/∂u on the page."""

    @classmethod
    def of(cls, velocity: Coordinate, u: Coordinate) -> Partial:
        return cls(f"d{velocity.name}/d{u.name}", real=True)

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        above, below = (Coordinate.named(part[1:]) for part in self.name.split("/"))
        return rf"\frac{{\partial {printer.doprint(above)}}}{{\partial {printer.doprint(below)}}}"


def applies(system: System) -> str:
    return first(has_modes(system), nonlinear_in_acceleration(system))


def state_size(system: System) -> int:
    return len(system.coordinates) + freedom(system)


# -- what is shown


def derive(system: System, quasi_velocities: Mapping[str, Any] | None = None) -> KaneEquations:
    """Partial velocities, active and inertia forces, and the constraint forces that the equations do not need."""
    budget = budget_for(system)
    try:
        quasi = choose(system, quasi_velocities, budget)
    except TooLarge as limit:
        return _maggi_in_words(system, str(limit), budget)
    forces = [Q + C for Q, C in zip(impressed_forces(system), system.C, strict=True)]
    F, inertia = quasi.along(forces, budget), quasi.along(_inertia(system), budget)
    F_star = [tidy(-entry, budget) for entry in inertia]
    reactions = tuple(quasi.on_motion(E, budget) for E in euler_operator(system))
    entries = zip(system.velocities, quasi.partial.tolist(), strict=True)
    partial = [
        Line(Partial.of(v, u), (("", value),))
        for v, row in entries
        for u, value in zip(quasi.symbols, row, strict=True)
        if value != 0 and v != u
    ]
    index = range(1, len(F) + 1)
    sections = kinematics(quasi)
    if partial:
        sections.append(Section("partial velocities", tuple(partial)))
    if F:
        sections += [
            Section("generalized active forces", _lines("F", F, index)),
            Section("generalized inertia forces", _lines("F^*", F_star, index)),
            Section(
                "motion, F + F* = 0",
                tuple(Line(left, (("", right),)) for left, right in zip(inertia, F, strict=True)),
            ),
        ]
    if system.constraints:
        E = [sp.Symbol(f"E_{q.name}", real=True) for q in system.coordinates]
        lines = (Line(name, (("", value),)) for name, value in zip(E, reactions, strict=True))
        sections.append(Section("constraint forces, E = d/dt dL/dq' - dL/dq - Q", tuple(lines)))
        balance = zip((quasi.partial.T * sp.Matrix(E)).tolist(), quasi.along(list(system.C), budget), strict=True)
        maggi = tuple(Line(left, (("", right),)) for (left,), right in balance)
        sections += [Section("Maggi's equations, E - C does no work", maggi)] if maggi else []
    return KaneEquations(
        system=system,
        form="kane",
        explicit=False,
        reason=quasi.note,
        title="Kane and Maggi, forces on the partial velocities balance: F_r + F*_r = 0",
        sections=tuple(sections),
        parts=tuple(quasi.parts.values.items()) if quasi.parts is not None else (),
        quasi=quasi,
        active=tuple(F),
        inertia=tuple(F_star),
        reactions=reactions,
    )


def _inertia(system: System) -> list[sp.Expr]:
    """d/dt ∂T/∂q̇ − ∂T/∂q."""
    T = kinetic_part(system)
    if T is None:
        return list(system.mass * sp.Matrix(system.accelerations))
    return [time_derivative(diff(T, q.d), system.coordinates) - diff(T, q) for q in system.coordinates]


class _Starred(sp.Symbol):
    """F*_1 on the page."""

    def _latex(self, printer: Any, exp: str | None = None) -> str:
        return f"F^{{*}}_{{{self.name.partition('_')[2]}}}"


def _lines(name: str, values: list[sp.Expr], index: range) -> tuple[Line, ...]:
    kind = _Starred if "*" in name else sp.Symbol
    shown = name.replace("^", "")
    return tuple(Line(kind(f"{shown}_{r}", real=True), (("", v),)) for r, v in zip(index, values, strict=True))


def _maggi_in_words(system: System, reason: str, budget: Budget) -> KaneEquations:
    operator = [tidy(E, budget) for E in euler_operator(system)]
    names = [sp.Symbol(f"E_{q.name}", real=True) for q in system.coordinates]
    lines = tuple(Line(name, (("", E),)) for name, E in zip(names, operator, strict=True))
    return KaneEquations(
        system=system,
        form="kane",
        explicit=False,
        reason=f"the partial velocities are not written out: {reason}",
        title="Maggi, E - C does no work on velocities that the constraints allow",
        sections=(Section("Euler's operator", lines),),
        quasi=None,
        active=None,
        inertia=None,
        reactions=None,
    )


# -- numbers


def prepare(system: System, sampler: Sampler) -> Solver:
    """At a state some of the velocities are the quasi-velocities, by QR with pivoting; Maggi's equations and the
    constraints together are n equations for q̈.
    """
    operator = euler_operator(system)
    motion = affine_parts(sampler, operator)
    constraints = affine_parts(sampler, accelerations_of(system))
    reactions = force_along(sampler, operator)

    def solve(state: Sample, C: Array) -> Answer:
        M, r = motion(state)
        A, h = constraints(state)
        scale = column_scale(M, A)
        H = M * np.outer(scale, scale)
        rows, right = unit_rows(A * scale, -h)
        partial, kept, combine = _partial_velocities(rows)
        matrix = np.vstack([partial.T @ H, kept])
        # Rows are balanced by length one, so that only a direction left open makes them dependent.
        length = np.linalg.norm(matrix, axis=1)
        if np.any(length == 0) or np.linalg.cond(matrix / length[:, None]) > 1 / RANK_TOLERANCE:
            raise NotHere("M is singular and the constraints do not determine the acceleration")
        factor = lu_factor(matrix)

        def balance(force: Array, right: Array) -> Array:
            return np.asarray(lu_solve(factor, np.concatenate([partial.T @ force, combine @ right])))

        y = solve_refined(balance, H, scale * (C - r), rows, right)
        require_met(rows, right, y)
        q2 = scale * y
        return Answer(q2, reactions(state, q2))

    return solve


def _partial_velocities(A: Array) -> tuple[Array, Array, Array]:
    """N with A N = 0, some rows of it unit rows; as many combinations of the rows of A as are independent, and the
    matrix that combines them.
    """
    m, n = A.shape
    if m == 0:
        return np.eye(n), A, np.zeros((0, 0))
    Q, R, order = qr(A, mode="economic", pivoting=True)
    rank = int(np.count_nonzero(np.abs(np.diag(R)) > RANK_TOLERANCE))
    N = np.zeros((n, n - rank))
    N[order[:rank]] = -np.linalg.solve(R[:rank, :rank], R[:rank, rank:]) if rank else 0.0
    N[order[rank:]] = np.eye(n - rank)
    kept = np.zeros((rank, n))
    kept[:, order] = R[:rank]
    return N, kept, np.asarray(Q.T[:rank])
