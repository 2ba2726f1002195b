"""Cones of friction: at each contact with dry friction, the directions in which it can hold what stands there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.model.drawings.shapes import Box, Disk, Shape, Sphere
from dalembert.model.friction.contact import SPEED, Contact
from dalembert.motion.result.motion import Motion
from dalembert.view.scene.build import head, single
from dalembert.view.scene.forces import Anchor
from dalembert.view.scene.frames import Frames
from dalembert.view.scene.rotations import rotated, unit
from dalembert.view.scene.values import Values

HEIGHT = 0.17  # of a cone, as a share of the drawing


@dataclass(frozen=True)
class Touch:
    """A contact at a body of the drawing: the gradient of its constraint by the body's coordinates, and μ at rest."""

    contact: Contact
    anchor: Anchor
    gradient: tuple[sp.Expr, ...]
    mu: sp.Expr

    def expressions(self) -> list[sp.Expr]:
        return [*self.gradient, self.mu]


def touches_of(motion: Motion, anchors: Sequence[Anchor]) -> list[Touch]:
    """Contacts that one constraint on positions carries, each at the last body of the drawing that this holds."""
    system = motion.system.as_written
    by_name = {constraint.name: constraint for constraint in system.expanded.constraints}
    found = []
    for contact in system.contacts:
        constraint = by_name.get(contact.constraints[0])
        if len(contact.constraints) > 1 or constraint is None or constraint.level != "position":
            continue
        near = [a for a in anchors if not constraint.expression.free_symbols.isdisjoint(a.of)]
        if near and contact.name in motion.contacts:
            gradient = tuple(sp.diff(constraint.expression, q) for q in near[-1].of)
            found.append(Touch(contact, near[-1], gradient, contact.mu_static.xreplace({SPEED: sp.S.Zero})))
    return found


def cones(
    touches: Iterable[Touch], motion: Motion, frames: Frames, values: Values, built: Mapping[Shape, Any], size: float
) -> list[dict[str, Any]]:
    """The cones, along the reactions. built: data of the shapes."""
    found = []
    names = [constraint.name for constraint in frames.system.constraints]
    at = np.clip(np.searchsorted(motion.t, frames.t), 0, motion.t.size - 1)
    for touch in touches:
        J = touch.anchor.directions(values)
        if J is None:
            continue
        gradient = np.stack([values.one(entry) for entry in touch.gradient], axis=1)
        reaction = frames.multipliers[:, names.index(touch.contact.constraints[0])]
        pushes = np.where(np.nan_to_num(reaction) < 0, -1.0, 1.0)
        normal = unit(np.einsum("fk,fkd->fd", gradient, J)) * pushes[:, None]
        visible = motion.contacts[touch.contact.name].state[at] != "open"
        place = values.rows(touch.anchor.place) - _reach(built[touch.anchor.shape], touch.anchor.shape, normal)
        cone = {**head("cone", role="contact"), "position": single(place), "normal": single(normal)}
        cone |= {"angle": float(np.arctan(values.number(touch.mu) or 0.0)), "size": HEIGHT * size}
        found.append(cone if visible.all() else {**cone, "visible": visible})
    return found


def _reach(built: Mapping[str, Any], shape: Shape, normal: Array) -> Array:
    """From the foot of a body to its middle, along the normal."""
    if isinstance(shape, (Sphere, Disk)):
        return np.asarray(float(built["radius"]) * normal)
    if not isinstance(shape, Box):
        return np.zeros_like(normal)
    reach = np.zeros(len(normal))
    for k, edge in enumerate(np.asarray(built["size"])):
        axis = np.array([rotated(q, np.eye(3)[k]) for q in built["rotation"]])
        reach += np.abs(np.sum(axis * normal, axis=1)) * edge / 2
    return reach[:, None] * normal
