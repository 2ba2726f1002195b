"""A large system at one state: accelerations and multipliers, the way back to its constraints, energy and powers."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import MotionFailed
from dalembert.graph.structure.equations import ACCELERATIONS, POSITIONS, VELOCITIES
from dalembert.kernel.limits import DRIFT_TOLERANCE
from dalembert.model.system import System
from dalembert.motion.large.model import LargeModel
from dalembert.motion.large.solver import Solver
from dalembert.motion.state.project import size_of

PASSES = 12
# A step of projection below this share of the state is followed by one of about its square, which is rounding. Next to
# a singular configuration, steps need not become any shorter: rounding in the constraints moves the state by more.
NEAR = 1e-9


class LargeState:
    """Numbers of one run; each thread has its own."""

    def __init__(self, system: System, model: LargeModel, parameters: Array) -> None:
        self.system, self.model, self.p = system, model, parameters
        self.n, self.nz, self.m = model.coordinates, model.quantities, model.constraints
        self.begin_anew()
        self._forces, self._pushed = model.sums.forces.T
        self._reach = model.sums.reach

    def begin_anew(self) -> None:
        """With the functions that the model has now."""
        self._numbers: dict[str, Array] = {}
        self.solvers = {name: Solver(self.model, name, self.p) for name in (ACCELERATIONS, POSITIONS, VELOCITIES)}

    def numbers(self, name: str) -> Array:
        """Those that a program works on."""
        if name not in self._numbers:
            self._numbers[name] = self.model.functions[name].numbers(self.p)
        return self._numbers[name]

    def run(self, name: str, q: Array, v: Array, t: float) -> Array:
        """The numbers of a program after it has run at a state, good until it runs again."""
        w, function = self.numbers(name), self.model.functions[name]
        quantities = function.program.quantities
        w[: self.n], w[quantities : quantities + self.n], w[2 * quantities] = q, v, t
        function(w)
        return w

    def solve(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The accelerations of all quantities, and the multipliers: where constraints depend on each other, the
        shortest ones, rows counted with length one.
        """
        return self.solvers[ACCELERATIONS].solve(q, v, t)

    def accelerations_at_hand(self, q: Array, v: Array, t: float) -> Array:
        """Of the coordinates at a state that may be far from the motion; none where they would ask for more programs
        than are made.
        """
        return self.solvers[ACCELERATIONS].accelerations_at_hand(q, v, t)

    def stay(self) -> None:
        """From here on the small way cannot take the system any more: what is asked for is made."""
        for solver in self.solvers.values():
            solver.stays = True

    def has_masses(self) -> bool:
        """Whether M was positive definite at the last state solved, so that accelerations are unique."""
        return self.solvers[ACCELERATIONS].has_masses()

    def is_apart(self) -> bool:
        """Whether the last state had its multipliers solved for by themselves, which takes many times as long."""
        return self.solvers[ACCELERATIONS].apart

    def masses(self) -> Array:
        """Of each coordinate at the last state solved, as it stands in the elimination."""
        return self.solvers[ACCELERATIONS].masses()

    def rank(self) -> int:
        """Of the constraints at the last state solved."""
        return self.solvers[ACCELERATIONS].rank()

    def shares(self) -> Array:
        """Of each constraint, at the last state solved, what the others left of it: 0 where it depends on them."""
        return self.solvers[ACCELERATIONS].shares()

    def may_contradict(self) -> bool:
        """Whether at the last state solved constraints depend on each other and right-hand sides were not met: they may
        be rounding.
        """
        return self.solvers[ACCELERATIONS].residual() > DRIFT_TOLERANCE and self.rank() < self.m

    def return_to_constraints(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """The nearest state on the constraints, in the metric of the masses."""
        if not self.m:
            return q, v
        size = size_of(q, v)
        for _ in range(PASSES):
            change = self._change(POSITIONS, q, v, t)
            moved, q = float(np.abs(change).max()), q + change
            if not moved > NEAR * size:
                break
        else:
            raise MotionFailed(f"{self.system.name}: the state at t = {t:.6g} could not be returned to the constraints")
        # Rates of positions are linear in the velocities; other constraints on them may not be.
        for _ in range(PASSES if self.model.on_rates else 1):
            change = self._change(VELOCITIES, q, v, t)
            v, moved = v + change, float(np.abs(change).max())
            if not moved > NEAR * size_of(v, q):
                break
        return q, v

    def _change(self, what: str, q: Array, v: Array, t: float) -> Array:
        return self.solvers[what].solve(q, v, t)[0][: self.n].copy()

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
