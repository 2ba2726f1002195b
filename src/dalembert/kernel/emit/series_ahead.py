"""Values whose coefficients are known an order before those of the accelerations: those of the coordinates, and of
constraints as relations between velocities.

Where a constraint says g(q, q̇, t) = 0 all along, its coefficient of order k + 1 says

    A₀ a_k = −(k + 1) g_{k+1},      with q̇_{k+1} = a_k/(k + 1) counted as zero,

which is what A a = b says of order k: b − A a is the rate of −g. But g has a sum for A q̇ where A a − b has one for A a
and others for b. So constraints are expanded as they are written for velocities, an order ahead of the forces, which
read what both have in common.
"""

from __future__ import annotations

from collections.abc import Iterable

from dalembert.kernel.emit.series import Emission, Shared
from dalembert.kernel.emit.series_nodes import LINEAR, Node
from dalembert.kernel.emit.straight_line import Hoist


class Ahead(Emission):
    """Coefficients of order k + 1, among the lines of those of order k; or of order 1, by themselves. n: coordinates.
    `next` holds the coordinates of that order from the beginning, the velocities once the accelerations are solved for.
    """

    order, over = "(k + 1.0)", "over_next"

    def __init__(self, shared: Shared, hoist: Hoist, n: int, into: Emission | None) -> None:
        super().__init__(shared, hoist, False, into)
        self.n, self._is_first = n, into is None
        self._moves: dict[Node, bool] = {}
        if self._is_first:
            self.order = self.over = "1.0"
            self.solved = 1

    def _key(self, node: Node) -> tuple[Node, int]:
        return node, self.solved if self.moves(node) else -1

    def moves(self, node: Node) -> bool:
        """Whether it depends on velocities that change."""
        if node not in self._moves:
            own = node.kind == "input" and node.form.startswith("v[") and node.degree != 0
            self._moves[node] = own or any(self.moves(a) for a in node.args)
        return self._moves[node]

    def slowed(self, rate: Node) -> str:
        """What a constraint says of A₀ a_k."""
        value = self._value(rate)
        return "0.0" if value is None else self._named(f"-({self.order} * {value})")

    def _assigned(self, node: Node) -> str | None:
        if node.kind != "input" or node.degree == 0:
            return super()._assigned(node)
        name, _, place = node.form.partition("[")
        if name == "t":
            return "1.0" if self._is_first else None
        if name == "q":
            return f"next[{place}"
        return f"next[{self.n + int(place[:-1])}]" if self.solved else None

    def _sum(self, left: Node, right: Node, weighted: bool = False, sign: str = "+") -> str:
        return "" if self._is_first else super()._sum(left, right, weighted, sign)


def known_ahead(ahead: Ahead, of: Iterable[Node]) -> frozenset[Node]:
    """The values among those that make these up which depend on coordinates and time alone, and take sums of products:
    an order later they need not be made again.
    """
    found, stack = set[Node](), list(of)
    while stack:
        node = stack.pop()
        if node in found:
            continue
        found.add(node)
        stack += node.args if node.integrand is None else (*node.args, node.integrand)
    simple = ("constant", "input", *(kind for kind in LINEAR if kind != "mul"))
    return frozenset(n for n in found if n.kind not in simple and n.degree is None and not ahead.moves(n))
