"""Signs for displacements, δq, (δq)˙, δq̇ − (δq)˙, and what constraints say of them: the pieces of the transpositional
relations (Flannery 2011, sections IV and V).
"""

from __future__ import annotations

from itertools import pairwise

import sympy as sp

from dalembert.mechanics.algebra.tidy import Budget, tidy
from dalembert.mechanics.principles.shared.page_marks import mark
from dalembert.mechanics.principles.shared.velocity_forms import gradient, lagrangian_derivative
from dalembert.mechanics.standard_form import diff
from dalembert.model.constraints import Constraint
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System


def displacement(q: Coordinate) -> sp.Symbol:
    """δq."""
    return mark(f"delta {q.name}", rf"\delta {_tex(q)}")


def displacement_rate(q: Coordinate) -> sp.Symbol:
    """(δq)˙."""
    return mark(f"(delta {q.name})'", rf"\tfrac{{d}}{{dt}}\delta {_tex(q)}")


def transposed(q: Coordinate, order: int = 1) -> sp.Symbol:
    """δq̇ − (δq)˙, or the same of second derivatives."""
    dots, twice = ("'", "") if order == 1 else ("''", "^2")
    over = r"\dot" if order == 1 else r"\ddot"
    return mark(
        f"[delta {q.name}{dots} - (delta {q.name}){dots}]",
        rf"\left[\delta {over}{{{_tex(q)}}} - \tfrac{{d{twice}}}{{dt{twice}}}\delta {_tex(q)}\right]",
    )


def transposed_rate(q: Coordinate) -> sp.Symbol:
    """δq̈ − (δq̇)˙."""
    return mark(
        f"[delta {q.name}'' - (delta {q.name}')']",
        rf"\left[\delta \ddot{{{_tex(q)}}} - \tfrac{{d}}{{dt}}\delta \dot{{{_tex(q)}}}\right]",
    )


def higher(q: Coordinate, order: int) -> sp.Symbol:
    """The third derivative of a coordinate, or a higher one."""
    return mark(q.name + "'" * order, rf"{{{_tex(q)}}}^{{({order})}}")


def _tex(q: Coordinate) -> str:
    return str(sp.latex(sp.Symbol(q.name)))


def slope_of(system: System, constraint: Constraint) -> list[sp.Expr]:
    """∂g/∂q̇ or ∂h/∂q̈."""
    if constraint.level == "acceleration":
        return [diff(constraint.expression, a) for a in system.accelerations]
    return gradient(system, constraint)


def condition(system: System, constraint: Constraint) -> sp.Expr:
    """(∂g/∂q̇_j) δq_j, (28), or (∂h/∂q̈_j) δq_j, (48)."""
    slopes = slope_of(system, constraint)
    return sp.Add(*(a * displacement(q) for a, q in zip(slopes, system.coordinates, strict=True)))


def left_side(system: System, constraint: Constraint) -> sp.Expr:
    """What stands on the left of (31), or of (51)."""
    if constraint.level != "acceleration":
        slopes = gradient(system, constraint)
        return sp.Add(*(a * transposed(q) for a, q in zip(slopes, system.coordinates, strict=True)))
    h = constraint.expression
    return sp.Add(*(diff(h, q.d) * transposed(q) + diff(h, q.dd) * transposed(q, 2) for q in system.coordinates))


def right_side(system: System, constraint: Constraint, budget: Budget | None = None) -> sp.Expr:
    """g_kj δq_j of (31), or Δh_k of (51)."""
    budget = budget or Budget()
    if constraint.level != "acceleration":
        bends = lagrangian_derivative(system, constraint)
        return sp.Add(
            *(tidy(bend, budget) * displacement(q) for bend, q in zip(bends, system.coordinates, strict=True))
        )
    h, found = constraint.expression, []
    for q in system.coordinates:
        slope = diff(h, q.dd)
        rate = rate_along_motion(system, slope)
        found.append(tidy(2 * rate - diff(h, q.d), budget) * displacement_rate(q))
        found.append(tidy(rate_along_motion(system, rate) - diff(h, q), budget) * displacement(q))
    return sp.Add(*found)


def rate_along_motion(system: System, expression: sp.Expr) -> sp.Expr:
    """d/dt along a motion of an expression that may hold accelerations and their derivatives."""
    parts = [diff(expression, t)]
    for q in system.coordinates:
        chain = [q, q.d, q.dd, *(higher(q, order) for order in (3, 4))]
        parts += [diff(expression, low) * high for low, high in pairwise(chain)]
    return sp.Add(*parts)
