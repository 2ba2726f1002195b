"""Starts moved onto the constraints: the nearest consistent states, all members at once."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.start.block import Block
from dalembert.graph.functions import Graph
from dalembert.kernel.ready.many import Many
from dalembert.kernel.ready.together import Together

# Values and slopes of constraints at the states of all members.
Residual = Callable[[Array], tuple[Array, Array]]
# The iteration converges where the distance is short against the curvature of the constraints, by a factor each time:
# in so many rounds, to this relative change. What does not is led back one by one.
ROUNDS, SETTLED = 60, 1e-12


class Repair:
    """Of a model whose members are evaluated together. free (2n,): the entries of (q, q̇) that may move."""

    def __init__(self, graph: Graph, together: Together, free: np.ndarray) -> None:
        self._n, self._together = together.n, together
        self._free_q, self._free_v = free[: together.n], free[together.n :]
        self._position = Many(graph.position, parameters=-1)
        self._velocity = Many(graph.velocity, parameters=-1)

    def nearest(self, block: Block) -> tuple[Block, np.ndarray]:
        """The states on the constraints that are nearest to those given, in the metric of the masses at these, first
        the positions, then the velocities there; and where that was found.
        """
        count, n = block.count, self._n
        many = self._together.members
        base, _ = many.block(count, (block.q, block.v, block.t, block.p))
        W = many.parts(count, base)[0].reshape(count, n, n)

        def phi(q: Array) -> tuple[Array, Array]:
            value, slope = self._position(count, q, block.t, block.p)
            return value.reshape(count, -1), slope.reshape(count, -1, n)

        q, found = _closest(phi, block.q, W, self._free_q)

        def rate(v: Array) -> tuple[Array, Array]:
            value, slope = self._velocity(count, q, v, block.t, block.p)
            return value.reshape(count, -1), slope.reshape(count, -1, n)

        v, also = _closest(rate, block.v, W, self._free_v)
        return Block(q, v, block.t, block.p), found & also


def _closest(residual: Residual, start: Array, W: Array, free: np.ndarray) -> tuple[Array, np.ndarray]:
    """Least (x − x₀)ᵀW(x − x₀) on the constraints linearised at x, again and again; and for which it has settled."""
    settled = np.ones(len(start), dtype=bool)
    value, slope = residual(start)
    if not value.shape[1]:
        return start, settled
    if not free.any():
        return start, np.zeros(len(start), dtype=bool)
    x, weight = start, W[:, free][:, :, free]
    for _ in range(ROUNDS):
        slope = slope[:, :, free]
        target = value + np.einsum("kij,kj->ki", slope, (start - x)[:, free])
        try:
            by_mass = np.linalg.solve(weight, slope.transpose(0, 2, 1))
            step = np.einsum("kij,kj->ki", by_mass, np.linalg.solve(slope @ by_mass, target[:, :, None])[:, :, 0])
        except np.linalg.LinAlgError:  # dependent constraints, or no mass: one by one
            return start, np.zeros(len(start), dtype=bool)
        new = start.copy()
        new[:, free] -= step
        change = np.abs(new - x).max(axis=1)
        settled = change <= SETTLED * (1.0 + np.abs(new).max(axis=1))
        x = np.where(np.isfinite(new), new, start)
        value, slope = residual(x)
        if settled.all():
            break
    return x, settled
