"""The rates of energies and momenta as sums of the terms that change them, instead of slopes times accelerations:

ḣ = Σ q̇_i (F_i + F_c,i) − ∂L/∂t          ṗ_i = ∂L/∂q_i + F_i + F_c,i

F the given forces, F_c those of the constraints. What cancels in them exactly, masses times accelerations against
stiff springs, has no part in these sums: a weak dashpot on a light body stands alone, whatever its neighbours do. A
rate is then judged by its own terms.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.sample import ZERO, Sample, Sampler
from dalembert.mechanics.solve.fundamental import Fundamental
from dalembert.mechanics.standard_form import diff, is_long, lagrangian
from dalembert.model.language.contents import contents
from dalembert.model.language.symbols import t
from dalembert.model.system import System

# Parts of a sum up to which it is multiplied out, so that its terms cancel in symbols.
LARGEST = 4000
# A rate counts as zero below this fraction of the terms it is a sum of. Rounding leaves about 1e-14 times the
# condition of the model; a force that changes F by less in its own time scale cannot be told from rounding in
# a poorly scaled model.
RATE = 1e-8
# Rates below this fraction of all that happens at a state are rounding of components that are exactly zero.
NOISE = 1e-12

# Sums, and the sizes of the terms each was made of, at one state.
Sums = tuple[Array, Array]


def has_lagrange_equations(system: System) -> bool:
    """Whether M q̈ = Q are Lagrange's equations: of a mass matrix that is given they are where it is constant."""
    return system.mass is None or not any(a.free_symbols & {*system.coordinates, t} for a in system.mass)


class RateTerms:
    """Of one system, at states with their motions."""

    def __init__(self, sampler: Sampler, states: Sequence[tuple[Sample, Fundamental]], potential: sp.Expr) -> None:
        """potential: of the given forces, where it is counted with the energy; 0 where it is not."""
        self.sampler, self.system, self.states, self.potential = sampler, sampler.system, states, potential

    # -- energy

    def energy_function(self) -> tuple[Array, Array]:
        """ḣ at all states and the size of its terms. Impressed forces with a potential leave nothing, constraints
        nothing where each of them allows no work.
        """
        given, explicit = self._power, self._along_time
        found = []
        for state, motion in self.states:
            terms = [*given(state), *explicit(state), *(motion.nonideal * state.v)]
            along, size = motion.A @ state.v, np.abs(motion.A) @ np.abs(state.v)
            if np.any(np.abs(along) > ZERO * size):
                terms += list(_known(motion) * state.v)
            found.append((np.sum(terms), np.sum(np.abs(terms))))
        return _columns(found)

    @cached_property
    def _power(self) -> Callable[[Sample], Array]:
        """The terms of Σ q̇_i F_i."""
        if self.potential != 0:
            return _nothing
        power = sp.Add(*(v * self.system.forces.get(q, sp.S.Zero) for q, v in self._pairs))
        return self._terms(power)

    @cached_property
    def _along_time(self) -> Callable[[Sample], Array]:
        """Those of −∂L/∂t."""
        L = lagrangian(self.system)
        if t not in contents(L).symbols:
            return _nothing
        if self.sampler.numbers is None:
            return self._terms(-diff(L, t))
        slopes = self.sampler.numbers.sum_of(L)

        def at(state: Sample) -> Array:
            *others, last = slopes(state)[1]
            n = len(state.q)
            rounding = NOISE * float(np.abs(others[:n]) @ np.abs(state.v))
            return np.array([-last if abs(last) > rounding else 0.0])

        return at

    # -- momenta

    def momenta(self) -> tuple[Array, Array]:
        """ṗ at all states (states, n), and the sizes of their terms."""
        applied, slopes = self._applied, self._slopes
        found = []
        for state, motion in self.states:
            rate, size = slopes(state)
            force, of_force = applied(state)
            of_constraints = np.abs(motion.A).T @ np.abs(motion.multipliers) + np.abs(motion.nonideal)
            found.append((rate + force + _known(motion) + motion.nonideal, size + of_force + of_constraints))
        return _columns(found)

    def acting(self) -> tuple[Array, Array]:
        """What acts along coordinates, a column each, in units that are the second: at every state a row of the forces,
        and one of each constraint. Sums of momenta on which nothing acts are constant.
        """
        rows = []
        for state, motion in self.states:
            rate, size = self._slopes(state)
            force, of_force = self._applied(state)
            force = rate + force + motion.nonideal
            rows.append(force / max(1e-300, float((size + of_force).max(initial=0.0))))
            rows += [row / length for row in motion.A if (length := float(np.linalg.norm(row))) > 0]
        table = np.array(rows)
        scale = np.maximum(np.abs(table).max(axis=0, initial=0.0), 1e-300)
        return table / scale, scale

    def sum_of_momenta(self, weights: Array, shares: Sequence[sp.Expr]) -> tuple[Array, Array]:
        """The same of Σ weights_i p_i, as exact numbers the shares. What acts and reacts cancels in symbols."""
        L = lagrangian(self.system)
        given = (
            share * (diff(L, q) + self.system.forces.get(q, sp.S.Zero))
            for share, q in zip(shares, self.system.coordinates, strict=True)
            if share != 0
        )
        acting, found = self._terms(sp.Add(*given)), []
        for state, motion in self.states:
            terms = [*acting(state), *(weights * motion.nonideal)]
            if np.any(np.abs(motion.A @ weights) > ZERO * (np.abs(motion.A) @ np.abs(weights))):
                terms += list(weights * _known(motion))
            found.append((np.sum(terms), np.sum(np.abs(terms))))
        return _columns(found)

    @cached_property
    def _applied(self) -> Callable[[Sample], Sums]:
        return self._sums([self.system.forces.get(q, sp.S.Zero) for q in self.system.coordinates])

    @cached_property
    def _slopes(self) -> Callable[[Sample], Sums]:
        """∂L/∂q."""
        if self.system.mass is not None:
            # A constant M leaves the potential.
            L = -(self.system.potential if self.system.potential is not None else sp.S.Zero)
        elif self.sampler.numbers is not None:
            return self.sampler.numbers.gradient
        else:
            L = lagrangian(self.system)
        return self._sums([diff(L, q) for q in self.system.coordinates])

    # -- sums

    @property
    def _pairs(self) -> list[tuple[sp.Symbol, sp.Symbol]]:
        return list(zip(self.system.coordinates, self.system.velocities, strict=True))

    def _terms(self, total: sp.Expr) -> Callable[[Sample], Array]:
        return self.sampler.function(_terms_of(total))

    def _sums(self, expressions: Sequence[sp.Expr]) -> Callable[[Sample], Sums]:
        parts = [_terms_of(e) for e in expressions]
        ends = np.cumsum([len(part) for part in parts])[:-1]
        evaluate = self.sampler.function([term for part in parts for term in part])

        def at(state: Sample) -> Sums:
            split = np.split(evaluate(state), ends)
            return np.array([part.sum() for part in split]), np.array([np.abs(part).sum() for part in split])

        return at


def _terms_of(total: sp.Expr) -> tuple[sp.Expr, ...]:
    return sp.Add.make_args(total if is_long(total, LARGEST) else sp.expand(total, power_exp=False))


def _known(motion: Fundamental) -> Array:
    """Constraint forces, zero where they are but what rounding leaves of zero, at each coordinate: a multiplier makes
    up for what accelerations miss along its own row, and is not known better than the terms of that sum, however small
    it is.
    """
    if np.any(np.isnan(motion.unconstrained)):
        return motion.ideal
    rows = np.abs(motion.A)
    terms = rows @ np.abs(motion.unconstrained) + np.abs(motion.b)
    response = rows**2 @ (1 / np.diag(motion.M))
    rounding = NOISE * rows.T @ (terms / np.where(response > 0, response, np.inf))
    return np.where(np.abs(motion.ideal) > rounding, motion.ideal, 0.0)


def _columns(found: Sequence[tuple[object, object]]) -> tuple[Array, Array]:
    rates, sizes = np.array([rate for rate, _ in found]), np.array([size for _, size in found])
    known = np.isfinite(rates).reshape(len(found), -1).all(axis=1)
    return rates[known], sizes[known]


def _nothing(_: Sample) -> Array:
    return np.zeros(0)
