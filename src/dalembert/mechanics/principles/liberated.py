"""The equations of liberation as a person reads them: tangential, normal, the reaction on every component."""

from __future__ import annotations

import numpy as np
import sympy as sp

from dalembert.mechanics.cofactors import TooLarge, inverse_of
from dalembert.mechanics.equations import Equations, Line, Section
from dalembert.mechanics.fundamental import independent_rows
from dalembert.mechanics.principles.euler import accelerations_of
from dalembert.mechanics.principles.formulation import rheonomic
from dalembert.mechanics.principles.liberation import SAME_NORMAL, Freed, free, held_coordinates, operators
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.standard_form import standard_form
from dalembert.mechanics.tidy import Budget, exact, tidy
from dalembert.model.system import System

TITLE = "liberation: tangential (7.3), normal (7.4), reactions (7.5) of Djukic 2012"
MOTION, NORMAL, REACTIONS = "tangential equations (7.3)", "normal equations (7.4)", "reactions on particles (7.5)"
REST = "equilibrium: applied forces and reactions"
# Operations up to which a reaction is written out; a longer one is left in terms of R_1, R_2, …
READABLE = 60


def equations(system: System) -> Equations:
    """Motion along the constraints, generalized reactions across them, and what acts on every component."""
    budget, held = Budget(), held_coordinates(system)
    if held is not None:
        tangential, normal = operators(system, held)
        names = [c.name for c in system.constraints]
        motion = [_balance(E, system, budget) for E in tangential]
        reactions = [
            Line(sp.Symbol(f"R_{q.name}"), (("", tidy(R, budget)),), name)
            for q, R, name in zip(held, normal, names, strict=True)
        ]
        return _written(system, [Section(MOTION, tuple(motion)), Section(NORMAL, tuple(reactions))], budget, "")
    freed = _exact(free(system))
    kept, dependent = _independent(system, freed)
    right = curvatures(system)
    generalized = [
        tidy(_without_accelerations(freed, right, system.accelerations, k), budget) for k in range(freed.normals.rows)
    ]
    normal_lines = [
        Line(sp.Symbol(f"R_{k + 1}"), (("", R),), c.name)
        for k, (R, c) in enumerate(zip(generalized, system.constraints, strict=True))
    ]
    reason, sections = "", [Section(NORMAL, tuple(normal_lines))]
    try:
        sections.insert(0, Section(MOTION, tuple(_tangential(system, freed, kept, dependent, budget))))
        on_each = reactions_of(freed.normals.extract(kept, list(range(freed.normals.cols))), generalized, kept, budget)
        components = zip(system.coordinates, on_each, strict=True)
        sections.append(Section(REACTIONS, tuple(Line(sp.Symbol(f"R_{q.name}"), (("", R),)) for q, R in components)))
    except TooLarge as error:
        reason = f"{error}; numbers need no closed form"
    return _written(system, sections, budget, reason)


def _written(system: System, sections: list[Section], budget: Budget, reason: str) -> Equations:
    if not rheonomic(system):
        rest = dict.fromkeys((*system.velocities, *system.accelerations), sp.S.Zero)
        still = []
        for line in (line for section in sections for line in section.lines):
            terms = tuple((name, tidy(term.xreplace(rest), budget)) for name, term in line.terms)
            still.append(Line(line.left.xreplace(rest), terms, line.label))
        sections = [*sections, Section(REST, tuple(still))]
    return Equations(
        system=system,
        form="liberation",
        explicit=False,
        reason=reason,
        title=TITLE,
        sections=tuple(sections),
    )


def _balance(E: sp.Expr, system: System, budget: Budget) -> Line:
    """E = 0 as inertia = force."""
    still = E.xreplace(dict.fromkeys(system.accelerations, sp.S.Zero))
    return Line(tidy(E - still, budget), (("", tidy(-still, budget)),))


def _exact(freed: Freed) -> Freed:
    """Decimal numbers as fractions: cofactors and cancellation need them."""
    return Freed(
        [exact(m) for m in freed.masses],
        [exact(F) for F in freed.forces],
        freed.normals.applyfunc(exact),
        [exact(R) for R in freed.normal],
    )


def curvatures(system: System) -> list[sp.Expr]:
    """b of A ẍ = b for every constraint."""
    none = dict.fromkeys(system.accelerations, sp.S.Zero)
    return [exact(-h.xreplace(none)) for h in accelerations_of(system)]


def _without_accelerations(freed: Freed, right: list[sp.Expr], accelerations: tuple[sp.Symbol, ...], k: int) -> sp.Expr:
    """R_Δ; a constraint on one mass says what its own acceleration along the normal is, m l·ẍ = m b."""
    own = {m for j, m in enumerate(freed.masses) if freed.normals[k, j] != 0}
    work = sp.Add(*(force * freed.normals[k, j] for j, force in enumerate(freed.forces)))
    if len(own) == 1:
        return own.pop() * right[k] - work
    # d/dt (m ṙ·l) − m ṙ·l̇ leaves m r̈·l: products of velocities cancel.
    return sp.Add(*(sp.diff(freed.normal[k], a) * a for a in accelerations)) - work


def reactions_of(
    normals: sp.Matrix, generalized: list[sp.Expr], kept: list[int], budget: Budget, *, written_out: bool = False
) -> list[sp.Expr]:
    """(7.5) for independent normals, written out or in terms of R_Δ; `TooLarge` where b has no inverse on a page."""
    b = (normals * normals.T).applyfunc(lambda entry: tidy(entry, budget))
    inverse = inverse_of(sp.ImmutableMatrix(b), budget)
    known = {sp.Symbol(f"R_{k + 1}"): generalized[k] for k in kept}
    short = [tidy(entry, budget) for entry in (sp.Matrix([*known]).T * inverse * normals)]
    raw = [entry.xreplace(known) for entry in short]
    if any(sp.count_ops(entry) > 2 * READABLE for entry in raw):
        return raw if written_out else short
    full = [tidy(entry, budget) for entry in raw]
    return full if written_out or all(sp.count_ops(entry) <= READABLE for entry in full) else short


def _independent(system: System, freed: Freed) -> tuple[list[int], list[int]]:
    """Rows of the normals that are independent, and as many columns, from the last, that determine the others."""
    sampler = Sampler(standard_form(system))
    states = sampler.states(1, velocities=False) or [sampler.start()]
    values = sampler.function(list(freed.normals))(states[0]).reshape(freed.normals.shape)
    values = np.where(np.isfinite(values), values, 0.0)
    rows = independent_rows(values)
    columns: list[int] = []
    for j in reversed(range(values.shape[1])):
        block = values[np.ix_(rows, [*columns, j])]
        if len(columns) < len(rows) and np.linalg.matrix_rank(block, tol=SAME_NORMAL) == len(columns) + 1:
            columns.append(j)
    return rows, sorted(columns)


def _tangential(system: System, freed: Freed, rows: list[int], dependent: list[int], budget: Budget) -> list[Line]:
    """Nᵀ(M ẍ − F) = 0, one line for each independent displacement."""
    free_columns = [j for j in range(freed.normals.cols) if j not in dependent]
    block = freed.normals.extract(rows, dependent)
    inverse = inverse_of(sp.ImmutableMatrix(block), budget)
    follow = -inverse * freed.normals.extract(rows, free_columns)
    lines = []
    for k, j in enumerate(free_columns):
        column = [tidy(entry, budget) for entry in follow.col(k)]
        factor = sp.lcm_list([sp.fraction(sp.together(entry))[1] for entry in column]) if column else sp.S.One
        moved = {j: factor} | {i: tidy(factor * entry, budget) for i, entry in zip(dependent, column, strict=True)}
        left = sp.Add(*(moved[i] * freed.masses[i] * system.accelerations[i] for i in sorted(moved)))
        right = sp.Add(*(moved[i] * freed.forces[i] for i in sorted(moved)))
        lines.append(Line(left, (("", tidy(right, budget)),)))
    return lines
