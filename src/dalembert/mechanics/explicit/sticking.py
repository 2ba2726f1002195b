"""Dry friction that sticks, in symbols: no sliding is a further constraint, and its multiplier is the force that holds.

    M q̈ = Q + Aᵀλ + Uᵀf,    A q̈ = b,    U q̈ = −(∂u/∂q q̇ + ∂u/∂t),    U = ∂u/∂q̇,    |f| ≤ μ_s |N|

For one contact; with several, each may stick or slide, and a state decides (`system.at()`).
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.splitting import solver_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy, tidy_matrix
from dalembert.mechanics.explicit.signs import Signs, without_squares
from dalembert.mechanics.page.equations import Line, Section
from dalembert.mechanics.page.printing import plain
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.solve.fundamental import independent_rows
from dalembert.mechanics.standard_form import StandardForm, diff
from dalembert.model.friction.contact import SPEED, Contact
from dalembert.model.language.symbols import Reaction, multiplier, t

# Operations of one entry beyond which nobody reads it.
LARGEST_ENTRY = 300


def sticking_page(
    form: StandardForm, kept: Sequence[int], regular: bool, signs: Signs, budget: Budget
) -> tuple[list[Section], str]:
    """What holds while the one contact of a system sticks, or why it is not shown."""
    system = form.system
    if len(system.contacts) > 1:
        return [], "with several contacts each may stick or slide: `system.at()` tells what they do at a state"
    (contact,) = system.contacts
    work = Matrix(system.C)
    if contact.bearing is not None:
        return [], "while sticking it is not written out: the surface may face anywhere; `system.at()` tells the force"
    if work.atoms(Reaction):
        return [], "while sticking it is not written out: other work depends on the reactions"
    try:
        return [_section(form, contact, work, kept, regular, signs, budget)], ""
    except TooLarge as limit:
        return [], f"while sticking it is not written out: {limit}"


def _section(
    form: StandardForm,
    contact: Contact,
    work: Matrix,
    kept: Sequence[int],
    regular: bool,
    signs: Signs,
    budget: Budget,
) -> Section:
    system = form.system
    n = len(system.coordinates)
    A, b = form.A.extract(list(kept), list(range(n))), form.b.extract(list(kept), [0])
    U = Matrix([[diff(u, q.d) for q in system.coordinates] for u in contact.slide])
    right = Matrix([-(diff(u, t) + sp.Add(*(diff(u, q) * q.d for q in system.coordinates))) for u in contact.slide])
    rows = tidy_matrix(Matrix([*A.tolist(), *U.tolist()]), budget)
    if not _are_independent(form, rows):
        raise TooLarge("the constraints leave nothing to slide there")
    still = _velocities_at_rest(form, contact, rows)
    solver = solver_of(form.M, rows, regular, budget)
    force, right = (tidy_matrix(m.xreplace(still), budget) for m in (form.Q + work, Matrix([*b, *right])))
    acceleration, lam = solver(force, right)
    values = {multiplier(system.constraints[k].name): value for k, value in zip(kept, lam, strict=False)}
    held = [tidy(signs.without_bars(value), budget) for value in lam[len(kept) :]]
    normal = tidy(contact.normal.xreplace(values), budget)
    if not any(c.one_sided for c in system.constraints if c.name in contact.constraints):
        normal = signs.modulus(normal)  # what is one-sided pushes
    limit = exact(contact.mu_static.xreplace({SPEED: sp.S.Zero})) * normal
    limit = without_squares(tidy(signs.without_bars(limit), budget))
    longest = max(int(sp.count_ops(entry)) for entry in (*acceleration, *held, limit))
    if longest > LARGEST_ENTRY:
        raise TooLarge(f"an entry has {longest} operations; it is shown up to {LARGEST_ENTRY}")
    forces = [sp.Symbol(f"F_{k + 1}" if len(held) > 1 else "F", real=True) for k in range(len(held))]
    lines = [Line(q.dd, (("", entry),)) for q, entry in zip(system.coordinates, acceleration, strict=True)]
    for f, value, u in zip(forces, held, contact.slide, strict=True):
        # Which way it points: along that component of the sliding velocity.
        along = plain(tidy(signs.without_bars(tidy(u, budget)), budget))
        lines.append(Line(f, (("", value),), f"friction that holds it, along the sliding {along}"))
    size = "abs(F)" if len(held) == 1 else "sqrt(" + " + ".join(f"{f.name}^2" for f in forces) + ")"
    lines.append(Line(sp.Symbol("F_max", real=True), (("", limit),), f"sticks while {size} is at most F_max"))
    return Section("while sticking", tuple(lines))


def _velocities_at_rest(form: StandardForm, contact: Contact, rows: Matrix) -> dict[sp.Symbol, sp.Expr]:
    """Velocities that are zero while it sticks: all of them where nothing is left that moves, else one that is a
    component of the sliding by itself.
    """
    system = form.system
    none = dict.fromkeys(system.velocities, sp.S.Zero)
    driven = [u.xreplace(none) for u in contact.slide]
    for constraint in system.constraints:
        driven.append(diff(constraint.expression, t))
        if constraint.level != "position":
            driven.append(constraint.expression.xreplace(none))
    if rows.rows == rows.cols and not any(driven):
        return none
    alone = [(u, u.free_symbols & set(none)) for u in contact.slide]
    return {v: none[v] for u, moving in alone if len(moving) == 1 for v in moving if u.xreplace(none) == 0}


def _are_independent(form: StandardForm, rows: Matrix) -> bool:
    sampler = Sampler(form)
    table = sampler.values(list(rows), sampler.states(3))
    return all(len(independent_rows(values.reshape(rows.shape))) == rows.rows for values in table) and bool(table.size)
