"""Derivatives by time: `da.rate`, and that SymPy's `diff` by `da.t` cannot lose a velocity unnoticed."""

import copy
import pickle

import numpy as np
import pytest
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

import dalembert as da
from dalembert.model.language.rates import partial

x, a = da.coordinates("x a")
l, m, k = da.parameters("l m k")
g, F = sp.Function("g"), sp.Function("F")
t = da.t


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (x + l * sp.sin(a), x.d + l * sp.cos(a) * a.d),
        (x.d * a, x.dd * a + x.d * a.d),
        (t**2 * x, 2 * t * x + t**2 * x.d),
        (sp.sin(3 * t), 3 * sp.cos(3 * t)),
        (g(t), sp.Derivative(g(t), t)),
        (F(x, t), sp.Derivative(F(x, t), x) * x.d + sp.Derivative(F(x, t), t)),
        (g(2 * x), 2 * x.d * g(2 * x).diff(x) / 2),
        (m * l, 0),
        (3, 0),
        (abs(x), sp.sign(x) * x.d),
        (sp.sign(x) * x, sp.sign(x) * x.d),  # the jump of a sign makes no peak: no motion stays on it
    ],
)
def test_rate(given, found):
    assert sp.simplify(da.rate(given) - found) == 0


def test_rate_along_a_motion_given_in_closed_form():
    """With x = sin 2t and a = t³ put in, d/dt of the expression is its rate with ẋ, ẍ, … put in."""
    expression = sp.exp(-x) * a.d * t + sp.cos(a) * x.d**2
    s = sp.Symbol("s")
    motion = {x: sp.sin(2 * s), a: s**3, t: s}
    whole = motion | {q.d: motion[q].diff(s) for q in (x, a)} | {q.dd: motion[q].diff(s, 2) for q in (x, a)}
    assert sp.simplify(da.rate(expression).xreplace(whole) - expression.xreplace(whole).diff(s)) == 0


def test_rate_of_a_matrix_and_of_dynamicsymbols():
    assert da.rate(sp.Matrix([x, t * a])) == sp.Matrix([x.d, a + t * a.d])
    q, time = dynamicsymbols("q"), dynamicsymbols._t
    assert da.rate(q**2 * x) == 2 * q * q.diff(time) * x + q**2 * x.d


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (x.dd, "third derivatives"),
        (da.ideal(x), "constraint force"),
        ("x + a", "got 'x [+] a'"),
        (x * sp.Symbol("x"), "another symbol as well"),
        (sp.Eq(x, a), "an expression is wanted"),
    ],
)
def test_there_is_no_rate(given, message):
    with pytest.raises(da.AmbiguousDerivative, match=message):
        da.rate(given)


LOSING = {
    "without t": lambda: (x + l * sp.sin(a)).diff(t),
    "with t": lambda: (t * x).diff(t),
    "inside": lambda: (t**2 + sp.exp(t * sp.sin(x.d))).diff(t),
    "sp.diff": lambda: sp.diff(x, t),
    "twice": lambda: sp.diff(x, t, 2),
    "mixed": lambda: (m * x.d**2 / 2).diff(x.d, t),
    "Derivative": lambda: sp.Derivative(x * l, t, evaluate=True),
    "doit": lambda: sp.Derivative(x * l, t).doit(),
    "jacobian": lambda: sp.Matrix([x, t]).jacobian([t]),
    "matrix": lambda: sp.Matrix([x, t]).diff(t),
    "immutable matrix": lambda: sp.ImmutableMatrix([t, x]).diff(t),
    "array": lambda: sp.Array([x, t]).diff(t),
    "piecewise": lambda: sp.Piecewise((x, x > 0), (0, True)).diff(t),
    "function of a coordinate": lambda: g(x).diff(t),
    "function of both": lambda: F(x, x + t).diff(t),
    "constraint force": lambda: da.ideal(x).diff(t),
    "dynamicsymbols": lambda: dynamicsymbols("q").diff(t),
    "another t": lambda: (sp.Symbol("t") ** 2).diff(t),
}


@pytest.mark.parametrize("how", LOSING)
def test_a_derivative_that_would_lose_a_velocity_is_refused(how):
    with pytest.raises(da.AmbiguousDerivative, match=r"da\.rate"):
        LOSING[how]()


def test_what_does_not_move_is_differentiated_as_ever():
    assert (t**2 + l * t).diff(t) == 2 * t + l
    assert l.diff(t) == 0
    assert g(t).diff(t) == sp.Derivative(g(t), t)
    assert F(x, t).diff(t) == sp.Derivative(F(x, t), t) == sp.simplify(sp.Derivative(F(x, t), t))
    assert sp.Matrix([t**2, l]).jacobian([t]) == sp.Matrix([2 * t, 0])
    assert sp.integrate(t * sp.sin(t), (t, 0, sp.pi)) == sp.pi
    assert sp.series(sp.sin(t), t, 0, 4).removeO() == t - t**3 / 6
    assert sp.dsolve(g(t).diff(t) - g(t), g(t)).rhs == sp.Symbol("C1") * sp.exp(t)


def test_a_derivative_not_carried_out_is_refused_by_a_model():
    with pytest.raises(da.ModelError, match="is not carried out"):
        da.System("s", coordinates=[x], kinetic=m * x.d**2 / 2, forces={x: sp.Derivative(x, t)})


def test_partial_derivatives_inside():
    assert partial(t * x**2 + x.d, t) == x**2
    assert partial(t**3 * x, t, 2) == 6 * t * x
    assert partial(F(x, t), t) == sp.Derivative(F(x, t), t)
    assert partial(x, t, 0) == x


def test_time_is_a_symbol_like_others():
    for other in (copy.copy(t), copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert other == t
        assert hash(other) == hash(t)
    expression = sp.sin(2 * t) * x + g(t).diff(t)
    assert pickle.loads(pickle.dumps(expression)) == expression
    assert sp.lambdify([t, x], t * x + 1)(2.0, 3.0) == 7.0
    assert sp.latex(t) == str(t) == "t"
    assert (x * t).subs(t, 2) == 2 * x


def test_another_symbol_called_t_means_the_time():
    """As `dynamicsymbols` bring it: with F = cos t on a mass from rest, x = 1 − cos t."""
    system = da.System(
        "pushed", coordinates=[x], kinetic=x.d**2 / 2, forces={x: sp.cos(sp.Symbol("t"))}, initial={x: 0, x.d: 0}
    )
    motion = system.simulate(2.0, rtol=1e-10, atol=1e-12, samples=5, backend="reference")
    # The error of a run at rtol 1e-10 over two units of time, with a hundredfold margin.
    assert np.allclose(motion["x"], 1 - np.cos(motion.t), rtol=0, atol=1e-8)


def test_rates_in_documents():
    parts = {"coordinates": "x a", "parameters": {"l": 2, "m": 3}}
    text = da.System("text", **parts, kinetic="m*rate(x + l*sin(a))^2/2", constraints={"c": "rate(x*a) = sin(t)"})
    assert sp.expand(text.kinetic - m * (x.d + l * sp.cos(a) * a.d) ** 2 / 2) == 0
    assert sp.expand(text.constraints[0].expression - (x.d * a + x * a.d - sp.sin(t))) == 0
    twice = da.System("twice", **parts, kinetic="x'^2 + a'^2", constraints={"c": "rate(rate(x^2)) = 0"})
    assert sp.expand(twice.constraints[0].expression - 2 * (x.d**2 + x * x.dd)) == 0


def test_a_parameter_may_be_called_rate():
    (r,) = da.parameters("rate")
    system = da.System("s", coordinates=[x], kinetic="x'^2/2", potential="rate*x^2", parameters={"rate": 2})
    assert system.potential == r * x**2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rate(x'')", "third derivatives"),
        ("rate()", "rate takes 1 argument, got 0"),
        ("rate(x, a)", "rate takes 1 argument, got 2"),
        ("rate(" + "*".join(f"(x + {k})" for k in range(1, 600)) + ")", "too long"),
        ("rat(x)", "Did you mean 'rate'"),
    ],
)
def test_rates_that_cannot_be_read(text, message):
    with pytest.raises(da.ModelError, match=message):
        da.System("s", coordinates="x a", kinetic="x'^2 + a'^2", constraints={"c": text})


def test_a_derivative_that_is_not_taken_is_refused() -> None:
    (x,) = da.coordinates("x")
    for given in (sp.Derivative(x, da.t), 2 * sp.Derivative(x.d * da.t, da.t)):
        with pytest.raises(da.AmbiguousDerivative, match="not taken"):
            da.rate(given)
    g = sp.Function("g")(da.t)
    assert da.rate(sp.Derivative(g, da.t)) == g.diff(da.t, 2)


def test_sums_and_integrals_that_stand_undone_are_told():
    """They were taken, and ended in a NameError of what evaluates expressions at random points."""
    k = sp.Symbol("k", integer=True)
    (x,) = da.coordinates("x")
    for left in (sp.Sum(x**k, (k, 1, 3)), sp.Integral(x * k, (k, 0, 1)), sp.Limit(x * sp.sin(k) / k, k, 0)):
        with pytest.raises(da.ModelError, match=r"potential: .* is not carried out"):
            da.System("s", coordinates=[x], kinetic=x.d**2 / 2, potential=left)
        assert da.System("s", coordinates=[x], kinetic=x.d**2 / 2, potential=left.doit()).classify()
