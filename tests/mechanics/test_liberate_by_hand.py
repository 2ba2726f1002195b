"""Particles of many kinds, freed: reactions beside Newton's equations solved by hand, and the Cartesian system."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy import cos, hypot, sin

import dalembert as da

G = 9.81


@dataclass(frozen=True)
class Case:
    """Particles in text: mass, position and force of each, and the reactions by hand."""

    coordinates: str
    particles: dict[str, tuple[Any, tuple[Any, ...], tuple[Any, ...]]]
    constraints: dict[str, str]
    initial: dict[str, float]
    reactions: dict[str, np.ndarray]
    potential: str | None = None
    nonideal: tuple[Any, ...] = ()
    time: float = 0.0
    inverse: dict[str, float] = field(default_factory=dict)  # forces of single constraints, by hand too

    def build(self) -> da.Particles:
        return da.Particles(
            "case",
            coordinates=self.coordinates,
            particles=[da.Particle(name, *parts) for name, parts in self.particles.items()],
            constraints=self.constraints,
            potential=self.potential,
            nonideal=self.nonideal,
            parameters={"g": G},
            initial={**self.initial, "t": self.time},
        )


def parabola() -> Case:
    """y = x²: the curvature at x is 2/(1 + 4x²)^1.5, so that N = m(g cos β + v²/ρ) along (−sin β, cos β)."""
    x, rate = 0.6, 1.1
    beta = np.arctan(2 * x)
    speed = rate * hypot(1, 2 * x)
    N = 1.7 * (G * cos(beta) + speed**2 * 2 / (1 + 4 * x**2) ** 1.5)
    return Case(
        "x", {"bead": (1.7, ("x", "x^2"), (0, "-1.7*g"))}, {"wire": "y_bead = x_bead^2"}, {"x": x, "x'": rate},
        {"bead": N * np.array([-sin(beta), cos(beta)])},
    )  # fmt: skip


def atwood() -> Case:
    """Tension 2 m₁m₂g/(m₁ + m₂) on both."""
    T = 2 * 3 * 1.2 * G / 4.2
    return Case(
        "h", {"one": (3, ("h",), ("-3*g",)), "two": (1.2, ("2 - h",), ("-1.2*g",))},
        {"rope": "5*(x_one + x_two - 2)"}, {"h": 0.3, "h'": -0.8}, {"one": np.array([T]), "two": np.array([T])},
    )  # fmt: skip


def wedge() -> Case:
    """A block on a wedge that slides on a smooth floor: N = m M g cos θ/(M + m sin² θ)."""
    M, m, theta = 4.0, 1.5, 0.6
    N = m * M * G * cos(theta) / (M + m * sin(theta) ** 2)
    return Case(
        "X s",
        {
            "wedge": (M, ("X", "0"), ("0", "-4*g")),
            "block": (m, ("X - s*cos(0.6)", "-s*sin(0.6)"), (0, "-1.5*g")),
        },
        {"floor": "y_wedge", "slope": "(y_block - y_wedge)*cos(0.6) = (x_block - x_wedge)*sin(0.6)"},
        {"X": 0, "s": 0.4, "X'": 0.2, "s'": 0.7},
        # the block lies on the left of the wedge's top, so that the slope pushes it up and to the left
        {"block": N * np.array([-sin(theta), cos(theta)]), "wedge": np.array([N * sin(theta), M * G])},
        inverse={"floor": M * G + N * cos(theta)},
    )  # fmt: skip


def conical() -> Case:
    """Going round at a steady angle, ω² = g/(l cos θ): T = m g/cos θ."""
    theta, l = 0.5, 1.3
    omega, T = np.sqrt(G / (l * cos(theta))), 0.8 * G / cos(theta)
    return Case(
        "u w", {"bob": (0.8, ("1.3*sin(u)*cos(w)", "1.3*sin(u)*sin(w)", "-1.3*cos(u)"), ())},
        {"rod": "x_bob^2 + y_bob^2 + z_bob^2 = 1.69"}, {"u": theta, "w": 0, "u'": 0, "w'": omega},
        {"bob": T * np.array([-sin(theta), 0, cos(theta)])}, potential="0.8*g*z_bob",
    )  # fmt: skip


def trammel() -> Case:
    """Two masses on perpendicular guides, joined by a rod; no weight. With x = l cos θ, y = l sin θ the rod's force S
    on A is m ẍ = S cos θ, on B M ÿ = S sin θ, and at one instant θ̈ = (m − M) θ̇² sin θ cos θ/(m sin² θ + M cos² θ).
    """
    m, M, l, theta, w = 1.0, 2.5, 0.9, 0.7, 1.6
    s, c = sin(theta), cos(theta)
    turn = (M - m) * w**2 * s * c / (m * s**2 + M * c**2)
    S = m * l * (-turn * s - w**2 * c) / c
    assert pytest.approx(S) == M * l * (turn * c - w**2 * s) / s
    return Case(
        "th", {"A": (m, ("0.9*cos(th)", "0"), ()), "B": (M, ("0", "0.9*sin(th)"), ())},
        {"guide A": "y_A", "guide B": "x_B", "rod": "(x_A - x_B)^2 + (y_A - y_B)^2 = 0.81"},
        {"th": theta, "th'": w}, {"A": np.array([S * c, 0]), "B": np.array([0, S * s])},
    )  # fmt: skip


def turning_rod() -> Case:
    """A bead on a rod that turns at w = 3 in a vertical plane: across it N = m(2 ṙ w + g cos wt)."""
    t, r, rate = 0.4, 0.7, -0.3
    N = 2 * (2 * rate * 3 + G * cos(3 * t))
    return Case(
        "r", {"bead": (2, ("r*cos(3*t)", "r*sin(3*t)"), (0, "-2*g"))}, {"rod": "x_bead*sin(3*t) = y_bead*cos(3*t)"},
        {"r": r, "r'": rate}, {"bead": N * np.array([-sin(3 * t), cos(3 * t)])}, time=t,
    )  # fmt: skip


def cart() -> Case:
    """A cart of mass M with a pendulum: T = m(l α̇² + g cos α) M/(M + m sin² α)."""
    M, m, l, alpha, w = 3.0, 0.7, 1.1, 0.8, 1.9
    T = M * m * (l * w**2 + G * cos(alpha)) / (M + m * sin(alpha) ** 2)
    pull = T * np.array([-sin(alpha), cos(alpha)])
    return Case(
        "X a", {"cart": (M, ("X",), ()), "bob": (m, ("X + 1.1*sin(a)", "-1.1*cos(a)"), (0, "-0.7*g"))},
        {"rod": "(x_bob - x_cart)^2 + y_bob^2 = 1.21"}, {"X": 0, "a": alpha, "X'": -0.4, "a'": w},
        {"cart": -pull[:1], "bob": pull},
    )  # fmt: skip


def cone() -> Case:
    """On a cone z = ρ cot β, half angle β: across it N = m(g sin β + ρ ẇ² cos β)."""
    beta, rho, w = 0.7, 0.5, 2.0
    N = G * sin(beta) + rho * w**2 * cos(beta)
    return Case(
        "p w", {"bead": (1, ("p*cos(w)", "p*sin(w)", "p/tan(0.7)"), (0, 0, "-g"))},
        {"cone": "z_bead*tan(0.7) = sqrt(x_bead^2 + y_bead^2)"}, {"p": rho, "w": 0, "p'": 0.3, "w'": w},
        {"bead": N * np.array([-cos(beta), 0, sin(beta)])},
    )  # fmt: skip


def dumbbell() -> Case:
    """Free in the plane, turning: tension m₁m₂/(m₁ + m₂) l ω²."""
    w, turned = 2.2, 0.9
    T = 1.5 * 0.5 / 2.0 * 1.4 * w**2
    along = T * np.array([cos(turned), sin(turned)])
    return Case(
        "x y a",
        {
            "one": (1.5, ("x", "y"), (0, "-1.5*g")),
            "two": (0.5, ("x + 1.4*cos(a)", "y + 1.4*sin(a)"), (0, "-0.5*g")),
        },
        {"rod": "(x_two - x_one)^2 + (y_two - y_one)^2 = 1.96"},
        {"x": 0, "y": 0, "a": turned, "x'": 0.3, "y'": 1, "a'": w}, {"one": along, "two": -along},
    )  # fmt: skip


def lift() -> Case:
    """A pendulum in a lift that rises with 2 m/s²: T = m((g + 2) cos α + l α̇²)."""
    alpha, w = 0.6, 1.2
    T = 1.1 * ((G + 2) * cos(alpha) + 0.7 * w**2)
    return Case(
        "a", {"bob": (1.1, ("0.7*sin(a)", "t^2 - 0.7*cos(a)"), (0, "-1.1*g"))},
        {"rod": "x_bob^2 + (y_bob - t^2)^2 = 0.49"}, {"a": alpha, "a'": w},
        {"bob": T * np.array([-sin(alpha), cos(alpha)])}, time=0.5,
    )  # fmt: skip


def charged() -> Case:
    """On a smooth table in a magnetic field across it, and a field along x: the table carries the weight only, the
    force on a circle holds m v²/r − q v B.
    """
    w, r, B = 1.5, 0.8, 2.0
    pull = -1 * r * w**2 - w * r * B  # along the radius: m r̈ = R + F, F = v × B k
    return Case(
        "a", {"ion": (1, ("0.8*cos(a)", "0.8*sin(a)", "0"), ("2*y_ion'", "-2*x_ion'", "-g"))},
        {"table": "z_ion", "ring": "x_ion^2 + y_ion^2 = 0.64"}, {"a": 0.3, "a'": w},
        {"ion": np.array([pull * cos(0.3), pull * sin(0.3), G])},
    )  # fmt: skip


def towed() -> Case:
    """Two blocks on a rough slope, joined by a rod, sliding down: T = m₁m₂ g cos θ (μ₁ − μ₂)/(m₁ + m₂) on the upper
    one, uphill where it is the rougher; normal forces m g cos θ.
    """
    theta, one, two = 0.5, 2.0, 3.0
    down, up = np.array([cos(theta), -sin(theta)]), np.array([sin(theta), cos(theta)])
    T = one * two * G * cos(theta) * (0.3 - 0.1) / (one + two)
    place = ("cos(0.5)", "-sin(0.5)")
    return Case(
        "s",
        {
            "upper": (one, tuple(f"s*{e}" for e in place), (0, "-2*g")),
            "lower": (two, tuple(f"(s + 1)*{e}" for e in place), (0, "-3*g")),
        },
        {
            "first": "y_upper*cos(0.5) + x_upper*sin(0.5)", "second": "y_lower*cos(0.5) + x_lower*sin(0.5)",
            "rod": "(x_lower - x_upper)^2 + (y_lower - y_upper)^2 = 1",
        },
        {"s": 0, "s'": 1.2},
        {"upper": one * G * cos(theta) * up + T * down, "lower": two * G * cos(theta) * up - T * down},
        nonideal=(da.Coulomb("first", 0.3), da.Coulomb("second", 0.1)),
    )  # fmt: skip


def loop() -> Case:
    """A bead on a vertical hoop that is stated twice, once as a root: N = m(v²/a − g sin φ) inwards."""
    phi, w = 0.4, 2.5
    N = 1.2 * (0.6 * w**2 - G * sin(phi))
    return Case(
        "f", {"bead": (1.2, ("0.6*cos(f)", "0.6*sin(f)"), (0, "-1.2*g"))},
        {"hoop": "x_bead^2 + y_bead^2 = 0.36", "again": "sqrt(x_bead^2 + y_bead^2) = 0.6"}, {"f": phi, "f'": w},
        {"bead": -N * np.array([cos(phi), sin(phi)])},
    )  # fmt: skip


CASES = [parabola, atwood, wedge, conical, trammel, turning_rod, cart, cone, dumbbell, lift, charged, towed, loop]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_reactions_by_hand(case):
    given = case()
    particles = given.build()
    freed, now = da.liberate(particles), particles.system.at()
    found = freed.reactions(now)
    for name, expected in given.reactions.items():
        assert found[name] == pytest.approx(expected, rel=1e-9, abs=1e-9), name  # rounding; iteration with friction
    for name, expected in given.inverse.items():
        assert freed.inverse(now)[name] == pytest.approx(expected, rel=1e-9), name
    there = particles.cartesian().at()
    friction = np.concatenate(list(freed.nonideal(now).values()))
    both = np.concatenate(list(found.values())) + friction
    assert both == pytest.approx(there.ideal + there.nonideal, rel=1e-9, abs=1e-9)
    assert friction == pytest.approx(np.zeros_like(friction) if not given.nonideal else there.C, abs=1e-9)


@pytest.mark.parametrize("case", [wedge, trammel, towed], ids=lambda case: case.__name__)
def test_every_step_can_be_read(case):
    text = str(da.liberate(case().build()).steps)
    assert "nan" not in text
    assert "(7.4)" in text


def test_friction_that_feeds_friction_is_closed():
    """Two blocks on a slope: normal forces come first, and the rod's force follows from their friction."""
    given = towed()
    steps = da.liberate(given.build()).steps
    assert not steps.implicit
    s = steps.coordinates[0]
    at = {s: 0, s.d: 1.2, s.dd: G * sin(0.5) - (2 * 0.3 + 3 * 0.1) / 5 * G * cos(0.5)}
    at |= {symbol: G for vector in steps.on.values() for symbol in vector.free_symbols if symbol.name == "g"}
    for name, expected in given.reactions.items():
        assert np.array(steps.on[name].subs(at).evalf(), dtype=float).ravel() == pytest.approx(expected, rel=1e-12)
    assert "(R^-1)" not in " ".join(line.text() for line in steps.equations().sections[-1].lines)
