"""The words of the expression language: functions, constants, calls, and the names that nothing else may have."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import sympy as sp

FUNCTIONS: dict[str, tuple[Callable[..., sp.Expr], Callable[..., float], int | None]] = {
    # name: (SymPy function, the same on floats, number of arguments or None for one or more)
    "sin": (sp.sin, math.sin, 1),
    "cos": (sp.cos, math.cos, 1),
    "tan": (sp.tan, math.tan, 1),
    "asin": (sp.asin, math.asin, 1),
    "acos": (sp.acos, math.acos, 1),
    "atan": (sp.atan, math.atan, 1),
    "atan2": (sp.atan2, math.atan2, 2),
    "sinh": (sp.sinh, math.sinh, 1),
    "cosh": (sp.cosh, math.cosh, 1),
    "tanh": (sp.tanh, math.tanh, 1),
    "asinh": (sp.asinh, math.asinh, 1),
    "acosh": (sp.acosh, math.acosh, 1),
    "atanh": (sp.atanh, math.atanh, 1),
    "exp": (sp.exp, math.exp, 1),
    "log": (sp.log, math.log, 1),
    "sqrt": (sp.sqrt, math.sqrt, 1),
    "abs": (sp.Abs, abs, 1),
    "Abs": (sp.Abs, abs, 1),
    "sign": (sp.sign, lambda value: float((value > 0) - (value < 0)), 1),
    "min": (sp.Min, min, None),
    "max": (sp.Max, max, None),
}
# where(condition, value, otherwise): one expression on one side of a comparison, another on the other.
CHOICE = "where"
# rate(expression): its derivative along a motion. A model may have a parameter of this name, and then has no such call.
RATE = "rate"
# partial(F(x, y), 2): the derivative of a function without an expression by its second argument; (…, 1, 2) by both.
PARTIAL = "partial"
REACTIONS = ("ideal", "actual", "multiplier")
CONSTANTS: dict[str, tuple[sp.Expr, float]] = {"pi": (sp.pi, math.pi)}
RESERVED = frozenset(FUNCTIONS) | frozenset(CONSTANTS) | frozenset(REACTIONS) | {"t", CHOICE}
# A function without an expression is called as these are: it cannot have their names. Parameters may.
RESERVED_FOR_CALLS = RESERVED | {RATE, PARTIAL}

# The name of a constraint as multiplier(…) takes it: words with one space or hyphen between them.
_WORDS = r"\w+(?:[ -]\w+)*"
MULTIPLIER_OF = re.compile(rf"\s*\(\s*(?P<name>{_WORDS})\s*\)")


def is_speakable(name: str) -> bool:
    """Whether multiplier(NAME) can be read for a constraint of this name."""
    return re.fullmatch(_WORDS, name) is not None
