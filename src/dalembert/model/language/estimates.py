"""Values of expressions in doubles, each with a bound of its rounding: what differs by more than that differs truly.

SymPy evaluates to thirty digits in a millisecond; this takes microseconds, and knows fewer functions.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias
from zlib import crc32

import sympy as sp

from dalembert.model.language.symbols import Coordinate, Moving

Estimate: TypeAlias = tuple[float, float]  # a value, and how far from it the exact one can be
Draw: TypeAlias = Callable[[sp.Symbol], float]

UNIT = 2.0**-51  # rounding of one operation, twice as large as it is


class NotEstimated(Exception):
    """The expression holds what has no estimate here, or has no value."""


class Estimates:
    """Estimates at one point. draw: the value of a symbol; `known` may be given more of them."""

    def __init__(self, draw: Draw) -> None:
        self.draw = draw
        self.known: dict[sp.Basic, Estimate] = {}

    def __call__(self, expression: sp.Basic) -> Estimate:
        found = self.known.get(expression)
        if found is None:
            try:
                found = self._estimate(expression)
            except (OverflowError, ZeroDivisionError, ValueError, RecursionError):
                raise NotEstimated from None
            if not math.isfinite(found[0]) or not math.isfinite(found[1]):
                raise NotEstimated
            self.known[expression] = found
        return found

    def _estimate(self, e: sp.Basic) -> Estimate:
        if e.is_Symbol:
            return self.draw(e), 0.0
        if isinstance(e, (sp.Rational, sp.Float, sp.NumberSymbol)):
            value = float(e)
            return value, UNIT * abs(value)
        if e.is_Add:
            terms = [self(term) for term in e.args]
            size = sum(abs(value) for value, _ in terms)
            return sum(value for value, _ in terms), sum(error for _, error in terms) + UNIT * len(terms) * size
        if e.is_Mul:
            return self._product(e)
        if e.is_Pow:
            return self._power(*e.args)
        if isinstance(e, (sp.sin, sp.cos)):
            angle, error = self(e.args[0])
            return (math.sin if isinstance(e, sp.sin) else math.cos)(angle), error + UNIT
        if isinstance(e, sp.exp):
            power, error = self(e.args[0])
            value = math.exp(power)
            return value, value * (math.expm1(error) + UNIT)
        raise NotEstimated

    def _product(self, e: sp.Basic) -> Estimate:
        value, error = 1.0, 0.0
        for factor in e.args:
            other, wrong = self(factor)
            error = abs(value) * wrong + abs(other) * error + error * wrong + UNIT * abs(value * other)
            value *= other
        return value, error

    def _power(self, base: sp.Basic, exponent: sp.Basic) -> Estimate:
        x, error = self(base)
        power = float(exponent) if isinstance(exponent, sp.Rational) else math.nan
        whole = isinstance(exponent, sp.Integer)
        if math.isnan(power) or ((not whole or power < 0) and abs(x) <= 2 * error) or (not whole and x < 0):
            raise NotEstimated
        # The steepest slope within the error, where |x| is at least half of itself and at most all of it more.
        near = abs(x) + error if power >= 1 else abs(x) - error
        value = x ** int(power) if whole else x**power
        return value, abs(power) * near ** (power - 1) * error + (abs(power) + 1) * UNIT * abs(value)


def drawn(symbol: sp.Symbol, turn: int = 0) -> float:
    """A number from 0.1 to 0.9 that belongs to a symbol, with either sign where it moves. turn: another one."""
    bits = crc32(f"{turn} {symbol.name}".encode())
    size = 0.1 + 0.8 * (bits >> 1) / 2.0**31
    return -size if bits & 1 and isinstance(symbol, Moving) else size


def at_point(order: int = -1) -> Estimates:
    """Estimates at a generic point; with an order, at one where only the derivatives of that order are others."""

    def draw(symbol: sp.Symbol) -> float:
        return drawn(symbol, turn=int(isinstance(symbol, Coordinate) and symbol.order == order))

    return Estimates(draw)
