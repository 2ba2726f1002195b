"""Dry friction as mechanics uses it, `Contact`, and what there is to ask about the laws of a system."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import sympy as sp

from dalembert.model.friction.frames import frames_of, inertia_of
from dalembert.model.friction.legs import needs_legs
from dalembert.model.friction.reaction_sizes import coordinates_in
from dalembert.model.friction.surface import Bearing
from dalembert.model.friction.work import Work
from dalembert.model.language.multiply_out import multiplied_out
from dalembert.model.language.symbols import Coordinate, t
from dalembert.remember import remember

if TYPE_CHECKING:
    from dalembert.model.system import System

# What depends on the structure of a system alone is made once: each of its runs asks.
KEPT = 32
_works: dict[Hashable, tuple[Work | None, ...]] = {}
_torqueless: dict[Hashable, list[str]] = {}

#: Stands for |u|, the size of the sliding velocity, inside a coefficient of friction.
SPEED = sp.Symbol("sliding speed", nonnegative=True)


@dataclass(frozen=True)
class Contact:
    """Dry friction at a sliding point: C = −mu |normal| Σ_k force_k u_k/|u| while it slides with u = `slide`; at rest
    it sticks while a force of at most mu_static |normal| holds it.

    normal: the reaction in `multiplier(NAME)`, signed where one constraint carries the point (`signed`), else never
    negative. slide: the components of the sliding velocity in q, q̇, t, orthonormal in space: one where the sliding is
    along a line, two on a surface. force: for each of them the generalized force of a unit force along it. bearing: of
    a surface whose normal may point anywhere; `slide` then has three components in its tangent plane, which depend on
    each other, and a motion chooses two directions for itself. mu: may contain SPEED.
    """

    name: str
    constraints: tuple[str, ...]
    normal: sp.Expr
    signed: bool
    slide: tuple[sp.Expr, ...]
    force: tuple[Mapping[Coordinate, sp.Expr], ...]
    mu: sp.Expr
    mu_static: sp.Expr
    bearing: Bearing | None = None

    @property
    def tangents(self) -> int:
        """In how many directions the point can slide."""
        return 2 if self.bearing is not None else len(self.slide)

    @property
    def speed(self) -> sp.Expr:
        """|u|."""
        return speed_of(self.slide)

    def slipping_work(self) -> Work:
        """C while the point slides. It has no value at rest."""
        speed = self.speed
        size = self.mu.xreplace({SPEED: speed}) * sp.Abs(self.normal)
        if len(self.slide) == 1:
            parts = [-size * sp.sign(self.slide[0])]
        else:
            parts = [-size * u / speed for u in self.slide]
        return Work(generalized_force(parts, self.force), self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        values = {key: getattr(self, key) for key in self.__dataclass_fields__}
        return _contact, ({**values, "force": tuple(dict(force) for force in self.force)},)


def _contact(values: dict[str, Any]) -> Contact:
    values["force"] = tuple(MappingProxyType(force) for force in values["force"])
    return Contact(**values)


def sliding_system(system: System) -> System:
    """The system while all contacts slide and all one-sided constraints are closed, or itself without these."""
    if not needs_legs(system):
        return system
    works = [*system.works, *(replace(c.slipping_work(), constraint=c.constraints[0]) for c in system.contacts)]
    constraints = [replace(c, one_sided=False, restitution=None, impact=None) for c in system.constraints]
    return system.replace(nonideal=works, constraints=constraints)


def works_of(system: System) -> tuple[Work | None, ...]:
    """What is smooth in each law, with the heat that it makes; None where nothing is."""
    return remember(_works, system.structure, lambda: tuple(law.smooth_work(system) for law in system.nonideal), KEPT)


def torqueless_warnings(system: System) -> list[str]:
    """What to say of laws whose point keeps a fixed distance from the centre of a body that may turn: friction at
    (x, y, z − r) of a ball makes no torque, because that point does not turn with it.
    """
    return [*remember(_torqueless, system.structure, lambda: _torqueless_of(system.expanded), KEPT)]


def _torqueless_of(system: System) -> list[str]:
    inertia = inertia_of(system.kinetic, system.lagrangian, system.mass)
    found = []
    bodies = () if inertia is None else frames_of(inertia, system.coordinates).bodies
    names = [[q.name for q in body] for body in bodies]
    for law in system.nonideal:
        if law.point is None:
            continue
        near = coordinates_in(law.point)
        for body, own in zip(bodies, names, strict=True):
            if near.isdisjoint(own):
                continue
            # What changes with time alone is a surface that moves, such as a belt, and no place on the body.
            offsets = [
                multiplied_out(p - q).as_independent(t, as_Add=True)[0] for p, q in zip(law.point, body, strict=False)
            ]
            moves = any(isinstance(symbol, Coordinate) for offset in offsets for symbol in offset.free_symbols)
            others = [q.name for q in system.coordinates if q not in body]
            if len(law.point) == len(body) and not moves and any(offsets) and others:
                place = ", ".join(q.name for q in body)
                found.append(
                    f"friction of {law.name!r} acts at a fixed distance from ({place}), so that it makes no torque. If "
                    f"the body turns ({', '.join(others[:6])}), give the velocity of the point that slides, v + ω × r, "
                    "as slide= in place of point="
                )
    return found


def heat_names(system: System) -> tuple[str, ...]:
    """Where friction makes heat: the constraints of each law, dry or not."""
    dry = [contact.name for contact in system.contacts]
    return tuple(dict.fromkeys([*(name for work in system.works for name in work.heat), *dry]))


def speed_of(slide: tuple[sp.Expr, ...], floor: sp.Expr = sp.S.Zero) -> sp.Expr:
    """√(|u|² + floor²)."""
    if len(slide) == 1 and floor == 0:
        return sp.Abs(slide[0])
    return sp.sqrt(sp.Add(*(u**2 for u in slide)) + floor**2)


def generalized_force(
    sizes: list[sp.Expr], forces: tuple[Mapping[Coordinate, sp.Expr], ...]
) -> dict[sp.Symbol, sp.Expr]:
    """The generalized force of forces of these sizes, each with that of a unit force along it."""
    total: dict[sp.Symbol, sp.Expr] = {}
    for size, force in zip(sizes, forces, strict=True):
        for q, part in force.items():
            total[q] = total.get(q, sp.S.Zero) + size * part
    return {q: entry for q, entry in total.items() if entry != 0}
