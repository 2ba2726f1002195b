"""Lagrange's equations with multipliers, of the first kind: (29) and (49) of Flannery 2011.

    d/dt ∂L/∂q̇_j − ∂L/∂q_j = Q_np,j + C_j + λ_k ∂g_k/∂q̇_j            velocity constraints, (29)
                           = Q_np,j + C_j + λ_k ∂h_k/∂q̈_j            acceleration constraints, (49)

A position constraint enters by its gradient ∂φ/∂q, which is that of φ̇ and of φ̈. The equations and the constraints,
differentiated, are one system for q̈ and λ. Dependent rows leave λ open, not Aᵀλ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp
from scipy.optimize import root

from dalembert.arrays import Array
from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.parts import budget_for
from dalembert.mechanics.page.printing import lambda_of
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of, affine_parts, euler_operator
from dalembert.mechanics.principles.shared.formulation import (
    Answer,
    NotHere,
    Solver,
    has_modes,
    nonlinear_in_acceleration,
)
from dalembert.mechanics.principles.shared.scaled_constraints import independent, saddle, unit_rows
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff
from dalembert.model.language.contents import replaced
from dalembert.model.system import System

# Constraints nonlinear in q̈ may have several solutions: so many starts of Newton's method look for the least G.
STARTS = 24
# Newton's method ends at rounding, 1e-13 or so, or nowhere near.
SATISFIED = 1e-9


def applies(system: System) -> str:
    return has_modes(system)


def state_size(system: System) -> int:
    return 2 * len(system.coordinates) + len(system.constraints)


def derive(system: System) -> Equations:
    """The equations with their multipliers, one per coordinate, and the constraints."""
    budget = budget_for(system)
    none: dict[sp.Basic, sp.Basic] = dict.fromkeys(system.accelerations, sp.S.Zero)
    lines = []
    for j, E in enumerate(euler_operator(system)):
        rest = replaced(E, none)
        inertia = tidy(E - rest, budget)
        terms = [("Q", tidy(-rest, budget))]
        terms.append(("C", system.C[j]))
        reaction = sp.Add(*(lambda_of(k) * gradient(system, k)[j] for k in range(len(system.constraints))))
        terms.append(("A^T\\lambda", reaction))
        lines.append(Line(inertia, tuple(term for term in terms if term[1] != 0) or (("", sp.S.Zero),)))
    rows = [Line(sp.S.Zero, (("", c.expression),), c.name) for c in system.constraints]
    sections = [Section("motion", tuple(lines))]
    sections += [Section("constraints", tuple(rows))] if rows else []
    return Equations(
        system=system,
        form="lagrange",
        explicit=False,
        reason="",
        title="d/dt dL/dq' - dL/dq = Q + C + A^T lambda, Flannery (29) and (49)",
        sections=tuple(sections),
    )


def gradient(system: System, k: int) -> list[sp.Expr]:
    """∂φ/∂q, ∂ψ/∂q̇ or ∂h/∂q̈ of a constraint."""
    constraint = system.constraints[k]
    variables = {"position": system.coordinates, "velocity": system.velocities, "acceleration": system.accelerations}
    return [diff(constraint.expression, variable) for variable in variables[constraint.level or ""]]


def prepare(system: System, sampler: Sampler) -> Solver:
    motion = affine_parts(sampler, euler_operator(system))
    if nonlinear_in_acceleration(system):
        return _stationary(system, sampler, motion)
    constraints = affine_parts(sampler, accelerations_of(system))

    def solve(state: Sample, C: Array) -> Answer:
        M, r = motion(state)
        A, h = constraints(state)
        q2, lam = saddle(M, C - r, A, -h)
        return Answer(q2, A.T @ lam + C)

    return solve


def _stationary(system: System, sampler: Sampler, motion: Callable[[Sample], tuple[Array, Array]]) -> Solver:
    """(49) with h nonlinear in q̈: stationary points of G on h = 0, of which the motion is the lowest."""
    h, accelerations = accelerations_of(system), system.accelerations
    n, m = len(accelerations), len(h)
    slopes = [diff(entry, a) for entry in h for a in accelerations]
    rows = sampler.function([*h, *slopes], accelerations)

    def solve(state: Sample, C: Array) -> Answer:
        M, r = motion(state)
        start = np.linalg.solve(M, C - r)
        size = max(1.0, float(np.linalg.norm(start)))
        draw = np.random.default_rng(0)  # the same starts each time
        starts = [start] + [start + size * draw.normal(size=n) for _ in range(STARTS - 1)]
        # Newton's method needs independent rows; those that are so at a generic place are enough.
        slopes_there = rows(state, *starts[1])[m:].reshape(m, n)
        kept = independent(unit_rows(slopes_there, np.zeros(m))[0])

        def equations(y: Array) -> Array:
            values = rows(state, *y[:n])
            slope = values[m:].reshape(m, n)[kept]
            return np.concatenate([M @ y[:n] + r - C - slope.T @ y[n:], values[:m][kept]])

        def gauss(z: Array) -> float:
            force = M @ z + r - C
            return float(force @ np.linalg.solve(M, force))

        found: list[Array] = []
        for near in starts:
            y = root(equations, np.concatenate([near, np.zeros(len(kept))]), tol=1e-13).x
            reach = SATISFIED * max(1.0, float(np.max(np.abs(y))))
            if np.max(np.abs(equations(y))) <= reach and np.max(np.abs(rows(state, *y[:n])[:m])) <= reach:
                found.append(y[:n])
        if not found:
            raise NotHere("no stationary point of G was found on the constraints")
        best = min(found, key=gauss)
        return Answer(best, M @ best + r)

    return solve
