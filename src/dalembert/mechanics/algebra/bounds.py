"""Between which numbers an expression must lie, whatever its variables are: 2 + sin(x) lies in [1, 3].

The bounds are true, not tight. They tell what can be divided by anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import sympy as sp

Bounds = tuple[float, float]
EVERYTHING: Bounds = (-math.inf, math.inf)
# An expression that keeps away from zero by rounding only does not keep away from it.
ROUNDING = 1e-12


def bounds(expression: sp.Expr) -> Bounds:
    """Lower and upper bound of an expression in real variables.

    >>> x = sp.Symbol("x", real=True)
    >>> bounds(2 + sp.sin(x)), bounds(1 + x**2)
    ((1.0, 3.0), (1.0, inf))
    """
    if expression.is_number:
        value = complex(expression)
        return (value.real, value.real) if not value.imag and math.isfinite(value.real) else EVERYTHING
    if expression.is_Add:
        parts = [bounds(part) for part in expression.args]
        return sum(low for low, _ in parts), sum(high for _, high in parts)
    if expression.is_Mul:
        found: Bounds = (1.0, 1.0)
        for factor in expression.args:
            found = _product(found, bounds(factor))
        return found
    if expression.is_Pow:
        return _power(expression)
    if isinstance(expression, (sp.sin, sp.cos, sp.tanh)):
        return -1.0, 1.0
    if isinstance(expression, sp.exp):
        return math.ulp(0.0), math.inf
    if isinstance(expression, sp.cosh):
        return 1.0, math.inf
    return (0.0, math.inf) if expression.is_nonnegative else EVERYTHING


def keeps_sign(expression: sp.Expr, values: Mapping[sp.Symbol, sp.Expr]) -> int:
    """1 or −1 where an expression is positive or negative everywhere, else 0. Parameters have the `values` given; those
    without one are taken to be what they must be, where nothing else stands in the expression.
    """
    known = sp.sympify(expression).xreplace(dict(values))
    if known.is_number:
        value = complex(known)
        return 0 if value.imag or abs(value.real) < ROUNDING else int(math.copysign(1, value.real))
    low, high = bounds(known)
    return 1 if low > ROUNDING or _above(known) else -1 if high < -ROUNDING or _above(-known) else 0


def _above(expression: sp.Expr) -> bool:
    return bool(expression.is_positive)


def _product(a: Bounds, b: Bounds) -> Bounds:
    corners = [0.0 if 0.0 in (x, y) else x * y for x in a for y in b]
    return min(corners), max(corners)


def _power(expression: sp.Expr) -> Bounds:
    low, high = bounds(expression.base)
    exponent = expression.exp
    if not exponent.is_number or not exponent.is_real:
        return EVERYTHING
    power = float(exponent)
    if exponent.is_Integer and int(exponent) % 2 == 0:
        least = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
        low, high = least, max(abs(low), abs(high))
    elif exponent.is_Integer and power > 0:
        return low**power, high**power
    elif low < 0:
        return EVERYTHING
    if power > 0:
        return low**power, high**power
    return (high**power if high < math.inf else 0.0), (low**power if low > 0 else math.inf)
