"""The equations of a large system at a state, solved: by one elimination where constraints are independent, else with
their multipliers by themselves, whatever the rank.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.structure.eliminate import Condensed, Solution
from dalembert.graph.structure.equations import NONE
from dalembert.kernel.limits import SINGULAR_PIVOT
from dalembert.kernel.ready.large import Program, Way
from dalembert.kernel.ready.many import LONG
from dalembert.kernel.ready.multipliers import Multipliers
from dalembert.kernel.rolled.functions import RolledFunction
from dalembert.motion.large.model import LargeModel


class Solver:
    """For one kind of right-hand sides (`graph.structure.equations`), with the numbers of one run."""

    def __init__(self, model: LargeModel, what: str, parameters: Array) -> None:
        self.model, self.what, self._p = model, what, parameters
        self.n, self.nz = model.coordinates, model.quantities
        self._on_rates = list(model.on_rates)
        self.apart = False  # whether the last state had its multipliers solved for by themselves
        self.stays = False  # the motion is made: the small way cannot take it any more

    def solve(self, q: Array, v: Array, t: float) -> tuple[Array, Array]:
        """Of all quantities, and the multipliers; good until the next call."""
        self.apart = self.what not in self.model.solutions or not self._plainly(q, v, t)
        if not self.apart:
            w, start = self._plain[2], self._plain[0].unknowns
        else:
            w, start = self._by_multipliers(q, v, t), self._condensed[0].unknowns
        count = self.nz + self.model.constraints
        return w[start : start + self.nz], -w[start + self.nz : start + count]

    def accelerations_at_hand(self, q: Array, v: Array, t: float) -> Array:
        """Of the coordinates; none where programs for constraints that depend on each other would have to be made."""
        if self.what not in self.model.solutions or self.model.is_condensed:
            return self.solve(q, v, t)[0][: self.n]
        self.apart, start = False, self._plain[0].unknowns
        return self._plain[2][start : start + self.n] if self._plainly(q, v, t) else np.full(self.n, np.nan)

    def has_masses(self) -> bool:
        """Whether at the last state every coordinate had a positive mass, those before it left out."""
        return bool((self._inverses() > 0).all())

    def masses(self) -> Array:
        """Of each coordinate at the last state, those left out before it free to follow; 1 where it has none."""
        inverses = self._inverses()
        known = np.isfinite(inverses) & (inverses > 0)
        return 1.0 / np.where(known, inverses, 1.0)

    def _inverses(self) -> Array:
        """Of the pivots of all coordinates at the last state."""
        made, w = (self._condensed[0], self._condensed[3]) if self.apart else (self._plain[0], self._plain[2])
        return np.asarray(w[made.inverses])

    def rank(self) -> int:
        """Of the constraints at the last state."""
        return self._multipliers.rank() if self.apart else self.model.constraints

    def residual(self) -> float:
        """What was left of the equations of the multipliers at the last state, relative to their right-hand sides."""
        return float(self._multipliers.missed[0]) if self.apart else 0.0

    def shares(self) -> Array:
        """Of each constraint, at the last state, what the others left of it: its pivot against what that was made of,
        the square of the sine of an angle; 1 where nothing was taken from it.
        """
        found = np.ones(self.model.constraints)
        if self.apart:
            return self._multipliers.pivots()
        with np.errstate(all="ignore"):
            w, pivots = self._plain[2], self._plain[0].pivots
            taken = (pivots[:, 1] != NONE) & ~self._plain[0].early
            found[taken] = 1.0 / (w[pivots[taken, 0]] * w[pivots[taken, 1]])
        return np.nan_to_num(found, nan=0.0)

    # -- in C

    def fill(
        self, way: Way, address: Callable[[np.ndarray], int], program: Callable[[RolledFunction], Program]
    ) -> None:
        """All by which C solves likewise, on the same numbers: see kernel/ready/c/large_state.h. address: of an array
        that stays.
        """
        if self.what in self.model.solutions:
            solution, function, w = self._plain
            way.plain, way.plain_w, way.plain_unknowns = program(function), address(w), solution.unknowns
            way.pivots, way.pivot_count = address(self._pivots.astype(LONG)), len(self._pivots)
            way.rows, way.watched_count = address(self._rows.astype(LONG)), int((~solution.early[self._rows]).sum())
        if self.model.is_condensed:
            made, forward, back, w = self._condensed
            way.forward, way.back, way.condensed_w = program(forward), program(back), address(w)
            way.condensed_unknowns = made.unknowns
            way.cleared, way.cleared_count = address(made.cleared.astype(LONG)), len(made.cleared)
            found = self._multipliers
            way.multipliers, way.natural, way.missed = found.place, address(found.natural), address(found.missed)

    # -- by one elimination

    @cached_property
    def _plain(self) -> tuple[Solution, RolledFunction, Array]:
        function = self.model.functions[self.what]
        return self.model.solutions[self.what], function, function.numbers(self._p)

    @cached_property
    def _rows(self) -> np.ndarray:
        """Constraints whose pivots are looked at: first those that show singular configurations, too."""
        made = self._plain[0]
        rows = np.flatnonzero(made.pivots[:, 1] != NONE)
        return rows[np.argsort(made.early[rows], kind="stable")]

    @cached_property
    def _pivots(self) -> np.ndarray:
        return np.asarray(self._plain[0].pivots[self._rows])

    def _plainly(self, q: Array, v: Array, t: float) -> bool:
        """Whether constraints are independent here; what was found is good then."""
        _, function, w = self._plain
        self._put(w, q, v, t)
        function(w)
        if not self._pivots.size:
            return True
        with np.errstate(all="ignore"):
            made_of = w[self._pivots[:, 0]] * w[self._pivots[:, 1]]  # inverse of the pivot's share of what it was
        return bool((made_of < 1.0 / SINGULAR_PIVOT).all() and (made_of > 0.0).all())

    # -- the multipliers by themselves

    @cached_property
    def _condensed(self) -> tuple[Condensed, RolledFunction, RolledFunction, Array]:
        made, forward, back, _ = self.model.condensed(self.what, self.stays)
        return made, forward, back, forward.numbers(self._p)

    @cached_property
    def _multipliers(self) -> Multipliers:
        return Multipliers(self.model.condensed(self.what, self.stays).pattern)

    def _by_multipliers(self, q: Array, v: Array, t: float) -> Array:
        _, forward, back, w = self._condensed
        self._put(w, q, v, t)
        w[self._condensed[0].cleared] = 0.0
        forward(w)
        # Rounding in a position reaches accelerations divided by the square of a fading gradient; in a constraint on
        # velocities by the gradient itself only: it keeps its own length.
        self._multipliers.natural[self._on_rates] = 0.0
        if not self._multipliers.solve(w):
            w[self._condensed[0].unknowns :][: self.nz] = np.nan
            return w
        back(w)
        return w

    def _put(self, w: Array, q: Array, v: Array, t: float) -> None:
        w[: self.n], w[self.nz : self.nz + self.n], w[2 * self.nz] = q, v, t
