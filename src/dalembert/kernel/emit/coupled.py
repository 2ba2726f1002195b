"""The equations of motion where forces follow the multipliers: [M G; A −d], factored as L U with its zeros kept zero.

Friction that slips is proportional to a multiplier, C = C₀ + (∂C/∂λ) λ, so that G = Aᵀ + ∂C/∂λ stands where Aᵀ stands
without it, and symmetry is lost. d is 1 for a constraint that is switched off, whose row of A is zero, and 0 for
others: its equation then says that its multiplier is zero. The order is that of `saddle`: a constraint after its
coordinates.
"""

from __future__ import annotations

import casadi as ca

from dalembert.graph.functions import Graph
from dalembert.kernel.emit.saddle import elimination_order, elimination_products

# A body on forty feet takes a million products, and half a minute until they are written down; its rank is six, and
# rank-revealing algebra at run time takes less than the products do. Contacts in chains stay far below.
MOST_PRODUCTS = 100_000


def is_worth_writing_out(graph: Graph) -> bool:
    """Whether the elimination of all its constraints makes straight-line code of a size that serves."""
    n, m = graph.dynamics.numel_in(0), graph.dynamics.size1_out(2)
    if (n + m) ** 3 <= 3 * MOST_PRODUCTS:  # whatever its pattern is
        return True
    state = [ca.SX.sym(name, graph.dynamics.numel_in(k)) for k, name in enumerate(("q", "v", "t", "p"))]
    M, _, A, _ = graph.dynamics(*state)
    *_, C_l = graph.work(*state, ca.SX(n, 1), ca.SX(n, 1), ca.SX.sym("l", m))
    pattern = ca.sparsify(A).sparsity() + ca.sparsify(C_l).T.sparsity()
    return elimination_products(ca.sparsify(M).sparsity(), pattern) <= MOST_PRODUCTS


class Coupled:
    """M a − G λ = f, A a + d λ = k, solved for any f and k."""

    def __init__(self, M: ca.SX, A: ca.SX, G: ca.SX, off: ca.SX) -> None:
        self.M, self.A, self.G = ca.sparsify(M), ca.sparsify(A), ca.sparsify(G)
        self.n, self.m = self.M.size1(), self.A.size1()
        pattern = self.A.sparsity() + self.G.T.sparsity()
        self.order = elimination_order(self.M.sparsity(), pattern)
        whole = ca.sparsify(ca.blockcat([[self.M, self.G], [self.A, -ca.diag(off)]]))
        rows: list[dict[int, ca.SX]] = [{} for _ in self.order]
        for place, (i, j) in enumerate(zip(*whole.sparsity().get_triplet(), strict=True)):
            rows[i][j] = whole.nz[place]
        self._factor(rows, off)

    def _factor(self, rows: list[dict[int, ca.SX]], off: ca.SX) -> None:
        """Gaussian elimination without exchange; keeps the smallest pivot, each relative to what it is made of."""
        self._lower: list[list[tuple[int, ca.SX]]] = [[] for _ in self.order]  # by eliminated node: (row, factor)
        self._upper: list[dict[int, ca.SX]] = [{} for _ in self.order]
        columns: list[set[int]] = [set() for _ in self.order]
        for i, row in enumerate(rows):
            for j in row:
                columns[j].add(i)
        done: set[int] = set()
        smallest = ca.SX(1.0)
        # What a pivot was before others of its own kind were taken from it, and whether any were.
        made = [ca.SX(0) if k >= self.n else ca.fabs(self.M[k, k]) for k in range(len(self.order))]
        reduced = [k >= self.n for k in range(len(self.order))]
        for k in range(self.m):
            made[self.n + k] = off[k]
        for k in self.order:
            done.add(k)
            pivot = rows[k].get(k, ca.SX(0))
            if reduced[k]:
                smallest = ca.fmin(smallest, (pivot if k < self.n else -pivot) / made[k])
            elif not self.M[k, k].is_constant():
                smallest = ca.fmin(smallest, ca.sign(self.M[k, k]))
            self._upper[k] = {j: x for j, x in rows[k].items() if j not in done or j == k}
            for i in sorted(columns[k] - done):
                factor = rows[i].pop(k) / pivot
                self._lower[k].append((i, factor))
                for j, x in self._upper[k].items():
                    if j == k:
                        continue
                    taken = factor * x
                    rows[i][j] = rows[i].get(j, ca.SX(0)) - taken
                    columns[j].add(i)
                    if i == j and (i < self.n) == (k < self.n):
                        reduced[i] = True
                    elif i == j:
                        made[i] = made[i] + ca.fabs(taken)
        self._pivot = smallest

    def solve(self, force: ca.SX, kinematic: ca.SX) -> tuple[ca.SX, ca.SX]:
        """a and λ for the columns of both right-hand sides."""
        right = ca.densify(ca.vertcat(force, kinematic))
        b = [right[i, :] for i in range(self.n + self.m)]
        for k in self.order:
            for i, factor in self._lower[k]:
                b[i] = b[i] - factor * b[k]
        for k in reversed(self.order):
            row = self._upper[k]
            total = b[k]
            for j, x in row.items():
                if j != k:
                    total = total - x * b[j]
            b[k] = total / row[k]
        both = ca.vertcat(*b)
        return both[: self.n, :], -both[self.n :, :]

    def pivot(self) -> ca.SX:
        """The smallest pivot: 1 where nothing cancels, 0 where constraints depend on each other; below where friction
        turns the sign with which a constraint answers.
        """
        return self._pivot
