"""What a system of many coordinates is at a state, as numbers: M, Q, A, b, its constraints and their slopes, without
any of them written down (`algebra/slopes.py`). `StandardForm` has the same in symbols, for systems that are read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.slopes import Walk
from dalembert.mechanics.standard_form import lagrangian
from dalembert.model.language.stand_ins import stood_in
from dalembert.model.language.symbols import t
from dalembert.model.system import System

if TYPE_CHECKING:
    from dalembert.mechanics.sample import Sample

# Beyond this many coordinates derivatives are numbers. M of a chain of 16 links in space, 32 angles, takes seconds to
# write down, and eight times as long for twice as many; a car, a bicycle or a robot arm has fewer.
LARGE = 16


class Numbers:
    """Of a system without definitions."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.n = len(system.coordinates)
        n = self.n
        self.arguments = (
            *system.coordinates, *system.velocities, *system.accelerations, t, *system.parameter_symbols,
        )  # fmt: skip
        self.q, self.v, self.a, self.clock = slice(0, n), slice(n, 2 * n), slice(2 * n, 3 * n), 3 * n
        self.levels = np.array([str(c.level) for c in system.constraints])

    def _walk(self, expressions: list[sp.Expr]) -> Walk:
        known = [stood_in(e) for e in expressions] if self.system.functions else expressions
        return Walk(self.arguments, known)

    @cached_property
    def _constraints(self) -> Walk:
        return self._walk([c.expression for c in self.system.constraints])

    @cached_property
    def _lagrangian(self) -> Walk:
        return self._walk(list(sp.Add.make_args(lagrangian(self.system))))

    @cached_property
    def _given(self) -> Walk:
        """The forces, and M row by row where it is given."""
        mass = () if self.system.mass is None else tuple(self.system.mass)
        return self._walk([*(self.system.forces.get(q, sp.S.Zero) for q in self.system.coordinates), *mass])

    def _point(self, state: Sample, a: Array | None = None) -> Array:
        return np.concatenate([state.q, state.v, np.zeros(self.n) if a is None else a, [state.t], state.p])

    def _unit(self, *places: slice) -> Array:
        chosen = np.concatenate([np.arange(len(self.arguments))[place] for place in places])
        return np.eye(len(self.arguments))[:, chosen]

    def _passing(self, v: Array) -> Array:
        """d/dt with accelerations left out: q changes by v, the time by one."""
        w = np.zeros(len(self.arguments))
        w[self.q], w[self.clock] = v, 1.0
        return w

    # -- constraints

    def conditions(self, state: Sample, velocities: bool) -> tuple[Array, Array]:
        """φ, and φ̇ and ψ where velocities count, with their slopes by q and v."""
        n, x = self.n, self._point(state)
        value, rate, slope, bent = self._constraints.along(x, self._unit(self.q, self.v), self._passing(state.v))
        position, velocity = self.levels == "position", self.levels == "velocity"
        if not velocities:
            return value[position], slope[position]
        by_v = bent[position]
        by_v[:, n:] += slope[position][:, :n]  # φ̇ = Σ ∂φ/∂q q̇ + ∂φ/∂t
        return (
            np.concatenate([value[position], rate[position], value[velocity]]),
            np.concatenate([slope[position], by_v, slope[velocity]]),
        )

    def rows(self, state: Sample, a: Array) -> tuple[Array, Array]:
        """A and b. Of a constraint nonlinear in q̈ they hold the accelerations."""
        n, x, w = self.n, self._point(state, a), self._passing(state.v)
        directions = np.column_stack([self._unit(self.q, self.v, self.a), w])
        value, rate, slope, bent = self._constraints.along(x, directions, w)
        A, b = np.zeros((len(value), n)), np.zeros(len(value))
        for level, place in (("position", 0), ("velocity", n), ("acceleration", 2 * n)):
            of = self.levels == level
            A[of] = slope[of, place : place + n]
            if level == "position":
                b[of] = -bent[of, -1]  # φ̈ = A q̈ + the second derivative along (q̇, 1)
            elif level == "velocity":
                b[of] = -rate[of]
            else:
                b[of] = A[of] @ a - value[of]
        return A, b

    # -- inertia

    def gradient(self, state: Sample) -> tuple[Array, Array]:
        """∂L/∂q, and the size of what each of them is a sum of."""
        x = self._point(state)
        _, slope, size, _ = self._lagrangian.curvature(x, np.zeros((len(x), 0)))
        return slope[self.q], size[self.q]

    def momenta(self, state: Sample) -> tuple[Array, Array]:
        """p = ∂L/∂q̇, and their slopes by q, q̇ and t."""
        x = self._point(state)
        _, slope, _, bent = self._lagrangian.curvature(x, self._unit(self.v))
        return slope[self.v], np.concatenate([bent[self.q], bent[self.v], bent[[self.clock]]]).T

    def inertia(self, state: Sample) -> tuple[Array, Array]:
        """M and Q."""
        x, n = self._point(state), self.n
        given = self._given.along(x, np.zeros((len(x), 0)), np.zeros(len(x)))[0]
        if self.system.mass is not None:
            # T of a given M stands in the Lagrangian for q̇ only: at rest its slopes by q are those of −V.
            slope = self._lagrangian.curvature(self._point(replace(state, v=0.0 * state.v)), np.zeros((len(x), 0)))[1]
            return given[n:].reshape(n, n), given[:n] + slope[self.q]
        directions = np.column_stack([self._unit(self.v), self._passing(state.v)])
        _, slope, _, bent = self._lagrangian.curvature(x, directions)
        return bent[self.v, :n], given[:n] + slope[self.q] - bent[self.v, n]

    def sum_of(self, expression: sp.Expr) -> Callable[[Sample], tuple[float, Array]]:
        """A quantity: its value at a state, and its slopes by q, q̇ and t."""
        walk = self._walk(list(sp.Add.make_args(expression)))

        def slopes_at(state: Sample) -> tuple[float, Array]:
            x = self._point(state)
            value, slope, _, _ = walk.curvature(x, np.zeros((len(x), 0)))
            return value, np.concatenate([slope[self.q], slope[self.v], slope[[self.clock]]])

        return slopes_at
