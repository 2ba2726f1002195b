"""Expressions as truncated power series about a point, in arithmetic of some ninety digits.

A jet holds all derivatives of a function at a point up to an order. Lie brackets, implicit functions and null spaces
of matrices of functions become arithmetic on jets, and whether something vanishes shows in its digits: what is zero
has none left, whatever the rounding of a few thousand operations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import combinations_with_replacement

import mpmath  # type: ignore[import-untyped]
import sympy as sp

# Numbers are integers in units of 2^-BITS: sums are exact and a product costs one multiplication, several times less
# than multiple-precision floating point. 320 bits are 96 digits after the point.
BITS = 320
UNIT = 1 << BITS
DIGITS = 96
# A denominator below 1e-60 is a zero with the rounding of what it was computed from.
TINY = UNIT >> 200

Jet = list[int]


class NoJet(Exception):
    """An expression has no power series at the point, or none that is known here."""


class Jets:
    """Arithmetic of power series in `count` variables up to `order`. A jet is the list of its coefficients."""

    def __init__(self, count: int, order: int) -> None:
        self.count, self.order = count, order
        self.powers, self._products = _tables(count, order)
        self.index = {power: k for k, power in enumerate(self.powers)}
        self.size = len(self.powers)

    def constant(self, value: int) -> Jet:
        return [value, *([0] * (self.size - 1))]

    def variable(self, k: int, value: int) -> Jet:
        jet = self.constant(value)
        if self.order:
            jet[self.index[(k,)]] = UNIT
        return jet

    def add(self, a: Jet, b: Jet) -> Jet:
        return [p + q for p, q in zip(a, b, strict=True)]

    def subtract(self, a: Jet, b: Jet) -> Jet:
        return [p - q for p, q in zip(a, b, strict=True)]

    def multiply(self, a: Jet, b: Jet) -> Jet:
        if not any(b[1:]):
            return [p * b[0] >> BITS for p in a] if b[0] != UNIT else a
        if not any(a[1:]):
            return [p * a[0] >> BITS for p in b] if a[0] != UNIT else b
        return [sum(a[i] * b[j] for i, j in pairs if a[i] and b[j]) >> BITS for pairs in self._products]

    def derivative(self, a: Jet, k: int) -> Jet:
        """∂a/∂z_k; the terms of the highest order are not known and left at zero."""
        result = [0] * self.size
        for power, place in self.index.items():
            if k in power and a[place]:
                lower = list(power)
                lower.remove(k)
                result[self.index[tuple(lower)]] = a[place] * power.count(k)
        return result

    def compose(self, a: Jet, taylor: Sequence[int]) -> Jet:
        """f(a) from f(a₀), f'(a₀), f''(a₀)/2, …"""
        rest = [0, *a[1:]]
        result = self.constant(taylor[-1])
        for coefficient in reversed(taylor[:-1]):
            product = self.multiply(result, rest)
            result = [product[0] + coefficient, *product[1:]]
        return result

    def inverse(self, a: Jet) -> Jet:
        if abs(a[0]) < TINY:
            raise NoJet("a denominator vanishes")
        first = (UNIT << BITS) // a[0]
        taylor = [first]
        for _ in range(self.order):
            taylor.append(-taylor[-1] * first >> BITS)
        return self.compose(a, taylor)

    # -- expressions

    def of(self, expressions: Sequence[sp.Expr], values: Mapping[sp.Symbol, Jet]) -> list[Jet]:
        """The jets of expressions, from those of their symbols. Equal parts are computed once."""
        known: dict[sp.Basic, Jet] = dict(values)
        return [self._of(expression, known) for expression in expressions]

    def _of(self, e: sp.Expr, known: dict[sp.Basic, Jet]) -> Jet:
        if e in known:
            return known[e]
        if e.is_number:
            result = self.constant(fixed_point(e))
        elif e.is_Add:
            result = self._of(e.args[0], known)
            for term in e.args[1:]:
                result = self.add(result, self._of(term, known))
        elif e.is_Mul:
            result = self._of(e.args[0], known)
            for factor in e.args[1:]:
                result = self.multiply(result, self._of(factor, known))
        elif e.is_Pow and e.exp.is_Integer and abs(e.exp) <= 32:
            base = self._of(e.base, known)
            result = self._power(base if e.exp > 0 else self.inverse(base), abs(int(e.exp)))
        elif e.is_Pow and e.exp.is_number:
            result = self._applied(_power_function, (e.exp,), self._of(e.base, known))
        elif e.is_Pow:
            result = self._of(sp.exp(e.exp * sp.log(e.base)), known)
        elif isinstance(e, sp.atan2):
            y, x = e.args
            result = self._of(2 * sp.atan(y / (sp.sqrt(x**2 + y**2) + x)), known)
        elif isinstance(e, (sp.Min, sp.Max)):
            jets = [self._of(argument, known) for argument in e.args]
            result = (min if isinstance(e, sp.Min) else max)(jets, key=lambda jet: jet[0])
        elif isinstance(e, sp.Function) and len(e.args) == 1:
            result = self._applied(_function, (e.func,), self._of(e.args[0], known))
        else:
            raise NoJet(f"no power series of {type(e).__name__} is known")
        known[e] = result
        return result

    def _power(self, base: Jet, exponent: int) -> Jet:
        result = self.constant(UNIT)
        while exponent:
            if exponent & 1:
                result = self.multiply(base, result)
            base = self.multiply(base, base) if exponent > 1 else base
            exponent >>= 1
        return result

    def _applied(self, function: Callable[..., object], key: tuple[object, ...], argument: Jet) -> Jet:
        return self.compose(argument, [fixed_point(d) for d in function(*key, self.order, number(argument[0]))])  # type: ignore[attr-defined]


def number(value: int) -> mpmath.mpf:
    """The number that an integer in units of 2^-BITS stands for."""
    with mpmath.workdps(DIGITS):
        return mpmath.ldexp(mpmath.mpf(value), -BITS)


def fixed_point(value: sp.Expr | mpmath.mpf | float) -> int:
    """A real number in units of 2^-BITS. A decimal number is what was written: 0.1 is a tenth."""
    with mpmath.workdps(DIGITS):
        if isinstance(value, (sp.Float, float)):
            value = sp.Rational(str(value))
        if isinstance(value, sp.Rational):
            return (int(value.p) << BITS) // int(value.q)
        if isinstance(value, sp.Basic):
            value = sp.N(value.xreplace({f: sp.Rational(str(f)) for f in value.atoms(sp.Float)}), DIGITS)
            if not value.is_Float and not value.is_Integer:
                raise NoJet(f"{value} is no real number")
            value = value._to_mpmath(mpmath.mp.prec)
        if isinstance(value, mpmath.mpc) or not mpmath.isfinite(value):
            raise NoJet(f"{value} is no real number")
        return int(mpmath.nint(mpmath.ldexp(value, BITS)))


@lru_cache(maxsize=64)
def _tables(count: int, order: int) -> tuple[list[tuple[int, ...]], list[list[tuple[int, int]]]]:
    """The monomials as sorted tuples of variables, and for each the pairs of monomials whose product it is."""
    powers = [power for degree in range(order + 1) for power in combinations_with_replacement(range(count), degree)]
    index = {power: k for k, power in enumerate(powers)}
    products: list[list[tuple[int, int]]] = [[] for _ in powers]
    for i, a in enumerate(powers):
        for j, b in enumerate(powers):
            if len(a) + len(b) > order:
                break
            products[index[tuple(sorted(a + b))]].append((i, j))
    return powers, products


def _function(kind: type[sp.Function], order: int, at: mpmath.mpf) -> list[mpmath.mpf]:
    return [slope(at) for slope in _slopes(kind, order)]  # type: ignore[arg-type]


@lru_cache(maxsize=256)
def _slopes(kind: type[sp.Function], order: int) -> list[Callable[[mpmath.mpf], mpmath.mpf]]:
    """f^(k)/k! for k = 0 … order."""
    w = sp.Symbol("w", real=True)
    f = kind(w)
    found = []
    for k in range(order + 1):
        if k:
            f = sp.diff(f, w)
            f = f.replace(sp.DiracDelta, lambda *_: sp.S.Zero) if f.has(sp.DiracDelta) else f
        if f.has(sp.Derivative, sp.Subs):
            raise NoJet(f"the derivatives of {kind.__name__} are not known")
        compiled = sp.lambdify([w], f / sp.factorial(k), modules="mpmath")
        found.append(_precise(compiled))
    return found


def _precise(compiled: Callable[[mpmath.mpf], mpmath.mpf]) -> Callable[[mpmath.mpf], mpmath.mpf]:
    def evaluate(at: mpmath.mpf) -> mpmath.mpf:
        with mpmath.workdps(DIGITS):
            try:
                return mpmath.mpmathify(compiled(at))
            except (ZeroDivisionError, ValueError):
                raise NoJet("a function has no value at the point") from None

    return evaluate


def _power_function(exponent: sp.Expr, order: int, at: mpmath.mpf) -> list[mpmath.mpf]:
    """w^e: binomial coefficients times w^(e − k)."""
    if at <= 0:
        raise NoJet("a root of what is not positive")
    with mpmath.workdps(DIGITS):
        e = number(fixed_point(exponent))
        return [mpmath.binomial(e, k) * at ** (e - k) for k in range(order + 1)]
