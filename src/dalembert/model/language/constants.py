"""Numbers of the document language: exact while they are small, floating-point numbers beyond.

`0.5` is 1/2 and `2^10` is 1024, so that equations are shown as they were written and decided exactly. But exact
arithmetic has no bound of its own: 10⁻³²⁰ is a fraction of a thousand bits, y^(10⁻³²⁰) a root of that order, and
((x/3)^1000)^1000 holds 3^1000000. So exactness ends at sizes that no model needs. A number that is exact no more is the
nearest floating-point number: either way its value as a double is the same, bit for bit.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import sympy as sp

MAX_EXPONENT = 1000
MAX_BITS = 256  # of a number as written: 77 digits; a double needs 17
MAX_POWER_BITS = 5000  # of an exact power
MAX_ROOT = 1000  # of an exact exponent's denominator: x^0.001 is a root
SMALLEST = sys.float_info.min  # below, doubles have fewer digits, and a fraction would be rounded twice


class OutOfRange(Exception):
    """A number that is no double; its text says whether it is too "large" or too "small"."""


class ExponentTooLarge(Exception):
    """An exponent beyond `MAX_EXPONENT`."""


def bits(number: sp.Rational) -> int:
    return max(int(number.p).bit_length(), int(number.q).bit_length())


def number_of_text(text: str, value: float) -> sp.Number:
    """The number that a text of digits says, whose nearest double, finite, is `value`."""
    if value == 0.0:
        return sp.S.Zero
    if not SMALLEST <= abs(value) < 2.0**MAX_BITS or abs(value) < 2.0**-MAX_BITS:
        return sp.Float(value)  # before the text is made a fraction: its exponent may be long
    number = sp.Rational(text)
    return number if bits(number) <= MAX_BITS else sp.Float(value)


def coefficient_and_rest(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    return expression.as_coeff_Mul() if isinstance(expression, (sp.Mul, sp.Number)) else (sp.S.One, expression)


@dataclass
class Denominator:
    """The least common denominator of the fractions met so far: x/3 + x/5 + x/7 + … has it in its sum."""

    value: int = 1

    def takes(self, fraction: sp.Rational) -> bool:
        """Whether it stays small with one more fraction, which is counted in then."""
        common = math.lcm(self.value, int(fraction.q))
        small = common.bit_length() <= MAX_POWER_BITS
        self.value = common if small else self.value
        return small


def tame(product: sp.Expr, denominator: Denominator) -> sp.Expr:
    """The same product with a coefficient and exponents that are exact only where they are small.

    `OutOfRange` where the coefficient is no double, `ExponentTooLarge` where an exponent is beyond `MAX_EXPONENT`.
    """
    coefficient, rest = coefficient_and_rest(product)
    if isinstance(coefficient, sp.Number) and not coefficient.is_zero:
        near = as_double(coefficient)
        if near == 0.0 or not math.isfinite(near):
            raise OutOfRange("large" if near else "small")
        if isinstance(coefficient, sp.Rational) and (
            bits(coefficient) > MAX_POWER_BITS or not denominator.takes(coefficient)
        ):
            coefficient = sp.Float(near)
            product = coefficient * rest
    powers = list(_powers(rest)) if isinstance(rest, (sp.Mul, sp.Pow)) else []
    if any(e.is_number and abs(e) > MAX_EXPONENT for _, e in powers):
        raise ExponentTooLarge
    if any(_is_wild(e) for _, e in powers):
        return sp.Mul(coefficient, *(b ** (sp.Float(as_double(e)) if _is_wild(e) else e) for b, e in powers))
    return product


def power(base: sp.Expr, exponent: sp.Expr, value: float | None) -> sp.Expr:
    """base^exponent; `value`: of it, where it is a constant. `ExponentTooLarge` where it would hold an exponent beyond
    `MAX_EXPONENT`.
    """
    if _is_wild(exponent):
        exponent = sp.Float(as_double(exponent))
    if isinstance(exponent, sp.Add) and abs(exponent.as_coeff_Add()[0]) > MAX_EXPONENT:
        raise ExponentTooLarge  # 2^(x + 10¹²) 2^(−x) would be 2^(10¹²)
    if not isinstance(exponent, sp.Rational):
        return base**exponent
    coefficient, rest = coefficient_and_rest(base)
    if any(e.is_number and abs(e * exponent) > MAX_EXPONENT for _, e in _powers(rest) if rest != 1):
        if value is None:
            raise ExponentTooLarge
        return sp.Float(value)
    if isinstance(coefficient, sp.Rational):
        size = bits(coefficient)
        # A root of a number is sought among its factors.
        if size * max(abs(exponent), 1) > (MAX_POWER_BITS if exponent.is_Integer else MAX_BITS):
            base = sp.Float(as_double(coefficient)) * rest
            if rest == 1 and value is not None:
                return sp.Float(value)
    return base**exponent


def logarithms_tamed(argument: sp.Expr) -> sp.Expr:
    """An argument of exp whose logarithms have no large exact factors: exp(n log x) is xⁿ to SymPy."""
    terms = []
    for term in sp.Add.make_args(argument):
        coefficient, rest = coefficient_and_rest(term)
        wild = isinstance(coefficient, sp.Rational) and (abs(coefficient) > MAX_EXPONENT or _is_wild(coefficient))
        terms.append(sp.Float(as_double(coefficient)) * rest if wild and rest.has(sp.log) else term)
    return sp.Add(*terms)


def writable(expression: sp.Expr) -> sp.Expr:
    """The expression with numbers that the language reads back to the same double.

    `OutOfRange` and `ExponentTooLarge` where it has others, as for a product.
    """
    swap: dict[sp.Basic, sp.Basic] = {}
    for number in expression.atoms(sp.Number):
        near = as_double(number)
        if (near == 0.0 and not number.is_zero) or not math.isfinite(near):
            raise OutOfRange("large" if near else "small")
        if isinstance(number, sp.Rational) and bits(number) > MAX_BITS:
            swap[number] = sp.Float(near)
    for found in expression.atoms(sp.Pow):
        if found.exp.is_number and abs(found.exp) > MAX_EXPONENT:
            raise ExponentTooLarge
    return expression.xreplace(swap)


def as_double(number: sp.Expr) -> float:
    """The nearest double, infinite beyond all of them."""
    try:
        return float(number)
    except OverflowError:
        return math.inf


def _is_wild(exponent: sp.Expr) -> bool:
    return isinstance(exponent, sp.Rational) and int(exponent.q) > MAX_ROOT


def _powers(product: sp.Expr) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    for factor in sp.Mul.make_args(product):
        yield factor.as_base_exp() if isinstance(factor, sp.Pow) else (factor, sp.S.One)
