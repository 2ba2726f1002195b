"""Forces as arrows: at places that coordinates move as Cartesian ones do, so that generalized forces are forces there.

If the columns ∂r/∂q_i of a place r(q, t) are orthonormal, a force F at it does the virtual work F·∂r/∂q_i δq_i, so that
Q_i are its components along them: F = Σ Q_i ∂r/∂q_i.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.drawings.shapes import FORCES, Arrow, Box, Disk, Mesh, Point, Shape, Sphere
from dalembert.model.language.symbols import Coordinate
from dalembert.model.system import System
from dalembert.view.scene.build import head, single
from dalembert.view.scene.frames import Frames
from dalembert.view.scene.values import Values

# How far columns may be from orthonormal: rounding of what is exact.
ORTHONORMAL = 1e-9
# The length of a large force, as a share of the drawing: one that is exceeded for a tenth of the time only.
LARGE, SHARE = 90, 0.28
# Of the largest force, what is too small to be drawn at all.
NONE = 1e-9
MOST_BODIES = 12  # with arrows that nobody asked for


@dataclass(frozen=True)
class Anchor:
    """A place that coordinates move, and its derivatives by them, one column each."""

    place: tuple[sp.Expr, ...]
    of: tuple[Coordinate, ...]
    columns: tuple[tuple[sp.Expr, ...], ...]
    shape: Shape

    def expressions(self) -> list[sp.Expr]:
        return [*self.place, *(entry for column in self.columns for entry in column)]

    def directions(self, values: Values) -> Array | None:
        """(F, k, 3), a row for each coordinate; None where they are not orthonormal, or turn as angles' do."""
        if any(not entry.free_symbols.isdisjoint(self.of) for column in self.columns for entry in column):
            return None
        J = np.stack([values.rows(column) for column in self.columns], axis=1)
        inner = np.einsum("fik,fjk->fij", J, J)
        return J if np.all(np.abs(inner - np.eye(len(self.of))) < ORTHONORMAL) else None


def anchor_of(shape: Shape, place: Sequence[sp.Expr], system: System, of: Iterable[str] | None = None) -> Anchor | None:
    """None where the place depends on no coordinate, or on more than make a point."""
    expand = system.defined.expand if system.definitions else (lambda expression: expression)
    plain = tuple(expand(entry) for entry in place)
    used = {symbol for entry in plain for symbol in entry.free_symbols}
    chosen = tuple(q for q in system.coordinates if (q in used if of is None else q.name in of))
    if not 1 <= len(chosen) <= 3:
        return None
    columns = tuple(tuple(sp.diff(entry, q) for entry in plain) for q in chosen)
    return Anchor(plain, chosen, columns, shape)


def anchors_of(shapes: Iterable[Shape], system: System) -> list[Anchor]:
    """Shapes of a drawing that may be bodies on which forces act."""
    found = []
    for shape in shapes:
        if isinstance(shape, (Point, Sphere, Disk, Box, Mesh)):
            place = shape.center if isinstance(shape, (Sphere, Disk, Box)) else shape.at
            anchor = None if place is None else anchor_of(shape, place, system)
            if anchor is not None:
                found.append(anchor)
    return found


def bodies_among(anchors: Iterable[Anchor], values: Values) -> list[Anchor]:
    """Those whose coordinates are Cartesian, each coordinate once: three say more than two of them."""
    taken: set[Coordinate] = set()
    found = []
    for anchor in sorted(anchors, key=lambda item: -len(item.of)):
        if taken.isdisjoint(anchor.of) and anchor.directions(values) is not None:
            found.append(anchor)
            taken |= set(anchor.of)
    return found


def own_anchors(shapes: Iterable[Shape], system: System) -> dict[int, Anchor]:
    """Those of arrows for forces that the motion has, by the place of the arrow in the drawing."""
    found = {}
    for k, shape in enumerate(shapes):
        if isinstance(shape, Arrow) and shape.force is not None and shape.vector is None:
            anchor = anchor_of(shape, shape.at, system, shape.of)
            if anchor is None:
                raise ModelError(
                    system.name,
                    [f"draw: arrow {k + 1}: its place does not depend on 1 to 3 coordinates; name them: of=('x', 'y')"],
                )
            found[k] = anchor
    return found


def force_at(anchor: Anchor, kind: str, frames: Frames, values: Values) -> Array | None:
    """F (F, 3) of the generalized forces of a kind; None where they are no components of a force."""
    J = anchor.directions(values)
    if J is None:
        return None
    numbers = [frames.system.coordinates.index(q) for q in anchor.of]
    return np.asarray(np.einsum("fk,fkd->fd", getattr(frames, kind)[:, numbers], J))


def automatic_arrows(anchors: Iterable[Anchor], frames: Frames, values: Values) -> list[dict[str, Any]]:
    """Arrows of all three kinds at bodies that have none drawn; none where there are so many that nobody could tell
    them apart.
    """
    found: list[dict[str, Any]] = []
    given = list(anchors)
    for anchor in given if len(given) <= MOST_BODIES else ():
        for kind in FORCES:
            force = force_at(anchor, kind, frames, values)
            if force is not None and np.all(np.isfinite(force)):
                found.append(
                    {**head("arrow", role=kind), "position": single(values.rows(anchor.place)), "vector": force}
                )
    return found


def scale_forces(arrows: Iterable[Mapping[str, Any]], size: float) -> tuple[list[dict[str, Any]], float | None]:
    """The arrows of forces with one scale for all, and that scale: length per force."""
    given = [dict(arrow) for arrow in arrows]
    large = [float(np.percentile(np.linalg.norm(arrow["vector"], axis=1), LARGE)) for arrow in given]
    most = max((float(np.abs(arrow["vector"]).max()) for arrow in given), default=0.0)
    reference = max(large, default=0.0) or most
    if not reference > 0:
        return [], None
    scale = SHARE * size / reference
    kept = [arrow for arrow in given if np.abs(arrow["vector"]).max() > NONE * most]
    return [{**arrow, "vector": single(arrow["vector"] * scale)} for arrow in kept], scale
