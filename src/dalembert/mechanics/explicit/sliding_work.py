"""The work of dry friction while it slides, with the direction of sliding as short as the constraints make it.

On y = x tan θ the velocity along the plane has the sign of ẋ: (36) of Udwadia 2005 becomes (37), C = −μ|N| (cos θ,
sin θ) sgn ẋ. A velocity is put in only where a constraint gives it without dividing by something that moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import sympy as sp
from sympy import ImmutableMatrix as Matrix

from dalembert.mechanics.algebra.tidy import Budget, tidy
from dalembert.mechanics.explicit.signs import same_sign
from dalembert.mechanics.standard_form import diff, time_derivative
from dalembert.model.constraints import is_linear
from dalembert.model.friction.contact import SPEED, Contact
from dalembert.model.friction.surface import Bearing
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System


def work_while_sliding(system: System, budget: Budget) -> Matrix:
    """C of all laws, n×1, on the constraints; dry friction slides. It may hold reactions."""
    n = len(system.coordinates)
    total = Matrix(system.C)
    for contact in system.contacts:
        total += _shortest(system, contact, budget)
    return Matrix(n, 1, list(total))


def _shortest(system: System, contact: Contact, budget: Budget) -> Matrix:
    if contact.bearing is not None and not _moves(system, contact):
        return _along_velocity(system, contact, contact.bearing)
    found = [_work(system, contact, known, budget) for known in ({}, *_velocities(system, contact))]
    return min(found, key=lambda C: (sum(int(sp.count_ops(entry)) for entry in C), str(C)))


def _work(system: System, contact: Contact, known: dict[Coordinate, sp.Expr], budget: Budget) -> Matrix:
    """−μ|N| Σ_k force_k u_k/|u| with velocities put in."""
    slide = [tidy(u.xreplace(known), budget) for u in contact.slide]
    if len(slide) == 1:
        speed, along = sp.Abs(slide[0]), [sp.sign(same_sign(slide[0]))]
    else:
        speed = sp.sqrt(tidy(sp.Add(*(u**2 for u in slide)), budget))
        along = [u / speed for u in slide]
    size = contact.mu.xreplace({SPEED: speed}).xreplace(known) * sp.Abs(contact.normal)
    entries = []
    for q in system.coordinates:
        parts = [
            -tidy(part * force.get(q, sp.S.Zero), budget) for part, force in zip(along, contact.force, strict=True)
        ]
        entries.append(size * tidy(sp.Add(*parts), budget))
    return Matrix(entries)


def _moves(system: System, contact: Contact) -> bool:
    """Whether a surface at the contact moves by itself, or is none."""
    own = [constraint for constraint in system.constraints if constraint.name in contact.constraints]
    return any(constraint.level != "position" or t in constraint.expression.free_symbols for constraint in own)


def _along_velocity(system: System, contact: Contact, bearing: Bearing) -> Matrix:
    """On a surface at rest the point slides with all of its velocity, v: C = −μ|N| Jᵀv/|v|, (36)."""
    speed = sp.sqrt(sp.Add(*(v**2 for v in bearing.velocity)))
    size = contact.mu.xreplace({SPEED: speed}) * sp.Abs(contact.normal) / speed
    total = dict.fromkeys(system.coordinates, sp.S.Zero)
    for v, force in zip(bearing.velocity, bearing.force, strict=True):
        for q, part in zip(bearing.coordinates, force, strict=True):
            total[q] -= size * v * part
    return Matrix(list(total.values()))


def _velocities(system: System, contact: Contact) -> Iterator[dict[Coordinate, sp.Expr]]:
    """Velocities by others, as the constraints at the contact give them."""
    rates = []
    for constraint in system.constraints:
        if constraint.name not in contact.constraints:
            continue
        rate = constraint.expression
        if constraint.level == "position":
            rate = time_derivative(rate, system.coordinates)
        if constraint.level == "acceleration" or not is_linear([rate], system.velocities):
            return
        rates.append(rate)
    rows = sp.Matrix([[diff(rate, v) for v in system.velocities] for rate in rates])
    rest = sp.Matrix([rate.xreplace(dict.fromkeys(system.velocities, sp.S.Zero)) for rate in rates])
    moving = [j for j in range(rows.cols) if any(rows.col(j))]
    for chosen in combinations(moving, len(rates)):
        part = rows.extract(list(range(len(rates))), list(chosen))
        determinant = sp.expand(part.det())
        if determinant == 0 or any(isinstance(s, Coordinate) or s == t for s in determinant.free_symbols):
            continue
        others = rest + sum(
            (rows.col(j) * system.velocities[j] for j in moving if j not in chosen), sp.zeros(len(rates), 1)
        )
        solution = -part.adjugate() * others / determinant
        yield {system.velocities[j]: value for j, value in zip(chosen, solution, strict=True)}
