"""The path of stationary action through a state, among polynomials on a short interval about it.

With s = (t − t₀)/h in [−1, 1] and Legendre's polynomials P_k,

    q(s) = q₀ + v₀ h s + Σ c_k s² P_k(s),     λ(s) = Σ λ_k P_k(s),     δq = (1 − s²) P_k(s) e_j,     δλ = P_k(s) e_i

Stationarity of ∫ (L + λφ) dt under these variations, the integrals by Gauss's rule, is a nonlinear system for c and λ.
Newton's method solves it with the second derivatives of L by differences of the first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import sympy as sp
from numpy.polynomial import legendre
from scipy.linalg import LinAlgError, lu_factor, lu_solve

from dalembert.errors import DalembertError
from dalembert.mechanics.fundamental import independent_rows
from dalembert.mechanics.sample import Array, Sampler, State
from dalembert.mechanics.standard_form import diff, lagrangian
from dalembert.model.symbols import t

# Terms of the paths. The error of a path falls by about h^TERMS; two lengths of the series tell how far it has fallen.
TERMS, MORE_TERMS = 9, 12
# Half lengths of the interval tried: first shorter ones by SHRINK each, from a share of the first guess of the time
# scale, then longer ones. The first at which both series agree to GOOD is taken, else the best, if they agree to FAIR
# there. Rounding, about 1e-16 v/(h a), makes short intervals worse again: there the search turns back.
FIRST, SHRINK, SHORTER, LONGER = 0.25, 2.5, 25, 6
GOOD, FAIR = 1e-11, 1e-10
# Differences of first derivatives give Newton's matrix to about 1e-9. It is kept while each step is shorter than the
# last by SLOW; steps that no longer shorten, below SETTLED, are rounding.
STEPS, SLOW, SETTLED, ROUNDING, DIVERGES = 20, 0.05, 1e-9, 1e-15, 3
DIFFERENCE = 6e-6  # the cube root of rounding balances truncation and rounding of central differences


class NoStationaryPath(DalembertError):
    """No interval was found on which polynomials resolve the path."""


@dataclass(frozen=True)
class _Basis:
    """The polynomials at the nodes of Gauss's rule, (nodes, terms), and P_k(0)."""

    s: Array
    weights: Array
    path: Array
    path_rate: Array
    variation: Array
    variation_rate: Array
    P: Array
    centre: Array


def _basis(terms: int) -> _Basis:
    s, weights = legendre.leggauss(terms + 6)
    P: Array = np.asarray(legendre.legvander(s, terms - 1), dtype=np.float64)
    dP = np.stack([legendre.legval(s, legendre.legder(np.eye(terms)[k])) for k in range(terms)], axis=1)
    column = s[:, None]
    return _Basis(
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
class _Here:
    """A state with ∂L/∂q + Q, ∂L/∂q̇, and φ, ∂φ/∂q, φ̇ of the independent constraints at it."""

    state: State
    pull: Array
    momentum: Array
    phi: Array
    gradient: Array
    rate: Array
    rows: list[int]

    @property
    def time_scale(self) -> float:
        """How long the forces take to make the momenta, or the velocities the places: a first guess, to be improved by
        trying.
        """
        found = []
        for above, below in ((self.momentum, self.pull), (self.state.q, self.state.v)):
            known = (above != 0) & (below != 0)
            found += [float(np.median(np.abs(above[known] / below[known])))] if known.any() else []
        return min(found, default=1.0)


@dataclass(frozen=True)
class _Path:
    """Coefficients c (terms, n) and λ (terms, m) on an interval of half length h."""

    h: float
    basis: _Basis
    c: Array
    lam: Array

    def answer(self, here: _Here) -> tuple[Array, Array]:
        """The acceleration and the constraint force in the middle."""
        return 2 / self.h**2 * self.basis.centre @ self.c, (self.basis.centre @ self.lam) @ here.gradient


class StationaryPath:
    """Paths of stationary action of a system."""

    def __init__(self, sampler: Sampler) -> None:
        system = sampler.system
        self.n, self.m = len(system.coordinates), len(system.constraints)
        L = lagrangian(system)
        phi = [constraint.expression for constraint in system.constraints]
        pulls = [diff(L, q) + system.forces.get(q, sp.S.Zero) for q in system.coordinates]
        momenta = [diff(L, q.d) for q in system.coordinates]
        slopes = [diff(f, q) for f in phi for q in system.coordinates]
        self._energies = _along(sampler, [*pulls, *momenta])
        self._constraints = _along(sampler, [*phi, *slopes, *(diff(f, t) for f in phi)])
        self._bases = (_basis(TERMS), _basis(MORE_TERMS))

    def at(self, state: State) -> tuple[Array, Array]:
        """The acceleration, and the force of the constraints λ ∂φ/∂q, at a state."""
        here = self._here(state)
        best, found = np.inf, None
        for way, most in ((1 / SHRINK, SHORTER), (SHRINK, LONGER)):
            for k in range(most):
                h = FIRST * here.time_scale * way ** (k if way < 1 else k + 1)
                short = self._solve(here, self._bases[0], h, None)
                long = None if short is None else self._solve(here, self._bases[1], h, short)
                if short is None or long is None:
                    if found is not None:
                        break  # beyond the lengths that polynomials resolve
                    continue
                answers = short.answer(here), long.answer(here)
                # A reaction may be small by accident; what it balances tells how well it can be known.
                sizes = (0.0, float(np.abs(here.pull).max()))
                apart = max(_apart(a, b, least) for a, b, least in zip(*answers, sizes, strict=True))
                if apart < best:
                    best, found = apart, answers[1]
                if apart <= GOOD:
                    return answers[1]
                if apart > 30 * best:
                    break
        if found is None or best > FAIR:
            raise NoStationaryPath("no polynomial path of stationary action was found through this state")
        return found

    def _here(self, state: State) -> _Here:
        point = (state.q[None], state.v[None], np.array([state.t]), state.p)
        pull, momentum = np.split(self._energies(*point)[0], 2)
        values = self._constraints(*point)[0]
        n, m = self.n, self.m
        gradient = values[m : m + m * n].reshape(m, n)
        rows = independent_rows(gradient) if m else []
        rate = gradient @ state.v + values[m + m * n :]
        return _Here(state, pull, momentum, values[:m][rows], gradient[rows], rate[rows], rows)

    def _solve(self, here: _Here, basis: _Basis, h: float, guess: _Path | None) -> _Path | None:
        """Newton's method from the straight path, or from a guess; None where it does not converge."""
        n, m, terms = self.n, len(here.rows), basis.P.shape[1]
        c, lam = np.zeros((terms, n)), np.zeros((terms, m))
        if guess is not None:
            c[: len(guess.c)], lam[: len(guess.lam)] = guess.c, guess.lam
        newton, last, growing = None, np.inf, 0
        for _ in range(STEPS):
            path = _Path(h, basis, c, lam)
            with np.errstate(all="ignore"):
                residual = self._residual(here, path)
                newton = newton or _Newton.of(self._matrix(here, path))
            if newton is None or not np.isfinite(residual).all():
                return None
            step = newton.step(residual)
            c, lam = c - step[: terms * n].reshape(terms, n), lam - step[terms * n :].reshape(terms, m)
            size = newton.size(step) / max(newton.size(np.concatenate([c.ravel(), lam.ravel()])), 1e-300)
            if size <= ROUNDING or (size <= SETTLED and size >= last / 2):
                return _Path(h, basis, c, lam)
            if size > SLOW * last:
                newton = None
            growing = growing + 1 if size > last else 0
            if growing == DIVERGES:
                return None
            last = size
        return None

    def _nodes(self, here: _Here, path: _Path) -> tuple[Array, Array, Array]:
        """q, q̇ and t of a path at the nodes."""
        state, basis = here.state, path.basis
        q = state.q + np.outer(basis.s * path.h, state.v) + basis.path @ path.c
        return q, state.v + basis.path_rate @ path.c / path.h, state.t + path.h * basis.s

    def _gradients(self, here: _Here, path: _Path, q: Array, v: Array, time: Array) -> Array:
        """(∂L/∂q + Q + λ ∂φ/∂q, ∂L/∂q̇) at the nodes."""
        found = self._energies(q, v, time, here.state.p)
        if here.rows:
            slope = self._rows(here, q, v, time)[1]
            found[:, : self.n] += np.einsum("tk,tkj->tj", path.basis.P @ path.lam, slope)
        return found

    def _rows(self, here: _Here, q: Array, v: Array, time: Array) -> tuple[Array, Array]:
        """φ (nodes, m) and ∂φ/∂q (nodes, m, n) of the independent constraints."""
        values = self._constraints(q, v, time, here.state.p)
        n, m = self.n, self.m
        return values[:, :m][:, here.rows], values[:, m : m + m * n].reshape(-1, m, n)[:, here.rows]

    def _residual(self, here: _Here, path: _Path) -> Array:
        """What is left of stationarity under every variation: zero on the path sought."""
        basis, n = path.basis, self.n
        q, v, time = self._nodes(here, path)
        values = self._gradients(here, path, q, v, time)
        w = basis.weights[:, None]
        # ∫ δq̇ dt = 0: a constant momentum drops out, exactly if it is taken out.
        momentum = values[:, n:] - here.momentum
        balance = basis.variation.T @ (w * values[:, :n]) + basis.variation_rate.T @ (w * momentum) / path.h
        if not here.rows:
            return balance.ravel()
        # A state may miss the constraints by rounding; the motion through it keeps what they are there.
        phi = self._rows(here, q, v, time)[0] - here.phi - np.outer(basis.s * path.h, here.rate)
        return np.concatenate([balance.ravel(), (basis.P.T @ (w * phi)).ravel()])

    def _matrix(self, here: _Here, path: _Path) -> Array:
        """The derivative of the residual with respect to c and λ."""
        basis, n, m, terms = path.basis, self.n, len(here.rows), path.basis.P.shape[1]
        q, v, time = self._nodes(here, path)
        slopes = _slopes(lambda q, v: self._gradients(here, path, q, v, time), q, v, path.h)
        paths = (basis.path, basis.path_rate / path.h)
        tests = (basis.variation, basis.variation_rate / path.h)
        parts = np.zeros((terms, n, terms, n))
        for half, test in enumerate(tests):
            for slope, shape in zip(slopes, paths, strict=True):
                parts += _gram(basis.weights, test, slope[:, half * n : (half + 1) * n], shape)
        K = parts.reshape(terms * n, terms * n)
        if not m:
            return K
        slope = self._rows(here, q, v, time)[1]
        push = _gram(basis.weights, basis.variation, slope.transpose(0, 2, 1), basis.P).reshape(terms * n, terms * m)
        hold = _gram(basis.weights, basis.P, slope, basis.path).reshape(terms * m, terms * n)
        return np.block([[K, push], [hold, np.zeros((terms * m, terms * m))]])


@dataclass(frozen=True)
class _Newton:
    """A factored matrix. Units of coordinates and constraints differ: rows and columns are made comparable first."""

    factors: tuple[Array, Array]
    across: Array
    down: Array

    @staticmethod
    def of(matrix: Array) -> _Newton | None:
        if not np.isfinite(matrix).all():
            return None
        across = _lengths(np.abs(matrix).max(axis=1))
        down = _lengths(np.abs(matrix / across[:, None]).max(axis=0))
        try:
            factors = lu_factor(matrix / across[:, None] / down, check_finite=False)
        except LinAlgError:
            return None
        return _Newton(factors, across, down) if np.all(np.diagonal(factors[0]) != 0) else None

    def step(self, residual: Array) -> Array:
        return np.asarray(lu_solve(self.factors, residual / self.across, check_finite=False)) / self.down

    def size(self, x: Array) -> float:
        return float(np.abs(x * self.down).max(initial=0.0))


def _lengths(sizes: Array) -> Array:
    return np.where(sizes > 0, sizes, 1.0)


def _gram(weights: Array, test: Array, kernel: Array, shape: Array) -> Array:
    """Σ w test_k kernel_ij shape_l, (terms, i, terms, j)."""
    left = weights[:, None] * test
    inner = np.einsum("tij,tl->tilj", kernel, shape)
    return np.tensordot(left, inner, axes=(0, 0))


def _along(sampler: Sampler, expressions: list[sp.Expr]) -> Callable[[Array, Array, Array, Array], Array]:
    """Expressions at many points of a path at once: (q, v, t, p) → (points, expressions)."""
    compiled = sp.lambdify(list(sampler.arguments), expressions, modules="numpy", cse=True)

    def evaluate(q: Array, v: Array, time: Array, p: Array) -> Array:
        found = np.empty((time.size, len(expressions)))
        with np.errstate(all="ignore"):
            for k, value in enumerate(compiled(*q.T, *v.T, time, *p)):
                found[:, k] = np.nan if isinstance(value, complex) else value
        return found

    return evaluate


def _slopes(gradients: Callable[[Array, Array], Array], q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """∂/∂q and ∂/∂q̇ of the gradients at every node, (nodes, 2n, n), by central differences."""
    n = q.shape[1]
    reach = np.maximum(np.abs(q).max(axis=0), h * np.abs(v).max(axis=0))
    reach = np.where(reach > 0, reach, max(float(reach.max()), h))
    found = []
    for by_velocity, steps in ((False, DIFFERENCE * reach), (True, DIFFERENCE * reach / h)):
        columns = []
        for j, step in enumerate(steps):
            move = np.zeros(n)
            move[j] = step
            ends = [gradients(q, v + sign * move) if by_velocity else gradients(q + sign * move, v) for sign in (1, -1)]
            columns.append((ends[0] - ends[1]) / (2 * step))
        found.append(np.stack(columns, axis=2))
    return found[0], found[1]


def _apart(a: Array, b: Array, least: float) -> float:
    size = max(float(np.abs(b).max(initial=0.0)), least, 1e-300)
    return float(np.abs(a - b).max(initial=0.0)) / size
