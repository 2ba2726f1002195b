"""Particles as a user gave them: expressions read, every fault told, constraints and positions compared."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from dalembert.errors import ModelError, counted
from dalembert.model.constraints import Constraint
from dalembert.model.friction.sliding import Sliding
from dalembert.model.language.functions import Unspecified
from dalembert.model.language.stand_ins import stood_in
from dalembert.model.language.symbols import Coordinate, Reaction, name_of, t
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.model.particles.particles import Particle, Particles

# Values this small against their terms, at random places, are rounding: generic ones are of their own size.
ZERO = 1e-9


def belongs(symbol: sp.Symbol, coordinates: tuple[Coordinate, ...]) -> bool:
    """Whether a symbol is one of the coordinates or a derivative of one."""
    return isinstance(symbol, Coordinate) and symbol.base in {q.name for q in coordinates}


@dataclass(frozen=True)
class Reading:
    """What was given, as a system over q and the Cartesian coordinates. Its first `places` constraints: positions."""

    system: System
    places: int

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return self.system.constraints


def read_particles(
    name: str,
    own: list[Any],
    particles: list[Particle],
    constraints: Any,
    potential: Any,
    nonideal: Any,
    parameters: Any,
    initial: Any,
    settings: Any,
    description: str,
    functions: Any,
) -> Reading:
    """Everything read and checked as one system over q and the Cartesian coordinates, x − r(q, t) = 0 among its
    constraints: what `System` tells about bad input, it tells here too.
    """
    cartesian = [s for particle in particles for s in particle.coordinates]
    masses = [particle.mass for particle in particles for _ in particle.position]
    size = len(own)
    entries = [[0] * (size + len(masses)) for _ in range(size + len(masses))]
    for k, mass in enumerate(masses):
        entries[size + k][size + k] = mass
    places: dict[str, Any] = {}
    forces: dict[Any, Any] = {}
    for particle in particles:
        for s, place, force in zip(
            particle.coordinates, particle.position, particle.force or (0,) * len(particle.position), strict=True
        ):
            places[f"position {s.name}"] = _difference(s, place)
            forces[s] = force
    if isinstance(constraints, str) or not isinstance(constraints, Iterable):
        raise ModelError(name, [f"constraints: a mapping from names to expressions is wanted, got {constraints!r}"])
    further = constraints if isinstance(constraints, Mapping) else _by_name(constraints)
    if isinstance(nonideal, Iterable) and not isinstance(nonideal, (str, Mapping)):
        nonideal = [_at_particle(law, particles, further) for law in nonideal]
    system = _told_by_particle(
        particles,
        size,
        name=name,
        coordinates=[*own, *cartesian],
        mass=entries,
        potential=potential,
        forces=forces,
        constraints={**places, **{name_of(key): value for key, value in further.items()}},
        nonideal=nonideal,
        parameters=parameters,
        initial=initial,
        settings=settings,
        description=description,
        functions=functions,
    )
    q = system.coordinates[:size]
    faults = _changing_masses(system, size, particles)
    strays = sorted(s.name for s in system.initial if isinstance(s, Coordinate) and not belongs(s, q))
    if strays:
        listed = ", ".join(s.name for s in q)
        faults.append(f"initial {strays[0]}: positions follow from {listed}; give these and their velocities")
    for c in system.constraints[: len(places)]:
        inside = {s.base for s in c.expression.free_symbols if isinstance(s, Coordinate)} - {q_.name for q_ in q}
        moved = [s for s in c.expression.free_symbols if isinstance(s, Coordinate) and s.order]
        if len(inside) > 1 or moved:
            faults.append(f"{c.name}: a position is a function of the generalized coordinates and time only")
    for c in system.constraints[len(places) :]:
        strange = sorted({s.base for s in c.expression.free_symbols if belongs(s, q)})
        if c.level != "position" or c.one_sided:
            faults.append(f"constraint {c.name!r}: an equation between positions is wanted")
        elif strange:
            faults.append(
                f"constraint {c.name!r}: write it in the coordinates of the particles, "
                f"{', '.join(s.name for s in cartesian)}; {', '.join(strange)} is a generalized one"
            )
    for law in system.nonideal:
        spoken = {s for e in law.expressions() for s in e.free_symbols} | set(getattr(law, "work", ()))
        spoken |= {Coordinate.named(r.coordinate) for r in spoken if isinstance(r, Reaction) and r.kind != "multiplier"}
        strange = sorted({s.base for s in spoken if belongs(s, q)})
        if strange:
            faults.append(
                f"nonideal: write laws in the coordinates of the particles, {', '.join(s.name for s in cartesian)}; "
                f"{', '.join(strange)} is a generalized one"
            )
    if system.potential is not None and any(belongs(s, q) for s in system.potential.free_symbols):
        faults.append("potential: write it in the particles' Cartesian coordinates")
    if faults:
        raise ModelError(name, faults)
    return Reading(system, len(places))


def _changing_masses(system: System, size: int, particles: list[Particle]) -> list[str]:
    """Masses that are not constant: m r̈ is not the rate of m ṙ then, and motion and reactions would contradict."""
    assert system.mass is not None
    faults, k = [], size
    for particle in particles:
        inside = sorted(s.name for s in system.mass[k, k].free_symbols if s == t or isinstance(s, Coordinate))
        if inside:
            faults.append(f"mass of {particle.name!r}: a material particle has a constant mass, without {inside[0]}")
        k += len(particle.position)
    return faults


def _at_particle(law: Any, particles: list[Particle], constraints: Mapping[Any, Any]) -> Any:
    """A law of sliding with its point: the particle that its constraints hold, where they hold one."""
    if not isinstance(law, Sliding) or not law.has("point"):
        return law
    if law.point is not None or law.slide is not None:
        return law
    inside = {
        name for key, given in constraints.items() if name_of(key) in law.constraints for name in _names_in(given)
    }
    held = [particle for particle in particles if not inside.isdisjoint(s.name for s in particle.coordinates)]
    return replace(law, point=held[0].coordinates) if len(held) == 1 else law  # type: ignore[type-var]


def _names_in(given: Any) -> set[str]:
    """The names in a constraint as it was given."""
    given = given.expression if isinstance(given, Constraint) else given
    if isinstance(given, str):
        return set(re.findall(r"\w+", given))
    return {s.name for s in given.free_symbols} if isinstance(given, sp.Basic) else set()


def _by_name(constraints: Iterable[Any]) -> dict[str, Any]:
    """Constraints that were given as a list; what has no name gets a number."""
    given = list(constraints)
    return {c.name if isinstance(c, Constraint) else f"c{k}": c for k, c in enumerate(given, 1)}


def _difference(s: Coordinate, place: Any) -> Any:
    """x − r; what is no expression is left for the system to complain about."""
    if isinstance(place, str):
        return f"{s.name} - ({place})"
    try:
        return s - sp.sympify(place, strict=True)
    except (sp.SympifyError, TypeError):
        return place


def _told_by_particle(particles: list[Particle], size: int, **parts: Any) -> System:
    """The system; faults in masses, positions and forces told by the name of the particle."""
    try:
        return System(**parts)
    except ModelError as error:
        owners = [
            (particle.name, s.name, place)
            for particle in particles
            for s, place in zip(particle.coordinates, particle.position, strict=True)
        ]
        faults = list(error.faults)
        for k, (owner, axis, place) in enumerate(owners, size + 1):
            for told, better in (
                (f"mass[{k}][{k}]", f"mass of {owner!r}"),
                (f"constraint 'position {axis}'", f"position of {owner!r}"),
                (f"'{axis} - ({place})'", f"'{place}'"),
                (f"forces {axis}:", f"force on {owner!r}:"),
            ):
                faults = [fault.replace(told, better) for fault in faults]
        raise ModelError(error.where, list(dict.fromkeys(faults))) from None


def require_complete(given: Particles) -> None:
    """The positions satisfy the constraints, and the constraints are all that the positions satisfy."""
    place, cartesian = given.positions, given.cartesian_coordinates
    misses = [c.expression.xreplace(place) for c in given.constraints]
    normals = [sp.diff(c.expression, s).xreplace(place) for c in given.constraints for s in cartesian]
    slopes = [sp.diff(place[s], q) for s in cartesian for q in given.coordinates]
    faults: list[str] = []
    for c, miss in zip(given.constraints, misses, strict=True):
        terms = at_random(sp.Add.make_args(sp.expand(miss)), given)
        # A function without an expression may be such that the constraint holds: F(x, y, f(x, y)) = 0.
        if terms is not None and miss.has(Unspecified):
            continue
        if terms is not None and abs(terms.sum()) > ZERO * np.abs(terms).max(initial=0.0):
            faults.append(f"constraint {c.name!r} does not hold at the positions given: {miss} is not zero")
    values = at_random([*normals, *slopes], given)
    if values is not None and not faults:
        n, rows = len(cartesian), len(given.constraints)
        A = values[: rows * n].reshape(rows, n)
        free = int(np.linalg.matrix_rank(values[rows * n :].reshape(n, -1), tol=ZERO))
        held = int(np.linalg.matrix_rank(A, tol=ZERO)) if rows else 0
        if held + free < n:
            faults.append(
                f"the positions leave {counted(n, 'Cartesian coordinate')} {counted(free, 'way')} to move, so that "
                f"{counted(n - free, 'independent constraint')} must hold them; given: {held}, and the reactions of "
                "the others could not be told"
            )
        if held + free > n:  # only where a constraint was taken at its word
            faults.append(
                f"with {counted(held, 'independent constraint')}, {counted(n, 'Cartesian coordinate')} can move in "
                f"{counted(n - held, 'way')}, but the positions move in {free}; a particle in Cartesian coordinates "
                "is a da.System, which has equations('liberation')"
            )
        if free < len(given.coordinates):
            many = counted(len(given.coordinates), "generalized coordinate")
            faults.append(f"{many}, but the positions move in {counted(free, 'way')}")
    if faults:
        raise ModelError(given.name, faults)


def at_random(expressions: Iterable[sp.Expr], given: Particles) -> np.ndarray | None:
    """Values at a random place; parameters have their own values where they have one. None where there are none."""
    expressions = [stood_in(expression) for expression in expressions]
    rng = random.Random(5)
    for _ in range(8):
        at = {s: sp.sympify(given.parameters.get(s, sp.Float(rng.uniform(0.5, 2)))) for s in _symbols(expressions)}
        numbers = [complex(e.xreplace(at).evalf()) for e in expressions]
        if all(np.isfinite(z) and not z.imag for z in numbers):
            return np.array([z.real for z in numbers])
    return None


def _symbols(expressions: list[sp.Expr]) -> list[sp.Symbol]:
    return sorted({s for e in expressions for s in e.free_symbols}, key=lambda s: s.name)
