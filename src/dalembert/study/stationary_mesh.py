"""Paths of stationary discrete action between two places: Newton's method on a mesh, and the second variation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import lsmr, splu

from dalembert.arrays import Array
from dalembert.graph.discrete_action import piece
from dalembert.graph.evaluate import Evaluator
from dalembert.mechanics.solve.fundamental import independent_rows
from dalembert.motion.state.evaluation import Evaluation

Places = NDArray[np.signedinteger]

DEGREE = 5
# Newton's method, damped so that its next step falls, ends where a step is this short against the extent of the path.
CONVERGED, ITERATIONS, SHORTEST = 1e-12, 60, 1 / 512
# An eigenvalue of the second variation this small against the largest is zero to rounding: the ends are conjugate.
FLAT = 1e-10


class NotFound(Exception):
    """Newton's method did not arrive."""


class StationaryMesh:
    """Paths between two places in a time, on meshes of equal pieces."""

    def __init__(self, evaluation: Evaluation, start: Array, end: Array, t0: float, duration: float) -> None:
        self.start, self.end, self.t0, self.duration = start, end, t0, duration
        _, slope = evaluation.position(start, t0)
        self.rows = independent_rows(slope) if slope.shape[0] else []
        self.n, self.m, self.p, self.degree = evaluation.n, len(self.rows), evaluation.p, DEGREE
        self.piece = piece(evaluation.system, DEGREE, self.rows)
        self.balance, self.action = Evaluator(self.piece.balance), Evaluator(self.piece.action)
        self.velocity = Evaluator(self.piece.velocity)

    def times(self, pieces: int) -> Array:
        """The times of all nodes: the ends of the pieces, and the control points inside them."""
        starts = np.arange(pieces)[:, None] + self.piece.places[None, :-1]
        return self.t0 + self.duration / pieces * np.concatenate([starts.ravel(), [pieces]])

    def stationary(self, nodes: Array, pieces: int) -> MeshPath:
        """From a guess at the nodes, the path of stationary action."""
        n, m, count = self.n, self.m, len(nodes) - 2
        x = np.concatenate([nodes[1:-1].ravel(), np.zeros(m * count)])
        extent = max(float(np.ptp(nodes, axis=0).max()), float(np.abs(self.end - self.start).max()), 1e-12)
        residual, matrix = self._equations(x, pieces)
        if m:
            # Much of the second variation is the bending of the constraints, which the multipliers carry: without them
            # the first step would lead anywhere. Those that come nearest to balance on the guess will do.
            push = matrix.tocsc()[: n * count, n * count :]
            x[n * count :] = -lsmr(push, residual[: n * count], atol=1e-8, btol=1e-8)[0]
            residual, matrix = self._equations(x, pieces)
        for _ in range(ITERATIONS):
            try:
                factors = splu(matrix.tocsc())
                step = factors.solve(residual)
            except RuntimeError:
                raise NotFound("the second variation is singular; the ends may be conjugate points") from None
            if not np.isfinite(step).all():
                raise NotFound("the second variation is singular; the ends may be conjugate points")
            length = _size(step, n * count)
            share = 1.0
            while True:
                trial = x - share * step
                residual, matrix = self._equations(trial, pieces)
                if np.isfinite(residual).all():
                    # Damped until the next step, with the same matrix, falls: no scale of coordinates enters.
                    following = _size(factors.solve(residual), n * count)
                    if following <= (1 - share / 2) * length or length <= CONVERGED * extent:
                        break
                share /= 2
                if share < SHORTEST:
                    raise NotFound("Newton's method does not come nearer to a stationary path")
            x = trial
            if share == 1.0 and length <= CONVERGED * extent * 100 and following <= CONVERGED * extent:
                return MeshPath(self, pieces, x)
        raise NotFound("Newton's method did not settle")

    def parts(self, x: Array, pieces: int) -> tuple[Array, Array]:
        """The nodes and multipliers, those of the fixed ends included."""
        n, m, count = self.n, self.m, pieces * self.degree - 1
        nodes = np.vstack([self.start, x[: n * count].reshape(count, n), self.end])
        lam = np.zeros((count + 2, m))
        lam[1:-1] = x[n * count :].reshape(count, m)
        return nodes, lam

    def pieces_of(self, values: Array, pieces: int) -> Array:
        """Values at nodes as (pieces, all of one piece)."""
        s = self.degree
        index = s * np.arange(pieces)[:, None] + np.arange(s + 1)
        return values[index].reshape(pieces, -1)

    def evaluate(self, x: Array, pieces: int) -> list[Array]:
        """D, φ, ∂D/∂x, ∂D/∂λ, ∂φ/∂x of every piece."""
        nodes, lam = self.parts(x, pieces)
        h = self.duration / pieces
        starts = self.t0 + h * np.arange(pieces)
        args = (self.pieces_of(nodes, pieces), self.pieces_of(lam, pieces), starts, h, self.p)
        return [np.asarray(part) for part in self.balance.many(pieces, *args)]

    def _equations(self, x: Array, pieces: int) -> tuple[Array, coo_matrix]:
        """Stationarity at the inner nodes with the constraints there, and the derivative: the second variation."""
        n, m, s = self.n, self.m, self.degree
        count = pieces * s - 1
        D, phi, by_x, by_lam, phi_x = self.evaluate(x, pieces)
        place = n * s * np.arange(pieces)[:, None] + np.arange(n * (s + 1)) - n
        hold = m * s * np.arange(pieces)[:, None] + np.arange(m * (s + 1)) - m
        balance = np.zeros(n * count)
        inner = (place >= 0) & (place < n * count)
        np.add.at(balance, place[inner], D[inner])
        # At the end of a piece the constraint is that of the next piece's first node: each counts once.
        own = hold[:, : m * s]
        closure = np.zeros(m * count)
        kept = own >= 0
        closure[own[kept]] = phi[:, : m * s][kept]
        rows, columns, values = [], [], []

        def add(block: Array, at: Places, to: Places, shift: tuple[int, int], most: tuple[int, int]) -> None:
            i, j = np.broadcast_to(at[:, :, None], block.shape), np.broadcast_to(to[:, None, :], block.shape)
            good = (i >= 0) & (i < most[0]) & (j >= 0) & (j < most[1])
            rows.append(i[good] + shift[0])
            columns.append(j[good] + shift[1])
            values.append(block[good])

        free, held = n * count, m * count
        add(by_x, place, place, (0, 0), (free, free))
        if m:
            add(by_lam, place, hold, (0, free), (free, held))
            add(phi_x[:, : m * s], own, place, (free, 0), (held, free))
        shape = (free + held, free + held)
        flat = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
        return np.concatenate([balance, closure]), coo_matrix(flat, shape=shape)


@dataclass(frozen=True, eq=False)
class MeshPath:
    """A stationary path on a mesh."""

    mesh: StationaryMesh
    pieces: int
    x: Array

    @property
    def nodes(self) -> Array:
        return self.mesh.parts(self.x, self.pieces)[0]

    @property
    def ends(self) -> Array:
        """q at the ends of the pieces."""
        return self.nodes[:: self.mesh.degree]

    @property
    def t(self) -> Array:
        return self.mesh.t0 + np.linspace(0.0, self.mesh.duration, self.pieces + 1)

    def action(self) -> float:
        mesh, h = self.mesh, self.mesh.duration / self.pieces
        points = mesh.pieces_of(self.nodes, self.pieces)
        return float(sum(mesh.action(x, t, h, mesh.p)[0][0] for x, t in zip(points, self.t[:-1], strict=True)))

    def velocities(self) -> Array:
        """q̇ at the ends of the pieces, from the momenta there: the derivatives of the action."""
        mesh, n = self.mesh, self.mesh.n
        D = mesh.evaluate(self.x, self.pieces)[0]
        momenta = np.vstack([-D[0, :n], D[:, -n:]])
        h, ends = self.mesh.duration / self.pieces, self.ends
        found = []
        for k, (q, momentum, t) in enumerate(zip(ends, momenta, self.t, strict=True)):
            near = (ends[min(k + 1, self.pieces)] - ends[max(k - 1, 0)]) / (h * (1 if k in (0, self.pieces) else 2))
            u = np.concatenate([near, np.zeros(mesh.m)])
            for _ in range(20):
                residual, slope = mesh.velocity(u, q, momentum, float(t), mesh.p)
                step = np.linalg.solve(slope.reshape(u.size, u.size), residual)
                u = u - step
                if np.abs(step[:n]).max() <= 1e-13 * max(float(np.abs(u[:n]).max()), 1e-300):
                    break
            found.append(u[:n])
        return np.array(found)

    def refined(self) -> Array:
        """The same path at the nodes of a mesh of pieces half as long."""
        places, s = self.mesh.piece.places, self.mesh.degree
        halves = np.concatenate([places[:-1] / 2, (1 + places[:-1]) / 2])
        others = [np.delete(places, i) for i in range(s + 1)]
        shape = np.stack(
            [np.prod((halves[:, None] - o) / (own - o), axis=1) for own, o in zip(places, others, strict=True)], axis=1
        )
        values = self.nodes[s * np.arange(self.pieces)[:, None] + np.arange(s + 1)]
        return np.vstack([np.einsum("ij,pjk->pik", shape, values).reshape(-1, self.mesh.n), self.mesh.end])

    def index(self) -> tuple[int, bool]:
        """How many directions on the constraints make the action fall, and whether one leaves it flat.

        The matrix of second derivatives with multipliers has one negative eigenvalue more for each constraint.
        """
        _, matrix = self.mesh._equations(self.x, self.pieces)
        dense = matrix.toarray()
        # The rows of the constraints are free to be scaled: like the others, so that eigenvalues can be compared.
        held = self.mesh.m * (self.pieces * self.mesh.degree - 1)
        free = len(dense) - held
        if held:
            A = dense[free:, :free]
            scale = np.abs(dense[:free, :free]).max() / np.abs(A).max(axis=1)
            dense[free:, :free] = A * scale[:, None]
            dense[:free, free:] = dense[free:, :free].T
        values = np.linalg.eigvalsh((dense + dense.T) / 2)
        flat = np.abs(values) <= FLAT * np.abs(values).max()
        return int((values < 0).sum() - (values[flat] < 0).sum()) - held, bool(flat.any())


def _size(step: Array, free: int) -> float:
    return float(np.abs(step[:free]).max(initial=0.0))
