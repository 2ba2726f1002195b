"""Gauss's principle as geometry: a plane of accelerations in the metric of M, where the motion is a projection.

In mass-scaled accelerations w = Lᵀq̈, M = L Lᵀ, the function G_ni = |w − w(a + M⁻¹C)|² has circles as contours, and the
least G on A q̈ = b is at the foot of the perpendicular from a + M⁻¹C, which is what (19) and (20) of Udwadia 2005 say.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply, ModelError
from dalembert.mechanics.principles.shared.euler_operator import accelerations_of
from dalembert.mechanics.solve.fundamental import RANK_TOLERANCE, is_positive
from dalembert.model.constraints import is_linear
from dalembert.model.language.symbols import name_of, t
from dalembert.motion.instant import Instant
from dalembert.results import Result, plain_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.view.figures import Given

# A vector this short against the accelerations at hand has no direction worth drawing.
NO_DIRECTION = 1e-9


@dataclass(frozen=True)
class GaussPicture(Result):
    """A plane through the acceleration q̈. `basis` (n, 2) spans it, orthonormal in the metric of M; points in it are
    given by their two components along the basis. `unconstrained` is a = M⁻¹Q, `free` a + M⁻¹C, `projection` q̈.
    `allowed` (2, k) are orthonormal directions in which the constraints let the acceleration vary in the plane: k is 1
    for a line, 0 for a point, 2 where they leave all of it.

    `residual` is |q̈ − a − M⁻¹C| in the metric of M, √G at the motion. `orthogonality` is the largest cosine between
    that difference and an allowed acceleration, in all n dimensions: zero but for rounding. `off_plane` is the distance
    of a + M⁻¹C from the plane. `violation` gives, where constraints are nonlinear in q̈, their values at points
    (…, 2), shape (…, m).
    """

    name: str
    labels: tuple[str, str]
    basis: Array
    unconstrained: Array
    free: Array
    projection: Array
    allowed: Array
    residual: float
    orthogonality: float
    off_plane: float
    violation: Callable[[Array], Array] | None = field(default=None, repr=False, compare=False)

    @property
    def least(self) -> float:
        """G at the motion."""
        return self.residual**2

    def text(self) -> str:
        return (
            f"{self.name}: least G = {self.least:.10g} (G = (q'' - a)^T M (q'' - a), without 1/2)\n"
            f"  cosine between q'' - a and what the constraints allow: {self.orthogonality:.1e}"
        )

    def to_dict(self) -> dict[str, Any]:
        keys = ("labels", "basis", "unconstrained", "free", "projection", "allowed", "off_plane")
        found = {"name": self.name, "G": self.least, "orthogonality": self.orthogonality}
        return {**found, **{key: plain_values(getattr(self, key)) for key in keys}}

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None, style: str = "light") -> Figure:
        """Draw the plane; write it to `path` where that is given. axes: one panel to draw into."""
        from dalembert.view.plots.gauss import draw

        return draw(self, path, axes, style)

    def gauss(self, points: Array) -> Array:
        """G_ni at points (…, 2) of the plane."""
        return np.asarray(np.sum((np.asarray(points) - self.free) ** 2, axis=-1) + self.off_plane**2)


def gauss_picture(instant: Instant, coordinates: Sequence[object] | None = None) -> GaussPicture:
    """The plane of two coordinates; by default that of both where there are two, else the plane of a + M⁻¹C, q̈ and a
    direction along the constraints: that of the nonideal force, or of the velocity, where there is one.
    """
    system, now = instant.system, instant.solution
    n = len(system.coordinates)
    if n < 2:
        raise DoesNotApply(f"{system.name}: a picture needs two accelerations, the system has one")
    if not is_positive(now.M):
        raise DoesNotApply(f"{system.name}: M is singular here, there is no acceleration without the constraints")
    L = np.asarray(np.linalg.cholesky(now.M), dtype=float)
    scaled = L.T  # q̈ ↦ w
    motion, a = scaled @ now.acceleration, scaled @ now.unconstrained
    free = a + _solve(L, now.C)
    B = _solve(L, now.A.T).T
    allowed, forbidden = _directions(B)
    if coordinates is not None or n == 2:
        plane, labels = _of_coordinates(instant, coordinates or system.coordinates, scaled)
    else:
        along = [_solve(L, now.nonideal), scaled @ instant.v]
        plane, labels = _of_forces(motion - free, along, allowed, forbidden)
    deviation = free - motion
    residual = float(np.linalg.norm(deviation))
    cosine = float(np.max(np.abs(allowed.T @ deviation), initial=0.0) / residual) if residual > 0 else 0.0
    basis = _solve(scaled, plane)
    return GaussPicture(
        name=system.name,
        labels=labels,
        basis=basis,
        unconstrained=plane.T @ a,
        free=plane.T @ free,
        projection=plane.T @ motion,
        allowed=_split(forbidden.T @ plane)[0],
        residual=residual,
        orthogonality=cosine,
        off_plane=float(np.linalg.norm(deviation - plane @ (plane.T @ deviation))),
        violation=_violation(instant, basis, plane.T @ motion),
    )


def _solve(matrix: Array, right: Array) -> Array:
    return np.asarray(np.linalg.solve(matrix, right), dtype=float)


def _directions(B: Array) -> tuple[Array, Array]:
    """Orthonormal bases of B w = 0 and of its complement, for B of any length of rows."""
    length = np.linalg.norm(B, axis=1)
    return _split(B[length > 0] / length[length > 0, None])


def _split(rows: Array) -> tuple[Array, Array]:
    if not len(rows):
        return np.eye(rows.shape[1]), np.zeros((rows.shape[1], 0))
    _, sigma, Vt = np.linalg.svd(rows)
    rank = int(np.count_nonzero(sigma > RANK_TOLERANCE))
    return Vt[rank:].T, Vt[:rank].T


def _of_coordinates(instant: Instant, chosen: Sequence[object], scaled: Array) -> tuple[Array, tuple[str, str]]:
    """The plane of two accelerations; the second axis is made orthogonal to the first where M couples them."""
    names = [q.name for q in instant.system.coordinates]
    wanted = [name_of(item) for item in chosen] if isinstance(chosen, Sequence) else []
    unknown = [name for name in wanted if name not in names]
    if len(wanted) != 2 or len(set(wanted)) != 2 or unknown:
        raise ModelError(instant.system.name, [f"a picture is of two of the coordinates {', '.join(names)}"])
    i, j = (names.index(name) for name in wanted)
    first, second = scaled[:, i], scaled[:, j]
    first = first / np.linalg.norm(first)
    across = second - first * (first @ second)
    coupled = abs(first @ second) > NO_DIRECTION * np.linalg.norm(second)
    symbols = [sp.latex(instant.system.coordinates[k]) for k in (i, j)]
    labels = [rf"$\sqrt{{M_{{{q} {q}}}}}\;\ddot{{{q}}}$" for q in symbols]
    if coupled:
        labels = [rf"along $\ddot{{{symbols[0]}}}$", rf"$\ddot{{{symbols[1]}}}$, orthogonal to it in the metric of $M$"]
    return np.stack([first, across / np.linalg.norm(across)], axis=1), (labels[0], labels[1])


def _of_forces(pull: Array, along: list[Array], allowed: Array, forbidden: Array) -> tuple[Array, tuple[str, str]]:
    """The plane of the constraints' pull and of a direction that they allow."""
    size = max(float(np.linalg.norm(pull)), *(float(np.linalg.norm(v)) for v in along), np.finfo(float).tiny)
    across = [pull, *forbidden.T, *allowed.T[::-1]]
    normal = next(v for v in across if np.linalg.norm(v) > NO_DIRECTION * min(size, 1.0))
    normal = normal / np.linalg.norm(normal)
    within = [allowed @ (allowed.T @ v) for v in along]
    kinds = ["along the nonideal force", "along the velocity", *["along the constraints"] * allowed.shape[1]]
    candidates = list(zip([*within, *allowed.T], kinds, strict=True))
    candidates += [(v, "across the constraints") for v in forbidden.T]
    for direction, kind in candidates:
        tangent = direction - normal * (normal @ direction)
        if np.linalg.norm(tangent) > NO_DIRECTION * max(1.0, float(np.linalg.norm(direction))):
            pulled = "along the constraint force" if normal @ pull > 0 else "across"
            return np.stack([tangent / np.linalg.norm(tangent), normal], axis=1), (
                f"{kind}, mass-scaled",
                f"{pulled}, mass-scaled",
            )
    raise AssertionError("n > 1 dimensions hold two directions")


def _violation(instant: Instant, basis: Array, origin: Array) -> Callable[[Array], Array] | None:
    """Constraints nonlinear in q̈ at points of the plane; None where all are linear."""
    system = instant.system.expanded
    if is_linear([c.expression for c in system.constraints], system.accelerations):
        return None
    arguments = (*system.coordinates, *system.velocities, t, *system.parameter_symbols, *system.accelerations)
    compiled = sp.lambdify(arguments, accelerations_of(system), modules="numpy")
    fixed = (*instant.q, *instant.v, instant.t, *system.parameter_values())

    def at(points: Array) -> Array:
        z = instant.acceleration + (np.asarray(points) - origin) @ basis.T
        values = compiled(*fixed, *np.moveaxis(z, -1, 0))
        return np.stack([np.broadcast_to(value, z.shape[:-1]) for value in values], axis=-1)

    return at
