"""The Lagrangian by powers of the velocities, L = L₀(q,t) + aᵀ(q,t) q̇ + ½ q̇ᵀ m(q,t) q̇, and what follows from it:
whether the momenta give back the velocities, and the geometry of the metric m.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import sympy as sp

from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.mechanics.standard_form import diff, lagrangian, standard_form
from dalembert.model.constraints import Constraint, is_linear
from dalembert.model.system import System

# Rounding leaves zero eigenvalues of a matrix with unit diagonal near 1e-16.
SINGULAR = 1e-11


@dataclass(frozen=True)
class Powers:
    """L₀, a (n) and m (n×n)."""

    rest: sp.Expr
    linear: tuple[sp.Expr, ...]
    metric: sp.ImmutableMatrix


def momenta_of(system: System) -> list[sp.Expr]:
    """p = ∂L/∂q̇, in velocities."""
    L = lagrangian(system)
    return [diff(L, v) for v in system.velocities]


def powers_of(system: System) -> Powers | None:
    """L by powers of q̇, or None where it is not of second degree in them."""
    momenta = momenta_of(system)
    if not is_linear(momenta, system.velocities):
        return None
    none = dict.fromkeys(system.velocities, sp.S.Zero)
    n = len(momenta)
    metric = sp.zeros(n, n)
    for i in range(n):
        for j in range(i, n):
            metric[i, j] = metric[j, i] = diff(momenta[i], system.velocities[j]).xreplace(none)
    linear = tuple(p.xreplace(none) for p in momenta)
    return Powers(lagrangian(system).xreplace(none), linear, sp.ImmutableMatrix(metric))


def why_singular(system: System) -> str:
    """Whether p = ∂L/∂q̇ leaves velocities open."""
    momenta = momenta_of(system)
    slopes = [diff(p, v) for p in momenta for v in system.velocities]
    sampler = Sampler(standard_form(system))
    n = len(momenta)
    for row in sampler.values(slopes, sampler.states(3)):
        M = row.reshape(n, n)
        scale = mass_scale(M)
        values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
        worst = int(np.argmin(np.abs(values)))
        if abs(values[worst]) <= SINGULAR:
            free = np.abs(vectors[:, worst]) > 1e-6  # rounding of a vector whose entries are of order one
            names = ", ".join(q.name for q, part in zip(system.coordinates, free, strict=True) if part)
            return f"M is singular: the momenta do not determine the velocities of {names}"
    return ""


def why_unnatural(system: System) -> str:
    """A natural system has L = T − V, T of second degree in q̇ and V a function of positions."""
    powers = powers_of(system)
    if powers is None:
        return "L is not quadratic in the velocities"
    names = [q.name for q, a in zip(system.coordinates, powers.linear, strict=True) if tidy(a) != 0]
    return f"L holds terms linear in the velocities of {', '.join(names)}" if names else ""


def acts(system: System) -> str:
    """A potential is an impressed force, too."""
    powers = powers_of(system)
    assert powers is not None
    names = [q.name for q in system.coordinates if tidy(diff(powers.rest, q)) != 0]
    return f"a potential acts on {', '.join(names)}" if names else ""


# -- the geometry of m


def christoffel(metric: sp.ImmutableMatrix, system: System, rates: tuple[sp.Symbol, ...]) -> list[sp.Expr]:
    """c_i = [jk, i] u_j u_k with Christoffel's symbols of the first kind, for rates u of the coordinates."""
    n = len(system.coordinates)
    slopes = [[[diff(metric[i, j], q) for q in system.coordinates] for j in range(n)] for i in range(n)]
    return [
        sp.Add(
            *(
                (slopes[i][j][k] - slopes[j][k][i] / 2) * rates[j] * rates[k]
                for j in range(n)
                for k in range(n)
                if slopes[i][j][k] != 0 or slopes[j][k][i] != 0
            )
        )
        for i in range(n)
    ]


def gradient_and_bend(
    constraint: Constraint, system: System, rates: tuple[sp.Symbol, ...]
) -> tuple[list[sp.Expr], sp.Expr]:
    """Along a curve with rates u = dq/ds, a constraint asks for A q'' + B = 0: φ(q) = 0 has A = ∂φ/∂q and
    B = uᵀ(∂²φ/∂q²)u; ψ(q, u) = 0 has A = ∂ψ/∂u and B = (∂ψ/∂q)u.
    """
    q = system.coordinates
    if constraint.level == "position":
        row = [diff(constraint.expression, c) for c in q]
        first = sp.Add(*(slope * u for slope, u in zip(row, rates, strict=True)))
    else:
        first = constraint.expression.xreplace(dict(zip(system.velocities, rates, strict=True)))
        row = [diff(first, u) for u in rates]
    return row, sp.Add(*(diff(first, c) * u for c, u in zip(q, rates, strict=True)))
