"""The equations of liberation as a person reads them: tangential, normal, the reaction on every component."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import sympy as sp

from dalembert.mechanics.algebra.cofactors import TooLarge, blocks_of, inverse_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.page.equations import Equations, Line, Section
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.principles.liberation import SAME_NORMAL, Freed, free_particles, held_coordinates, operators
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of
from dalembert.mechanics.principles.shared.formulation import rheonomic
from dalembert.mechanics.principles.shared.page_marks import mark
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.solve.fundamental import independent_rows
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.language.symbols import Coordinate, Reaction, multiplier
from dalembert.model.system import System

TITLE = "liberation: tangential (7.3), normal (7.4), reactions (7.5) of Djukic 2012"
MOTION, NORMAL, REACTIONS = "tangential equations (7.3)", "normal equations (7.4)", "reactions on particles (7.5)"
REST = "equilibrium: applied forces and reactions"
NONE_AT_REST = "forces have no value where velocities are zero, as those along v/|v|"
INVERSE = "reactions per normal (R^-1) (3.8)"
# Operations up to which a reaction is written out; a longer one is left in terms of R_1, R_2, …
READABLE = 60
# Operations of a reaction in terms of R_1, R_2, … beyond which b⁻¹ is not written out: some twenty lines.
LONGEST = 600
# Coupled normals up to which b⁻¹ is tried where b varies: that of four takes seconds and fills pages.
WRITTEN = 3


def equations(system: System) -> Equations:
    """Motion along the constraints, generalized reactions across them, and what acts on every component."""
    budget, held = Budget(), held_coordinates(system)
    if held is not None:
        tangential, normal = operators(system, held)
        names = [c.name for c in system.constraints]
        motion = [balance(E, system, budget) for E in tangential]
        reactions = [
            Line(sp.Symbol(f"R_{q.name}"), (("", tidy(R, budget)),), name)
            for q, R, name in zip(held, normal, names, strict=True)
        ]
        return _written(system, [Section(MOTION, tuple(motion)), Section(NORMAL, tuple(reactions))], budget, "")
    freed = exactly(free_particles(system))
    kept, dependent = independent(system, freed)
    generalized = generalized_reactions(system, freed, budget)
    normal_lines = [
        Line(sp.Symbol(f"R_{k + 1}"), (("", R),), c.name)
        for k, (R, c) in enumerate(zip(generalized, system.constraints, strict=True))
    ]
    reasons, sections = [note_on_weights(system, freed)], [Section(NORMAL, tuple(normal_lines))]
    try:
        sections.insert(0, Section(MOTION, tuple(tangential_lines(system, freed, kept, dependent, budget))))
    except TooLarge as error:
        reasons.append(f"{error}; numbers need no closed form")
    try:
        on_each = reactions_of(freed.normals, generalized, kept, budget, freed.weights)
        if any(law.work[q].atoms(Reaction) for law in system.works for q in law.work):
            sections = _with_inverse(system, freed, generalized, kept, sections, budget)
        components = zip(system.coordinates, on_each, strict=True)
        sections.append(Section(REACTIONS, tuple(Line(sp.Symbol(f"R_{q.name}"), (("", R),)) for q, R in components)))
    except TooLarge:
        # b is there all the same: (R⁻¹)_Δ by the equations that determine them.
        b = metric_of(freed.normals, freed.weights, budget)
        inverse, on_axes = inverse_lines(freed.normals, b, kept, list(system.coordinates))
        sections += [Section(INVERSE, inverse), Section(REACTIONS, on_axes)]
    return _written(system, sections, budget, "; ".join(filter(None, reasons)))


def _written(system: System, sections: list[Section], budget: Budget, reason: str) -> Equations:
    named = {multiplier(c.name): inverse_reaction(k) for k, c in enumerate(system.constraints)}
    by_reactions = any(C.atoms(Reaction) for law in system.works for C in law.work.values())
    if by_reactions:
        sections = [
            replace(section, lines=tuple(_renamed(line, named) for line in section.lines)) for section in sections
        ]
    if not rheonomic(system) and not by_reactions:  # dry friction at rest is whatever holds
        rest = dict.fromkeys((*system.velocities, *system.accelerations), sp.S.Zero)
        still = []
        solved = INVERSE not in [section.title for section in sections]  # else they hold as they stand
        for line in (line for s in sections if solved or s.title in (MOTION, NORMAL) for line in s.lines):
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


def _with_inverse(
    system: System, freed: Freed, R: list[sp.Expr], kept: list[int], sections: list[Section], budget: Budget
) -> list[Section]:
    """(R⁻¹)_Δ as a section of its own, and in the laws of friction where they are made of the state alone."""
    b = metric_of(freed.normals.extract(kept, list(range(freed.normals.cols))), freed.weights, budget)
    values = inverse_of(b, budget) * sp.Matrix([R[k] for k in kept])
    found = {k: tidy(value, budget) for k, value in zip(kept, values, strict=True)}
    closed = {
        multiplier(system.constraints[k].name): value
        for k, value in found.items()
        if value.free_symbols.isdisjoint(system.accelerations) and not value.atoms(Reaction)
    }
    lines = [
        Line(inverse_reaction(k), (("", value.xreplace(closed)),), system.constraints[k].name)
        for k, value in found.items()
    ]
    known = [replace(section, lines=tuple(_renamed(line, closed) for line in section.lines)) for section in sections]
    return [*known, Section(INVERSE, tuple(lines))]


def _renamed(line: Line, named: dict[sp.Symbol, sp.Expr]) -> Line:
    return Line(line.left, tuple((label, term.xreplace(named)) for label, term in line.terms), line.label)


def has_value(expression: sp.Expr) -> bool:
    """Whether it is not 0/0 or the like."""
    return not expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo)


def inverse_reaction(which: int | str) -> sp.Symbol:
    """(R⁻¹)_Δ on a page: of a constraint by its number from 0, or under a name."""
    index = str(which + 1) if isinstance(which, int) else which
    return mark(f"(R^-1)_{index}", rf"\left(R^{{-1}}\right)_{{{sp.latex(sp.Symbol(index))}}}")


def metric_of(normals: sp.Matrix, weights: Sequence[sp.Expr], budget: Budget) -> sp.ImmutableMatrix:
    """b of (3.6)."""
    b = normals * sp.diag(*weights) * normals.T
    return sp.ImmutableMatrix(b.applyfunc(lambda entry: tidy(entry, budget)))


def inverse_lines(
    normals: sp.Matrix, b: sp.Matrix, kept: list[int], axes: list[Coordinate]
) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """R_Δ = b_ΔΓ (R⁻¹)_Γ for the independent normals, and R_i = (R⁻¹)_Δ l_iΔ: (3.8) and (3.5) unsolved."""
    unknown = {k: inverse_reaction(k) for k in kept}
    first = [Line(sp.Symbol(f"R_{i + 1}"), (("", sp.Add(*(b[i, k] * r for k, r in unknown.items()))),)) for i in kept]
    second = [
        Line(sp.Symbol(f"R_{axis.name}"), (("", sp.Add(*(normals[k, j] * r for k, r in unknown.items()))),))
        for j, axis in enumerate(axes)
    ]
    return tuple(first), tuple(second)


def note_on_weights(system: System, freed: Freed) -> str:
    """What to say where an angle is freed by less, or more, than its normals."""
    parts = [f"{q.name} by {plain(W)}" for q, W in zip(system.coordinates, freed.weights, strict=True) if W != 1]
    return f"angles are freed as lengths, by mass over inertia: {', '.join(parts)}" if parts else ""


def balance(E: sp.Expr, system: System, budget: Budget) -> Line:
    """E = 0 as inertia = force."""
    still = E.xreplace(dict.fromkeys(system.accelerations, sp.S.Zero))
    return Line(tidy(E - still, budget), (("", tidy(-still, budget)),))


def exactly(freed: Freed) -> Freed:
    """Decimal numbers as fractions: cofactors and cancellation need them."""
    return Freed(
        [exact(m) for m in freed.masses],
        [exact(F) for F in freed.forces],
        freed.normals.applyfunc(exact),
        [exact(R) for R in freed.normal],
        [exact(W) for W in freed.weights],
    )


def generalized_reactions(system: System, freed: Freed, budget: Budget) -> list[sp.Expr]:
    """R_Δ of every constraint."""
    right = curvatures(system)
    return [
        tidy(_without_accelerations(freed, right, system.accelerations, k), budget) for k in range(freed.normals.rows)
    ]


def curvatures(system: System) -> list[sp.Expr]:
    """b of A ẍ = b for every constraint."""
    none = dict.fromkeys(system.accelerations, sp.S.Zero)
    return [exact(-h.xreplace(none)) for h in accelerations_of(system)]


def _without_accelerations(freed: Freed, right: list[sp.Expr], accelerations: tuple[sp.Symbol, ...], k: int) -> sp.Expr:
    """R_Δ; a constraint on one mass says what its own acceleration along the normal is, m l·ẍ = m b."""
    own = {m * W for j, (m, W) in enumerate(zip(freed.masses, freed.weights, strict=True)) if freed.normals[k, j] != 0}
    work = sp.Add(
        *(force * W * freed.normals[k, j] for j, (force, W) in enumerate(zip(freed.forces, freed.weights, strict=True)))
    )
    if len(own) == 1:
        return own.pop() * right[k] - work
    # d/dt (m ṙ·l) − m ṙ·l̇ leaves m r̈·l: products of velocities cancel.
    return sp.Add(*(sp.diff(freed.normal[k], a) * a for a in accelerations)) - work


def reactions_of(
    normals: sp.Matrix,
    generalized: list[sp.Expr],
    kept: list[int],
    budget: Budget,
    weights: Sequence[sp.Expr] = (),
    *,
    written_out: bool = False,
) -> list[sp.Expr]:
    """(7.5) by the independent normals, written out or in terms of R_Δ; `TooLarge` where b has no inverse on a page."""
    normals = normals.extract(kept, list(range(normals.cols)))
    b = metric_of(normals, weights or [sp.S.One] * normals.cols, budget)
    if not written_out and max(map(len, blocks_of(b))) > WRITTEN and b.has(Coordinate):
        raise TooLarge("the inverse of b fills pages")
    inverse = inverse_of(b, budget)
    known = {sp.Symbol(f"R_{k + 1}"): generalized[k] for k in kept}
    products = sp.Matrix([*known]).T * inverse * normals
    if not written_out and any(sp.count_ops(entry) > LONGEST for entry in products):
        raise TooLarge("the inverse of b fills pages")
    short = [tidy(entry, budget) for entry in products]
    raw = [entry.xreplace(known) for entry in short]
    if any(sp.count_ops(entry) > 2 * READABLE for entry in raw):
        return raw if written_out else short
    full = [tidy(entry, budget) for entry in raw]
    return full if written_out or all(sp.count_ops(entry) <= READABLE for entry in full) else short


def independent(system: System, freed: Freed) -> tuple[list[int], list[int]]:
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


def tangential_lines(system: System, freed: Freed, rows: list[int], dependent: list[int], budget: Budget) -> list[Line]:
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
