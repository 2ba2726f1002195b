"""What expressions are made of, found by going through them once.

SymPy's `free_symbols`, `has` and `atoms` make a set, or a traversal, for each part of an expression, and go again
through a part that stands in many places; a model of many coordinates is asked for them all the time.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import sympy as sp


@lru_cache(maxsize=1000)
def _has_bound_symbols(kind: type) -> bool:
    """Whether things of this class say themselves what is free in them."""
    above = kind.__mro__[: kind.__mro__.index(sp.Basic)]
    return any("free_symbols" in vars(each) for each in above)


class Contents(NamedTuple):
    """symbols: those that are free; kinds: the classes of all else."""

    symbols: set[sp.Symbol]
    kinds: set[type]

    def has(self, *kinds: type) -> bool:
        """Whether something of these kinds is in it; symbols are not asked."""
        return any(issubclass(kind, kinds) for kind in self.kinds)


def contents(*expressions: sp.Basic) -> Contents:
    """Of all these expressions together."""
    symbols: set[sp.Symbol] = set()
    kinds: set[type] = set()
    bound: set[type] = set()
    stack = list(expressions)
    seen: dict[int, sp.Basic] = {}  # a sum that stands in a thousand others is gone through once
    while stack:
        node = stack.pop()
        if node.is_Symbol:
            symbols.add(node)
            continue
        kind, parts = node.__class__, node.args
        if not parts:
            kinds.add(kind)
        elif id(node) not in seen:
            seen[id(node)] = node
            if kind in kinds or not _has_bound_symbols(kind):
                kinds.add(kind)
                stack += parts
            else:
                symbols |= node.free_symbols
                bound |= {part.__class__ for part in sp.preorder_traversal(node) if not part.is_Symbol}
    return Contents(symbols, kinds | bound if bound else kinds)


def symbols_in(expression: sp.Basic) -> set[sp.Symbol]:
    return {expression} if expression.is_Symbol else contents(expression).symbols


def replaced(expression: sp.Basic, known: dict[sp.Basic, sp.Basic]) -> sp.Basic:
    """As `xreplace`, which goes again through a part that stands in many places: definitions that are made several
    times of each other, written out. known: what to put for what; it is filled with all parts.
    """
    found = known.get(expression)
    if found is None:
        parts = expression.args
        if parts and _has_bound_symbols(expression.__class__):
            found = expression.xreplace(known)
        else:
            others = [replaced(part, known) for part in parts]
            same = all(one is other for one, other in zip(others, parts, strict=True))
            found = expression if same else expression.func(*others)
        known[expression] = found
    return found
