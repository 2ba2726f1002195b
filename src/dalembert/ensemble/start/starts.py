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
        return np.asarray((self.missed > INITIAL_TOLERANCE).any(axis=1))


def find_starts(graph: Graph, together: Together, block: Block) -> Starts:
    count, n, m = block.count, together.n, together.m
    rows = [*graph.position_rows, *graph.position_rows, *graph.velocity_rows]
    M, Q, A, b, C, E, _, phi, rate = _at(together, block)
    values = np.concatenate([M, Q, A, b, C, E], axis=1)
    plain = np.isfinite(values).all(axis=1) & np.isfinite(block.q).all(axis=1) & np.isfinite(block.v).all(axis=1)
    A = A.reshape(count, m, n)
    length = np.sqrt(np.einsum("kij,kij->ki", A, A))
    residual = np.concatenate([phi, rate], axis=1)
    missed = np.abs(residual) / _reach(length[:, rows], block, len(graph.position_rows))
    if m:
        beside = _beside(together, block)
        plain &= (length >= SMALL * beside).all(axis=1) & (length > 0).all(axis=1)
    plain &= (missed <= INITIAL_TOLERANCE).all(axis=1)
    kept, acceleration = np.ones((count, m), dtype=bool), np.full((count, n), np.nan)
    at = np.flatnonzero(plain)
    if at.size:
        try:
            found = solve_points(M.reshape(count, n, n)[at], Q[at], A[at], b[at], C[at], together.pattern)
        except UndeterminedDirection:  # of one of them at least: all are looked at
            plain[:] = False
            return Starts(plain, missed, residual, kept, acceleration)
        regular = ~np.isnan(found.unconstrained[:, 0])  # it has no value where M is singular
        if m:
            regular &= ~(found.residual.max(axis=1) > CONSISTENCY_TOLERANCE)
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
    length = np.sqrt(np.einsum("kij,kij->ki", A, A))
    return np.where(np.isfinite(length), length, 0.0)


def _reach(length: Array, block: Block, positions: int) -> Array:
    """What residuals are compared with: the gradient times the size of the state, as `relative_residual` has it."""
    places, speeds = np.abs(block.q).max(axis=1, initial=0.0), np.abs(block.v).max(axis=1, initial=0.0)
    size_q = np.maximum(np.maximum(places, 1e-3 * speeds), PROJECT_LEAST_SIZE)
    size_v = np.maximum(np.maximum(speeds, 1e-3 * places), PROJECT_LEAST_SIZE)
    reach = length * np.where(np.arange(length.shape[1]) < positions, size_q[:, None], size_v[:, None])
    return np.where(reach > 0, reach, 1.0)


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
        largest = size.max(axis=1, keepdims=True)
        largest = np.where(largest == 0.0, 1.0, largest)
        sizes.append(np.minimum(np.where(size > 1e-12 * largest, size, largest), 1.0))
    return share_of(settings) * np.maximum(np.concatenate(sizes, axis=1), LEAST_SIZE)
