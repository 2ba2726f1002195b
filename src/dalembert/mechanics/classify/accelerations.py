"""Constraints on accelerations: which are derivatives of constraints on velocities, or on positions, in disguise.

With the velocities among the variables, h = Σ a_j q̈_j + c = 0 is a Pfaffian form like others,

    θ = Σ a_j dq̇_j + c dt      beside      dq_j − q̇_j dt

and Frobenius' theorem says how many functions ψ(q, q̇, t) are constant on all motions that they allow. h is μ⁻¹ dψ/dt
where θ lies in the integrable part, up to the others; it follows from f(q, t, constants) = 0 where
Σ a_j (dq_j − q̇_j dt) does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

from dalembert.mechanics.algebra.tidy import tidy
from dalembert.mechanics.classify.frobenius import integrable_part
from dalembert.mechanics.classify.integrals import Zero, integral_of, potential_of
from dalembert.mechanics.classify.pfaffian import DECIDING, linear_row
from dalembert.mechanics.classify.problem import Problem
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff, time_derivative
from dalembert.model.constraints import is_linear
from dalembert.model.language.symbols import t
from dalembert.model.system import System

# Operations of a constraint up to which ψ is looked for.
LARGEST = 150
# The value of ψ, a constant of the motion.
CONSTANT = sp.Symbol("c", real=True)


@dataclass(frozen=True)
class Disguise:
    """What an acceleration constraint h = 0 says less directly.

    `level`: "velocity" where h is a derivative of ψ(q, q̇, t), "position" where ψ = c is one of a function of q and t,
    "acceleration" where neither. `velocity`: ψ; `position`: f with f = constant, in which `c` is the value of ψ.
    """

    level: str
    velocity: sp.Expr | None = None
    factor: sp.Expr | None = None
    position: sp.Expr | None = None


@dataclass(frozen=True)
class Disguises:
    """`of` each linear constraint on accelerations. `positions`: how many position constraints follow from all the
    constraints of the system together; None where that is open.
    """

    of: dict[str, Disguise]
    positions: int | None


def disguises(sampler: Sampler, states: list[Sample]) -> Disguises:
    system = sampler.system
    q, v, n = system.coordinates, system.velocities, len(system.coordinates)
    linear = [
        c for c in system.constraints if c.level == "acceleration" and is_linear([c.expression], system.accelerations)
    ]
    if not linear:
        return Disguises({}, None)
    none = [sp.S.Zero] * n
    rows = [linear_row(c.expression, system.accelerations) for c in linear]
    contact = [(*(sp.S(int(i == j)) for i in range(n)), *none, -v[j]) for j in range(n)]
    forms = [(*none, *row) for row in rows]
    asked = [(*row[:n], *none, -sp.Add(*(a * u for a, u in zip(row[:n], v, strict=True)))) for row in rows]
    position = [c.expression for c in system.constraints if c.level == "position"]
    velocity = [c.expression for c in system.constraints if c.level == "velocity"]
    conditions = (*position, *(time_derivative(phi, q) for phi in position), *velocity)
    known = sampler.stood_in
    problem = Problem(
        variables=(*q, *v, t),
        conditions=tuple(map(known, conditions)),
        forms=tuple(tuple(map(known, form)) for form in (*contact, *forms)),
        asked=tuple(tuple(map(known, row)) for row in asked),
        values=sampler.parameters,
        contact=n,
    )
    points = [dict(zip((*q, *v, t), (*s.q, *s.v, s.t), strict=True)) for s in states[:DECIDING]]
    found = integrable_part(problem, points)
    if found is None:
        return Disguises({}, None)

    def zero(expression: sp.Expr) -> bool:
        return sampler.vanishes(expression, states)

    of = {}
    for c, once, twice in zip(linear, found.members[n:], found.asked, strict=True):
        level = "position" if twice else "velocity" if once else "acceleration"
        of[c.name] = _integrate(system, c.expression, level, zero) if once or twice else Disguise(level)
    # Nothing is said of positions where a constraint nonlinear in q̈ took no part.
    every = all(is_linear([c.expression], system.accelerations) for c in system.constraints)
    return Disguises(of, found.contact if every else None)


def _integrate(system: System, h: sp.Expr, level: str, zero: Zero) -> Disguise:
    """ψ and f, where simple means find them."""
    result = Disguise(level)
    if sp.count_ops(h) > LARGEST:
        return result

    def at_a_constant(expression: sp.Expr) -> bool:
        # A constant of integration may have any value: one of them decides.
        return zero(expression.xreplace({CONSTANT: sp.Rational(7, 11)}))

    for factor in _factors(system, h, zero):
        psi = _velocity_integral(system, tidy(factor * h), zero)
        if psi is None:
            continue
        result = Disguise(level, psi, factor)
        if level == "position" and is_linear([psi], system.velocities):
            row = tuple(linear_row(psi - CONSTANT, system.velocities))
            found = integral_of(row, (*system.coordinates, t), at_a_constant)
            if found is not None:
                result = Disguise(level, psi, factor, found[0])
        return result
    return result


def _factors(system: System, h: sp.Expr, zero: Zero) -> Iterator[sp.Expr]:
    """Candidates for μ: one; the inverse of a coefficient; and after it e^∫g, where q̈ + q̇ Σ g_j q̇_j begins h."""
    yield sp.S.One
    *a, rest = linear_row(h, system.accelerations)
    v, none = system.velocities, dict.fromkeys(system.velocities, sp.S.Zero)
    for k, entry in enumerate(a):
        if zero(entry):
            continue
        if not entry.is_number:
            yield 1 / entry
        slope = diff(rest / entry, v[k])
        growth = [diff(slope, u).xreplace(none) / (2 if j == k else 1) for j, u in enumerate(v)]
        exponent = potential_of(tuple(map(tidy, growth)), system.coordinates, zero) if any(growth) else None
        if exponent is not None:
            yield tidy(sp.exp(sp.expand_log(exponent, force=True)).replace(sp.Abs, lambda u: u) / entry)


def _velocity_integral(system: System, h: sp.Expr, zero: Zero) -> sp.Expr | None:
    """ψ with dψ/dt = h: ψ = ∫ a·dq̇ + χ(q, t), where the rest, h − d/dt of the first, is χ̇ and linear in q̇."""
    q, v = system.coordinates, system.velocities
    *a, _ = linear_row(h, system.accelerations)
    first = potential_of(tuple(a), v, zero)
    if first is None:
        return None
    rest = tidy(sp.expand(h - time_derivative(first, q)))
    if zero(rest):
        return first
    if not is_linear([rest], v) or not rest.free_symbols.isdisjoint(system.accelerations):
        return None
    row = tuple(linear_row(rest, v))
    if not all(zero(diff(entry, u)) for entry in row for u in v):
        return None
    chi = potential_of(row, (*q, t), zero)
    return None if chi is None else tidy(first + chi)
