"""Ignorable coordinates: cyclic ones whose momenta nothing changes, so that they can be replaced by constants.

A coordinate that is not in L is cyclic, (18) of Somani 2019: ∂L/∂q = 0 and ṗ = 0. With forces and constraints more
is needed: none of them acts along it, and none depends on where it is. What depends on its velocity only does no harm,
because the momenta give the velocity back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from dalembert.mechanics.algebra.cofactors import LARGEST_BLOCK, blocks_of
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.principles.shared.formulation import no_energies
from dalembert.mechanics.sample import Sampler
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.mechanics.standard_form import diff, lagrangian, standard_form
from dalembert.model.constraints import is_linear
from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System

# Rounding leaves the zero eigenvalues of a matrix with unit diagonal near 1e-16.
SINGULAR = 1e-11


@dataclass(frozen=True)
class Ignorable:
    """`coordinates` that can be ignored; `kept`: why others, cyclic all the same, cannot (by name)."""

    coordinates: tuple[Coordinate, ...]
    kept: Mapping[str, str]

    @property
    def reason(self) -> str:
        """Why there is none, or nothing."""
        if self.coordinates:
            return ""
        return "; ".join(self.kept.values()) or "no coordinate is cyclic: L holds every one of them"


def ignorable(system: System, among: Iterable[Coordinate] | None = None) -> Ignorable:
    """The ignorable coordinates of a system, of some of them where `among` is given."""
    return _ignorable(system, system.coordinates if among is None else tuple(among))


@lru_cache(maxsize=16)  # systems are frozen; what is shown, compared and solved asks again
def _ignorable(system: System, among: tuple[Coordinate, ...]) -> Ignorable:
    reason = no_energies(system)
    if reason:
        return Ignorable((), {"": reason})
    L, budget = lagrangian(system), Budget(4000)
    found: list[Coordinate] = []
    kept: dict[str, str] = {}
    for q in among:
        slope = diff(L, q)
        if slope != 0 and tidy(exact(slope), budget) != 0:
            continue
        reason = _what_touches(system, q, budget)
        if reason:
            kept[q.name] = f"{q.name} is cyclic, but {reason}"
        else:
            found.append(q)
    return _invertible(system, found, kept)


def _what_touches(system: System, q: Coordinate, budget: Budget) -> str:
    """What acts along a cyclic coordinate or depends on it."""
    for constraint in system.constraints:
        symbols = constraint.expression.free_symbols
        # The velocity may stand in a constraint on accelerations: there it is no direction of the constraint.
        if {"position": q, "velocity": q.d, "acceleration": q.dd}[constraint.level or ""] in symbols:
            return f"the constraint {constraint.name!r} acts along it"
        if q in symbols:
            return f"the constraint {constraint.name!r} depends on it"
    if tidy(system.forces.get(q, sp.S.Zero), budget) != 0:
        return "a force acts along it"
    if any(law.work.get(q, sp.S.Zero) != 0 for law in system.works):
        return "the constraints do work along it"
    others = [*system.forces.values(), *(e for law in system.works for e in law.expressions())]
    if any(q in expression.free_symbols for expression in others):
        return "a force depends on it"
    watching = [event.name for event in system.events if {q, q.dd} & event.expression.free_symbols]
    return f"the event {watching[0]!r} looks at it" if watching else ""


def _invertible(system: System, found: list[Coordinate], kept: dict[str, str]) -> Ignorable:
    """Without those whose velocities their momenta do not give back by linear equations."""
    L = lagrangian(system)
    rates = [q.d for q in found]
    for q in list(found):
        if not is_linear([diff(L, q.d)], rates):
            found.remove(q)
            kept[q.name] = f"{q.name} is cyclic, but L is not quadratic in its velocity"
    sampler = Sampler(standard_form(system))
    states = sampler.states(3) or [sampler.start() for _ in range(3)]
    while found:
        momenta = [diff(L, q.d) for q in found]
        rows = sampler.values([diff(p, q.d) for p in momenta for q in found], states)
        loose = [name for name in (_loose_coordinate(row.reshape(len(found), -1), found) for row in rows) if name]
        if not loose:
            break
        found = [q for q in found if q.name != loose[0]]
        kept[loose[0]] = f"{loose[0]} is cyclic, but its momentum does not determine its velocity"
    return _leave_unsolvable(L, found, kept)


def _leave_unsolvable(L: sp.Expr, found: list[Coordinate], kept: dict[str, str]) -> Ignorable:
    """Without those that would make the equations for the velocities too many to be solved in closed form."""
    entries = [diff(diff(L, p.d), q.d) for p in found for q in found]
    for block in blocks_of(sp.ImmutableMatrix(len(found), len(found), entries)):
        for k in block[LARGEST_BLOCK:]:
            told = f"{found[k].name} is ignorable, but coupled to {LARGEST_BLOCK} others that are ignored already"
            kept[found[k].name] = told
    return Ignorable(tuple(q for q in found if q.name not in kept), kept)


def _loose_coordinate(m: np.ndarray, coordinates: list[Coordinate]) -> str:
    """The coordinate that a singular matrix of inertia leaves open, if it is singular."""
    scale = mass_scale(m)
    values, vectors = np.linalg.eigh(m / np.outer(scale, scale))
    worst = int(np.argmin(np.abs(values)))
    return "" if abs(values[worst]) > SINGULAR else coordinates[int(np.argmax(np.abs(vectors[:, worst])))].name
