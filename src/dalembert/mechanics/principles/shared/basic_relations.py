"""The basic transpositional relations: identities that hold for all displacements, with no condition on them.

    (16)  g_kj = (∂g_k/∂q̇_j)˙ − ∂g_k/∂q_j                                    the Lagrangian derivative
    (17)  δg − (∂g/∂q̇_j δq_j)˙ = ∂g/∂q̇_j [δq̇_j − (δq_j)˙] − g_kj δq_j
    (18)  δφ̇ − (δφ)˙ = ∂φ/∂q_j [δq̇_j − (δq_j)˙]                              the same for g = φ̇
    (20)  δg = (∂g/∂q̇_j δq_j)˙ − g_kj δq_j                                   if δ and d/dt commuted
    (37)  δh − (∂h/∂q̈_j δq_j)¨ = ∂h/∂q̇_j [δq̇_j − (δq_j)˙] + ∂h/∂q̈_j [δq̈_j − (δq_j)¨] − Δh
    (39)  δġ − (∂g/∂q̇_j δq_j)¨ = ∂ġ/∂q̇_j [δq̇_j − (δq_j)˙] + ∂g/∂q̇_j [δq̈_j − (δq_j)¨] − (g_kj δq_j)˙
    (40)  ∂ġ/∂q̇_j = (∂g/∂q̇_j)˙ + ∂g/∂q_j
    (41)  δġ − (δg)˙ = ∂g/∂q_j [δq̇_j − (δq_j)˙] + ∂g/∂q̇_j [δq̈_j − (δq̇_j)˙]

Numbers of Flannery 2011. Where (28) or (48) and δg = 0 or δh = 0 are put in, (17) and (37) become (31) and (51).
"""

from __future__ import annotations

import sympy as sp

from dalembert.mechanics.algebra.tidy import Budget
from dalembert.mechanics.page.equations import Line, Section
from dalembert.mechanics.page.printing import latex, plain
from dalembert.mechanics.principles.shared.page_marks import derivative, mark
from dalembert.mechanics.principles.shared.variations import (
    condition,
    left_side,
    right_side,
    transposed,
    transposed_rate,
)
from dalembert.mechanics.principles.shared.velocity_forms import gradient, lagrangian_derivative, velocity_form
from dalembert.mechanics.standard_form import diff, time_derivative
from dalembert.model.constraints import Constraint
from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System

Signs = dict[str, sp.Symbol]
SIGNS: Signs = {
    "f": mark("delta f", r"\delta f"),
    "f'": mark("delta f'", r"\delta \dot f"),
    "(f)'": mark("(delta f)'", r"\tfrac{d}{dt}\delta f"),
    "g": mark("delta g", r"\delta g"),
    "g'": mark("delta g'", r"\delta \dot g"),
    "(g)'": mark("(delta g)'", r"\tfrac{d}{dt}\delta g"),
    "h": mark("delta h", r"\delta h"),
}


def basic_sections(system: System, budget: Budget) -> list[Section]:
    """The identities for each constraint, by its level; f, g and h stand for it."""
    by_level = {
        level: [c for c in system.constraints if c.level == level] for level in ("position", "velocity", "acceleration")
    }
    positions, velocities, accelerations = by_level.values()
    found = [
        ("basic relations for f of positions, (18): without any condition", [_of_f(system, c) for c in positions]),
        (
            "Lagrangian derivatives of g, (16): g_kj = d/dt dg_k/dq'_j - dg_k/dq_j",
            [line for c in velocities for line in _lagrangian(system, c)],
        ),
        ("basic relations for g of velocities, (17)", [_of_g(system, c, budget) for c in velocities]),
        (
            "if delta and d/dt commuted, (20): no possible states where this is not zero",
            [_commuting(system, c, budget) for c in velocities],
        ),
        ("basic relations for h of accelerations, (37)", [_of_h(system, c, budget) for c in accelerations]),
        ("the same of second order, (39)", [_of_rate(system, c, budget) for c in velocities]),
        (
            "an identity, (40)",
            [line for c in velocities for q in system.coordinates for line in _identity(system, c, q)],
        ),
        ("the analogue of (18) for g, (41)", [_difference(system, c) for c in velocities]),
    ]
    return [Section(title, tuple(lines)) for title, lines in found if lines]


def _lagrangian(system: System, constraint: Constraint) -> list[Line]:
    """Those that are not zero; all are where g is the rate of a function of positions."""
    k = system.constraints.index(constraint) + 1
    entries = zip(system.coordinates, lagrangian_derivative(system, constraint), strict=True)
    found = [
        Line(mark(f"g_{k}{q.name}", rf"g_{{{k} {latex(q)}}}"), (("", sp.factor_terms(entry)),), constraint.name)
        for q, entry in entries
        if entry != 0
    ]
    return found or [Line(mark(f"g_{k}j", rf"g_{{{k}j}}"), (("", sp.S.Zero),), constraint.name)]


def _of_f(system: System, constraint: Constraint) -> Line:
    left = SIGNS["f'"] - SIGNS["(f)'"]
    return Line(left, (("", left_side(system, constraint)),), constraint.name)


def _of_g(system: System, constraint: Constraint, budget: Budget) -> Line:
    left = SIGNS["g"] - derivative(condition(system, constraint))
    right = (left_side(system, constraint), -right_side(system, constraint, budget))
    return Line(left, _terms(*right), constraint.name)


def _commuting(system: System, constraint: Constraint, budget: Budget) -> Line:
    right = (derivative(condition(system, constraint)), -right_side(system, constraint, budget))
    return Line(SIGNS["g"], _terms(*right), constraint.name)


def _of_h(system: System, constraint: Constraint, budget: Budget) -> Line:
    left = SIGNS["h"] - _twice(condition(system, constraint))
    right = (left_side(system, constraint), -right_side(system, constraint, budget))
    return Line(left, _terms(*right), constraint.name)


def _of_rate(system: System, constraint: Constraint, budget: Budget) -> Line:
    rate = time_derivative(velocity_form(system, constraint), system.coordinates)
    slopes = gradient(system, constraint)
    first = sp.Add(*(sp.factor_terms(diff(rate, q.d)) * transposed(q) for q in system.coordinates))
    second = sp.Add(*(a * transposed(q, 2) for a, q in zip(slopes, system.coordinates, strict=True)))
    right = (first, second, -derivative(right_side(system, constraint, budget)))
    left = SIGNS["g'"] - _twice(condition(system, constraint))
    return Line(left, _terms(*right), constraint.name)


def _identity(system: System, constraint: Constraint, q: Coordinate) -> list[Line]:
    g = velocity_form(system, constraint)
    slope = time_derivative(diff(g, q.d), system.coordinates)
    place = diff(g, q)
    if slope == 0 and place == 0:
        return []
    left = mark(f"d(g')/d({q.d.name})", rf"\frac{{\partial \dot g}}{{\partial {latex(q.d)}}}")
    return [Line(left, _terms(sp.factor_terms(slope), sp.factor_terms(place)), constraint.name)]


def _difference(system: System, constraint: Constraint) -> Line:
    g = velocity_form(system, constraint)
    first = sp.Add(*(diff(g, q) * transposed(q) for q in system.coordinates))
    second = sp.Add(*(diff(g, q.d) * transposed_rate(q) for q in system.coordinates))
    return Line(SIGNS["g'"] - SIGNS["(g)'"], _terms(first, second), constraint.name)


def _terms(*right: sp.Expr) -> tuple[tuple[str, sp.Expr], ...]:
    """Kept apart, without those that are zero."""
    return tuple(("", term) for term in right if term != 0) or (("", sp.S.Zero),)


def _twice(expression: sp.Expr) -> sp.Expr:
    """d²/dt² of an expression, not carried out."""
    if expression == 0:
        return sp.S.Zero
    return mark(f"d2/dt2({plain(expression)})", rf"\frac{{d^2}}{{dt^2}}\left({latex(expression)}\right)")
