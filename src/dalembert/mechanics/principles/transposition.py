"""The transpositional relations: how δ and d/dt go together where the displaced states are to be possible ones, (31),
(33), (51) and (52) of Flannery 2011.

    displacements      (∂g_k/∂q̇_j) δq_j = 0  (28)                           (∂h_k/∂q̈_j) δq_j = 0  (48)
    relation           (∂g_k/∂q̇_j) [δq̇_j − (δq_j)˙] = g_kj δq_j  (31),      g_kj = d/dt ∂g_k/∂q̇_j − ∂g_k/∂q_j
    with δ and d/dt    δq̇_i = (δq_i)˙ for the independent ones,
    commuting where    δq̇_d − (δq_d)˙ = (G⁻¹)_dk g_kj δq_j for the dependent ones  (33)
    they may
    accelerations      (∂h_k/∂q̇_j) [δq̇_j − (δq_j)˙] + (∂h_k/∂q̈_j) [δq̈_j − (δq_j)¨] = Δh_k  (51),
                       Δh_k = [2 (∂h_k/∂q̈_j)˙ − ∂h_k/∂q̇_j] (δq_j)˙ + [(∂h_k/∂q̈_j)¨ − ∂h_k/∂q_j] δq_j  (38);
                       with δq̇_j = (δq_j)˙, δq̈_d − (δq_d)¨ = (H⁻¹)_dk Δh_k  (52)

Where g_kj δq_j vanishes on all displacements, δ and d/dt commute and displaced states are possible: integrable
constraints, and only they. `system.displacements()` measures it. These are relations between displacements, not
equations of motion. In (38) the derivatives with respect to q̈ and q̇ are as written here; that is what (36) gives.
"""

from __future__ import annotations

from itertools import pairwise

import sympy as sp

from dalembert.errors import DoesNotApply
from dalembert.mechanics.equations import Equations, Line, Section
from dalembert.mechanics.parts import budget_for
from dalembert.mechanics.principles.formulation import Solver, has_modes
from dalembert.mechanics.principles.marks import mark
from dalembert.mechanics.principles.velocity_forms import gradient, lagrangian_derivative
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import diff, standard_form
from dalembert.mechanics.tidy import Budget, tidy, tidy_matrix
from dalembert.model.constraints import Constraint
from dalembert.model.symbols import Coordinate, t
from dalembert.model.system import System

#: Says nothing about the motion, and can be read for any system with constraints.
RELATION = True


def applies(system: System) -> str:
    if not system.constraints:
        return "there are no constraints, so displacements are free"
    return "a relation between displacements, not an equation of motion: see system.displacements()"


def state_size(system: System) -> int:
    return 0


def prepare(system: System, sampler: Sampler) -> Solver:
    raise DoesNotApply(f"{system.name}: {applies(system)}")


def derive(system: System) -> Equations:
    if has_modes(system) or not system.constraints:
        reason = has_modes(system) or "there are no constraints, so displacements are free"
        raise DoesNotApply(f"{system.name}: the form 'transposition' does not apply: {reason}", reason)
    budget = budget_for(system)
    sections = [
        Section("displacements, (28) and (48)", tuple(_condition(system, c) for c in system.constraints)),
        Section("relations, (31) and (51)", tuple(_relation(system, c, budget) for c in system.constraints)),
    ]
    rules = _rules(system, budget)
    sections += [Section("rules that make displaced states possible, (33) and (52)", rules)] if rules else []
    return Equations(
        system=system,
        form="transposition",
        explicit=False,
        reason=applies(system),
        title="(dg/dq') [delta q' - (delta q)'] = (d/dt dg/dq' - dg/dq) delta q, Flannery (31)",
        sections=tuple(sections),
    )


# -- the signs


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


def _tex(q: Coordinate) -> str:
    return str(sp.latex(sp.Symbol(q.name)))


# -- the relations


def _condition(system: System, constraint: Constraint) -> Line:
    slopes = slope_of(system, constraint)
    terms = (a * displacement(q) for a, q in zip(slopes, system.coordinates, strict=True))
    return Line(sp.S.Zero, (("", sp.Add(*terms)),), constraint.name)


def slope_of(system: System, constraint: Constraint) -> list[sp.Expr]:
    """∂g/∂q̇ or ∂h/∂q̈."""
    if constraint.level == "acceleration":
        return [diff(constraint.expression, a) for a in system.accelerations]
    return gradient(system, constraint)


def _relation(system: System, constraint: Constraint, budget: Budget) -> Line:
    if constraint.level != "acceleration":
        left = (a * transposed(q) for a, q in zip(gradient(system, constraint), system.coordinates, strict=True))
        return Line(sp.Add(*left), (("", right_side(system, constraint, budget)),), constraint.name)
    h = constraint.expression
    parts = [diff(h, q.d) * transposed(q) + diff(h, q.dd) * transposed(q, 2) for q in system.coordinates]
    return Line(sp.Add(*parts), (("", right_side(system, constraint, budget)),), constraint.name)


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
        rate = along(system, slope)
        found.append(tidy(2 * rate - diff(h, q.d), budget) * displacement_rate(q))
        found.append(tidy(along(system, rate) - diff(h, q), budget) * displacement(q))
    return sp.Add(*found)


def along(system: System, expression: sp.Expr) -> sp.Expr:
    """d/dt along a motion of an expression that may hold accelerations and their derivatives."""
    parts = [diff(expression, t)]
    for q in system.coordinates:
        chain = [q, q.d, q.dd, *(_higher(q, order) for order in (3, 4))]
        parts += [diff(expression, low) * high for low, high in pairwise(chain)]
    return sp.Add(*parts)


def _higher(q: Coordinate, order: int) -> sp.Symbol:
    return mark(q.name + "'" * order, rf"{{{_tex(q)}}}^{{({order})}}")


# -- the rules for dependent coordinates


def _rules(system: System, budget: Budget) -> tuple[Line, ...]:
    """(33) and (52), with the dependent displacements expressed by the independent ones."""
    moving = [c for c in system.constraints if c.level != "position"]
    levels = {c.level for c in moving}
    if not moving or len(levels) != 1 or len(moving) != len(system.constraints):
        return ()  # the paper gives the rules for constraints of one kind
    order = 2 if levels == {"acceleration"} else 1
    G = sp.Matrix([slope_of(system, c) for c in moving])
    dependent = _dependent(system, G)
    if dependent is None:
        return ()
    q = system.coordinates
    others = [j for j in range(len(q)) if j not in dependent]
    inverse = tidy_matrix(G[:, dependent].inv(), budget)
    by_others = {
        displacement(q[d]): tidy(entry, budget)
        for d, entry in zip(
            dependent, -inverse * G[:, others] * sp.Matrix([displacement(q[j]) for j in others]), strict=True
        )
    }
    right = inverse * sp.Matrix([right_side(system, c, budget) for c in moving])
    swap = by_others if order == 1 else {}  # (δq)˙ would have to be replaced as well
    lines = [
        Line(transposed(q[d], order), (("", _short(entry.xreplace(swap), q, budget)),))
        for d, entry in zip(dependent, right, strict=True)
    ]
    return (*lines, *(Line(transposed(q[j], order), (("", sp.S.Zero),)) for j in others))


def _short(expression: sp.Expr, q: tuple[Coordinate, ...], budget: Budget) -> sp.Expr:
    """Collected by displacements."""
    signs = [sign for c in q for sign in (displacement(c), displacement_rate(c))]
    expanded = sp.expand(expression)
    return sp.Add(*(tidy(expanded.coeff(sign), budget) * sign for sign in signs))


def _dependent(system: System, G: sp.Matrix) -> list[int] | None:
    """Columns with a regular square of G, the first that a generic state shows; None where the rows are dependent."""
    sampler = Sampler(standard_form(system))
    evaluate = sampler.function(list(G), system.accelerations)
    draw = sampler.random.uniform(0.3, 1.5, len(system.accelerations))
    numbers = sp.Matrix(G.rows, G.cols, [round(float(x), 12) for x in evaluate(sampler.start(), *draw)])
    pivots = list(numbers.rref(iszerofunc=lambda x: abs(x) < 1e-9)[1])
    return pivots if len(pivots) == G.rows else None
