"""Whether members can start: on the constraints, with accelerations, all of them looked at together.

A member is plain where nothing about its start needs a closer look: it satisfies its constraints, these have gradients
and agree, and forces and energy have values. Others are looked at one by one, by what `prepare` does for any motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.start.block import Block
from dalembert.graph.functions import Graph
from dalembert.kernel.lanes.kernel import LaneKernel
from dalembert.kernel.lanes.look import look_in_lanes
from dalembert.kernel.limits import PROJECT_LEAST_SIZE
from dalembert.kernel.ready.member_starts import OPEN, PLAIN, Limits, StartLook, tolerances_of_members
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.together import Together
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, UndeterminedDirection
from dalembert.motion.integrate.completion import completions
from dalembert.motion.integrate.settings import ROUNDING, Settings, share_of, tolerances
from dalembert.motion.state.consistent import INITIAL_TOLERANCE
from dalembert.motion.state.without_gradient import BESIDE, SMALL
from dalembert.remember import changed

LIMITS = Limits(BESIDE, SMALL, PROJECT_LEAST_SIZE, INITIAL_TOLERANCE, CONSISTENCY_TOLERANCE)


@dataclass(frozen=True)
class Starts:
    """Of K members with m constraints.

    plain (K,): nothing needs a closer look. missed (K, R): by how much each position and velocity constraint is
    violated, relative to the size of the state; residual: the violation itself. kept (K, m): an independent set of
    constraints. acceleration (K, n), of plain members. completion (K,): κ of those with a singular mass matrix, else 0;
    None where there is none. regular: all members are plain, and all their constraints
    independent; what is missed may not be known then.
    """

    regular: bool
    plain: np.ndarray
    missed: Array
    residual: Array
    kept: np.ndarray
    acceleration: Array
    completion: Array | None = None

    @property
    def fit_one_kernel(self) -> np.ndarray:
        """(K,) Plain members of which all constraints are independent and no mass matrix is singular."""
        found = self.plain & self.kept.all(axis=1)
        return np.asarray(found if self.completion is None else found & (self.completion == 0.0))

    @property
    def inconsistent(self) -> np.ndarray:
        """(K,) A value that is not a number violates nothing here: it is looked at closely."""
        off = self.missed > INITIAL_TOLERANCE
        return np.asarray(off.any(axis=1)) if off.any() else np.zeros(len(off), dtype=bool)


def start_look(graph: Graph, together: Together) -> StartLook:
    """What looks at the starts of a model."""
    return StartLook(graph, together, LIMITS)


def find_starts(look: StartLook, together: Together, block: Block, lanes: LaneKernel | None = None) -> Starts:
    """lanes: of the model, where members will run in them: those that lanes find plain need no other look. What is
    found of a member depends on it alone, whoever its neighbours are.
    """
    if lanes is not None:
        others, plain, acceleration = look_in_lanes(lanes, LIMITS, block.q, block.v, block.t, block.p)
        if not others:
            none, m = np.empty((block.count, 0)), together.m
            return Starts(True, plain, none, none, np.ones((block.count, m), dtype=bool), acceleration)
        found = find_starts(look, together, block)
        found.acceleration[plain] = acceleration[plain]
        return found
    seen = look(block.q, block.v, block.t, block.p)
    if not seen.others:
        plain, kept = seen.state.view(bool), ~seen.dependent  # PLAIN is 1
        return Starts(True, plain, seen.missed, seen.residual, kept, seen.acceleration)
    plain, kept = seen.state == PLAIN, ~seen.dependent
    at, completion = np.flatnonzero(seen.state == OPEN), np.zeros(block.count)
    if at.size:
        plain[at], kept[at], seen.acceleration[at], completion[at] = _solve(together, block.at(at))
    return Starts(False, plain, seen.missed, seen.residual, kept, seen.acceleration, completion)


def _solve(together: Together, block: Block) -> tuple[np.ndarray, np.ndarray, Array, Array]:
    """By sparse algebra or singular values: which members are plain, an independent set of constraints, q̈, κ."""
    many, count, n, m = together.members, block.count, together.n, together.m
    M, Q, A, b, C, *_ = many.parts(count, many.block(count, (block.q, block.v, block.t, block.p))[0])
    try:
        found = solve_points(M.reshape(count, n, n), Q, A.reshape(count, m, n), b, C, together.pattern)
    except UndeterminedDirection:  # of one of them at least
        return (
            np.zeros(count, dtype=bool),
            np.ones((count, m), dtype=bool),
            np.full((count, n), np.nan),
            np.zeros(count),
        )
    plain = np.asarray(np.isfinite(found.acceleration).all(axis=1))
    plain &= ~(found.residual > CONSISTENCY_TOLERANCE).any(axis=1)
    return plain, ~found.dependent, found.acceleration, completions(found)


def member_tolerances(settings: Settings, q: Array, v: Array, a: Array, rates: Array | None) -> Array:
    """`tolerances` of settings.py for K members: (K, 2n). rates: (K, n) or (1, n), where the model tells more."""
    if settings.atol is not None:
        return np.full((len(q), 2 * q.shape[1]), settings.atol)
    span, share = float(settings.times[-1] - settings.times[0]) or 1.0, share_of(settings)
    found, small = tolerances_of_members(q, v, a, rates, span, share, ROUNDING / share)
    for k in small.tolist():
        own = settings if rates is None else changed(settings, rates=rates[min(k, len(rates) - 1)])
        found[k] = tolerances(own, q[k], v[k], a[k])
    return found
