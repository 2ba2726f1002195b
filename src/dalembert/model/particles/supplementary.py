"""Supplementary coordinates of particles: q_{n+Δ}, one for each constraint, along its normals (Đukić 2012).

    ρ_i(q, q_{n+Δ}, t) = r_i(q, t) + l_iΔ q_{n+Δ},   l_iΔ = ∇_i f_Δ at r(q, t)                  (2.3), (2.4)

On the motion they are zero. Where friction depends on the reactions they are needed for the motion itself: q alone has
no reactions, and (q, q_{n+Δ}) are coordinates of the free particles, in which the constraints f_Δ(ρ, t) = 0 hold them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from dalembert.errors import ModelError
from dalembert.model.constraints import Constraint
from dalembert.model.friction.law import Law
from dalembert.model.language.multiply_out import multiplied_out
from dalembert.model.language.rates import rate
from dalembert.model.language.symbols import Coordinate, Reaction, multiplier
from dalembert.model.particles.read_particles import ZERO, at_random
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.model.particles.particles import Particles

# Operations beyond which trigonometric simplification takes longer than a reader gains by it.
SIMPLIFIED = 60
# Letters for supplementary coordinates: the paper's, and others where a model has names like that already.
LETTERS = ("q", "s", "sigma", "supplementary")


def supplementary_coordinates(particles: Particles) -> tuple[Coordinate, ...]:
    """q_{n+1}, …, q_{n+s}."""
    names = {q.name for q in (*particles.coordinates, *particles.cartesian_coordinates)}
    names |= {symbol.name for symbol in particles.parameter_symbols}
    n, s = len(particles.coordinates), len(particles.constraints)
    for letter in LETTERS:
        wanted = [f"{letter}_{n + k}" for k in range(1, s + 1)]
        if names.isdisjoint(wanted):
            return tuple(map(Coordinate.named, wanted))
    raise ModelError(particles.name, [f"rename what is called {LETTERS[-1]}_{n + 1} or like it"])


def normals_of(particles: Particles) -> sp.Matrix:
    """l, a row for each constraint, at r(q, t)."""
    cartesian = particles.cartesian_coordinates
    entries = [sp.diff(c.expression, s).xreplace(particles.positions) for c in particles.constraints for s in cartesian]
    return sp.Matrix(len(particles.constraints), len(cartesian), entries)


def independent_normals(particles: Particles) -> list[int]:
    """The constraints whose normals do not depend on those before them, at a random place."""
    l = normals_of(particles)
    values = at_random(list(l), particles)
    if values is None:
        return list(range(l.rows))
    table, kept = values.reshape(l.shape), list[int]()
    for k in range(l.rows):
        rows = table[[*kept, k]] / np.linalg.norm(table[[*kept, k]], axis=1)[:, None]
        if np.linalg.matrix_rank(rows, tol=ZERO) > len(kept):
            kept.append(k)
    return kept


def depends_on_reactions(particles: Particles) -> bool:
    """Whether the forces of the nonideal constraints depend on the reactions, so that q alone cannot tell them."""
    return bool(particles.bare.contacts) or any(work.atoms(Reaction) for work in particles.work.values())


def held_system(particles: Particles) -> System:
    """The motion in q and the supplementary coordinates, with the constraints and the laws that they carry."""
    rows, names = independent_normals(particles), supplementary_coordinates(particles)
    extra = tuple(names[k] for k in rows)
    both = (*particles.coordinates, *extra)
    l = normals_of(particles).extract(rows, list(range(len(particles.cartesian_coordinates))))
    freed = l.T * sp.Matrix(extra)
    rho = [particles.positions[s] + freed[j] for j, s in enumerate(particles.cartesian_coordinates)]
    place: dict[sp.Symbol, sp.Expr] = {}
    for s, at in zip(particles.cartesian_coordinates, rho, strict=True):
        place |= {s: at, s.d: multiplied_out(rate(at))}
    given = [force.xreplace(place) for particle in particles.particles for force in particle.force]
    energy = sp.Add(
        *(m * place[s.d] ** 2 / 2 for s, m in zip(particles.cartesian_coordinates, particles.masses, strict=True))
    )
    still = {symbol: sp.S.Zero for each in extra for symbol in (each, each.d)}
    return System(
        particles.name,
        coordinates=both,
        kinetic=in_short(energy),
        potential=None if particles.potential is None else particles.potential.xreplace(place),
        forces=pulled_back(dict(zip(particles.cartesian_coordinates, given, strict=True)), place, both),
        constraints=[Constraint(c.name, in_short(c.expression.xreplace(place))) for c in particles.constraints],
        nonideal=[_law_at(law, particles, place, both, l) for law in particles.nonideal],
        parameters=particles.parameters,
        initial={**particles.initial, **still},
        settings=particles.settings,
        description=particles.description,
    )


def pulled_back(
    forces: Mapping[sp.Symbol, sp.Expr], place: Mapping[sp.Symbol, sp.Expr], coordinates: tuple[Coordinate, ...]
) -> dict[Coordinate, sp.Expr]:
    """Generalized forces Σ F ∂x/∂q of forces along Cartesian coordinates."""
    found = {q: sp.Add(*(F * sp.diff(place[s], q) for s, F in forces.items())) for q in coordinates}
    return {q: _shortest(force) for q, force in found.items() if force != 0}


def _shortest(force: sp.Expr) -> sp.Expr:
    """The shorter of two ways to write a force; long ones are left as they are."""
    plain = sp.factor_terms(force)
    if sp.count_ops(plain) > SIMPLIFIED:
        return plain
    return min((plain, sp.factor_terms(sp.trigsimp(multiplied_out(force)))), key=sp.count_ops)


def _law_at(
    law: Law, particles: Particles, place: Mapping[sp.Symbol, sp.Expr], both: tuple[Coordinate, ...], l: sp.Matrix
) -> Law:
    """A law over Cartesian coordinates, over those of the freed particles."""
    swap = dict(place) | _reactions_at(law, particles, place, both, l)
    return law.in_coordinates(swap, lambda forces: pulled_back(forces, place, both))


def _reactions_at(
    law: Law, particles: Particles, place: Mapping[sp.Symbol, sp.Expr], both: tuple[Coordinate, ...], l: sp.Matrix
) -> dict[sp.Symbol, sp.Expr]:
    """ideal(x) and actual(x) of a Cartesian coordinate: actual is ∂f/∂x λ; ideal is made of the ideal forces along the
    supplementary coordinates, l (b⁻¹) ideal(q_{n+Δ}), where those are zero.
    """
    swap: dict[sp.Symbol, sp.Expr] = {}
    extra = both[len(particles.coordinates) :]
    spoken = {r for e in law.expressions() for r in e.atoms(Reaction) if r.kind != "multiplier"}
    for reaction in sorted(spoken, key=str):
        s = next(q for q in particles.cartesian_coordinates if q.name == reaction.coordinate)
        if reaction.kind == "actual":
            slopes = [(c.name, sp.diff(c.expression, s).xreplace(place)) for c in particles.constraints]
            swap[reaction] = sp.Add(*(multiplier(name) * slope for name, slope in slopes))
            continue
        along = sp.Matrix([Reaction.of("ideal", each.name) for each in extra])
        b = (l * l.T).applyfunc(lambda entry: sp.trigsimp(multiplied_out(entry)))
        swap[reaction] = (l.col(particles.cartesian_coordinates.index(s)).T * b.inv() * along)[0]
    return swap


@lru_cache(maxsize=64)  # the same particles are made again and again, with other values
def in_short(expression: sp.Expr) -> sp.Expr:
    """The same without squares of sines and cosines that add up to one."""
    return sp.trigsimp(multiplied_out(expression))
