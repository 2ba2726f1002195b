"""Euler's operator and the constraints at the level of accelerations, straight from the model.

    E_j = d/dt ∂L/∂q̇_j − ∂L/∂q_j − Q_np,j        h_k = φ̈_k, ψ̇_k or h_k itself

E = 0 is the free motion, h = 0 what the constraints ask; most principles begin here. Along any motion E_j is the
generalized force of the constraints.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, lagrangian, time_derivative
from dalembert.model.system import System


def euler_operator(system: System) -> list[sp.Expr]:
    """E of a system, n expressions in q, q̇, q̈, t."""
    forces = [system.forces.get(q, sp.S.Zero) for q in system.coordinates]
    if system.mass is not None:
        potential = system.potential if system.potential is not None else sp.S.Zero
        inertia = system.mass * sp.Matrix(system.accelerations)
        return [
            left + diff(potential, q) - force
            for left, q, force in zip(inertia, system.coordinates, forces, strict=True)
        ]
    L = lagrangian(system)
    return [
        time_derivative(diff(L, q.d), system.coordinates) - diff(L, q) - force
        for q, force in zip(system.coordinates, forces, strict=True)
    ]


def accelerations_of(system: System) -> list[sp.Expr]:
    """h of every constraint: differentiated until it holds the accelerations."""
    found = []
    for constraint in system.constraints:
        h = constraint.expression
        if constraint.level == "position":
            h = time_derivative(time_derivative(h, system.coordinates), system.coordinates)
        elif constraint.level == "velocity":
            h = time_derivative(h, system.coordinates)
        found.append(h)
    return found


def affine_parts(sampler: Sampler, expressions: list[sp.Expr]) -> Callable[[Sample], tuple[Array, Array]]:
    """Expressions affine in q̈ as numbers: e = S q̈ + r gives (S, r)."""
    accelerations = sampler.system.accelerations
    n, rows = len(accelerations), len(expressions)
    slopes = [diff(expression, a) for expression in expressions for a in accelerations]
    at_rest = [expression.xreplace(dict.fromkeys(accelerations, sp.S.Zero)) for expression in expressions]
    evaluate = sampler.function([*slopes, *at_rest])

    def at(state: Sample) -> tuple[Array, Array]:
        values = evaluate(state)
        return values[: rows * n].reshape(rows, n), values[rows * n :]

    return at


def force_along(sampler: Sampler, operator: list[sp.Expr]) -> Callable[[Sample, Array], Array]:
    """The generalized force of the constraints at a state with a given acceleration."""
    evaluate = sampler.function(operator, sampler.system.accelerations)
    return lambda state, acceleration: np.asarray(evaluate(state, *acceleration))


def kinetic_part(system: System) -> sp.Expr | None:
    """The part of L that carries the velocities: T where the model gives it, L − L(q̇ = 0) otherwise. None where the
    model gives M and Q, which need not come from a T.
    """
    if system.mass is not None:
        return None
    if system.kinetic is not None:
        return system.kinetic
    L = lagrangian(system)
    return L - L.xreplace(dict.fromkeys(system.velocities, sp.S.Zero))
