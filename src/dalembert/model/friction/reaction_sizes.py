"""How large the reaction of a constraint is that does not act on the sliding point itself: as the body feels it that
carries the point, in its Cartesian coordinates.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations

import sympy as sp

from dalembert.model.friction.frames import Frames, Inertia, frames_of, mass_of
from dalembert.model.friction.generic import Unclear, square, vanishes
from dalembert.model.language.symbols import Coordinate

# Bodies are looked for among so many coordinates of one mass at a contact.
MOST_NEAR = 12
ASK = 'give the sliding point by its two or three Cartesian coordinates, such as point=["x", "y"]'


def coordinates_in(expressions: Iterable[sp.Expr]) -> set[str]:
    """The names of the coordinates that occur, themselves or by their velocities."""
    return {s.base for each in expressions for s in each.free_symbols if isinstance(s, Coordinate)}


def spell_a_place(body: Sequence[Coordinate]) -> bool:
    """Whether the names are x, y and z, but for what they have in common: x1 y1 z1."""
    return len(body) == 3 and _spell_axes(body)


def _spell_axes(body: Sequence[Coordinate]) -> bool:
    """Whether the names are some of x, y and z, but for what they have in common: x1 y1."""
    names = [q.name.lower() for q in body]
    differ = [set(letters) for letters in zip(*names, strict=False) if len(set(letters)) > 1]
    alike = len({len(name) for name in names}) == 1 and len(differ) == 1
    return alike and len(differ[0]) == len(names) and differ[0] <= {"x", "y", "z"}


def reactions_on_carrier(
    J: sp.Matrix,
    gradients: list[list[sp.Expr]],
    groups: tuple[tuple[Coordinate, ...], ...],
    coordinates: tuple[Coordinate, ...],
) -> list[sp.Matrix] | None:
    """The gradients in the Cartesian coordinates of the body that carries the point, in whatever order they stand: two
    or three coordinates of one mass with which the point moves one to one, along directions at right angles to each
    other and to all reactions. None where there are none.

    An angle whose moment of inertia equals the mass fits into some of them too. Names decide, such as x and y, and
    whoever has others is asked, if it makes a difference.
    """
    found: dict[tuple[Coordinate, ...], list[sp.Matrix]] = {}
    unsure: dict[tuple[Coordinate, ...], list[sp.Matrix]] = {}
    for group in groups:
        at = [k for k, q in enumerate(coordinates) if q in group and (any(J[:, k]) or any(row[k] for row in gradients))]
        for body in (some for size in (2, 3) if len(at) <= MOST_NEAR for some in combinations(at, size)):
            parts = [sp.Matrix([row[k] for k in body]) for row in gradients]
            moved = J[:, body]
            if all(any(part) for part in parts) and _at_right_angles(moved, parts):
                (found if _one_to_one(moved) else unsure)[tuple(coordinates[k] for k in body)] = parts
    # Lengths may be one only where the constraint holds.
    found = found or unsure
    named = {body: parts for body, parts in found.items() if _spell_axes(body)}
    chosen = {body: p for body, p in (named or found).items() if not any(set(body) < set(other) for other in named)}
    if not chosen:
        return None
    first, *others = chosen.values()
    if any(not _same_sizes(first, other) for other in others):
        names = " or ".join(f"({', '.join(q.name for q in body)})" for body in chosen)
        raise Unclear(
            f"the size of the reaction cannot be told: coordinates of equal inertia, {names}, may all be the place of "
            f"the body that slides, and an angle may be among them; call a place x, y, z, or {ASK}"
        )
    return first


def _at_right_angles(moved: sp.Matrix, parts: Sequence[sp.Matrix]) -> bool:
    """Whether a point moves so with some coordinates along directions at right angles to each other and to these
    reactions.
    """
    if any(not any(moved.row(k)) for k in range(moved.rows)):
        return False
    lengths = moved * moved.T
    if any(length.is_number and not vanishes(length - 1) for length in lengths.diagonal()):
        return False  # nowhere one to one
    if not all(vanishes(lengths[i, k]) for i, k in combinations(range(lengths.rows), 2)):
        return False
    return all(vanishes(entry) for part in parts for entry in moved * part)


def _one_to_one(moved: sp.Matrix) -> bool:
    """Whether these directions have unit length, as far as that is known: parameters may have any values."""
    for length in (moved * moved.T).diagonal():
        known = length.is_number or any(isinstance(symbol, Coordinate) for symbol in length.free_symbols)
        if known and not vanishes(length - 1):
            return False
    return True


def reactions_on_body(
    J: sp.Matrix, gradients: list[list[sp.Expr]], frames: Frames, coordinates: tuple[Coordinate, ...]
) -> list[sp.Matrix]:
    """The reactions for unit multipliers, as a body feels them: the gradients in its Cartesian coordinates.

    Two bodies that hold each other feel the same. Two tilts of one inertia look like the place of a body, so that the
    body counts that the point moves with, one to one. Without Cartesian coordinates each reaction counts for itself.
    """
    by_coordinate = [dict(zip(coordinates, gradient, strict=True)) for gradient in gradients]
    for crowd in frames.crowds:
        if len({q for gradient in by_coordinate for q in crowd if gradient.get(q, 0) != 0}) > 1:
            names = ", ".join(q.name for q in crowd)
            raise Unclear(
                f"the size of the reaction cannot be told: {names} have one mass and may be several bodies; "
                "give the masses of different bodies different names"
            )
    felt, carriers = [], []
    columns = {q: J.col(k) for k, q in enumerate(coordinates)}
    for body in (*frames.bodies, *frames.crowds):
        parts = [sp.Matrix([gradient.get(q, 0) for q in body]) for gradient in by_coordinate]
        if all(any(part) for part in parts):
            felt.append(parts)
            moved = [columns[q] for q in body if q in columns]
            if all(sp.eye(J.rows).col(k) in moved for k in range(J.rows)):
                carriers.append(parts)
    felt = carriers or felt
    if felt:
        first = felt[0]
        if any(not _same_sizes(first, other) for other in felt[1:]):
            names = " and ".join(f"({', '.join(q.name for q in body)})" for body in frames.bodies)
            raise Unclear(
                "the bodies that the constraint joins feel reactions of different size. Coordinates of equal inertia "
                f"side by side are taken for places of bodies, here {names}; {ASK}, all three of them where some are "
                "angles"
            )
        if not carriers and not any(any(columns[q]) for body in frames.bodies for q in body if q in columns):
            _require_one_size(by_coordinate, first)
        return first
    sizes = [_one_size([entry for entry in gradient if entry != 0]) for gradient in gradients]
    return [sp.Matrix([size if i == k else 0 for i in range(len(sizes))]) for k, size in enumerate(sizes)]


def held_angle(
    inertia: Inertia,
    coordinates: tuple[Coordinate, ...],
    gradients: list[list[sp.Expr]],
    near: tuple[Coordinate, ...],
) -> str:
    """Why reactions on coordinates none of which is a place of a body are no forces, where the inertia says so: m r² of
    an angle changes with r, and the multiplier is a torque. Else empty.
    """
    frames = frames_of(inertia, coordinates)
    places = {q for body in (*frames.bodies, *frames.crowds) for q in body}
    held = [q for k, q in enumerate(near) if any(gradient[k] != 0 for gradient in gradients)]
    for q in held if places.isdisjoint(held) else ():
        mass = mass_of(inertia, coordinates, q)
        if names := sorted(coordinates_in([mass])):
            return (
                f"the size of the reaction cannot be told: {q.name} is no length, for its inertia {mass} changes with "
                f"{', '.join(names)}, so that the multiplier is no force; give the velocity along the normal as one "
                f"more component of slide, or {ASK}"
            )
    return ""


def _require_one_size(gradients: Sequence[Mapping[Coordinate, sp.Expr]], felt: Sequence[sp.Matrix]) -> None:
    """Refuse reactions felt by coordinates with which the point does not move, unless they count the same one by one:
    these may be no place, and two tilts or two slides instead.
    """
    try:
        alone = [sp.Matrix([_one_size([entry for entry in gradient.values() if entry != 0])]) for gradient in gradients]
    except Unclear:  # nor are they slides
        return
    if not _same_sizes(felt, alone):
        names = ", ".join(
            dict.fromkeys(q.name for gradient in gradients for q, entry in gradient.items() if entry != 0)
        )
        raise Unclear(
            f"the size of the reaction cannot be told: the point does not move with {names}, which may be a place or "
            f"angles of equal inertia; {ASK}"
        )


def _one_size(entries: list[sp.Expr]) -> sp.Expr:
    """The size of entries that differ in sign only."""
    if any(entry != entries[0] and sp.expand(entry + entries[0]) != 0 for entry in entries):
        raise Unclear(f"the size of the reaction cannot be told, no coordinates in it are Cartesian; {ASK}")
    return entries[0]


def _same_sizes(one: Sequence[sp.Matrix], other: Sequence[sp.Matrix]) -> bool:
    return all(sp.expand(square(a) - square(b)) == 0 for a, b in zip(one, other, strict=True))
