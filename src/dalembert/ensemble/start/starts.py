"""Whether members can start: on the constraints, with a regular mass matrix, all of them looked at together.

A member is plain where nothing about its start needs a closer look: it satisfies its constraints, these have gradients
and agree, and forces and energy have values. Others are looked at one by one, by what `prepare` does for any motion.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.start.block import Block
from dalembert.graph.functions import Graph
from dalembert.kernel.limits import PROJECT_LEAST_SIZE
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.together import Together
from dalembert.mechanics.solve.fundamental import CONSISTENCY_TOLERANCE, UndeterminedDirection
from dalembert.motion.integrate.settings import LEAST_SIZE, Settings, share_of
from dalembert.motion.state.consistent import INITIAL_TOLERANCE
from dalembert.motion.state.without_gradient import BESIDE, SMALL


@dataclass(frozen=True)
class Starts:
    """Of K members with m constraints.

    plain (K,): nothing needs a closer look. missed (K, R): by how much each position and velocity constraint is
    violated, relative to the size of the state; residual: the violation itself. kept (K, m): an independent set of
    constraints. acceleration (K, n), of plain members.
    """

    plain: np.ndarray
    missed: Array
    residual: Array
    kept: np.ndarray
    acceleration: Array

    @property
    def inconsistent(self) -> np.ndarray:
        """(K,) A value that is not a number violates nothing here: it is looked at closely."""
        return ~_every(~(self.missed > INITIAL_TOLERANCE))


def find_starts(graph: Graph, together: Together, block: Block) -> Starts:
    count, n, m = block.count, together.n, together.m
    rows = [*graph.position_rows, *graph.position_rows, *graph.velocity_rows]
    M, Q, A, b, C, E, _, phi, rate = _at(together, block)
    plain = np.ones(count, dtype=bool)
    for values in (M, Q, A, b, C, E, block.q, block.v):
        plain &= _every(np.isfinite(values))
    A = A.reshape(count, m, n)
    length = _lengths(A)
    residual = np.concatenate([phi, rate], axis=1)
    missed = np.abs(residual) / _reach(length[:, rows], block, len(graph.position_rows))
    if m:
        beside = _beside(together, block)
        plain &= _every((length >= SMALL * beside) & (length > 0))
    plain &= _every(missed <= INITIAL_TOLERANCE)
    kept, acceleration = np.ones((count, m), dtype=bool), np.full((count, n), np.nan)
    at = slice(None) if plain.all() else np.flatnonzero(plain)  # without copies where it is all
    if plain.any():
        try:
            found = solve_points(M.reshape(count, n, n)[at], Q[at], A[at], b[at], C[at], together.pattern)
        except UndeterminedDirection:  # of one of them at least: all are looked at
            plain[:] = False
            return Starts(plain, missed, residual, kept, acceleration)
        regular = ~np.isnan(found.unconstrained[:, 0])  # it has no value where M is singular
        if m:
            regular &= _every(~(found.residual > CONSISTENCY_TOLERANCE))
        plain[at] = regular
        kept[at] = ~found.dependent
        acceleration[at] = found.acceleration
    return Starts(plain, missed, residual, kept, acceleration)


def _at(together: Together, block: Block) -> list[Array]:
    """M, Q, A, b, C, E, the inertial part of Q, φ, and (φ̇, ψ), each (K, …) with matrices by rows."""
    many, count = together.members, block.count
    base, _ = many.block(count, (block.q, block.v, block.t, block.p))
    return [part.reshape(count, -1) for part in many.parts(count, base)]


def _beside(together: Together, block: Block) -> Array:
    """The lengths of the rows of A at states next to those of the members, as in `without_gradient`."""
    q, v = (x + BESIDE * np.maximum(np.abs(x), 1.0) for x in (block.q, block.v))
    A = _at(together, Block(q, v, block.t, block.p))[2].reshape(block.count, together.m, together.n)
    length = _lengths(A)
    return np.where(np.isfinite(length), length, 0.0)


def _lengths(A: Array) -> Array:
    """Of the rows of matrices (K, m, n): (K, m)."""
    rows = A.reshape(-1, A.shape[2])
    return np.asarray(np.sqrt(np.einsum("ij,ij->i", rows, rows)).reshape(A.shape[:2]))


def _reach(length: Array, block: Block, positions: int) -> Array:
    """What residuals are compared with: the gradient times the size of the state, as `relative_residual` has it."""
    places, speeds = _largest(block.q), _largest(block.v)
    size_q = np.maximum(np.maximum(places, 1e-3 * speeds), PROJECT_LEAST_SIZE)
    size_v = np.maximum(np.maximum(speeds, 1e-3 * places), PROJECT_LEAST_SIZE)
    reach = length * np.where(np.arange(length.shape[1]) < positions, size_q[:, None], size_v[:, None])
    return np.where(reach > 0, reach, 1.0)


def _every(holds: np.ndarray) -> np.ndarray:
    """(K,) Whether all entries of each row hold. Mostly all of all rows do, which is seen far sooner."""
    return np.ones(len(holds), dtype=bool) if holds.all() else np.asarray(holds.all(axis=1))


def _largest(values: Array) -> Array:
    """(K,) The largest magnitude in each row. Rows are short: one entry of all of them after the other is quicker."""
    return np.asarray(np.abs(np.ascontiguousarray(values.T)).max(axis=0, initial=0.0))


def member_tolerances(settings: Settings, q: Array, v: Array, a: Array, rates: Array | None) -> Array:
    """`tolerances` of settings.py for K members: (K, 2n). rates: (K, n) or (n,), where the model says more of them."""
    if settings.atol is not None:
        return np.full((len(q), 2 * q.shape[1]), settings.atol)
    span = float(settings.times[-1] - settings.times[0]) or 1.0
    a = np.abs(a) if rates is None else np.maximum(np.abs(a), rates)
    own = np.abs(v)
    reach = np.maximum(np.maximum(np.abs(q), own * span), a * span**2)
    speed = np.maximum(np.maximum(own, a * span), reach / span)
    sizes = []
    for size in (reach, speed):
        largest = _largest(size)[:, None]
        largest = np.where(largest == 0.0, 1.0, largest)
        sizes.append(np.minimum(np.where(size > 1e-12 * largest, size, largest), 1.0))
    return share_of(settings) * np.maximum(np.concatenate(sizes, axis=1), LEAST_SIZE)
