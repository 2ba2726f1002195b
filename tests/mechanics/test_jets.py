"""Power series of expressions against SymPy's derivatives, and arithmetic that leaves no rounding behind."""

from __future__ import annotations

from math import factorial, prod

import pytest
import sympy as sp

from dalembert.mechanics.algebra.jets import Jets, NoJet, fixed_point, number

x, y = sp.symbols("x y", real=True)
POINT = {x: sp.Rational(7, 10), y: sp.Rational(3, 10)}

EXPRESSIONS = [
    sp.sin(x * y) * sp.sqrt(1 + x**2) / sp.exp(y),
    sp.atan2(x, y) + sp.Abs(y - x) ** 3,
    x ** sp.Rational(5, 2) * sp.log(x + 2 * y) ** -2,
    (x + y) ** (x * y),
    sp.tanh(x) * sp.asin(y) + sp.Max(x, y) ** 2 - sp.sign(y - x) * sp.cosh(y),
    1 / (x + 1) + 1 / x,
]


def derivative(expression: sp.Expr, power: tuple[int, ...]) -> sp.Expr:
    for k in power:
        expression = sp.diff(expression, (x, y)[k])
    return expression.xreplace(POINT) / prod(factorial(power.count(k)) for k in (0, 1))


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_coefficients_are_derivatives(expression):
    jets = Jets(2, 3)
    values = {symbol: jets.variable(k, fixed_point(POINT[symbol])) for k, symbol in enumerate((x, y))}
    (jet,) = jets.of([expression], values)
    for power, coefficient in zip(jets.powers, jet, strict=True):
        exact = sp.N(derivative(expression, power), 60)
        # Units of the last place are 1e-96; functions are evaluated to 96 digits, and SymPy here to 60.
        assert abs(sp.Float(number(coefficient), 60) - exact) < sp.Float("1e-55"), power


def test_derivative_of_a_jet():
    jets = Jets(2, 3)
    values = {symbol: jets.variable(k, fixed_point(POINT[symbol])) for k, symbol in enumerate((x, y))}
    f = sp.sin(x) * sp.exp(x * y)
    whole, slope = jets.of([f, sp.diff(f, y)], values)
    found = jets.derivative(whole, 1)
    for power, a, b in zip(jets.powers, found, slope, strict=True):
        if len(power) < 3:  # the highest order is not known
            assert abs(a - b) < 2**20  # of 2^320


def test_a_decimal_number_is_what_was_written():
    assert fixed_point(sp.Float(0.1)) == fixed_point(sp.Rational(1, 10)) == fixed_point(0.1)
    assert fixed_point(sp.Float(0.1) + sp.pi) == fixed_point(sp.Rational(1, 10) + sp.pi)


@pytest.mark.parametrize("expression", [1 / (x - x**2 / sp.Rational(7, 10)), sp.sqrt(y - x), sp.log(y - x), sp.I * x])
def test_no_series_where_there_is_no_real_value(expression):
    jets = Jets(2, 1)
    values = {symbol: jets.variable(k, fixed_point(POINT[symbol])) for k, symbol in enumerate((x, y))}
    with pytest.raises(NoJet):
        jets.of([expression], values)
