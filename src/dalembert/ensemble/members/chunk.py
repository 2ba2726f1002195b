"""A range of members from beginning to end: their starts, their runs, and what is kept of them, as arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.ask.wanted import LYAPUNOV, OF_EVENTS
from dalembert.ensemble.members.alone import run_alone
from dalembert.ensemble.members.at_once import Group, run_at_once
from dalembert.ensemble.members.certify import MEASURES, certify_members
from dalembert.ensemble.members.control import Control
from dalembert.ensemble.members.in_lanes import lanes_of
from dalembert.ensemble.members.lyapunov import exponents
from dalembert.ensemble.members.lyapunov_alone import exponent_alone
from dalembert.ensemble.members.observe import reduce_along
from dalembert.ensemble.members.outcome import Outcome, Status
from dalembert.ensemble.members.task import Task
from dalembert.ensemble.start.block import Block
from dalembert.ensemble.start.starts import Starts, find_starts
from dalembert.errors import BuildError
from dalembert.kernel.lanes.kernel import LaneKernel
from dalembert.kernel.size import KernelTooLarge, TaylorNotApplicable
from dalembert.motion.large.nearest import nearest_of_large
from dalembert.motion.large.size import is_large
from dalembert.motion.state.consistent import INITIAL_TOLERANCE, nearest_allowed

# A model whose constraints depend on each other in more ways than these needs as many kernels: the rest is run alone.
MOST_KERNELS = 8


@dataclass(frozen=True)
class Chunk:
    """The members from `first` on: arrays by the names of an ensemble's variables, with members along their first axis;
    and reasons by the number of the member in the whole sweep.
    """

    first: int
    arrays: dict[str, Array]
    reasons: dict[int, str]

    @property
    def count(self) -> int:
        return len(self.arrays["status"])


def compute(task: Task, first: int, last: int, control: Control) -> Chunk:
    """The members from `first` to `last`, the last one not among them. Raises `Cancelled` where the sweep is to end."""
    arrays, reasons = compute_block(task, task.blocks.between(first, last), control)
    return Chunk(first, arrays, {first + k: why for k, why in reasons.items()})


def compute_some(task: Task, members: np.ndarray, control: Control) -> Chunk:
    """The members of these numbers, one after the other."""
    arrays, reasons = compute_block(task, task.blocks.of(members), control)
    return Chunk(0, arrays, reasons)


def compute_block(task: Task, block: Block, control: Control) -> tuple[dict[str, Array], dict[int, str]]:
    """The arrays of the members of a block, and reasons by their places in it."""
    points = task.settings.times.size
    outcome = Outcome(block.count, points, 2 * task.n + 3, len(task.counted), task.along)
    exponent = np.full(block.count, np.nan)
    if task.together is None:
        pending = np.arange(block.count)
        if task.repair is not None:
            block, pending = _repair_alone(task, block, pending, outcome)
    else:
        lanes = lanes_of(task, tuple(range(len(task.system.constraints))))
        block, starts, pending = start_members(task, block, outcome, lanes)
        for number, group in enumerate(_groups(starts)):
            at = group.at
            if number >= MOST_KERNELS:
                pending = np.concatenate([pending, at])
                continue
            a = starts.acceleration if at.size == block.count else starts.acceleration[at]
            try:
                left = run_at_once(task, block, group, a, outcome, control)
                if task.lyapunov:
                    ran = np.setdiff1d(at[outcome.status[at] <= Status.ENDED], left)
                    if ran.size:
                        a = starts.acceleration[ran]
                        exponent[ran] = exponents(task, block, replace(group, at=ran), a, outcome, control)
            except (BuildError, KernelTooLarge, TaylorNotApplicable):
                left = at
            pending = np.concatenate([pending, left])
    for k in np.sort(pending).tolist():
        run_alone(task, block, k, outcome, control)
        if task.lyapunov and outcome.status[k] <= Status.ENDED:
            exponent[k] = exponent_alone(task, block, k, outcome, control)
    return _arrays(task, block, outcome, exponent), outcome.reasons


def start_members(
    task: Task, block: Block, outcome: Outcome, lanes: LaneKernel | None = None
) -> tuple[Block, Starts, np.ndarray]:
    """The block with its starts repaired where that is wished; those that violate constraints are done with. Returns
    the places of members whose starts need a closer look, too. lanes: in which they will run, where they will.
    """
    together = task.together
    assert together is not None
    starts = find_starts(task.start_look, together, block, lanes)
    if starts.regular:
        return block, starts, np.zeros(0, dtype=int)
    off = np.flatnonzero(starts.inconsistent)
    if off.size and task.mending is not None:
        moved, found = task.mending.nearest(block.at(off))
        q, v = block.q.copy(), block.v.copy()
        q[off[found]], v[off[found]] = moved.q[found], moved.v[found]
        block, _ = _repair_alone(task, Block(q, v, block.t, block.p), off[~found], outcome)
        starts = find_starts(task.start_look, together, block, lanes)
        off = np.flatnonzero(starts.inconsistent)
    names = [constraint.name for constraint in task.system.constraints]
    rows = [*task.graph.position_rows, *task.graph.position_rows, *task.graph.velocity_rows]
    for k in off.tolist():
        if k in outcome.reasons:
            continue
        worst = int(np.nanargmax(starts.missed[k]))
        level = "position" if worst < len(task.graph.position_rows) else "velocity"
        more = int((starts.missed[k] > INITIAL_TOLERANCE).sum()) - 1
        reason = f"constraint {names[rows[worst]]!r} is violated in {level}: residual {starts.residual[k, worst]:.6g}"
        outcome.note(k, Status.INCONSISTENT, reason + (f", and {more} more" if more else ""))
    closer = ~starts.plain & ~starts.inconsistent
    return block, starts, np.flatnonzero(closer)


def _repair_alone(task: Task, block: Block, which: np.ndarray, outcome: Outcome) -> tuple[Block, np.ndarray]:
    """The block with these members moved onto the constraints one by one; and those of them that could be."""
    q, v, good = block.q.copy(), block.v.copy(), []
    for k in which.tolist():
        try:
            q[k], v[k], left = _nearest(task, block, k)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            left = np.inf
        if left > INITIAL_TOLERANCE:
            reason = (
                f"no state nearby satisfies the constraints with what is held (relative residual {left:.2g} is left)"
            )
            outcome.note(k, Status.INCONSISTENT, reason)
        else:
            good.append(k)
    return Block(q, v, block.t, block.p), np.array(good, dtype=int)


def _nearest(task: Task, block: Block, k: int) -> tuple[Array, Array, float]:
    """As `system.consistent` has it of this member: a state above a one-sided constraint stays there."""
    system, at = task.member_system(block, k), (block.q[k], block.v[k], float(block.t[k]), np.array(task.repair))
    found = nearest_of_large(system, *at) if is_large(system) else None
    return nearest_allowed(system, *at) if found is None else found


def _groups(starts: Starts) -> list[Group]:
    """Plain members by the constraints that are independent at their starts, and by what completes a singular mass
    matrix: each group has its kernel.
    """
    every = tuple(range(starts.kept.shape[1]))
    if starts.regular:
        return [Group(np.arange(len(starts.plain)), every)]
    at = np.flatnonzero(starts.plain)
    if not at.size:
        return []
    completion = np.zeros(len(starts.plain)) if starts.completion is None else starts.completion
    if starts.kept[at].all() and not completion[at].any():
        return [Group(at, every)]
    kinds = np.column_stack([starts.kept[at], completion[at]])
    patterns, which = np.unique(kinds, axis=0, return_inverse=True)
    which = which.ravel()
    found = [
        Group(at[which == k], tuple(np.flatnonzero(row[:-1]).tolist()), float(row[-1]))
        for k, row in enumerate(patterns)
    ]
    return sorted(found, key=lambda group: -group.at.size)


def _arrays(task: Task, block: Block, outcome: Outcome, exponent: Array) -> dict[str, Array]:
    wanted = task.wanted
    names = [*(q.name for q in task.system.coordinates), *(v.name for v in task.system.velocities)]
    found: dict[str, Array] = {"status": outcome.status, "steps": outcome.steps, "alone": outcome.alone}
    found["in lanes"] = outcome.lanes
    found["final.t"] = outcome.t
    found |= {f"final.{name}": outcome.y[:, k] for k, name in enumerate(names)}
    if task.events:
        found["ended by"] = outcome.ended
    for e, name in enumerate(task.events):
        found[f"{name}: count"] = np.where(outcome.status <= Status.FAILED, outcome.counts[:, e], np.nan)
        found[f"{name}: time"] = outcome.first[:, e]
    if not (wanted.states or wanted.expressions or wanted.reductions or task.certify):
        return found
    good = outcome.status <= Status.ENDED
    times = task.settings.times + (block.t - task.settings.times[0])[:, None]
    last = np.maximum(outcome.points - 1, 0)
    np.put_along_axis(times, last[:, None], np.where(good, outcome.t, times[:, 0])[:, None], axis=1)
    reached = (np.arange(times.shape[1]) < outcome.points[:, None]) & good[:, None]
    values = _observe(task, block, outcome, times, np.where(good, outcome.points, 0))
    on_grid = reached & ((outcome.ended < 0)[:, None] | (np.arange(times.shape[1]) < last[:, None]))
    if wanted.states:
        assert outcome.along is not None
        found |= {f"samples.{name}": np.where(on_grid, outcome.along[:, :, k], np.nan) for k, name in enumerate(names)}
    found |= {name: np.where(on_grid, values[name], np.nan) for name in wanted.kept}
    moments = np.where(reached, times, np.nan)
    for reduction in wanted.reductions:
        if reduction.kind == LYAPUNOV:
            found[reduction.name] = exponent
        elif reduction.kind in OF_EVENTS:
            e = task.counted.index(reduction.of)
            column = {"time": outcome.first, "last": outcome.latest, "count": outcome.counts}[reduction.kind][:, e]
            found[reduction.name] = np.where(good, column, np.nan)
        elif task.along:
            reduced = reduce_along(reduction, values[reduction.of], moments)
            found[reduction.name] = np.where(good, reduced, np.nan)
        else:  # of the end alone
            found[reduction.name] = values[reduction.of][:, 0]
    if task.certify:
        if task.together is not None and (which := np.flatnonzero(good & ~outcome.alone)).size:
            certify_members(task, task.together, which, outcome, times, block.p)
        found |= {f"certificate.{name}": outcome.certificate[:, k] for k, name in enumerate((*MEASURES, "holds"))}
    return found


def _observe(task: Task, block: Block, outcome: Outcome, times: Array, points: np.ndarray) -> dict[str, Array]:
    """The observables by name: (K, T) along the members, or (K, 1) at their ends where nothing else is asked for."""
    observables, n = task.observables, task.n
    if observables is None:
        return {}
    if outcome.along is not None:
        found = observables.along(outcome.along[:, :, : 2 * n], times, points, block.p)
    else:
        ends = np.where(points > 0, 1, 0)
        found = observables.along(outcome.y[:, None, : 2 * n], outcome.t[:, None], ends, block.p)
    return {name: found[:, :, k] for k, name in enumerate(observables.names)}
