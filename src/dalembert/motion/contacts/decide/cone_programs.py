"""Cone programmes: forces that satisfy linear equations inside quadratic cones, as deep as possible or as small.

    |f_k| ≤ limit_k      where f_k and limit_k are affine in the unknowns

Solved by Clarabel, an interior point method for second-order cones: the cones themselves, not polygons in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array

# To this, relative to forces of size one, a programme is solved. The best that is left of double precision after the
# normal equations inside: 1e-10 is reached without fail, 1e-12 most times.
SOLVED = 1e-11
REACHED = 1e-8  # worse than this, it counts as not solved
ROUNDING = 1e-15  # entries below this, in problems whose entries are about one, are zero


@dataclass(frozen=True)
class Cone:
    """|F x + f| ≤ L x + l, less a depth times `weight`. F (d, unknowns), f (d,), L (unknowns,), l."""

    F: Array
    f: Array
    L: Array
    l: float
    weight: float = 1.0

    @property
    def size(self) -> int:
        return 1 + self.f.size

    def depth_at_zero(self) -> float:
        """How deep x = 0 lies inside."""
        return (self.l - float(np.linalg.norm(self.f))) / self.weight


@dataclass(frozen=True)
class Deepest:
    """x, the depth (negative where the cones have no point in common), and the dual vector of each cone: at its limit
    it points the way in which what the force holds would set off.
    """

    x: Array
    depth: float
    ways: tuple[Array, ...]


def deepest(cones: Sequence[Cone], unknowns: int, most: float = 1.0) -> Deepest | None:
    """The x that lies deepest inside all cones, at most `most` deep: parts may strain each other without end."""
    rows, right, kinds = _stacked(cones, unknowns, with_depth=True)
    top = np.zeros((1, unknowns + 1))
    top[0, -1] = 1.0
    objective = np.zeros(unknowns + 1)
    objective[-1] = -1.0
    found = _solve(np.zeros((unknowns + 1,) * 2), objective, np.vstack([top, rows]), np.append(most, right), [1], kinds)
    if found is None:
        return None
    x, z = found
    ways, at = [], 1
    for cone in cones:
        ways.append(z[at + 1 : at + cone.size])
        at += cone.size
    return Deepest(x[:-1], float(x[-1]), tuple(ways))


def smallest(cones: Sequence[Cone], unknowns: int, metric: Array, start: Array) -> Array | None:
    """The x inside all cones for which start + metric x is shortest."""
    rows, right, kinds = _stacked(cones, unknowns, with_depth=False)
    found = _solve(metric.T @ metric, metric.T @ start, rows, right, [], kinds)
    return None if found is None else found[0]


def _stacked(cones: Sequence[Cone], unknowns: int, with_depth: bool) -> tuple[Array, Array, list[int]]:
    """Rows G and right sides h with h − G (x, depth) = (limit − weight · depth, f) in the cones."""
    width = unknowns + int(with_depth)
    rows, right = [], []
    for cone in cones:
        head = np.zeros(width)
        head[:unknowns] = -cone.L
        if with_depth:
            head[-1] = cone.weight
        body = np.zeros((cone.f.size, width))
        body[:, :unknowns] = -cone.F
        rows += [head[None, :], body]
        right += [[cone.l], cone.f]
    empty = np.zeros((0, width))
    return np.vstack([empty, *rows]), np.concatenate([np.zeros(0), *right]), [cone.size for cone in cones]


def _solve(
    P: Array, objective: Array, G: Array, h: Array, linear: list[int], kinds: list[int]
) -> tuple[Array, Array] | None:
    """Least ½xᵀPx + objective·x with h − G x in half lines (`linear` many), then in cones. x and the dual vector."""
    import clarabel  # only here: a motion whose forces are determined does without
    from scipy import sparse

    cones = [clarabel.NonnegativeConeT(size) for size in linear]
    cones += [clarabel.SecondOrderConeT(size) if size > 1 else clarabel.NonnegativeConeT(1) for size in kinds]
    upper, rows = sparse.csc_matrix(np.triu(P)), sparse.csc_matrix(np.where(np.abs(G) > ROUNDING, G, 0.0))
    for tolerance in (SOLVED, REACHED):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = REACHED
        h = np.where(np.abs(h) > ROUNDING, h, 0.0)
        solution = clarabel.DefaultSolver(upper, objective, rows, h, cones, settings).solve()
        if str(solution.status) in ("Solved", "AlmostSolved"):
            return np.array(solution.x), np.array(solution.z)
    return None
