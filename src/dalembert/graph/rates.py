"""Rates of expressions as CasADi nodes: d/dt by the rules of sum, product and chain, without SymPy's derivative, which
takes a millisecond for a short expression.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import sympy as sp

from dalembert.model.language.rates import rate
from dalembert.model.language.symbols import Moving, Time

# Of these, what SymPy gives for the derivative by an argument is what it is everywhere.
_SMOOTH: tuple[Any, ...] = (sp.sin, sp.cos, sp.tan, sp.asin, sp.acos, sp.atan, sp.atan2, sp.sinh, sp.cosh, sp.tanh)
_SMOOTH += (sp.asinh, sp.acosh, sp.atanh, sp.exp, sp.log, sp.erf, sp.sec, sp.csc, sp.cot)


def rate_node(expression: sp.Expr, convert: Callable[[sp.Basic], ca.SX]) -> ca.SX:
    """The derivative by time along a motion, d/dt = ∂/∂t + q̇ ∂/∂q + q̈ ∂/∂q̇; definitions have their own rates.
    convert: expressions, and the symbols x' for the rates of symbols x.
    """
    found = _rate(expression, convert)
    return ca.SX(0) if found is None else found


def _rate(e: sp.Expr, convert: Callable[[sp.Basic], ca.SX]) -> ca.SX | None:
    """None where it is zero: every call of CasADi takes longer than the walk through the expression."""
    if isinstance(e, Moving):
        return convert(e.d)
    if isinstance(e, Time):
        return ca.SX(1)
    if e.is_Symbol or e.is_number:
        return None
    if e.is_Add:
        return _sum([_rate(term, convert) for term in e.args])
    if e.is_Mul:
        changes = [_rate(factor, convert) for factor in e.args]
        return _sum([
            None if change is None else change * convert(e.func(*e.args[:k], *e.args[k + 1 :]))
            for k, change in enumerate(changes)
        ])  # fmt: skip
    if e.is_Pow and e.exp.is_number:
        change = _rate(e.base, convert)
        return None if change is None else convert(e.exp * e.base ** (e.exp - 1)) * change
    if isinstance(e, _SMOOTH):
        changes = [_rate(argument, convert) for argument in e.args]
        return _sum([
            None if change is None else convert(e.fdiff(k)) * change for k, change in enumerate(changes, 1)
        ])  # fmt: skip
    return convert(rate(e))


def _sum(terms: list[ca.SX | None]) -> ca.SX | None:
    total = None
    for term in terms:
        if term is not None:
            total = term if total is None else total + term
    return total
