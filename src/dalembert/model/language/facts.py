"""What SymPy keeps with every sine and cosine, for the time that a model is made only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import sympy as sp

# How many arguments functions take: one set for all that take as many.
_NUMBERS: dict[Any, Any] = {}


def forget_facts(expressions: Iterable[sp.Basic]) -> None:
    """Lets go of what SymPy found out about the functions in expressions when it multiplied by them, and would find out
    again: a table for each of them, and a set that says that it takes one argument, a kilobyte together.
    """
    stack, seen = list(expressions), set()
    while stack:
        node = stack.pop()
        if not node.args or id(node) in seen:
            continue
        seen.add(id(node))
        stack += node.args
        if isinstance(node, sp.Function):
            node._assumptions = node.default_assumptions
            node.nargs = _NUMBERS.setdefault(node.nargs, node.nargs)
