"""A law of one's own, derived from `da.Sliding`, works like those of the package: in equations, in motions of both
backends with their certificate, in documents once it is registered. Each is checked against a closed form.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.model.friction.laws import LAWS

x, y = da.coordinates("x y")
m, g, c, mu, vs = da.parameters("m g c mu vs")
VALUES = {m: 2, g: 9.81, c: 0.4, mu: 0.3, vs: 0.5}


@dataclass(frozen=True)
class Power(da.Sliding):
    """The force −c |u|^p u/|u|."""

    constraint: str
    strength: Any
    exponent: Any
    point: Any = None
    slide: Any = None

    def drag(self, speed: sp.Expr, normal: sp.Expr) -> sp.Expr:
        return self.strength * speed ** (self.exponent - 1)


@dataclass(frozen=True)
class Weakening(da.Sliding):
    """Dry friction with the coefficient μ/(1 + |u|/v)."""

    constraint: str
    mu: Any
    speed: Any
    point: Any = None
    regularize: Any = None
    slide: Any = None

    law = "velocity weakening"
    positive = ("speed", "regularize")

    def dry_coefficient(self, speed: sp.Expr) -> sp.Expr:
        return self.mu / (1 + speed / self.speed)

    def faults(self, value: Any) -> Iterator[str]:
        if (value(self.mu) or 0) > 10:
            yield "mu is above 10"


@pytest.fixture
def known() -> Iterator[None]:
    before = dict(LAWS)
    da.register_law(Power)
    da.register_law(Weakening)
    yield
    LAWS.clear()
    LAWS.update(before)


def block(law: Any, **changes: Any) -> da.System:
    """A block on a horizontal floor, which begins with the speed 1."""
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "potential": m * g * y,
        "constraints": {"floor": y},
        "nonideal": [law],
        "parameters": VALUES,
        "initial": {x: 0, y: 0, x.d: 1, y.d: 0},
    }
    return da.System("block", **{**parts, **changes})


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_smooth(backend: str) -> None:
    """m v̇ = −c v^{3/2}: v = (v₀^{−1/2} + c t/2m)^{−2}, x = (2m/c)(√v₀ − √v); the heat is what the block lost."""
    motion = block(Power("floor", c, sp.Rational(3, 2))).simulate(
        2.0, rtol=1e-10, atol=1e-12, samples=21, backend=backend
    )
    v = (1 + 0.4 * motion.t / 4) ** -2
    # A run at rtol 1e-10 over a few units of time, with a hundredfold margin.
    assert np.allclose(motion["x'"], v, rtol=0, atol=1e-8)
    assert np.allclose(motion["x"], 10 * (1 - np.sqrt(v)), rtol=0, atol=1e-8)
    assert np.allclose(motion["heat floor"], 1 - v**2, rtol=0, atol=1e-8)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", ["reference", "native"])
def test_dry(backend: str) -> None:
    """v̇ = −μ g/(1 + v/v_s): v + v²/2v_s falls like μ g t. It stops at x = (v₀²/2 + v₀³/3v_s)/μ g, and sticks."""
    system = block(Weakening("floor", mu, vs))
    motion = system.simulate(1.0, rtol=1e-10, atol=1e-12, samples=41, backend=backend)
    fall = 0.3 * 9.81
    left = np.maximum(1 + 1 / (2 * 0.5) - fall * motion.t, 0)
    assert left[-1] == 0  # the motion is long enough for it to stop
    assert np.allclose(motion["x'"], 0.5 * (np.sqrt(1 + 2 * left / 0.5) - 1), rtol=0, atol=1e-7)  # at a root of v
    assert motion["x"][-1] == pytest.approx((1 / 2 + 1 / (3 * 0.5)) / fall, abs=1e-8)
    assert motion.certificate.holds


def test_it_sticks_up_to_its_coefficient_at_rest() -> None:
    law, rest = Weakening("floor", mu, vs), {x: 0, y: 0, x.d: 0, y.d: 0}
    for share, moves in ((0.99, False), (1.01, True)):
        pushed = block(law, forces={x: share * mu * m * g}, initial=rest)
        assert (pushed.at().acceleration[0] != 0) == moves


def test_smoothed() -> None:
    """A field called regularize is all that is needed: −μ(s) |N| u/s with s = √(u² + ε²)."""
    (work,) = block(Weakening("floor", mu, vs, regularize=0.01)).works
    s = sp.sqrt(x.d**2 + sp.Float(0.01) ** 2)
    wanted = -mu / (1 + s / vs) * sp.Abs(da.multiplier("floor")) * x.d / s
    assert sp.simplify(work.work[x] - wanted) == 0


def test_equations() -> None:
    assert "m*x'' = 0 + 0 + (-c*x'**3)" in block(Power("floor", c, 3)).equations().text()
    assert (-c * x.d**3, 0) == block(Power("floor", c, 3)).C
    assert "sign(x')" in block(Weakening("floor", mu, vs)).equations().text()


def test_documents(known: None) -> None:
    for law in (Power("floor", c, sp.Rational(3, 2), point=x), Weakening("floor", "2*mu", 0.5)):
        system = block(law)
        again = da.loads(da.dumps(system))
        assert again.nonideal == system.nonideal
        assert pickle.loads(pickle.dumps(system)).structure == again.structure == system.structure


def test_a_document_of_an_unknown_law() -> None:
    text = da.dumps(block(Power("floor", c, 2)))
    with pytest.raises(da.DocumentError, match="law 'power' is unknown"):
        da.loads(text)


def test_laws_of_two_classes_are_two_models() -> None:
    """Even where name and fields agree: systems of one structure share their equations."""

    @dataclass(frozen=True)
    class Other(Power):
        law = "power"

        def drag(self, speed: sp.Expr, normal: sp.Expr) -> sp.Expr:
            return 2 * super().drag(speed, normal)

    one, other = block(Power("floor", c, 2)), block(Other("floor", c, 2))
    assert one.structure != other.structure
    assert other.at().nonideal[0] == 2 * one.at().nonideal[0] == pytest.approx(-0.8, rel=1e-15)  # one rounding


@dataclass(frozen=True)
class Slippery(Weakening):
    """One that sticks less than it slides."""

    limit: Any = 0.2

    def static_limit(self) -> Any:
        return self.limit


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (Slippery("floor", mu, 1), "it sticks up to 0.2, static_limit(), and slides with 0.3 at the smallest speeds"),
        (Power("floor", -1, 2), "nonideal power 'floor': strength must be zero or greater, it is -1"),
        (Power("flor", 1, 2), "Did you mean 'floor'"),
        (Weakening("floor", 1, 0), "speed must be greater than zero"),
        (Weakening("floor", 11, 1), "mu is above 10"),
        (Weakening("floor", None, 1), "mu is a number or an expression, got None"),
    ],
)
def test_one_message(law: Any, words: str) -> None:
    with pytest.raises(da.ModelError) as caught:
        block(law)
    (fault,) = caught.value.faults
    assert words in fault


def test_a_limit_of_its_own_is_taken_where_it_is_not_the_smaller_one() -> None:
    assert block(Slippery("floor", mu, 1, limit=0.3)).contacts[0].mu_static == sp.Float(0.3)
    # Nothing is known of one that has no value yet.
    unknown, _ = da.parameters("f h")
    assert block(Slippery("floor", mu, 1, limit=unknown)).contacts[0].mu_static == unknown


def test_what_is_no_law() -> None:
    class Bare(da.Sliding):
        constraint = "floor"

    with pytest.raises(da.ModelError, match="write @dataclass"):
        block(Bare())
    with pytest.raises(TypeError, match="'drag' is what a law is asked"):

        class Shadowed(da.Sliding):
            drag: Any

    with pytest.raises(ValueError, match="another law 'coulomb'"):
        da.register_law(type("Mine", (da.Sliding,), {"law": "coulomb"}))


@dataclass(frozen=True)
class Misspelt(da.Sliding):
    constraint: str
    strength: object
    point: object = None
    slide: object = None

    def dragg(self, speed, normal):
        return self.strength


@dataclass(frozen=True)
class Wordy(Misspelt):
    def drag(self, speed, normal):
        return "strength * speed"


@dataclass(frozen=True)
class Falling(Misspelt):
    def dry_coefficient(self, speed):
        return self.strength - speed


def on_the_floor(law: da.Law, **more: object) -> da.System:
    return da.System(
        "block", coordinates="x y", kinetic="(x'^2 + y'^2)/2", potential="9.81*y", constraints={"floor": "y = 0"},
        nonideal=[law], initial={"x": 0, "y": 0, "x'": 1, "y'": 0}, **more,
    )  # fmt: skip


@pytest.mark.parametrize(("law", "message"), [(Misspelt, "it does nothing"), (Wordy, "gives no SymPy expression")])
def test_a_law_that_says_nothing_is_refused(law: type[da.Law], message: str) -> None:
    with pytest.raises(da.ModelError, match=message):
        on_the_floor(law("floor", 0.3))


def test_a_coefficient_that_speed_makes_negative_is_told() -> None:
    motion = on_the_floor(Falling("floor", 0.3)).simulate(0.5, samples=11)
    assert any("below zero" in warning for warning in motion.warnings)
