"""Routh's function: the velocities of ignorable coordinates replaced by their momenta.

    R(q, q̇, t; p) = L − pᵀθ̇      with θ̇(q, q̇, t; p) from p = ∂L/∂θ̇

The other coordinates obey Lagrange's equations with R in place of L; θ̇ = −∂R/∂p gives the ignorable ones by quadrature.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from dalembert.mechanics.algebra.cofactors import TooLarge, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.standard_form import diff, lagrangian
from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System


@dataclass(frozen=True)
class Routhian:
    """R in the coordinates that are left, their velocities, t and the momenta; `velocities` of the ignored ones."""

    ignored: tuple[Coordinate, ...]
    momenta: tuple[sp.Symbol, ...]
    velocities: tuple[sp.Expr, ...]
    R: sp.Expr

    @property
    def rates(self) -> dict[sp.Symbol, sp.Expr]:
        """The velocities of the ignored coordinates, to be put in for them."""
        return {q.d: rate for q, rate in zip(self.ignored, self.velocities, strict=True)}


def routhian(
    system: System, ignored: tuple[Coordinate, ...], momenta: tuple[sp.Symbol, ...], budget: Budget | None = None
) -> Routhian:
    """Routh's function of a system. Raises `TooLarge` where the momenta are not solved in closed form.

    >>> import dalembert as da
    >>> r, phi = da.coordinates("r phi")
    >>> m, k, p = da.parameters("m k p_phi")
    >>> planet = da.System("planet", coordinates=[r, phi], kinetic=m*(r.d**2 + r**2*phi.d**2)/2, potential=-k/r)
    >>> routhian(planet, (phi,), (p,)).velocities
    (p_phi/(r**2*m),)
    """
    budget = budget or Budget()
    L = remove_coordinates(exact(lagrangian(system)), ignored, budget)
    rest = dict.fromkeys((q.d for q in ignored), sp.S.Zero)
    own = [diff(L, q.d) for q in ignored]
    m = sp.Matrix(len(own), len(own), [tidy(diff(p, q.d).xreplace(rest), budget) for p in own for q in ignored])
    excess = sp.Matrix([p - tidy(a.xreplace(rest), budget) for p, a in zip(momenta, own, strict=True)])
    velocities = inverse_of(sp.ImmutableMatrix(m), budget) * excess
    rates = dict(zip(rest, velocities, strict=True))
    # L is of second degree in the velocities ignored, hence R = L(θ̇ = 0) − ½ (p − a)ᵀm⁻¹(p − a).
    R = L.xreplace(rest) - (excess.T * sp.Matrix(list(rates.values())))[0] / 2
    return Routhian(ignored, momenta, tuple(rates.values()), R)


def remove_coordinates(expression: sp.Expr, coordinates: tuple[Coordinate, ...], budget: Budget) -> sp.Expr:
    """An expression that does not depend on these coordinates, written without them."""
    if expression.free_symbols.isdisjoint(coordinates):
        return expression
    short = tidy(expression, budget)
    if short.free_symbols.isdisjoint(coordinates):
        return short
    for value in (sp.S.Zero, sp.S.One):  # it has the same value wherever they are
        there = expression.xreplace(dict.fromkeys(coordinates, value))
        if not there.has(sp.nan, sp.zoo, sp.oo):
            return there
    raise TooLarge(f"L could not be written without {', '.join(q.name for q in coordinates)}")
