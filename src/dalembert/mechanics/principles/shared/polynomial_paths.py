"""Polynomial paths on a short interval about a state, and what is left of the stationarity of their action.

With s = (t − t₀)/h in [−1, 1] and Legendre's polynomials P_k,

    q(s) = q₀ + v₀ h s + Σ c_k s² P_k(s),     λ(s) = Σ λ_k P_k(s),     δq = (1 − s²) P_k(s) e_j,     δλ = P_k(s) e_i

Stationarity of ∫ (L + λφ) dt under these variations, the integrals by Gauss's rule, is a nonlinear system for c and λ.
Its matrix takes second derivatives of L by differences of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.polynomial import legendre
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import SuperLU, splu

from dalembert.arrays import Array
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.solve.fundamental import independent_rows
from dalembert.mechanics.standard_form import diff, lagrangian
from dalembert.model.language.symbols import t

EPS = float(np.finfo(float).eps)
DIFFERENCE = 6e-6  # the cube root of rounding balances truncation and rounding of central differences
# Patterns of signs by which rounding of the equations is sent into the solution; the largest of so few is typical.
PATTERNS = 4


@dataclass(frozen=True)
class Basis:
    """The polynomials at the nodes of Gauss's rule, (nodes, terms), and P_k(0)."""

    s: Array
    weights: Array
    path: Array
    path_rate: Array
    variation: Array
    variation_rate: Array
    P: Array
    centre: Array


def basis_of(terms: int) -> Basis:
    s, weights = legendre.leggauss(terms + 6)
    P: Array = np.asarray(legendre.legvander(s, terms - 1), dtype=np.float64)
    dP = np.stack([legendre.legval(s, legendre.legder(np.eye(terms)[k])) for k in range(terms)], axis=1)
    column = s[:, None]
    return Basis(
        s,
        weights,
        column**2 * P,
        2 * column * P + column**2 * dP,
        (1 - column**2) * P,
        -2 * column * P + (1 - column**2) * dP,
        P,
        legendre.legvander(np.zeros(1), terms - 1)[0],
    )


@dataclass(frozen=True)
class Here:
    """A state with ∂L/∂q + Q, ∂L/∂q̇, and φ, ∂φ/∂q, φ̇ of the independent constraints at it; `weight` is √(∂²L/∂q̇_j²),
    which makes coordinates of any units comparable.
    """

    state: Sample
    pull: Array
    momentum: Array
    phi: Array
    gradient: Array
    rate: Array
    rows: list[int]
    weight: Array

    def length(self, a: Array) -> float:
        """The size of a displacement, velocity or acceleration."""
        return float(np.abs(a * self.weight).max(initial=0.0))

    def strength(self, force: Array) -> float:
        return float(np.abs(force / self.weight).max(initial=0.0))

    @property
    def time_scale(self) -> float:
        """How long velocities or forces take to cross the distance to the origin, or at the origin the forces to make
        the velocities: a first guess, to be improved by trying.
        """
        place, speed, push = self.length(self.state.q), self.length(self.state.v), self.strength(self.pull)
        found = [place / speed if speed else 0.0, float(np.sqrt(place / push)) if push else 0.0]
        return min((time for time in found if 0 < time < np.inf), default=(speed / push if push else 0.0) or 1.0)


@dataclass(frozen=True)
class Polynomials:
    """Coefficients c (terms, n) and λ (terms, m) on an interval of half length h."""

    h: float
    basis: Basis
    c: Array
    lam: Array

    def answer(self, here: Here) -> tuple[Array, Array]:
        """The acceleration and the constraint force in the middle."""
        return 2 / self.h**2 * self.basis.centre @ self.c, (self.basis.centre @ self.lam) @ here.gradient

    @property
    def unknowns(self) -> Array:
        return np.concatenate([self.c.ravel(), self.lam.ravel()])

    def shifted(self, step: Array) -> Polynomials:
        c = step[: self.c.size].reshape(self.c.shape)
        return Polynomials(self.h, self.basis, self.c + c, self.lam + step[self.c.size :].reshape(self.lam.shape))


class Stationarity:
    """The equations for polynomial paths of a system."""

    def __init__(self, sampler: Sampler) -> None:
        system = sampler.system
        self.n, self.m = len(system.coordinates), len(system.constraints)
        L = lagrangian(system)
        phi = [constraint.expression for constraint in system.constraints]
        pulls = [diff(L, q) + system.forces.get(q, sp.S.Zero) for q in system.coordinates]
        momenta = [diff(L, q.d) for q in system.coordinates]
        slopes = [diff(f, q) for f in phi for q in system.coordinates]
        self._energies = _values_along(sampler, [*pulls, *momenta])
        # φ is rounded as its terms are: those of x² − 10⁶ are large where x² − 10⁶ is zero.
        sizes = [sp.Add(*(sp.Abs(term) for term in sp.Add.make_args(f))) for f in phi]
        self._constraints = _values_along(sampler, [*phi, *slopes, *(diff(f, t) for f in phi)])
        self._sizes = _values_along(sampler, sizes)

    def here(self, state: Sample) -> Here:
        q, v, time = state.q[None], state.v[None], np.array([state.t])
        pull, momentum = np.split(self._energies(q, v, time, state.p)[0], 2)
        values = self._constraints(q, v, time, state.p)[0]
        n, m = self.n, self.m
        gradient = values[m : m + m * n].reshape(m, n)
        rows = independent_rows(gradient) if m else []
        rate = gradient @ state.v + values[m + m * n :]
        place, speed = float(np.abs(q).max()), float(np.abs(v).max())
        unit = place / speed if place and speed else 1.0
        by_velocity = _slopes(lambda q, v, time: self._energies(q, v, time, state.p), q, v, unit, time)[1]
        mass = np.abs(np.diagonal(by_velocity[0, n:]))
        # What has no inertia is measured as the others are.
        mass = np.where(mass > 0, mass, np.median(mass[mass > 0]) if mass.any() else 1.0)
        return Here(state, pull, momentum, values[:m][rows], gradient[rows], rate[rows], rows, np.sqrt(mass))

    def _nodes(self, here: Here, path: Polynomials) -> tuple[Array, Array, Array]:
        """q, q̇ and t of a path at the nodes."""
        state, basis = here.state, path.basis
        q = state.q + np.outer(basis.s * path.h, state.v) + basis.path @ path.c
        return q, state.v + basis.path_rate @ path.c / path.h, state.t + path.h * basis.s

    def _gradients(self, here: Here, q: Array, v: Array, time: Array, lam: Array) -> Array:
        """(∂L/∂q + Q + λ ∂φ/∂q, ∂L/∂q̇) at points with multipliers λ (points, m)."""
        found = self._energies(q, v, time, here.state.p)
        if here.rows:
            slope = self._rows(here, q, v, time)[1]
            found[:, : self.n] += np.einsum("tk,tkj->tj", lam, slope)
        return found

    def _rows(self, here: Here, q: Array, v: Array, time: Array) -> tuple[Array, Array]:
        """φ (points, m) and ∂φ/∂q (points, m, n) of the independent constraints."""
        values = self._constraints(q, v, time, here.state.p)
        n, m = self.n, self.m
        return values[:, :m][:, here.rows], values[:, m : m + m * n].reshape(-1, m, n)[:, here.rows]

    def residual(self, here: Here, path: Polynomials) -> Array:
        """What is left of stationarity under every variation: zero on the path sought."""
        basis, n = path.basis, self.n
        q, v, time = self._nodes(here, path)
        values = self._gradients(here, q, v, time, basis.P @ path.lam)
        w = basis.weights[:, None]
        # ∫ δq̇ dt = 0: a constant momentum drops out, exactly if it is taken out.
        momentum = values[:, n:] - here.momentum
        balance = basis.variation.T @ (w * values[:, :n]) + basis.variation_rate.T @ (w * momentum) / path.h
        if not here.rows:
            return balance.ravel()
        # A state may miss the constraints by rounding; the motion through it keeps what they are there.
        phi = self._rows(here, q, v, time)[0] - here.phi - np.outer(basis.s * path.h, here.rate)
        return np.concatenate([balance.ravel(), (basis.P.T @ (w * phi)).ravel()])

    def newton(self, here: Here, path: Polynomials) -> Newton | None:
        """The derivative of the residual with respect to c and λ, factored, with the rounding of the residual."""
        basis, n, m, terms, h = path.basis, self.n, len(here.rows), path.basis.P.shape[1], path.h
        q, v, time = self._nodes(here, path)
        lam = basis.P @ path.lam
        values = self._gradients(here, q, v, time, lam)
        slopes = _slopes(lambda *point: self._gradients(here, *point), q, v, h, time, lam)
        paths = (basis.path, basis.path_rate / h)
        tests = (basis.variation, basis.variation_rate / h)
        parts = np.zeros((terms, n, terms, n))
        for half, test in enumerate(tests):
            for slope, shape in zip(slopes, paths, strict=True):
                parts += _gram(basis.weights, test, slope[:, half * n : (half + 1) * n], shape)
        matrix = parts.reshape(terms * n, terms * n)
        # Rounding of q and q̇ at the nodes reaches the gradients by their slopes, and they are rounded themselves.
        rough = np.abs(values)
        for slope, place in zip(slopes, (q, v), strict=True):
            rough = rough + np.einsum("tij,tj->ti", np.abs(slope), np.abs(place))
        noise = np.hypot(_spread(basis, tests[0], rough[:, :n]), _spread(basis, tests[1], rough[:, n:]))
        if m:
            slope = self._rows(here, q, v, time)[1]
            push = _gram(basis.weights, basis.variation, slope.transpose(0, 2, 1), basis.P)
            hold = _gram(basis.weights, basis.P, slope, basis.path).reshape(terms * m, terms * n)
            corner = np.zeros((terms * m, terms * m))
            matrix = np.block([[matrix, push.reshape(terms * n, terms * m)], [hold, corner]])
            rough = self._sizes(q, v, time, here.state.p)[:, here.rows]
            rough = rough + np.einsum("tij,tj->ti", np.abs(slope), np.abs(q))
            noise = np.concatenate([noise, _spread(basis, basis.P, rough)])
        return Newton.of(matrix, noise)


@dataclass(frozen=True)
class Newton:
    """A factored matrix. Units of coordinates and constraints differ: rows and columns are made comparable first.

    noise (unknowns, patterns): what rounding of the equations makes of the unknowns.
    """

    factors: SuperLU
    across: Array
    down: Array
    noise: Array

    @staticmethod
    def of(matrix: Array, rounding: Array) -> Newton | None:
        if not (np.isfinite(matrix).all() and np.isfinite(rounding).all()):
            return None
        across = _lengths(np.abs(matrix).max(axis=1))
        down = _lengths(np.abs(matrix / across[:, None]).max(axis=0))
        try:
            # Most coordinates do not know of each other; and dense factors make threads wait for each other.
            factors = splu(csc_matrix(matrix / across[:, None] / down))
        except RuntimeError:  # singular
            return None
        signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(rounding.size, PATTERNS))
        found = Newton(factors, across, down, np.zeros(0))
        return Newton(factors, across, down, found.step(rounding[:, None] * signs))

    def step(self, residual: Array) -> Array:
        """The change of the unknowns for residuals (unknowns,) or (unknowns, several)."""
        across, down = (self.across, self.down) if residual.ndim == 1 else (self.across[:, None], self.down[:, None])
        return np.asarray(self.factors.solve(residual / across)) / down

    def size(self, x: Array) -> float:
        return float(np.abs(x.T * self.down).max(initial=0.0))


def _lengths(sizes: Array) -> Array:
    return np.where(sizes > 0, sizes, 1.0)


def _spread(basis: Basis, test: Array, rough: Array) -> Array:
    """Independent rounding of values (nodes, k) of the sizes `rough`, integrated against tests (nodes, terms)."""
    return np.asarray(EPS * np.sqrt(test.T**2 @ (basis.weights[:, None] * rough) ** 2)).ravel()


def _gram(weights: Array, test: Array, kernel: Array, shape: Array) -> Array:
    """Σ w test_k kernel_ij shape_l, (terms, i, terms, j). Most entries of kernels are zero in systems of many parts."""
    rows, columns = np.nonzero(np.any(kernel != 0, axis=0))
    inner = kernel[:, rows, columns, None] * (weights[:, None] * shape)[:, None]
    found = np.zeros((test.shape[1], kernel.shape[1], shape.shape[1], kernel.shape[2]))
    found[:, rows, :, columns] = np.tensordot(test, inner, axes=(0, 0)).transpose(1, 0, 2)
    return found


def _values_along(sampler: Sampler, expressions: list[sp.Expr]) -> Callable[[Array, Array, Array, Array], Array]:
    """Expressions at many points of a path at once: (q, v, t, p) → (points, expressions)."""
    compiled = sp.lambdify(list(sampler.arguments), expressions, modules="numpy", cse=True)

    def evaluate(q: Array, v: Array, time: Array, p: Array) -> Array:
        found = np.empty((time.size, len(expressions)))
        with np.errstate(all="ignore"):
            for k, value in enumerate(compiled(*q.T, *v.T, time, *p)):
                found[:, k] = np.nan if isinstance(value, complex) else value
        return found

    return evaluate


def _slopes(gradients: Callable[..., Array], q: Array, v: Array, h: float, *more: Array) -> tuple[Array, Array]:
    """∂/∂q and ∂/∂q̇ of gradients(q, v, *more) at every point, (points, 2n, n), by central differences: all of them in
    one evaluation.
    """
    points, n = q.shape
    reach = np.maximum(np.abs(q).max(axis=0), h * np.abs(v).max(axis=0))
    reach = np.where(reach > 0, reach, max(float(reach.max()), h))
    steps = DIFFERENCE * np.concatenate([reach, reach / h])
    state = np.hstack([q, v])
    moves = np.concatenate([np.diag(steps), -np.diag(steps)])
    moved = (state[None] + moves[:, None]).reshape(-1, 2 * n)
    values = gradients(moved[:, :n], moved[:, n:], *(np.concatenate([extra] * (4 * n)) for extra in more))
    ends = values.reshape(2, 2 * n, points, -1)
    found = ((ends[0] - ends[1]) / (2 * steps[:, None, None])).transpose(1, 2, 0)
    return found[:, :, :n], found[:, :, n:]
