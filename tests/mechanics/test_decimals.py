"""Decimal numbers in equations: no rounding and no 1.0 in any form, and the same equations as with fractions."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.errors import DoesNotApply, ModelError
from dalembert.mechanics.page.decimals import decimal
from dalembert.mechanics.principles import FORMS

r, y, theta = da.coordinates("r y theta")
(m,) = da.parameters("m")

# 1.1*9.81 is 10.791000000000002 in floating point.
SYSTEMS = {
    "rod": da.System(
        "rod", coordinates=[r, y], kinetic=0.5 * 1.1 * (r.d**2 + y.d**2), potential=1.1 * 9.81 * y,
        constraints={"rod": r**2 + y**2 - 1.21},
    ),
    "turntable": da.System(
        "turntable", coordinates=[r, theta], kinetic=0.5 * m * (r.d**2 + r**2 * theta.d**2),
        potential=m * 9.81 * r * sp.sin(theta), constraints={"turn": theta - 0.3 * da.t},
    ),
    "free": da.System("free", coordinates=[r, y], kinetic=0.7 * (r.d**2 + r**2 * y.d**2)),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SYSTEMS)
def test_numbers_are_clean(name, form):
    try:
        found = SYSTEMS[name].equations(form)
    except DoesNotApply:
        return
    for text in (found.text(), found.latex()):
        assert not re.search(r"(?<![\d.])1\.0(?!\d)", text), text  # a factor of one
        assert not re.search(r"\d\.\d{9}", text), text  # rounding


def test_what_was_written_is_shown():
    text = SYSTEMS["rod"].equations("gauss").text()
    assert "Fhat_y = 1.1*y'' + 10.791" in text
    assert "G_ni = 1.1*r''**2 + (y'' + 9.81)*(1.1*y'' + 10.791)" in text
    text = SYSTEMS["turntable"].equations().text()
    assert "r'' = r*theta'**2 - 9.81*sin(theta)" in text
    assert "theta'' = 0" in text


def test_the_values_are_exact():
    """In the results the numbers are the fractions that were written."""
    found = SYSTEMS["rod"].equations()
    assert found.acceleration.atoms(sp.Float) == set()
    at = {r: sp.Rational(3, 5), y: sp.Rational(1, 2), r.d: 1, y.d: -2}
    lam = (sp.Rational("10.791") * at[y] / 1 - sp.Rational(11, 10) * 5) / (at[r] ** 2 + at[y] ** 2) / 2
    assert found.multipliers[0].xreplace({k: sp.sympify(v) for k, v in at.items()}) == lam


def test_fractions_of_a_model_stay():
    """7/10 of a rolling ball, and 1/2, written as such."""
    (x,) = da.coordinates("x")
    ball = da.System("ball", coordinates=[x], kinetic=sp.Rational(7, 10) * m * x.d**2, potential=m * x**2 / 2)
    assert "7*m*x''/5 = -m*x" in ball.equations().text()


def test_decimals_of_text_are_shown_as_written():
    """The language reads 9.81 as 981/100; a fraction like that of a moment of inertia stays one."""

    def page(kinetic: str, potential: str) -> str:
        return str(da.System("text", coordinates=[r, y], kinetic=kinetic, potential=potential).equations())

    assert "y'' = -9.81" in page("(r'^2 + y'^2)/2", "9.81*y")
    assert "y'' = -9.8\n" in page("(r'^2 + y'^2)/2", "9.8*y + r^2/5")
    assert "4*r''/5 = 0" in page("2/5*r'^2 + y'^2/2", "y")
    ball = da.System("text", coordinates=[r, y], kinetic="(r'^2 + y'^2)/2", potential="9.81*y")
    assert "energy: r'**2/2 + 9.81*y + y'**2/2" in str(ball.classify())


def test_numbers_of_any_size():
    G = 6.6743e-11
    planet = da.System("planet", coordinates=[r], kinetic=r.d**2 / 2, potential=-G * 5.9722e24 / r)
    assert "r'' = -398602544600000/r**2" in planet.equations().text()
    tiny = da.System("tiny", coordinates=[r], kinetic=r.d**2 / 2, potential=1e-300 * r)
    assert "r'' = -1e-300" in tiny.equations("lagrange").text()


def test_decimal_changes_no_value():
    x = sp.Symbol("x")
    for e in (
        sp.Rational(981, 100) * x**2 / 3,
        sp.Rational(11, 1000) * x * (981 * x - 100) / (100 * x**2 + 200),
        sp.Rational(1, 11000) * (5000 * x**2 + 118701),
        (x + sp.Rational(3, 10)) ** sp.Rational(3, 2) / 4,
    ):
        # Fifteen digits of each number, a few operations.
        assert float(decimal(e).subs(x, 1.7)) == pytest.approx(float(e.subs(x, 1.7)), rel=1e-14)


@pytest.mark.parametrize("z", [[1.0], [1.0, 2.0, 3.0], "ab", ["a", "b"], {"x": 1}, 3.0, np.zeros((3, 3))])
def test_accelerations_of_the_wrong_shape(z):
    block = da.fundamental(np.eye(2), [0, -9.81], [[-1.0, 1.0]], [0.0])
    with pytest.raises(ModelError, match=r"accelerations of shape \(…, 2\) are wanted"):
        block.gauss(z)
    with pytest.raises(ModelError, match="2 numbers wanted"):
        da.library.pendulum().at().gauss(z)


def test_several_accelerations_at_once():
    block = da.fundamental(np.eye(2), [0, -9.81], [[-1.0, 1.0]], [0.0])
    both = block.gauss([[0.0, 0.0], block.acceleration])
    assert both[0] == pytest.approx(9.81**2)
    assert both[1] == pytest.approx(float(block.gauss()))
