"""Two directions in the tangent plane of a surface whose normal may point anywhere.

No formula gives such directions for all normals without a jump somewhere. So they are turned along with the normal from
directions that fit it at the start of a leg: with e, e₁, e₂ orthonormal and e the normal there,

    t_i = e_i − (e_i · n) (e + n) / (1 + e · n)

is e_i after the shortest turn from e to n: orthonormal, at right angles to n, smooth until n has turned half around.
The three vectors are data of a leg; long before that point they are chosen anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.model.friction.contact import Contact
from dalembert.model.language.symbols import Coordinate
from dalembert.model.language.symbols import t as time
from dalembert.motion.contacts.modes.mode_data import frame_symbols

# A frame serves until the normal has turned by 120 degrees: e · n = −1/2.
TURNED = sp.Rational(1, 2)


def in_frame(contact: Contact, k: int) -> Contact:
    """The contact with two orthonormal components of sliding in place of three dependent ones."""
    bearing = contact.bearing
    if bearing is None:
        return contact
    e, *others = frame_symbols(k)
    normal = bearing.normal
    slides, forces = [], []
    for own in others:
        share = _dot(own, normal) / (1 + _dot(e, normal))
        t = [x - share * (a + n) for x, a, n in zip(own, e, normal, strict=True)]
        slides.append(_dot(t, bearing.velocity))
        columns = [_dot(t, [force[j] for force in bearing.force]) for j in range(len(bearing.force[0]))]
        forces.append(columns)
    mapped = tuple(
        MappingProxyType({q: x for q, x in zip(bearing.coordinates, column, strict=True) if x != 0})
        for column in forces
    )
    return replace(contact, slide=tuple(slides), force=mapped, bearing=None)


def turning_function(contact: Contact, k: int) -> sp.Expr | None:
    """What falls through zero when the frame of a contact must be chosen anew; None where the normal never turns."""
    if contact.bearing is None or not any(_varies(entry) for entry in contact.bearing.normal):
        return None
    return TURNED + _dot(frame_symbols(k)[0], contact.bearing.normal)


def frame_values(normal: Array) -> list[float]:
    """The nine numbers of a frame that fits a normal (3,)."""
    e = normal / np.linalg.norm(normal)
    axis = np.eye(3)[int(np.argmin(np.abs(e)))]
    first = axis - (axis @ e) * e
    first /= np.linalg.norm(first)
    return [*map(float, e), *map(float, first), *map(float, np.cross(e, first))]


def _dot(a: Sequence[sp.Expr], b: Sequence[sp.Expr]) -> sp.Expr:
    return sp.Add(*(x * y for x, y in zip(a, b, strict=True)))


def _varies(entry: sp.Expr) -> bool:
    return any(isinstance(symbol, Coordinate) or symbol == time for symbol in entry.free_symbols)
