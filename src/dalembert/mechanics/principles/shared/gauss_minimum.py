"""The least of G = (Mz − F)ᵀM⁻¹(Mz − F) over all z that constraints allow: by least squares where they are linear, by a
search from many places where they are not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp
from scipy.linalg import LinAlgError, cholesky, solve_triangular
from scipy.linalg.lapack import dgglse
from scipy.optimize import minimize

from dalembert.arrays import Array
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.principles.shared.scaled_constraints import (
    column_scale,
    independent,
    require_met,
    solve_refined,
    unit_rows,
)
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff

# Scaled to a unit diagonal, a mass matrix with a pivot below this counts as singular. Adding |A z|² is right for a
# regular one too, so the number decides only which of two correct ways is taken.
SINGULAR = 1e-7
UNDETERMINED = "M is singular and the constraints do not determine the acceleration"
# Places from which a minimum on nonlinear constraints is searched: the free acceleration, and others as far from it as
# it is large, a third and three times as far.
STARTS = 24
SPREADS = (1.0, 1 / 3, 3.0)
# A search ends within this of the constraints, relative, before Newton's method takes it to rounding; two minima closer
# than this are one.
FOUND = 1e-6


def least_deviation(M: Array, force: Array, A: Array, b: Array) -> Array:
    """The z with A z = b for which (Mz − force)ᵀM⁻¹(Mz − force) is least."""
    scale = column_scale(M, A)
    M = M * np.outer(scale, scale)
    rows, right = unit_rows(A * scale, b)
    kept = independent(rows)
    L = _factor(M, rows[kept])

    def minimum(force: Array, right: Array) -> Array:
        if not kept:
            return np.asarray(solve_triangular(L.T, solve_triangular(L, force, lower=True)))
        # A force along the constraints changes G by a constant where A y = b. Without it G is not a small difference
        # of large numbers where a coordinate has little mass.
        force = force - rows[kept].T @ np.linalg.lstsq(rows[kept].T, force, rcond=None)[0]
        target = solve_triangular(L, force, lower=True)
        *_, y, info = dgglse(L.T, rows[kept], target, right[kept])
        if info != 0:
            raise NotHere(UNDETERMINED)
        return np.asarray(y)

    y = solve_refined(minimum, M, scale * force, rows, right)
    require_met(rows, right, y)
    return np.asarray(scale * y)


def _factor(M: Array, A: Array) -> Array:
    """L with G = |Lᵀy − L⁻¹force|² but for a part that is the same wherever A y = b."""
    for square in (M, M + A.T @ A):
        try:
            L = cholesky(square, lower=True)
        except LinAlgError:
            continue
        if np.min(np.diag(L)) > SINGULAR:
            return np.asarray(L)
    raise NotHere(UNDETERMINED)


@dataclass(frozen=True)
class Search:
    """Constraints h(q̈) = 0, not all linear, with their slopes and bends as functions of a state and of q̈."""

    n: int
    m: int
    rows: Callable[..., Array]
    bends: Callable[..., Array]

    @staticmethod
    def of(sampler: Sampler, h: list[sp.Expr]) -> Search:
        accelerations = sampler.system.accelerations
        slopes = [diff(entry, a) for entry in h for a in accelerations]
        bends = [diff(slope, a) for slope in slopes for a in accelerations]
        rows = sampler.function([*h, *slopes], accelerations)
        return Search(len(accelerations), len(h), rows, sampler.function(bends, accelerations))

    def lowest(self, state: Sample, M: Array, force: Array) -> Array:
        """The acceleration of least G on the constraints."""
        scale = column_scale(M, np.zeros((0, self.n)))
        H, f = M * np.outer(scale, scale), scale * force
        free = np.asarray(np.linalg.lstsq(H, f, rcond=None)[0], dtype=float)
        size = float(np.linalg.norm(free)) or 1.0
        draw = np.random.default_rng(0)  # the same starts each time
        starts = [free] + [free + size * SPREADS[k % 3] * draw.normal(size=self.n) for k in range(1, STARTS)]
        weights, kept = self._measure(state, scale, starts[1])

        def constraint(y: Array) -> Array:
            return weights * self.rows(state, *(scale * y))[: self.m]

        def slope(y: Array) -> Array:
            return weights[:, None] * self.rows(state, *(scale * y))[self.m :].reshape(self.m, self.n) * scale

        def bend(y: Array) -> Array:
            values = self.bends(state, *(scale * y)).reshape(self.m, self.n, self.n)
            return weights[:, None, None] * values * np.outer(scale, scale)

        minima: list[tuple[float, Array]] = []
        for start in starts:
            found = minimize(
                lambda y: (y @ H @ y / 2 - f @ y) / size**2,
                start,
                jac=lambda y: (H @ y - f) / size**2,
                constraints=[{"type": "eq", "fun": lambda y: constraint(y)[kept], "jac": lambda y: slope(y)[kept]}],
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 200},
            ).x
            reach = max(size, float(np.linalg.norm(found)))
            if not np.max(np.abs(constraint(found))) <= FOUND * reach:
                continue
            y = _polish(found, H, f, constraint, slope, bend)
            if np.max(np.abs(constraint(y))) <= 1e-10 * reach and np.linalg.norm(y - found) <= 1e-3 * reach:
                minima.append((float(y @ H @ y - 2 * f @ y), y))
        if not minima:
            raise NotHere("no acceleration that satisfies the constraints was found")
        lowest, y = min(minima, key=lambda pair: pair[0])
        reach = max(size, float(np.linalg.norm(y)))
        if any(G - lowest <= 1e-9 * reach**2 and np.linalg.norm(z - y) > FOUND * reach for G, z in minima):
            raise NotHere("G is least for several accelerations at once")
        return np.asarray(scale * y)

    def _measure(self, state: Sample, scale: Array, y: Array) -> tuple[Array, list[int]]:
        """Factors that make h a distance from h = 0, about, and the rows that are independent at a generic place: the
        search cannot do with others.
        """
        slopes = self.rows(state, *(scale * y))[self.m :].reshape(self.m, self.n) * scale
        length = np.linalg.norm(slopes, axis=1)
        weights = 1 / np.where(np.isfinite(length) & (length > 0), length, 1.0)
        return weights, independent(slopes * weights[:, None])


def _polish(
    y: Array,
    H: Array,
    f: Array,
    constraint: Callable[[Array], Array],
    slope: Callable[[Array], Array],
    bend: Callable[[Array], Array],
) -> Array:
    """Newton's method on the conditions of a minimum, until its steps are rounding."""
    n = y.size
    lam = np.linalg.lstsq(slope(y).T, H @ y - f, rcond=None)[0]
    for _ in range(12):
        A = slope(y)
        K = np.block([[H - np.einsum("k,kij->ij", lam, bend(y)), -A.T], [A, np.zeros((len(A), len(A)))]])
        step = np.linalg.lstsq(K, -np.concatenate([H @ y - f - A.T @ lam, constraint(y)]), rcond=1e-12)[0]
        y, lam = y + step[:n], lam + step[n:]
        if np.linalg.norm(step[:n]) <= 1e-15 * np.linalg.norm(y):
            break
    return np.asarray(y)
