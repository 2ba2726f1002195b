"""Whether a tableau has the order that it says: the conditions of Butcher, one for each rooted tree.

The expansion of the true solution and that of a step have one term for each rooted tree. With the weights of a tree
Φᵢ(τ) = Πₖ Σⱼ aᵢⱼ Φⱼ(τₖ) over the trees τₖ that hang from its root, a method has order p where Σᵢ bᵢΦᵢ(τ) = 1/γ(τ) for
all trees of at most p nodes (Hairer, Nørsett, Wanner, Solving Ordinary Differential Equations I, section II.2). At the
share x of a step, the right side is x to the number of nodes over γ.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import combinations_with_replacement
from math import prod

from dalembert.methods.tableau import Tableau, padded

Tree = tuple["Tree", ...]  # the trees that hang from the root


@cache
def trees(nodes: int) -> tuple[Tree, ...]:
    """All rooted trees of so many nodes: 1, 1, 2, 4, 9, 20, 48, 115, …"""
    return tuple(_forests(nodes - 1, nodes - 1))


@cache
def _forests(nodes: int, largest: int) -> tuple[tuple[Tree, ...], ...]:
    """All collections of trees of so many nodes together, none of more than `largest`."""
    if nodes == 0:
        return ((),)
    found = []
    for size in range(1, min(nodes, largest) + 1):
        for count in range(1, nodes // size + 1):
            rest = _forests(nodes - size * count, size - 1)
            chosen = combinations_with_replacement(trees(size), count)
            found += [(*first, *others) for first in chosen for others in rest]
    return tuple(found)


def size_of(tree: Tree) -> int:
    return 1 + sum(size_of(branch) for branch in tree)


def density(tree: Tree) -> int:
    """γ: the number of nodes times those of the trees that hang from it."""
    return size_of(tree) * prod(density(branch) for branch in tree)


def defect(a: Sequence[Sequence[float]], weights: Sequence[float], order: int, x: float = 1.0) -> float:
    """The largest violation of a condition up to an order, relative to the terms in it. a: the rows of all slopes;
    weights: of them, at the share x of a step.
    """
    count = len(a)
    rows = [padded(row, count) for row in a]
    known: dict[Tree, Sequence[float]] = {}

    def phi(tree: Tree) -> Sequence[float]:
        if tree not in known:
            below = [phi(branch) for branch in tree]
            sums = [[sum(p * q for p, q in zip(row, one, strict=True)) for row in rows] for one in below]
            known[tree] = [prod(one[i] for one in sums) for i in range(count)]
        return known[tree]

    worst = 0.0
    for nodes in range(1, order + 1):
        for tree in trees(nodes):
            terms = [w * value for w, value in zip(padded(weights, count), phi(tree), strict=True)]
            missed = abs(sum(terms) - x**nodes / density(tree))
            worst = max(worst, missed / max(1.0, sum(abs(term) for term in terms)))
    return worst


def defects(tableau: Tableau) -> dict[str, float]:
    """How far a tableau is from the orders it claims: of its steps, its estimates and its interpolant."""
    a = tableau.matrix()
    b = padded(tableau.b, len(a))
    found = {"step": defect(a, b, tableau.order)}
    for k, estimate in enumerate(tableau.estimates):
        other = [p - q for p, q in zip(b, padded(estimate.weights, len(a)), strict=True)]
        found[f"estimate {k}"] = defect(a, other, estimate.order)
    inside = min(tableau.interpolant.order, tableau.order)  # no state inside a step is better known than its end
    found["interpolant"] = max(defect(a, tableau.inside(x), inside, x) for x in (0.25, 0.5, 0.8))
    return found
