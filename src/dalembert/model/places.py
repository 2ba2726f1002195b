"""Which coordinates of a model are places of points, and whether its kinetic energy vanishes at rest: what pictures ask
before they draw a path, or part an energy. It is read off the inertia, never off names alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import sympy as sp

from dalembert.model.friction.frames import Frames, frames_of, inertia_of
from dalembert.model.language.symbols import Coordinate

if TYPE_CHECKING:
    from dalembert.model.system import System

# Names that people give to angles. Two turning wheels of one moment of inertia look like a point otherwise.
ANGLES = frozenset(("alpha", "beta", "gamma", "theta", "phi", "chi", "psi", "omega"))
ANGULAR = frozenset(("rad", "°", "deg"))
# Of more coordinates no path would be seen, and others look at large systems in ways of their own.
MOST = 60


def cartesian_points(system: System) -> tuple[tuple[str, ...], ...]:
    """Two or three coordinates for each point, by name: those that the kinetic energy has as m(ẋ² + ẏ² + ż²)/2, that
    stand in no angle function, and have no name or unit of an angle.
    """
    own = system.expanded
    inertia = inertia_of(own.kinetic, own.lagrangian, own.mass)
    if inertia is None or len(own.coordinates) > MOST:
        return ()
    frames: Frames = frames_of(inertia, own.coordinates)
    groups = [*frames.bodies, *(part for crowd in frames.crowds for part in _by_number(crowd))]
    turning = {s for e in own.expressions() for f in e.atoms(sp.sin, sp.cos, sp.tan) for s in f.free_symbols}
    order = {q: k for k, q in enumerate(own.coordinates)}
    found = [group for group in groups if not any(_is_angle(q, system) or q in turning for q in group)]
    return tuple(tuple(q.name for q in group) for group in sorted(found, key=lambda group: order[group[0]]))


def has_plain_kinetic(system: System) -> bool:
    """Whether T is known to vanish with the velocities, so that E = T + V."""
    if len(system.coordinates) > MOST:
        return False
    if system.kinetic is None:
        return True
    own = system.expanded
    assert own.kinetic is not None
    return bool(own.kinetic.xreplace(dict.fromkeys(own.velocities, sp.S.Zero)) == 0)


def _is_angle(q: Coordinate, system: System) -> bool:
    return q.name.rstrip("0123456789_") in ANGLES or system.units.get(q.name) in ANGULAR


def _by_number(crowd: tuple[Coordinate, ...]) -> list[tuple[Coordinate, ...]]:
    """Points of one mass in a row, told apart by the numbers at the end of their names: x1 y1 x2 y2."""
    found: dict[str, list[Coordinate]] = {}
    for q in crowd:
        number = re.search(r"\d*$", q.name)
        found.setdefault(number.group() if number else "", []).append(q)
    return [tuple(group) for group in found.values() if len(group) in (2, 3)]
