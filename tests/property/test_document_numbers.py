"""Numbers in documents: every double comes back as it was, and none makes reading slow."""

from __future__ import annotations

import math
import struct
import time

import numpy as np
import pytest
import sympy as sp
from hypothesis import example, given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.errors import DocumentError, ModelError
from dalembert.graph.convert import Converter
from dalembert.model.documents.document import loads
from dalembert.model.documents.write_document import dumps
from dalembert.model.language.parse import parse_expression

x, y = da.coordinates("x y")
k, m = da.parameters("k m")
FINITE = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=True)
EDGES = [5e-324, 1e-320, 2.2250738585072014e-308, 2.225073858507201e-308, 1e-300, 1e300, 1e305, 1.7976931348623157e308]
EDGES += [0.1, 1 / 3, 0.30000000000000004, 1e16 + 2, 9007199254740993.0, 1e22, 1e23, 123456789.123456789]


def bits_of(value: float) -> bytes:
    """A zero has no sign in an expression."""
    return struct.pack("<d", value or 0.0)


def numeric(expression: sp.Expr) -> float:
    """A constant as the graph of a system has it."""
    return float(Converter({})(expression))


def examples(test):
    for value in EDGES:
        test = example(value)(test)
    return test


@examples
@given(FINITE)
@settings(max_examples=300, deadline=None)
def test_every_double_comes_back_bit_for_bit(value):
    coefficient = value or 1.0
    system = da.System(
        "numbers",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=sp.Float(coefficient) * sp.sin(x),
        forces={x: sp.Float(coefficient) + sp.cos(y), y: coefficient},
        parameters={m: value, k: abs(value)},
        initial={x: value, y: sp.Float(value), x.d: -value, y.d: 1, "t": value},
        settings={"atol": abs(value) or 1.0},
    )
    back = loads(dumps(system))
    for symbol, number in system.parameters.items():
        assert bits_of(float(back.parameters[symbol])) == bits_of(float(number))
    assert bits_of(float(back.parameters[m])) == bits_of(value)
    for symbol, number in system.initial.items():
        assert bits_of(float(back.initial[symbol])) == bits_of(float(number))
    assert bits_of(back.initial_values()[0][0]) == bits_of(value)
    assert bits_of(numeric(back.potential / sp.sin(x))) == bits_of(coefficient)
    assert bits_of(numeric(back.forces[x] - sp.cos(y))) == bits_of(coefficient)
    assert bits_of(numeric(back.forces[y])) == bits_of(coefficient)
    assert back.settings == system.settings


@examples
@given(FINITE)
@settings(max_examples=200, deadline=None)
def test_exponents_come_back_too(value):
    exponent = math.remainder(value, 1000.0) or 0.5
    system = da.System("power", coordinates=[x], kinetic=x.d**2 / 2, potential=sp.Pow(x, sp.Float(exponent)))
    back = loads(dumps(system)).potential
    assert bits_of(float(back.as_base_exp()[1])) == bits_of(exponent)


@given(st.text("0123456789", min_size=1, max_size=400), st.text("0123456789", max_size=400), st.integers(-330, 310))
@settings(max_examples=200, deadline=None)
def test_long_digit_strings_are_the_nearest_double(whole, part, exponent):
    text = f"{whole}.{part}e{exponent}"
    value = float(text)
    too_small = value == 0 and (whole + part).strip("0")
    if not math.isfinite(value) or too_small:
        with pytest.raises(da.errors.ExpressionError, match="too large or too small"):
            parse_expression(text, {}, where="here")
    else:
        assert bits_of(float(parse_expression(text, {}, where="here"))) == bits_of(value)


PRIMES = [p for p in range(3, 9000) if all(p % d for d in range(2, math.isqrt(p) + 1))]
SLOW = {
    "tiny exponent": "y**1e-320",
    "tiny exponent of a number": "2**1e-320*x",
    "tiny factor": "1e-320*y",
    "an exponent of many digits": "y**0.123456789123456789 + y",
    "powers of powers": "(((x/3)**1000)**1000)**1000",
    "constant powers of powers": "(((pi/3.14159265)**1000)**1000)**1000*x",
    "powers of logarithms": "exp(1e9*log(1.000000001))*x",
    "powers of logarithms with a coordinate": "exp(1e9*log(1.000000001*x))",
    "exponents that cancel": "2**(x+1e12)*2**(-x)*y",
    "zero with an exponent": "0e999999999*x + y",
    "roots of many orders": "x**(1/999)*x**(1/998)*x**(1/997)",
    "many denominators": "+".join(f"x/{p}" for p in PRIMES[:900]),
    "large denominators": "+".join(f"x*{p}**-70" for p in PRIMES[:900]),
}


@pytest.mark.parametrize("name", SLOW)
@pytest.mark.parametrize("place", ["potential", "equation"])
def test_no_number_makes_reading_slow(name, place):
    potential, equation = (SLOW[name], "x - y") if place == "potential" else ("x", SLOW[name])
    text = f"""
        name = "slow"
        coordinates = ["x", "y"]
        [energy]
        kinetic = "x'^2 + y'^2"
        potential = "{potential}"
        [[constraints]]
        name = "c"
        equation = "{equation}"
    """
    start = time.process_time()
    told = "read"
    try:
        loads(dumps(loads(text)))
    except DocumentError as error:
        told = str(error)
    # Exact arithmetic took minutes or all memory; the slowest of these takes two seconds.
    assert time.process_time() - start < 20
    assert told == "read" or "too large" in told or "too small" in told


def test_values_are_those_of_exact_arithmetic():
    """Σ x/p over primes, of which the last are floating-point numbers, against the sum of fractions."""
    found = parse_expression("+".join(f"x/{p}" for p in PRIMES[:900]), {"x": x}, where="here")
    exact = math.fsum(1 / p for p in PRIMES[:900])
    assert float(found.coeff(x)) == pytest.approx(exact, rel=1e-14)  # 900 roundings
    found = parse_expression("(((pi/3.14159265)**1000)**1000)*x", {"x": x}, where="here")
    # The logarithm of π/3.14159265 is known to 1e-16, and taken a million times.
    assert float(found.coeff(x)) == pytest.approx(math.exp(1e6 * math.log(math.pi / 3.14159265)), rel=1e-9)


def test_what_a_double_cannot_hold_is_told_when_writing():
    for potential, told in ((x * 10**400, "too large"), (x / 10**400, "too small"), (x**2000, "exponent beyond")):
        system = da.System("far", coordinates=[x], kinetic=x.d**2, potential=potential)
        with pytest.raises(ModelError, match=told):
            dumps(system)


def test_exact_numbers_stay_exact_where_they_are_small():
    for text, value in (
        ("0.5", sp.Rational(1, 2)),
        ("2^100", sp.Integer(2) ** 100),
        ("x^0.75", x ** sp.Rational(3, 4)),
    ):
        assert parse_expression(text, {"x": x}, where="here") == value
    assert np.isclose(float(parse_expression("6.62607015e-34", {}, where="here")), 6.62607015e-34, rtol=0)
