"""A system with fewer coordinates and the same motion: its parts, symbolically.

First position constraints give way to independent coordinates (`independent`), then ignorable coordinates to their
momenta (`ignorable`, `routhian`), which may be coordinates that the first step brought in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sympy as sp

from dalembert.mechanics.algebra.cofactors import TooLarge
from dalembert.mechanics.algebra.tidy import Budget, exact, tidy
from dalembert.mechanics.reduce.ignorable import ignorable
from dalembert.mechanics.reduce.independent import Embedding, embedding
from dalembert.mechanics.reduce.routhian import Routhian, routhian
from dalembert.mechanics.standard_form import diff, time_derivative
from dalembert.model.constraints import Constraint, is_linear
from dalembert.model.drawings.shapes import Arrow, Shape
from dalembert.model.friction.laws import Work
from dalembert.model.friction.legs import needs_legs
from dalembert.model.language.symbols import Coordinate, Parameter, Reaction
from dalembert.model.system import System


@dataclass(frozen=True)
class Reduction:
    """`parts`: arguments of a `System` without values that depend on the initial state. `embedding` and `routhian` say
    how the coordinates of the whole follow; the latter is None where nothing is ignored. `middle`: the system with the
    constraints solved and nothing ignored yet. `left`: what could not be eliminated, and why.
    """

    parts: Mapping[str, Any]
    embedding: Embedding
    middle: System
    routhian: Routhian | None
    left: tuple[str, ...]


def reduction(system: System, keep: Collection[str] = ()) -> Reduction:
    """Eliminate what can be. keep: names of coordinates that are to stay."""
    budget = Budget(20_000)
    if needs_legs(system):
        whole = Embedding(system.coordinates, {}, {}, (), {}, ())
        why = "dry friction or one-sided constraints change the equations as it moves: nothing is eliminated"
        return Reduction(_arguments(system), whole, system, None, (why,))
    found = embedding(system, keep, budget)
    parts = _embed(system, found, budget) if found.solved else _arguments(system)
    middle = System(**parts) if found.solved else system
    candidates = [q for q in middle.coordinates if q.name not in keep]
    ignored = ignorable(middle, candidates)
    left = [*found.left, *ignored.kept.values()]
    chosen = ignored.coordinates
    if chosen and len(chosen) == len(middle.coordinates):
        left.append(f"{chosen[0].name} is ignorable, but one coordinate must be left")
        chosen = chosen[1:]
    routh = None
    if chosen:
        taken = {s.name for s in (*middle.coordinates, *middle.parameter_symbols)}
        mark = "p" if not any(f"p_{q.name}" in taken for q in chosen) else "P"
        try:
            routh = routhian(middle, chosen, tuple(Parameter.named(f"{mark}_{q.name}") for q in chosen), budget)
            parts = _ignore(middle, routh, budget)
        except TooLarge as limit:
            left.append(f"{', '.join(q.name for q in chosen)} are ignorable, but {limit}")
    return Reduction(parts, found, middle, routh, tuple(left))


def _arguments(system: System) -> dict[str, Any]:
    """All of a system but its initial state."""
    return {
        "name": system.name,
        "coordinates": system.coordinates,
        "kinetic": system.kinetic,
        "potential": system.potential,
        "lagrangian": system.lagrangian,
        "mass": system.mass,
        "forces": dict(system.forces),
        "constraints": list(system.constraints),
        "nonideal": list(system.nonideal),
        "parameters": dict(system.parameters),
        "settings": dict(system.settings),
        "description": system.description,
        "events": list(system.events),
        "impacts": system.impacts if isinstance(system.impacts, str) else list(system.impacts),
        "outputs": dict(system.outputs),
        "units": dict(system.units),
        "draw": list(system.draw),
    }


def _shown(system: System, into: Callable[[sp.Expr], sp.Expr], gone: Collection[Coordinate]) -> dict[str, Any]:
    """Outputs and drawings in the coordinates that are left, and their units. What asks for a coordinate that is gone,
    or for a force along coordinates, belongs to the whole system alone, whose motion `reconstruct` gives.
    """
    lost = {symbol for q in gone for symbol in (q, q.d, q.dd)}

    def stays(expressions: Iterable[Any]) -> bool:
        asked = {atom for e in expressions if isinstance(e, sp.Basic) for atom in e.free_symbols}
        return not any(atom in lost or isinstance(atom, Reaction) for atom in asked)

    outputs = {name: into(value) for name, value in system.outputs.items()}
    shapes = [shape.map_expressions(lambda e: into(e) if isinstance(e, sp.Expr) else e) for shape in system.draw]
    names = {name for q in gone for name in (q.name, q.d.name, q.dd.name)}
    return {
        "outputs": {name: value for name, value in outputs.items() if stays([value])},
        "draw": [shape for shape in shapes if stays(shape.expressions()) and not _draws_a_force(shape)],
        "units": {name: unit for name, unit in system.units.items() if name not in names},
    }


def _draws_a_force(shape: Shape) -> bool:
    """Whether it shows a force that a motion has along some coordinates, which may be gone."""
    return isinstance(shape, Arrow) and shape.force is not None and shape.vector is None


# -- position constraints


def _embed(system: System, found: Embedding, budget: Budget) -> dict[str, Any]:
    parts = _arguments(system)
    for kind in ("kinetic", "potential", "lagrangian"):
        if parts[kind] is not None:
            parts[kind] = found.into(parts[kind], budget)
    forces = {q: found.into(f, budget) for q, f in system.forces.items()}
    if system.mass is not None:
        parts["mass"], forces = _pulled_back(system, found, budget)
        parts["potential"] = None
    else:
        forces = _along(forces, found, budget)
    works = [
        Work(
            _along({q: found.into(f, budget) for q, f in law.work.items()}, found, budget),
            law.constraint if law.constraint not in found.solved else None,
            {name: found.into(power, budget) for name, power in law.heat.items()},
        )
        for law in system.works
    ]
    constraints = [
        replace(c, expression=found.into(c.expression, budget))
        for c in system.constraints
        if c.name not in found.solved
    ]
    if not constraints:  # what acts along independent coordinates is a force like others
        forces = _sum([forces, *(law.work for law in works)])
        works = []
    events = [replace(event, expression=found.into(event.expression, budget)) for event in system.events]
    return {
        **parts,
        "coordinates": found.coordinates,
        "forces": forces,
        "constraints": constraints,
        "nonideal": works,
        "events": events,
        **_shown(system, lambda e: found.into(e, budget), [q for q in found.places if q not in found.coordinates]),
    }


def _sum(forces: list[Mapping[Coordinate, sp.Expr]]) -> dict[Coordinate, sp.Expr]:
    total: dict[Coordinate, sp.Expr] = {}
    for part in forces:
        for q, force in part.items():
            total[q] = total.get(q, sp.S.Zero) + force
    return {q: force for q, force in total.items() if force != 0}


def _along(forces: Mapping[Coordinate, sp.Expr], found: Embedding, budget: Budget) -> dict[Coordinate, sp.Expr]:
    """Jᵀ f: what a force does along the coordinates that are left."""
    total = {}
    for w in found.coordinates:
        parts = [forces.get(w, sp.S.Zero)]
        parts += [force * diff(found.places[q], w) for q, force in forces.items() if q in found.places]
        total[w] = tidy(sp.Add(*parts), budget)
    return {w: force for w, force in total.items() if force != 0}


def _pulled_back(system: System, found: Embedding, budget: Budget) -> tuple[sp.Matrix, dict[Coordinate, sp.Expr]]:
    """JᵀM J and Jᵀ(Q − M γ), where q̈ = J ẅ + γ; Q with the force of a potential."""
    assert system.mass is not None
    q, w = system.coordinates, found.coordinates
    V = system.potential if system.potential is not None else sp.S.Zero
    Q = sp.Matrix([system.forces.get(c, sp.S.Zero) - diff(V, c) for c in q])
    places = [found.places.get(c, c) for c in q]
    J = sp.Matrix(len(q), len(w), [diff(place, c) for place in places for c in w])
    still = dict.fromkeys((c.dd for c in w), sp.S.Zero)
    gamma = sp.Matrix([found.swap[c.dd].xreplace(still) if c in found.places else sp.S.Zero for c in q])
    M = exact_matrix(system.mass).xreplace(found.swap)
    rest = exact_matrix(Q).xreplace(found.swap) - M * gamma
    mass = (J.T * M * J).applyfunc(lambda entry: tidy(entry, budget))
    forces = {c: tidy(force, budget) for c, force in zip(w, J.T * rest, strict=True)}
    return sp.ImmutableMatrix(mass), {c: force for c, force in forces.items() if force != 0}


def exact_matrix(matrix: sp.Matrix) -> sp.Matrix:
    return sp.Matrix(matrix).applyfunc(exact)


# -- ignorable coordinates


def _ignore(system: System, found: Routhian, budget: Budget) -> dict[str, Any]:
    """R in place of L, and the momenta in place of velocities everywhere else."""
    none = {Reaction.of(kind, q.name): sp.S.Zero for q in found.ignored for kind in ("ideal", "actual")}
    swap = {**found.rates, **none}

    def into(expression: sp.Expr) -> sp.Expr:
        return (
            expression if expression.free_symbols.isdisjoint(swap) else tidy(exact(expression).xreplace(swap), budget)
        )

    parts = _arguments(system)
    left = tuple(q for q in system.coordinates if q not in found.ignored)
    second = {q.dd: time_derivative(found.rates[q.d], left) for q in found.ignored}
    works = [
        Work(
            {q: into(f) for q, f in law.work.items() if q in left},
            law.constraint,
            {name: into(power) for name, power in law.heat.items()},
        )
        for law in system.works
    ]
    constraints = [Constraint(c.name, into(c.expression)) for c in system.constraints]
    return {
        **parts,
        **_energies(system, left, found.R, budget),
        "mass": None,
        "coordinates": left,
        "forces": {q: into(f) for q, f in system.forces.items() if q in left},
        "constraints": constraints,
        "nonideal": works,
        "events": [replace(event, expression=into(event.expression)) for event in system.events],
        **_shown(system, lambda e: into(e.xreplace(second)), found.ignored),
    }


def _energies(system: System, left: tuple[Coordinate, ...], R: sp.Expr, budget: Budget) -> dict[str, Any]:
    """T and the effective potential where R is their difference; R where it has terms linear in the velocities, or is
    of another degree.
    """
    rates = [q.d for q in left]
    still = dict.fromkeys(rates, sp.S.Zero)
    slopes = [diff(R, v) for v in rates]
    natural = is_linear(slopes, rates) and all(tidy(slope.xreplace(still), budget) == 0 for slope in slopes)
    if not natural or system.lagrangian is not None:
        return {"lagrangian": tidy(R, budget), "kinetic": None, "potential": None}
    rest = -R.xreplace(still)
    termwise = sp.Add(*(tidy(term, budget) for term in sp.Add.make_args(sp.expand(rest))))
    V = min((termwise, tidy(rest, budget)), key=sp.count_ops)
    T = tidy(R - R.xreplace(still), budget)
    return {"lagrangian": None, "kinetic": T, "potential": V if V != 0 else None}
