"""The equations of motion with their multipliers, [M Aᵀ; A 0], factored as L D Lᵀ with its zeros kept zero.

M⁻¹ is full where M couples neighbours only, and A M⁻¹ Aᵀ with it; the whole system is not. It is
factored in an order that keeps it so: a coordinate at any time, a constraint once all its coordinates are done,
so that its pivot vanishes only where the constraints depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterator

import casadi as ca


class Saddle:
    """M a − Aᵀλ = f, A a = k, solved for any f and k.

    weight: a proximal weight w makes it [M Aᵀ; A −w s], s the squared lengths of the rows, which has a solution
    whatever A is. off: 1 for a constraint that is switched off, whose row of A is zero: its multiplier is then zero.
    """

    def __init__(self, M: ca.SX, A: ca.SX, weight: ca.SX | None = None, off: ca.SX | None = None) -> None:
        self.M, self.A = ca.sparsify(M), ca.sparsify(A)
        self.n, self.m = self.M.size1(), self.A.size1()
        self.off = ca.SX(self.m, 1) if off is None else off
        order = elimination_order(self.M.sparsity(), self.A.sparsity())
        corner = ca.SX(self.m, self.m) if weight is None else ca.diag(-weight * self.row_sizes())
        if self.off.nnz():
            corner = corner - ca.diag(self.off)
        whole = ca.blockcat([[self.M, self.A.T], [self.A, corner]])
        self.D, self.LT, _ = ca.ldl(whole[order, order], False)
        self.order = order
        self._back = [0] * len(order)
        for place, k in enumerate(order):
            self._back[k] = place

    def solve(self, force: ca.SX, kinematic: ca.SX) -> tuple[ca.SX, ca.SX]:
        """a and λ for the columns of both right-hand sides."""
        both = self._solve(ca.vertcat(force, kinematic), self.D, self.LT)
        return both[: self.n, :], -both[self.n :, :]

    def _solve(self, right: ca.SX, D: ca.SX, LT: ca.SX) -> ca.SX:
        return ca.ldl_solve(right[self.order, :], D, LT, list(range(self.n + self.m)))[self._back, :]

    def factors(self) -> ca.SX:
        """The entries of D and L, one after the other."""
        return ca.vertcat(ca.densify(self.D), ca.SX(self.LT.nz[:]))

    def backsolve(self) -> ca.Function:
        """(factors, (f, k)) -> (a, −λ): the solution from factors that were kept."""
        size = self.n + self.m
        kept, right = ca.SX.sym("F", self.factors().numel()), ca.SX.sym("r", size)
        LT = ca.SX(self.LT.sparsity(), kept[size:])
        return ca.Function("backsolve", [kept, right], [self._solve(right, kept[:size], LT)])

    def pivot(self) -> ca.SX:
        """The smallest pivot, each relative to what it was before others were taken from it: 1 where nothing cancels, 0
        where M is singular or constraints depend on each other.
        """
        smallest = ca.SX(1.0)
        for found, before in self._pivots():
            smallest = ca.fmin(smallest, ca.sign(found) if before is None else found / before)
        return smallest

    def margin(self, least: float) -> ca.SX:
        """Positive where every pivot, relative to what it was, exceeds `least`: the same question as `pivot` answers,
        without a division.
        """
        smallest = ca.SX(1.0)
        for found, before in self._pivots():
            smallest = ca.fmin(smallest, found if before is None else found - least * before)
        return smallest

    def _pivots(self) -> Iterator[tuple[ca.SX, ca.SX | None]]:
        """Each pivot that may vanish, and what it was before others were taken from it; None: it alone says."""
        starts, rows = self.LT.sparsity().colind(), self.LT.sparsity().row()
        for place, k in enumerate(self.order):
            own = {rows[e]: self.LT.nz[e] for e in range(starts[place], starts[place + 1])}
            # What comes from nodes of the other kind adds to a pivot; what comes from its own kind is taken from it.
            if not any((self.order[j] < self.n) == (k < self.n) for j in own):
                if k < self.n and not self.M[k, k].is_constant():
                    yield self.M[k, k], None
                continue
            if k < self.n:
                found, before = self.D[place], ca.fabs(self.M[k, k])
            else:
                found = -self.D[place]
                before = sum((l * l * self.D[j] for j, l in own.items() if self.order[j] < self.n), ca.SX(0))
                before = before + self.off[k - self.n]
            yield found, before

    def row_sizes(self) -> ca.SX:
        """Squared lengths of the rows of A, each coordinate weighted by its own mass; 1 where switched off."""
        return (self.A * self.A) @ (1 / ca.densify(ca.diag(self.M))) + self.off if self.m else ca.SX(0, 1)


def elimination_order(M: ca.Sparsity, A: ca.Sparsity) -> list[int]:
    """Coordinates 0 … n − 1 and constraints n … n + m − 1 in the order of fewest neighbours, each constraint after all
    of its coordinates.
    """
    return [node for node, _ in _eliminated(M, A)]


def elimination_products(M: ca.Sparsity, A: ca.Sparsity) -> int:
    """How many products elimination in that order takes, without regard to symmetry."""
    return sum(beside * beside for _, beside in _eliminated(M, A))


def _eliminated(M: ca.Sparsity, A: ca.Sparsity) -> Iterator[tuple[int, int]]:
    """Each node in its turn, and how many are left beside it then."""
    n, m = M.size1(), A.size1()
    neighbours: list[set[int]] = [set() for _ in range(n + m)]
    constraints_of: list[list[int]] = [[] for _ in range(n)]
    waiting = [0] * m
    for i, j in zip(*M.get_triplet(), strict=True):
        if i != j:
            neighbours[i].add(j)
    for i, j in zip(*A.get_triplet(), strict=True):
        neighbours[n + i].add(j)
        neighbours[j].add(n + i)
        constraints_of[j].append(i)
        waiting[i] += 1
    left = set(range(n)) | {n + i for i in range(m) if not waiting[i]}
    while left:
        chosen = min(left, key=lambda k: (len(neighbours[k]), k))
        left.remove(chosen)
        yield chosen, len(neighbours[chosen])
        around = neighbours[chosen]
        for k in around:
            neighbours[k] |= around
            neighbours[k] -= {k, chosen}
        if chosen < n:
            for i in constraints_of[chosen]:
                waiting[i] -= 1
                if not waiting[i]:
                    left.add(n + i)
