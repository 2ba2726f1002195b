"""A large system at one state: accelerations and multipliers, the way back to its constraints, energy and powers."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import MotionFailed
from dalembert.graph.structure.equations import ACCELERATIONS, NONE, POSITIONS, VELOCITIES
from dalembert.kernel.limits import PROJECT_ROUNDING
from dalembert.model.system import System
from dalembert.motion.large.model import LargeModel
from dalembert.motion.state.project import size_of

# A pivot of a constraint below this share of what it was made of: it depends on others, to rounding.
DEPENDENT = 1e-10
PASSES = 12


class LargeState:
    """Numbers of one run; each thread has its own."""

    def __init__(self, system: System, model: LargeModel, parameters: Array) -> None:
        self.system, self.model, self.p = system, model, parameters
        self.n, self.nz, self.m = model.coordinates, model.quantities, model.constraints
        self._numbers = {name: function.numbers(parameters) for name, function in model.functions.items()}
        pivots = model.solutions[ACCELERATIONS].pivots
        self._pivots = pivots[pivots[:, 1] != NONE]
        self._inverses = model.solutions[ACCELERATIONS].inverses
        self._forces, self._pushed = model.sums.forces.T
        self._reach = model.sums.reach

    def run(self, name: str, q: Array, v: Array, t: float) -> Array:
        """The numbers of a program after it has run at a state, good until it runs again."""
        w = self._numbers[name]
        w[: self.n], w[self.nz : self.nz + self.n], w[2 * self.nz] = q, v, t
        self.model.functions[name](w)
        return w

    def solve(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The accelerations of all quantities, and the multipliers."""
        w = self.run(ACCELERATIONS, q, v, t)
        start = self.model.solutions[ACCELERATIONS].unknowns
        found = w[start : start + self.nz + self.m]
        return found[: self.nz], -found[self.nz :]

    def smallest_pivot(self) -> float:
        """Of the constraints at the last state solved, relative to what it was made of: 0 where they depend on each
        other, below 0 where a coordinate has no mass.
        """
        w = self._numbers[ACCELERATIONS]
        if not (w[self._inverses] > 0).all():
            return -1.0
        if not self._pivots.size:
            return 1.0
        with np.errstate(all="ignore"):
            shares = 1.0 / (w[self._pivots[:, 0]] * w[self._pivots[:, 1]])
        return float(np.nan_to_num(shares, nan=0.0).min())

    def return_to_constraints(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The nearest state on the constraints, in the metric of the masses."""
        if not self.m:
            return q, v
        size = size_of(q, v)
        for _ in range(PASSES):
            change = self._change(POSITIONS, q, v, t)
            q = q + change
            if not np.abs(change).max() > PROJECT_ROUNDING * size:
                break
        else:
            raise MotionFailed(f"{self.system.name}: the state at t = {t:.6g} could not be returned to the constraints")
        # Constraints on velocities are linear in them as a rule: one pass, and one for rounding.
        for _ in range(PASSES):
            change = self._change(VELOCITIES, q, v, t)
            v = v + change
            if not np.abs(change).max() > PROJECT_ROUNDING * size_of(v, q):
                break
        return q, v

    def _change(self, what: str, q: Array, v: Array, t: float) -> Array:
        w = self.run(what, q, v, t)
        start = self.model.solutions[what].unknowns
        return w[start : start + self.n].copy()

    def powers(self, q: Array, v: Array, t: float, multipliers: Array) -> tuple[float, float]:
        """The powers of impressed forces without potential (with explicit time) and of constraints."""
        sums = self.model.sums
        w = self.run("sums", q, v, t)
        impressed = float(w[sums.power]) + float(w[self._forces] @ v[self._pushed])
        return impressed, float(multipliers @ w[self._reach])

    def energies(self, q: Array, v: Array, t: float) -> tuple[float, float]:
        """The energy, and the kinetic part of it."""
        sums = self.model.sums
        w = self.run("sums", q, v, t)
        return float(w[sums.energy]), float(w[sums.kinetic])
