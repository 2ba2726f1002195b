"""Which coordinates of a model are places of points, and whether its kinetic energy vanishes at rest: what pictures ask
before they draw a path, or part an energy. It is read off the inertia, never off names alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

import sympy as sp

from dalembert.model.friction.frames import Inertia, are_cartesian, frames_of, inertia_of
from dalembert.model.language.symbols import Coordinate

if TYPE_CHECKING:
    from dalembert.model.system import System

# Names that people give to angles. Two turning wheels of one moment of inertia look like a point otherwise.
ANGLES = frozenset(("alpha", "beta", "gamma", "theta", "phi", "chi", "psi", "omega", "angle"))
ANGULAR = frozenset(("rad", "°", "deg"))
# Names that people give to Cartesian coordinates, with what tells one point from another: x1, y1; x_A, y_A.
CARTESIAN = re.compile(r"(?P<axis>[xyzXYZ])_?(?P<of>\w*)")
# Of more coordinates no path would be seen, and others look at large systems in ways of their own.
MOST = 60
# Beyond so many coordinates points are looked for by names only: to compare all masses would take long.
MANY = 40


def cartesian_points(system: System) -> tuple[tuple[str, ...], ...]:
    """The names of the coordinates of each point; of very large systems none."""
    if len(system.coordinates) > MOST:
        return ()
    return tuple(tuple(q.name for q in body) for body in bodies_of(system))


def bodies_of(system: System) -> list[tuple[Coordinate, ...]]:
    """Two or three coordinates for each point: those that the kinetic energy has as m(ẋ² + ẏ² + ż²)/2, and that either
    have names such as x1, y1, or stand side by side and are no angles.
    """
    inertia = inertia_of(system.kinetic, system.lagrangian, system.mass)
    if inertia is None:
        return []
    inertia = system.defined.expand(inertia) if system.definitions else inertia
    found = [body for body in _by_name(system.coordinates, inertia) if not any(_is_angle(q, system) for q in body)]
    if len(system.coordinates) <= MANY:
        taken = angles_of(system) | {q for body in found for q in body}
        frames = frames_of(inertia, system.coordinates)
        groups = [*frames.bodies, *(body for crowd in frames.crowds for body in _by_number(crowd))]
        found += [body for body in groups if taken.isdisjoint(body)]
    order = {q: k for k, q in enumerate(system.coordinates)}
    return sorted(found, key=lambda body: order[body[0]])


def _by_name(coordinates: tuple[Coordinate, ...], inertia: Inertia) -> list[tuple[Coordinate, ...]]:
    """Coordinates whose names differ in the axis only, x1 y1 or x_A y_A z_A, where the inertia bears that out."""
    groups: dict[str, list[Coordinate]] = {}
    for q in coordinates:
        told = CARTESIAN.fullmatch(q.name)
        if told is not None:
            groups.setdefault(told["of"], []).append(q)
    several = [tuple(group) for group in groups.values() if len(group) in (2, 3)]
    if are_cartesian(inertia, coordinates, several):  # mostly all of them are
        return several
    return [body for body in several if are_cartesian(inertia, coordinates, [body])]


def _by_number(crowd: tuple[Coordinate, ...]) -> list[tuple[Coordinate, ...]]:
    """Points of one mass in a row, told apart by the numbers at the end of their names: u1 v1 u2 v2."""
    found: dict[str, list[Coordinate]] = {}
    for q in crowd:
        number = re.search(r"\d*$", q.name)
        found.setdefault(number.group() if number else "", []).append(q)
    return [tuple(group) for group in found.values() if len(group) in (2, 3)]


def angles_of(system: System) -> set[Coordinate]:
    """Coordinates that have a name or a unit of an angle, or stand inside sines or cosines and are not called x, y, z:
    a wire may be a wave.
    """
    turning = {s for f in _angle_functions(system.expressions()) for s in f.free_symbols}
    return {q for q in system.coordinates if _is_angle(q, system) or (q in turning and not CARTESIAN.fullmatch(q.name))}


def _angle_functions(expressions: Iterable[sp.Expr]) -> set[sp.Basic]:
    return {function for e in expressions for function in e.atoms(sp.sin, sp.cos, sp.tan)}


def _is_angle(q: Coordinate, system: System) -> bool:
    return q.name.rstrip("0123456789_") in ANGLES or system.units.get(q.name) in ANGULAR


def has_plain_kinetic(system: System) -> bool:
    """Whether T is known to vanish with the velocities, so that E = T + V."""
    if len(system.coordinates) > MOST:
        return False
    if system.kinetic is None:
        return True
    own = system.expanded
    assert own.kinetic is not None
    return bool(own.kinetic.xreplace(dict.fromkeys(own.velocities, sp.S.Zero)) == 0)
