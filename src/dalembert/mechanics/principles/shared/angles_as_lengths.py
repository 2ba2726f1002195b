"""Angles among Cartesian coordinates: rods and discs in absolute coordinates, (x, y, φ).

Liberation frees every component along the normals of the constraints, l = ∂f/∂x, and b = Σ l·l adds their squares. For
an angle ∂f/∂φ has another unit. So an angle is freed by (m/I) ∂f/∂φ, as if it were the length φ √(I/m): then
every term of b has one unit, and the reactions Aᵀ(R⁻¹) are the same.
"""

from __future__ import annotations

import sympy as sp

from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System


def weights_of(system: System, masses: list[sp.Expr]) -> list[sp.Expr]:
    """1 for each Cartesian component; for an angle beside such, mass over inertia."""
    turning = [is_angle(system, q) for q in system.coordinates]
    places = [k for k, angle in enumerate(turning) if not angle]
    if not places:
        return [sp.S.One] * len(masses)
    found = []
    for k, (inertia, angle) in enumerate(zip(masses, turning, strict=True)):
        if not angle and not _has_square_of(inertia, [masses[j] for j in places if j != k]):
            found.append(sp.S.One)
            continue
        # The body is the one whose place was written last before the angle.
        near = [j for j in places if j < k and masses[j] != inertia] or [j for j in places if masses[j] != inertia]
        mass = masses[near[-1] if near and near[-1] < k else near[0]] if near else inertia
        found.append(sp.cancel(mass / inertia))
    return found


def is_angle(system: System, q: Coordinate) -> bool:
    """Whether a coordinate stands in sines and cosines only, in the constraints and energies that have it."""
    parts = [*(c.expression for c in system.constraints), system.potential, system.kinetic, system.lagrangian]
    holding = [part for part in parts if part is not None and q in part.free_symbols]
    if not any(q in c.expression.free_symbols for c in system.constraints):
        return False
    return all(_only_in_circles(part, q) for part in holding)


def _only_in_circles(expression: sp.Expr, q: Coordinate) -> bool:
    circles = {f: sp.Dummy() for f in expression.atoms(sp.sin, sp.cos, sp.tan) if q in f.free_symbols}
    return bool(circles) and q not in expression.xreplace(circles).free_symbols


def _has_square_of(inertia: sp.Expr, masses: list[sp.Expr]) -> bool:
    """Whether an inertia is a mass of the model times the square of a parameter, as m r²/2 of a disc."""
    for mass in masses:
        ratio = sp.cancel(inertia / mass)
        squares = [p for p in sp.fraction(ratio)[0].as_powers_dict().items() if p[0].is_Symbol and p[1] == 2]
        if squares and sp.fraction(ratio)[1].is_number and len(ratio.free_symbols) == 1:
            return True
    return False
