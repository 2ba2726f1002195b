"""The expression language: what it reads, what it refuses, and that nothing else can happen."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.model.documents.expression_text import text_of
from dalembert.model.language.parse import parse_equation, parse_expression
from dalembert.model.language.vocabulary import FUNCTIONS

x, y = da.coordinates("x y")
m, lam, omega, p0, p1 = da.parameters("m lambda ω p0 p1")
SYMBOLS = (x, x.d, x.dd, y, y.d, y.dd, m, lam, omega, p0, p1, da.t)
TABLE = {symbol.name: symbol for symbol in SYMBOLS}

# Far above the milliseconds that such an expression takes, also on a busy machine; far below an attack.
PATIENCE_S = 3.0


def parse(text: str, *, reactions: bool = False) -> sp.Expr:
    return parse_expression(text, TABLE, where="here", reactions=reactions)


@contextmanager
def patience(seconds: float = PATIENCE_S) -> Iterator[None]:
    """Fail where the block takes more of the processor, however busy that is; interrupt it where the system can."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"still at work after {seconds} s")

    started = time.process_time()
    if not hasattr(signal, "setitimer"):
        yield
    else:
        old = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, old)
    assert time.process_time() - started < seconds


def is_real_and_finite(expression: sp.Expr) -> bool:
    return not expression.has(sp.nan, sp.zoo, sp.oo, -sp.oo, sp.I)


READ = [
    ("x", x),
    ("x'", x.d),
    ("x''", x.dd),
    ("x′ + x’", 2 * x.d),
    ("  x\t+\n y ", x + y),
    ("x^2", x**2),
    ("x**2", x**2),
    ("-x^2", -(x**2)),
    ("(-x)^2", x**2),
    ("-x^3", -(x**3)),
    ("(-x)^3", -(x**3)),
    ("2^-1", sp.Rational(1, 2)),
    ("x^-2", 1 / x**2),
    ("x^2^3", x**8),
    ("(x^2)^3", x**6),
    ("-2^2", sp.Integer(-4)),
    ("x'^2", x.d**2),
    ("x/y/m", x / (y * m)),
    ("x/y*m", x * m / y),
    ("x - y - m", x - y - m),
    ("x - (y - m)", x - y + m),
    ("x - -y", x + y),
    ("+x", x),
    ("--x", x),
    ("2*x + 3*y*m", 2 * x + 3 * y * m),
    ("0.1*x", x / 10),
    (".5", sp.Rational(1, 2)),
    ("5.", sp.Integer(5)),
    ("1.5e3", sp.Integer(1500)),
    ("1E-2", sp.Rational(1, 100)),
    ("lambda*x", lam * x),
    ("ω*t", omega * da.t),
    ("pi", sp.pi),
    ("p1 + 2*p0", p1 + 2 * p0),
    ("sin(x)^2", sp.sin(x) ** 2),
    ("sin(x^2)", sp.sin(x**2)),
    ("atan2(y, x)", sp.atan2(y, x)),
    ("abs(x) + Abs(y)", sp.Abs(x) + sp.Abs(y)),
    ("min(x, y, m)", sp.Min(x, y, m)),
    ("max(x, y)", sp.Max(x, y)),
    ("sqrt(2)", sp.sqrt(2)),
    ("sign(x)", sp.sign(x)),
    ("exp(1)", sp.E),
]


@pytest.mark.parametrize(("text", "expected"), READ, ids=[text for text, _ in READ])
def test_reads(text: str, expected: sp.Expr) -> None:
    assert parse(text) == expected


def test_numbers_are_exact_decimals() -> None:
    """0.1 is a tenth, not the double next to it: 0.1 + 0.2 − 0.3 vanishes."""
    assert parse("0.1 + 0.2 - 0.3") == 0


def test_every_function_agrees_with_the_standard_library() -> None:
    values = {"acos": 0.3, "asin": 0.3, "acosh": 1.7}
    for name, (_, numeric, count) in FUNCTIONS.items():
        value = values.get(name, 0.7)
        arguments = [value] if count == 1 else [value, -0.4]
        text = f"{name}({', '.join(map(str, arguments))})"
        # Both are evaluated in double precision or better: only the last digits may differ.
        assert float(parse(text)) == pytest.approx(numeric(*arguments), rel=1e-14), name


def test_keywords_of_python_are_ordinary_names() -> None:
    words = ["lambda", "if", "for", "in", "None", "True", "class", "await", "not", "is", "yield", "del"]
    table = dict(zip(words, da.parameters(" ".join(f"k{w}" for w in words)), strict=True))
    for word, symbol in table.items():
        assert parse_expression(f"2*{word} + 1", table, where="here") == 2 * symbol + 1


def test_a_long_sum_is_read() -> None:
    """Two thousand terms, as a generated energy may have."""
    text = " + ".join(f"{k}*x^{k % 7 + 1}*y" for k in range(1, 2001))
    expected = sum((sum(range(1, 2001)[r::7]) * x ** ((r + 1) % 7 + 1) * y for r in range(7)), sp.Integer(0))
    assert sp.expand(parse(text) - expected) == 0


def test_long_sums_are_read() -> None:
    with patience():
        read = parse("-x^2*(x - 3)" + " + sin(x)*2^-1 - (y + x) - -y + 1e-3*x" * 400)
    assert sp.expand(read - (-(x**2) * (x - 3) + 400 * (sp.sin(x) / 2 - x + x / 1000))) == 0
    with pytest.raises(da.ExpressionError, match="missing operand or parenthesis"):
        parse("x + " * 400)


def test_deep_but_reasonable_nesting_is_read() -> None:
    expression = parse("sin(" * 40 + "x" + ")" * 40)
    depth = 0
    while expression != x:
        expression, depth = expression.args[0], depth + 1
    assert depth == 40


class TestEquations:
    def test_left_minus_right(self) -> None:
        assert parse_equation("y = x*m", TABLE, where="here") == y - x * m

    def test_double_equals(self) -> None:
        assert parse_equation("y == x", TABLE, where="here") == y - x

    def test_bare_expression_is_zero(self) -> None:
        assert parse_equation("x' - y'", TABLE, where="here") == x.d - y.d

    @pytest.mark.parametrize("text", ["x = y = m", "= x", "x =", "=", "(x = y)", "sin(x = y)", "x === y", "x != y"])
    def test_refused(self, text: str) -> None:
        with pytest.raises(da.ExpressionError):
            parse_equation(text, TABLE, where="here")

    def test_no_equation_where_an_expression_is_wanted(self) -> None:
        with pytest.raises(da.ExpressionError, match="remove '='"):
            parse("x = y")


class TestReactions:
    def test_read_in_work_expressions(self) -> None:
        found = parse("-m*ideal(x) + actual(y)^2", reactions=True)
        assert found == -m * da.ideal(x) + da.actual(y) ** 2

    @pytest.mark.parametrize(
        "text", ["ideal(x')", "ideal(m)", "ideal(2)", "ideal(x, y)", "ideal()", "actual(x + y)", "ideal"]
    )
    def test_only_of_a_coordinate(self, text: str) -> None:
        with pytest.raises(da.ExpressionError):
            parse(text, reactions=True)

    def test_nowhere_else(self) -> None:
        with pytest.raises(da.ExpressionError, match="work expressions"):
            parse("ideal(x)")


REFUSED = {
    "code": "__import__('os')",
    "code without quotes": "__import__(x)",
    "dunder": "__class__",
    "call of a builtin": "eval(x)",
    "attribute": "x.real",
    "attribute of a number": "1 .real",
    "indexing": "x[0]",
    "string": "'x'",
    "double quotes": '"x"',
    "format string": "f'{x}'",
    "lambda": "lambda: x",
    "comprehension": "[x for x in y]",
    "generator": "sum(x for x in y)",
    "conditional": "x if y else m",
    "walrus": "(x := 1)",
    "statement": "x; y",
    "comparison": "x < y",
    "and": "x and y",
    "tuple": "x, y",
    "empty tuple": "()",
    "star": "max(*x)",
    "double star": "sin(**x)",
    "keyword argument": "sin(x=1)",
    "modulo": "x % y",
    "floor division": "x // y",
    "matrix product": "x @ y",
    "bits": "x | y",
    "tilde": "~x",
    "backslash": "x\\\n+y",
    "comment": "x # y",
    "null byte": "x\x00",
    "hexadecimal": "0x10",
    "underscored number": "1_000",
    "imaginary": "1j",
    "broken number": "1e",
    "two points": "1.2.3",
    "empty": "",
    "blank": " \t\n",
    "missing operand": "x +",
    "two operands": "x y",
    "number and name": "2x",
    "number and parenthesis": "2(x)",
    "call of a product": "(x + y)(m)",
    "call of a variable": "x(y)",
    "open parenthesis": "(x",
    "closed parenthesis": "x)",
    "function alone": "sin",
    "no argument": "sin()",
    "too many arguments": "sin(x, y)",
    "too few arguments": "atan2(x)",
    "no minimum": "min()",
    "third derivative": "x'''",
    "derivative of a parameter": "m'",
    "derivative of a number": "2'",
    "derivative of a sum": "(x + y)'",
    "unknown name": "unknown",
    "superscript": "²",
    "name with a superscript": "x²",
    "division by zero": "1/0",
    "division by a difference": "1/(x - x)",
    "power of zero": "0^-1",
    "power of a vanishing difference": "(x - x)^-1",
    "logarithm of zero": "log(0)",
    "logarithm of a vanishing difference": "log(x - x)",
    "pole of the tangent": "tan(pi/2)",
    "no direction": "atan2(x - x, y - y)",
    "root of a negative number": "sqrt(-1)",
    "root of a negative difference": "sqrt(x - x - 1)",
    "arc cosine of two": "acos(2)",
    "tower of powers": "9**9**9**9",
    "tower of exponentials": "exp(exp(exp(10)))",
    "large exponent": "x^100000",
    "overflow": "10^300*10^300",
    "large number": "1e400",
    "small number": "1e-400",
    "large number of digits": "1" * 5000,
    "many decimals that are no number": "1." * 3000,
    "powers of an underflow": "((10^-1000)^1000)^1000",
    "million parentheses": "(" * 10**6 + "x" + ")" * 10**6,
    "thousands of parentheses": "(" * 90_000 + "x" + ")" * 90_000,
    "many signs": "-" * 150_000 + "x",
    "many powers": "x^" * 50_000 + "x",
    "many calls": "sin(" * 30_000 + "x" + ")" * 30_000,
    "long text": "x + " * 100_000 + "x",
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED.keys())
def test_refuses_at_once(text: str) -> None:
    with patience(), pytest.raises(da.ExpressionError) as caught:
        parse(text)
    message = str(caught.value)
    assert message.startswith("here: ")
    assert caught.value.exit_status == 2
    assert len(message) < 1000, "a long text is not repeated whole"


def test_powers_of_almost_one_do_not_grow_exact_fractions() -> None:
    with patience():
        value = float(parse("((1.0000001^1000)^1000)^900"))
    # The rounding of 1.0000001 to a double, 1e-16, is magnified by the whole exponent, 9e8.
    assert value == pytest.approx(math.exp(9e8 * math.log1p(1e-7)), rel=1e-6)


def test_many_decimals_are_read_or_refused() -> None:
    """Python limits the conversion of long integers; the limit must not show as another error."""
    with patience():
        try:
            value = float(parse("1." + "1" * 5000))
        except da.ExpressionError:
            return
    assert value == pytest.approx(10 / 9, rel=1e-15)  # the nearest double


@pytest.mark.parametrize("wrong", [None, 5, ["x"], {"x": 1}, b"x", True])
def test_only_text_is_an_expression(wrong: object) -> None:
    with pytest.raises(da.ExpressionError):
        parse_expression(wrong, TABLE, where="here")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("lamda*x", "'lambda'"),
        ("sine(x)", "'sin'"),
        ("X", "'x'"),
        ("P0", "'p0'"),
        ("arctan2(x, y)", "'atan2'"),
    ],
)
def test_unknown_names_bring_a_suggestion(text: str, hint: str) -> None:
    with pytest.raises(da.ExpressionError, match="Did you mean") as caught:
        parse(text)
    assert hint in str(caught.value)


def test_unknown_names_bring_the_known_ones() -> None:
    with pytest.raises(da.ExpressionError) as caught:
        parse_expression("zzzzz", {"x": x, "mass": m}, where="kinetic")
    assert str(caught.value).startswith("kinetic: unknown name 'zzzzz'")
    assert "mass" in str(caught.value)


def test_the_wrong_number_of_arguments_is_told() -> None:
    with pytest.raises(da.ExpressionError, match="atan2 takes 2 arguments, got 3"):
        parse("atan2(x, y, m)")


# -- any text, any expression -------------------------------------------------------------------------

NUMBERS = ["0", "1", "2", "9", "0.5", "1e9", "1e-9", "pi"]
WORDS = [*TABLE, *FUNCTIONS, *NUMBERS, *"+-*/^(),=.'²", "**", " ", "x", "(", ")", "__", "é"]


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.one_of(st.text(max_size=40), st.lists(st.sampled_from(WORDS), max_size=14).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    with patience():
        try:
            found = parse(text, reactions=True)
        except da.ExpressionError:
            return
        assert isinstance(found, sp.Expr)
        assert is_real_and_finite(found)


numbers = st.one_of(
    st.integers(-20, 20).map(sp.Integer),
    st.fractions(-5, 5, max_denominator=12).map(sp.Rational),
    st.just(sp.pi),
    st.just(sp.E),
    st.sampled_from([0.1, 2.5, 1e-5, 0.3333333333333333]).map(sp.Float),
)
leaves = st.one_of(st.sampled_from([x, x.d, y, y.d, m, lam, omega, da.t]), numbers)


def grow(inner: st.SearchStrategy[sp.Expr]) -> st.SearchStrategy[sp.Expr]:
    """Larger expressions that stay real and finite wherever the smaller ones are."""
    pair = st.tuples(inner, inner)
    return st.one_of(
        pair.map(lambda p: p[0] + p[1]),
        pair.map(lambda p: p[0] - p[1]),
        pair.map(lambda p: p[0] * p[1]),
        pair.map(lambda p: p[0] / (1 + p[1] ** 2)),
        pair.map(lambda p: sp.atan2(p[0], 1 + p[1] ** 2)),
        pair.map(lambda p: sp.Min(*p)),
        pair.map(lambda p: sp.Max(*p)),
        inner.map(lambda e: -e),
        st.tuples(inner, st.integers(2, 3)).map(lambda p: p[0] ** p[1]),
        inner.map(lambda e: sp.sqrt(1 + e**2)),
        inner.map(lambda e: (1 + e**2) ** sp.Rational(-3, 2)),
        st.sampled_from([sp.sin, sp.cos, sp.atan, sp.tanh, sp.Abs, sp.sign]).flatmap(lambda f: inner.map(f)),
        inner.map(lambda e: sp.exp(sp.sin(e))),
        inner.map(lambda e: sp.log(2 + sp.cos(e))),
        inner.map(lambda e: sp.sinh(sp.tanh(e)) + sp.cosh(sp.sin(e))),
        inner.map(lambda e: sp.asin(sp.tanh(e)) + sp.acos(sp.tanh(e))),
        inner.map(lambda e: sp.tan(sp.tanh(e))),
    )


trees = st.recursive(leaves, grow, max_leaves=6)
PLACES = [
    {s: sp.Rational(3 * k + 1, 7) for k, s in enumerate(SYMBOLS)},
    {s: sp.Rational((-1) ** k * (2 * k + 1), 11) for k, s in enumerate(SYMBOLS)},
]


def value_at(expression: sp.Expr, place: dict[sp.Symbol, sp.Rational]) -> float:
    return float(sp.re(expression.subs(place).evalf(30)))


@settings(max_examples=150, deadline=None, derandomize=True)
@given(trees)
def test_printed_expressions_read_back_equal(expression: sp.Expr) -> None:
    again = parse(text_of(expression))
    if again == expression:
        return
    for place in PLACES:
        # Decimals are read exactly, so that a Float comes back as the decimal it prints as: 1e-16 apart,
        # amplified by at most some thousands in trees of this size.
        want, got = value_at(expression, place), value_at(again, place)
        assert math.isclose(want, got, rel_tol=1e-11, abs_tol=1e-11), text_of(expression)


@pytest.mark.parametrize(
    "expression",
    [
        -(x**2),
        (-x) ** 3 / y,
        x ** (y + 1),
        (x**y) ** m,
        1 / (x + y) ** 2,
        x / (y / m),
        2 ** (-x),
        sp.Rational(-1, 3) ** 2 * x,
        sp.sqrt(x**2 + 1) ** 3,
        x**-1 * y**-2,
        -x * (-y - 1),
        sp.Max(0, x) ** 2,
        sp.Abs(x) * sp.sign(x.d) * sp.Min(x, y, 1),
        sp.atan2(-y, x),
        sp.exp(-x / m),
        sp.exp(1) * x,
        lam * omega,
        da.ideal(x) ** 2 * x.d,
    ],
    ids=str,
)
def test_telling_expressions_read_back_the_same(expression: sp.Expr) -> None:
    assert parse(text_of(expression), reactions=True) == expression
