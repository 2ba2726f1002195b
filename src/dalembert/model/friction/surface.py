"""The geometry of a sliding point: the reaction on it, the directions in which it slides.

A point P(q, t) with Jacobian J = ∂P/∂q moves with v_P = J q̇ + ∂P/∂t; a velocity that is no derivative of a place (that
of the lowest point of a ball, v + ω × r) is given as it is, with J = ∂v_P/∂q̇. A force f on the point is the generalized
force Jᵀf. A constraint with gradient a exerts Aᵀλ. Where a lies in the row space of J the reaction acts on the point:
aᵀλ = Jᵀ(w λ) with w = (J Jᵀ)⁻¹J aᵀ. Its size |w| λ does not depend on how the constraint equation is scaled, its
direction is the normal, and the point slides at right angles to it: along one direction in a plane, along two in space,
never three. So it is, too, where a is such a row but for shares of other two-sided constraints: a guide holds the body
sideways, and the equation of its contact need not mention that. Otherwise (a pin, or a point given along the surface
only) the point slides with all of v_P, and w is the part of a that belongs to the Cartesian coordinates of one body.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from types import MappingProxyType

import numpy as np
import sympy as sp

from dalembert.model.constraints import Constraint
from dalembert.model.friction.frames import Inertia, frames_of, mass_of, of_one_mass
from dalembert.model.friction.generic import ZERO, Unclear, numbers_of, short, square
from dalembert.model.friction.reaction_sizes import (
    ASK,
    coordinates_in,
    held_angle,
    reactions_on_body,
    reactions_on_carrier,
    spell_a_place,
)
from dalembert.model.language.rates import partial
from dalembert.model.language.symbols import Coordinate, multiplier, t


@dataclass(frozen=True)
class Bearing:
    """A surface in space whose normal may point anywhere, so that no fixed formula gives directions at right angles to
    it everywhere. normal: of unit length, (3,). velocity: of the point, (3,). force: the generalized forces of unit
    forces along the three axes, each in the order of `coordinates`.
    """

    normal: tuple[sp.Expr, ...]
    velocity: tuple[sp.Expr, ...]
    force: tuple[tuple[sp.Expr, ...], ...]
    coordinates: tuple[Coordinate, ...]


@dataclass(frozen=True)
class Surface:
    """`normal`: the reaction, signed where one constraint carries the point. For each component of the sliding, `slide`
    is its velocity and `force` the generalized force of a unit force along it, by coordinate, without zeros. Components
    are orthonormal, one or two of them; except where `bearing` is given: then they are three, those of the velocity in
    the tangent plane, which depend on each other. doubt: why `normal` is no force, empty where nothing says so; it
    completes a message of the model.
    """

    normal: sp.Expr
    slide: tuple[sp.Expr, ...]
    force: tuple[Mapping[Coordinate, sp.Expr], ...]
    bearing: Bearing | None = None
    doubt: str = ""


@lru_cache(maxsize=1024)  # a study makes the same system again and again, with other values
def surface_of(
    inertia: Inertia,
    coordinates: tuple[Coordinate, ...],
    constraints: tuple[Constraint, ...],
    point: tuple[sp.Expr, ...] | None,
    slide: tuple[sp.Expr, ...] | None = None,
    others: tuple[Constraint, ...] = (),
) -> Surface:
    """The surface on which a point slides, carried by the given constraints. slide: its velocity, in place of it.
    others: what else holds the system.
    """
    if slide is None and point is None:
        point = _default_point(inertia, coordinates, constraints)
    # Of a large system a law concerns a few coordinates; with the others each would cost as much as the system.
    concerned = coordinates_in([*(slide or point or ()), *(c.expression for c in constraints)])
    near = tuple(q for q in coordinates if q.name in concerned) or coordinates
    if slide is not None:
        J = sp.Matrix([[sp.diff(u, q.d) for q in near] for u in slide])
        velocity = sp.Matrix(slide)
    else:
        assert point is not None
        J = sp.Matrix([[sp.diff(p, q) for q in near] for p in point])
        velocity = J * sp.Matrix([q.d for q in near]) + sp.Matrix([partial(p, t) for p in point])
    gradients = [_gradient(constraint, near) for constraint in constraints]
    numeric = numbers_of(sp.Matrix([*J.tolist(), *gradients]))
    rank = max(int(np.linalg.matrix_rank(values[: J.rows], tol=ZERO)) for values in numeric)
    if rank == 0:
        raise Unclear("the point does not move: it contains no coordinate")
    pushed = _in_row_space(numeric, J.rows)
    if pushed and rank == 1:
        raise Unclear("the point moves only along the reaction of the constraint, so nothing slides there")
    if rank < J.rows:
        raise Unclear(f"the point needs {rank} expressions, not {J.rows}: some follow from the others")
    guides = sp.Matrix(0, len(near), []) if pushed else _guides(J, gradients, others, near, slide is None)
    if guides.rows:
        pushed = True
    bearing, doubt = None, ""
    if pushed:
        columns = [_reaction_on_point(J.col_join(guides), gradient)[: J.rows, :] for gradient in gradients]
        directions = _tangents(columns)
        if len(directions) == 3:
            w = _primitive(columns[0])
            unit = tuple(entry / _length(w) for entry in w)
            bearing = Bearing(unit, tuple(velocity), tuple(tuple(J.row(k)) for k in range(3)), near)
        normal = _size(columns, constraints)
    else:
        directions = [(sp.eye(J.rows).col(k), sp.S.One) for k in range(J.rows)]
        reactions = reactions_on_carrier(J, gradients, of_one_mass(inertia, coordinates), near)
        if reactions is None:
            doubt = held_angle(inertia, coordinates, gradients, near)
            try:
                reactions = reactions_on_body(J, gradients, frames_of(inertia, coordinates), near)
            except Unclear as unclear:
                raise Unclear(doubt or str(unclear)) from None  # the former names the angle, and one more remedy
        normal = _size(reactions, constraints)
    along: list[sp.Expr] = []
    force: list[Mapping[Coordinate, sp.Expr]] = []
    for direction, scale in directions:
        speed, pull = short((direction.T * velocity)[0]) / scale, (J.T * direction).applyfunc(short) / scale
        if speed != 0 or any(pull):
            along.append(speed)
            force.append(MappingProxyType({q: part for q, part in zip(near, pull, strict=True) if part != 0}))
    return Surface(normal, tuple(along), tuple(force), bearing if len(along) == 3 else None, doubt)


def _default_point(
    inertia: Inertia, coordinates: tuple[Coordinate, ...], constraints: tuple[Constraint, ...]
) -> tuple[sp.Expr, ...]:
    """The Cartesian coordinates of the one particle that the constraints hold."""
    frames = frames_of(inertia, coordinates)
    names_held = coordinates_in([constraint.expression for constraint in constraints])
    held = {q for q in coordinates if q.name in names_held}
    bodies = [body for body in frames.bodies if held <= set(body)]
    if len(bodies) != 1 or frames.crowds:
        names = ", ".join(q.name for q in coordinates if q in held)
        raise Unclear(f"what slides cannot be told: {names} are not the Cartesian coordinates of one particle; {ASK}")
    if frames.others:
        others = ", ".join(q.name for q in frames.others)
        raise Unclear(f"what slides cannot be told: {others} may turn the body at the contact; {ASK}")
    (body,) = bodies
    accident = not mass_of(inertia, coordinates, body[0]).free_symbols
    if len(body) == 3 and len(held) < 3 and accident and not spell_a_place(body):
        # Masses that are numbers may be equal by accident, one of them a moment of inertia.
        names = ", ".join(q.name for q in body)
        raise Unclear(f"what slides cannot be told: {names} may be a place, or a place and an angle; {ASK}")
    return body


def _gradient(constraint: Constraint, coordinates: tuple[Coordinate, ...]) -> list[sp.Expr]:
    symbols = coordinates if constraint.level == "position" else [q.d for q in coordinates]
    return [sp.diff(constraint.expression, symbol) for symbol in symbols]


def _in_row_space(numeric: list[np.ndarray], size: int) -> bool:
    """Whether the gradients (the rows after the first `size`) are combinations of those first rows."""
    for values in numeric:
        J, gradients = values[:size], values[size:]
        left = gradients - gradients @ np.linalg.pinv(J) @ J
        if np.any(np.linalg.norm(left, axis=1) > ZERO * np.maximum(np.linalg.norm(gradients, axis=1), 1e-300)):
            return False
    return True


def _guides(
    J: sp.Matrix,
    gradients: list[list[sp.Expr]],
    others: tuple[Constraint, ...],
    near: tuple[Coordinate, ...],
    is_place: bool,
) -> sp.Matrix:
    """The gradients of other two-sided constraints on the coordinates near, where those of the law are combinations of
    them and of the rows of J, with one share for the point, which is not zero; else no rows. is_place: J is that of a
    place, and not of a velocity.

    A ball that rolls towards a wall turns as fast as it comes near: its rim slides on the wall, however well rolling
    says the same of both. So constraints on velocities hold no body sideways for which a velocity is given; and where
    it is, or they do, the share of the point has to move what the constraint itself names.
    """
    names, none, d = {q.name for q in near}, sp.Matrix(0, len(near), []), J.rows
    if d < 2:
        return none  # how far it has slid, along a line
    levels = {"position", "velocity"} if is_place else {"position"}
    held = [c for c in others if not c.one_sided and c.level in levels and coordinates_in([c.expression]) <= names]
    rows = [_gradient(c, near) for c in held]
    has_to_meet = not is_place or any(c.level == "velocity" for c in held)
    if not rows:
        return none
    numeric = numbers_of(sp.Matrix([*J.tolist(), *rows, *gradients]))
    if not _in_row_space(numeric, d + len(rows)):
        return none
    for values in numeric:
        both, pushes = values[: d + len(rows)], values[d + len(rows) :]
        shares = pushes @ np.linalg.pinv(both)
        unique = np.linalg.matrix_rank(both, tol=ZERO) == both.shape[0]
        if not unique or np.any(np.linalg.norm(shares[:, :d], axis=1) <= ZERO * np.linalg.norm(shares, axis=1)):
            return none
        along = shares[:, :d] @ both[:d]
        meets = np.abs((along * pushes).sum(axis=1))
        if has_to_meet and np.any(meets <= ZERO * np.linalg.norm(along, axis=1) * np.linalg.norm(pushes, axis=1)):
            return none
    return sp.Matrix(rows)


def _reaction_on_point(J: sp.Matrix, gradient: Sequence[sp.Expr]) -> sp.Matrix:
    """w with Jᵀw = aᵀ, from d of the n equations where these have one solution everywhere: that is the shortest."""
    d = J.rows
    a = sp.Matrix(gradient)
    moving = [k for k in range(J.cols) if any(J[:, k])]
    for columns in islice(combinations(moving, d), 20):
        part = J.extract(list(range(d)), list(columns)).T
        determinant = short(part.det())
        fixed = not any(isinstance(s, Coordinate) for s in determinant.free_symbols)
        if determinant != 0 and (fixed or len(moving) == d):
            return (part.adjugate() * a.extract(list(columns), [0]) / determinant).applyfunc(short)
    return ((J * J.T).inv() * J * a).applyfunc(short)


def _tangents(normals: list[sp.Matrix]) -> list[tuple[sp.Matrix, sp.Expr]]:
    """Directions at right angles to the normals, each with the length it is to be divided by.

    One where the sliding is along a line. Of a plane two, where the normal never has a part along one of the axes: that
    axis is a tangent; else three that depend on each other, the axes without their part along the normal.
    """
    d = normals[0].rows
    if any(_are_parallel(one, other) for one, other in combinations(normals, 2)):
        raise Unclear("the constraints have the same reaction: name one of them")
    if len(normals) >= d:
        raise Unclear("the constraints hold the point in all directions, so nothing slides there")
    w = _primitive(normals[0])
    if d == 2:
        return [(sp.Matrix([w[1], -w[0]]), _length(w))]
    if len(normals) == 1:
        flat = [k for k in range(3) if w[k] == 0]
        if len(flat) == 2:
            return [(sp.eye(3).col(k), sp.S.One) for k in flat]
        if flat:
            axis = sp.eye(3).col(flat[0])
            return [(axis, sp.S.One), (w.cross(axis).applyfunc(short), _length(w))]
        size = square(w)
        return [(size * sp.eye(3).col(k) - w * w[k], size) for k in range(3)]
    along = w.cross(_primitive(normals[1])).applyfunc(short)
    return [(along, _length(along))]


def _are_parallel(one: sp.Matrix, other: sp.Matrix) -> bool:
    """Whether two vectors have one direction everywhere."""
    return all(short(one[i] * other[j] - one[j] * other[i]) == 0 for i, j in combinations(range(one.rows), 2))


def _primitive(vector: sp.Matrix) -> sp.Matrix:
    """A shorter vector of the same direction: without the number that all entries have in common."""
    return vector / sp.gcd_list([entry.as_content_primitive()[0] for entry in vector if entry != 0])


def _length(vector: sp.Matrix) -> sp.Expr:
    entries = [entry for entry in vector if entry != 0]
    return sp.Abs(entries[0]) if len(entries) == 1 else sp.sqrt(sp.factor_terms(square(vector)))


def _size(columns: list[sp.Matrix], constraints: tuple[Constraint, ...]) -> sp.Expr:
    """|w| λ for one constraint, |Σ w_i λ_i| for several."""
    forces = [multiplier(constraint.name) for constraint in constraints]
    if len(columns) == 1:
        return _length(columns[0]) * forces[0]
    total = [sp.Add(*(w[k] * force for w, force in zip(columns, forces, strict=True))) for k in range(len(columns[0]))]
    return sp.sqrt(sp.Add(*(short(entry) ** 2 for entry in total)))
