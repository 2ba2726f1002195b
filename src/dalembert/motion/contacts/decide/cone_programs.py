"""Cone programmes: forces that satisfy linear equations inside quadratic cones, as deep as possible or as small.

    |f_k| ≤ limit_k,   E x = e      where f_k and limit_k are affine in the unknowns x

Solved by Clarabel, an interior point method for second-order cones: the cones themselves, not polygons in their place.
Each contact is joined to few others, so that the equations are sparse, and stay so where they are kept as equations: in
unknowns that satisfy them by themselves, a basis of what is left, everything would be joined to everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

# To this, relative to forces of size one, a programme is solved. The best that is left of double precision after the
# normal equations inside: 1e-10 is reached without fail, 1e-12 most times.
SOLVED = 1e-11
REACHED = 1e-8  # worse than this, it counts as not solved
ROUNDING = 1e-15  # entries below this, in problems whose entries are about one, are zero
# Up to so many entries, dense algebra is done before a sparse one has begun.
FEW = 4096
# The share by which a proximal pass is off in a direction of singular value one, and how many passes there are: enough
# for singular values down to 1e-3, which a chain of a thousand contacts has.
PROXIMAL, PASSES = 1e-9, 6


@dataclass(frozen=True)
class Cone:
    """|F x + f| ≤ L x + l, less a depth times `weight`. F (d, unknowns), f (d,), L (unknowns,), l."""

    F: Array
    f: Array
    L: Array
    l: float
    weight: float = 1.0


@dataclass(frozen=True)
class Deepest:
    """x, the depth (negative where the cones have no point in common), and the dual vector of each cone: at its limit
    it points the way in which what the force holds would set off.
    """

    x: Array
    depth: float
    ways: tuple[Array, ...]


@dataclass(frozen=True)
class Entries:
    """A sparse matrix by its entries. SciPy's own take longer to put together than a small programme to solve."""

    rows: NDArray[np.int_]
    columns: NDArray[np.int_]
    values: Array
    shape: tuple[int, int]

    @staticmethod
    def of(dense: Array) -> Entries:
        rows, columns = np.nonzero(dense)
        return Entries(rows, columns, dense[rows, columns], (dense.shape[0], dense.shape[1]))

    def over(self, other: Entries) -> Entries:
        """This matrix, and the other below it."""
        return Entries(
            np.append(self.rows, other.rows + self.shape[0]),
            np.append(self.columns, other.columns),
            np.append(self.values, other.values),
            (self.shape[0] + other.shape[0], self.shape[1]),
        )

    def __matmul__(self, x: Array) -> Array:
        sums = np.bincount(self.rows, self.values * x[self.columns], minlength=self.shape[0])
        return np.asarray(sums, dtype=np.float64)

    def dense(self) -> Array:
        made = np.zeros(self.shape)
        made[self.rows, self.columns] = self.values
        return made

    def compressed(self) -> csc_matrix:
        """By columns, without what is rounding."""
        from scipy.sparse import csc_matrix

        kept = np.flatnonzero(np.abs(self.values) > ROUNDING)
        kept = kept[np.lexsort((self.rows[kept], self.columns[kept]))]
        starts = self.columns[kept].searchsorted(np.arange(self.shape[1] + 1))
        return csc_matrix((self.values[kept], self.rows[kept], starts), shape=self.shape)


@dataclass(frozen=True)
class Programme:
    """h − G x in cones of these sizes, one after the other, each a limit and a vector; and E x = e. A depth takes its
    weight times itself off the limit of each cone. G (Σ sizes, unknowns), E (equations, unknowns).
    """

    G: Entries
    h: Array
    sizes: Sequence[int]
    weights: Array
    E: Entries
    e: Array

    def deepest(self, most: float = 1.0) -> Deepest | None:
        """The x that lies deepest inside all cones, at most `most` deep: parts may strain each other without end."""
        equations, unknowns = self.E.shape
        starts = self._starts()
        # The depth is one unknown more, with a bound before the cones and a part in the limit of each.
        top, depth = equations + 1, np.full(1 + starts.size, unknowns)
        rows = Entries(
            np.concatenate([self.E.rows, self.G.rows + top, [equations], starts + top]),
            np.concatenate([self.E.columns, self.G.columns, depth]),
            np.concatenate([self.E.values, self.G.values, [1.0], self.weights]),
            (top + self.h.size, unknowns + 1),
        )
        right = np.concatenate([self.e, [most], self.h])
        objective = np.zeros(unknowns + 1)
        objective[-1] = -1.0
        found = _solve(False, objective, rows, right, equations, [1, *self.sizes])
        if found is None:
            return None
        x, z = found
        ways = [z[a + 1 : a + size] for a, size in zip((starts + top).tolist(), self.sizes, strict=True)]
        return Deepest(x[:-1], float(x[-1]), tuple(ways))

    def shortest_if_inside(self) -> Array | None:
        """The shortest x that satisfies the equations, if it lies inside all cones: no programme need be solved."""
        alone = self._shortest()
        return alone if self._is_inside(alone) else None

    def smallest(self) -> Array | None:
        """The shortest x inside all cones; None where there is none."""
        alone = self.shortest_if_inside()
        if alone is not None:
            return alone
        equations, unknowns = self.E.shape
        right = np.concatenate([self.e, self.h])
        found = _solve(True, np.zeros(unknowns), self.E.over(self.G), right, equations, list(self.sizes))
        return None if found is None else found[0]

    def _starts(self) -> NDArray[np.int_]:
        """Where the limits of the cones stand."""
        return np.cumsum([0, *self.sizes])[:-1]

    def _shortest(self) -> Array:
        """The shortest x that satisfies the equations, some of which may follow from the others: by passes of a
        proximal iteration, x += Eᵀ (E Eᵀ + ε)⁻¹ (e − E x).
        """
        equations, unknowns = self.E.shape
        if equations * unknowns <= FEW:
            return np.asarray(np.linalg.lstsq(self.E.dense(), self.e, rcond=1e-12)[0])
        from scipy import sparse
        from scipy.sparse.linalg import splu

        E = self.E.compressed()
        factors = splu((E @ E.T + PROXIMAL * sparse.identity(equations)).tocsc())
        x = np.zeros(unknowns)
        for _ in range(PASSES):
            x += E.T @ factors.solve(self.e - E @ x)
        return x

    def _is_inside(self, x: Array) -> bool:
        """Whether x satisfies the equations and lies inside all cones, but for rounding."""
        if float(np.abs(self.E @ x - self.e).max(initial=0.0)) > SOLVED:
            return False
        return bool((self._depths(x) >= -ROUNDING).all())

    def depth_at(self, x: Array, most: float = 1.0) -> float:
        """How deep x lies inside all cones, at most `most`: as `deepest`, where the equations leave no other x."""
        return min(float((self._depths(x) / self.weights).min(initial=most)), most)

    def _depths(self, x: Array) -> Array:
        """How deep x lies inside each cone."""
        inside, starts = self.h - self.G @ x, self._starts()
        squares = np.add.reduceat(inside**2, starts) - inside[starts] ** 2
        return np.asarray(inside[starts] - np.sqrt(np.maximum(squares, 0.0)))


def deepest(cones: Sequence[Cone], unknowns: int, most: float = 1.0) -> Deepest | None:
    """The x that lies deepest inside all cones, without equations."""
    rows = [np.vstack([cone.L[None, :], cone.F]) for cone in cones]
    G = -np.vstack([np.zeros((0, unknowns)), *rows])
    h = np.concatenate([np.zeros(0), *(np.append(cone.l, cone.f) for cone in cones)])
    none = Entries.of(np.zeros((0, unknowns)))
    weights = np.array([cone.weight for cone in cones])
    sizes = [1 + cone.f.size for cone in cones]
    return Programme(Entries.of(G), h, sizes, weights, none, np.zeros(0)).deepest(most)


def _solve(
    short: bool, objective: Array, rows: Entries, h: Array, equations: int, sizes: Sequence[int]
) -> tuple[Array, Array] | None:
    """Least objective·x, plus ½xᵀx if it is to be short, with h − G x zero at first (`equations` many), then in cones.
    x and the dual vector.
    """
    import clarabel  # only here: a motion whose forces are determined does without

    cones = [clarabel.ZeroConeT(equations)] if equations else []
    cones += [clarabel.SecondOrderConeT(size) if size > 1 else clarabel.NonnegativeConeT(1) for size in sizes]
    unknowns, places = rows.shape[1], np.arange(rows.shape[1])
    P = Entries(places, places, np.full(unknowns, float(short)), (unknowns, unknowns)).compressed()
    G = rows.compressed()
    h = np.where(np.abs(h) > ROUNDING, h, 0.0)
    for tolerance in (SOLVED, REACHED):
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
        settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = settings.reduced_tol_feas = REACHED
        solution = clarabel.DefaultSolver(P, objective, G, h, cones, settings).solve()
        if str(solution.status) in ("Solved", "AlmostSolved"):
            return np.array(solution.x), np.array(solution.z)
        if str(solution.status) == "PrimalInfeasible":
            break
    return None
