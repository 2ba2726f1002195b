"""Udwadia 2005, equation by equation: principle, three forces and both examples, as printed (dots put back)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import sqrtm
from scipy.optimize import minimize
from sympy import Matrix, cos, sign, sin, sqrt, tan

import dalembert as da

# Some dozen operations at one state, on numbers of size one.
ROUNDING = 1e-11
RNG = np.random.default_rng(444)

x, y, z = da.coordinates("x y z")
m, g, mu, theta, alpha, a0, w = da.parameters("m g mu theta alpha a0 w")


def particles() -> da.System:
    """Two particles on a rough rod, in Cartesian coordinates: a holonomic and a nonholonomic constraint, the second
    twice, and work that feeds one particle and brakes the other.
    """
    return da.System(
        "two particles",
        coordinates="x1 y1 x2 y2",
        mass=[["m1", "0", "0", "0"], ["0", "m1", "0", "0"], ["0", "0", "m2", "0"], ["0", "0", "0", "m2"]],
        forces={"x1": "-k*x1", "y1": "-m1*g", "x2": "-k*x2'", "y2": "-m2*g"},
        constraints={
            "rod": "(x2 - x1)^2 + (y2 - y1)^2 = l^2",
            "edge": "(x1' + x2')*(y2 - y1) = (y1' + y2')*(x2 - x1)",
            "edge again": "2*(x1' + x2')*(y2 - y1) = 2*(y1' + y2')*(x2 - x1)",
        },
        nonideal=[da.Work({"x1": "-c*x1'", "y1": "-c*y1'", "x2": "c*x2'/3", "y2": "c*y2'/3"}, "edge")],
        parameters={"m1": 1.5, "m2": 0.6, "g": 9.81, "k": 2, "l": 1, "c": 0.9},
        initial={"x1": 0, "y1": 0, "x2": 0.8, "y2": 0.6, "x1'": 0.4, "y1'": 0.3, "x2'": 0.4, "y2'": 0.3},
    )


def bead() -> da.System:
    """In generalized coordinates, with M(q): a bead that drags along a spoke that it drives (25), (26)."""
    return da.System(
        "spoke",
        coordinates="r a",
        kinetic="m*(r'^2 + r^2*a'^2)/2 + J*a'^2/2",
        potential="m*g*r*sin(a)",
        constraints={"screw": "r' = h*a'"},
        nonideal=[da.Work({"r": "-c*r'^3", "a": "c*a'"}, "screw")],
        parameters={"m": 1.5, "J": 0.6, "g": 9.81, "c": 0.9, "h": 0.3},
        initial={"r": 1.1, "a": 0.4, "r'": 0.6, "a'": 2},
    )


SYSTEMS = {"Cartesian": particles(), "generalized": bead()}
every = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS.keys())


def possible(now: da.motion.instant.Instant) -> np.ndarray:
    return now.possible(RNG.normal(size=now.q.size) * 5)


def test_1_to_5_the_problem() -> None:
    """(1), (2): a = M⁻¹F; (3), (4) → (5): φ differentiated twice, ψ once, by hand."""
    now = particles().at()
    masses = np.array([1.5, 1.5, 0.6, 0.6])
    force = [0, -1.5 * 9.81, -2 * 0.4, -0.6 * 9.81]
    np.testing.assert_allclose(now.Q, force, atol=ROUNDING)
    np.testing.assert_allclose(now.unconstrained, force / masses, atol=ROUNDING)
    # d = r₂ − r₁ = (0.8, 0.6), ḋ = 0; s = ṙ₁ + ṙ₂ = (0.8, 0.6)
    np.testing.assert_allclose(now.A[0], 2 * np.array([-0.8, -0.6, 0.8, 0.6]), atol=ROUNDING)
    np.testing.assert_allclose(now.A[1], [0.6, -0.8, 0.6, -0.8], atol=ROUNDING)
    np.testing.assert_allclose(now.b, 0, atol=ROUNDING)
    moving = particles().at({"x2'": 0.1, "y2'": 0.7})  # ḋ = (−0.3, 0.4), s = (0.5, 1.0)
    np.testing.assert_allclose(moving.b[0], -2 * (0.09 + 0.16), atol=ROUNDING)
    np.testing.assert_allclose(moving.b[1], -(0.5 * 0.4 - 1.0 * -0.3), atol=ROUNDING)
    assert now.rank == 2  # of three rows: nothing is asked of the rank


@every
def test_6_7_deviation(system: da.System) -> None:
    now = system.at()
    np.testing.assert_allclose(now.acceleration, now.unconstrained + now.deviation, atol=ROUNDING)
    np.testing.assert_allclose(now.M @ now.acceleration, now.Q + now.constraint_force, atol=ROUNDING)
    np.testing.assert_allclose(now.M @ now.deviation, now.constraint_force, atol=ROUNDING)


@every
def test_8_to_11_virtual_work(system: da.System) -> None:
    """(9): vᵀF^c = vᵀC for all v with A v = 0; (11) the same by M q̈ − F − C."""
    now = system.at()
    for v in (now.virtual_displacements @ RNG.normal(size=(now.q.size - now.rank, 5))).T:
        found = now.virtual_work(v)
        assert found.done == pytest.approx(found.prescribed, abs=ROUNDING)
        assert v @ (now.M @ now.acceleration - now.Q - now.C) == pytest.approx(0, abs=ROUNDING)
        assert abs(found.prescribed) > 1e-3  # (10) would be d'Alembert's principle, and does not hold here


@pytest.mark.parametrize(("c", "kind"), [(0.9, -1), (0.0, 0), (-0.9, 1)])
def test_9_work_of_either_sign(c: float, kind: int) -> None:
    """W^c along the velocity, a virtual displacement here, is negative, zero or positive."""
    system = da.library.incline_block(c=c) if c else da.library.incline_block().replace(nonideal=[])
    now = system.at()
    assert np.sign(round(now.virtual_work(now.v).done, 9)) == kind


@every
def test_12_13_possible_accelerations_differ_by_virtual_displacements(system: da.System) -> None:
    now = system.at()
    d = possible(now) - now.acceleration
    np.testing.assert_allclose(now.A @ d, 0, atol=1e-10)  # ten times larger numbers
    assert d @ (now.M @ now.acceleration - now.Q - now.C) == pytest.approx(0, abs=1e-10)


def test_14_lemma_1() -> None:
    for size in (2, 5):
        Y = RNG.normal(size=(size, size))
        Y = Y + Y.T
        e, f, h = RNG.normal(size=(3, size))

        def product(a: np.ndarray, b: np.ndarray, Y: np.ndarray = Y) -> float:
            return float(a @ Y @ b)

        left = product(e - h, e - h) - product(e - f, e - f)
        assert left == pytest.approx(product(h - f, h - f) - 2 * product(e - f, h - f), abs=ROUNDING)


@every
def test_15_lemma_2(system: da.System) -> None:
    """For any z at all; where it is possible the last term is zero, and G grows by (d, d)_M."""
    now = system.at()
    z = RNG.normal(size=now.q.size) * 5
    d = z - now.acceleration
    found = now.gauss_excess(z)
    assert found.excess == pytest.approx(found.square + found.cross, rel=1e-10)
    assert found.square == pytest.approx(d @ now.M @ d, rel=1e-12)
    assert abs(found.cross) > 0.1
    z = possible(now)
    found = now.gauss_excess(z)
    assert found.cross == pytest.approx(0, abs=1e-9)
    assert found.excess == pytest.approx(found.square, rel=1e-9)
    assert found.excess > 0
    assert now.gauss_excess(force=now.M @ z - now.Q) == pytest.approx(found, abs=1e-8)
    assert now.gauss_excess(deviation=z - now.unconstrained) == pytest.approx(found, abs=1e-8)
    with pytest.raises(da.ModelError, match="give an acceleration"):
        now.gauss_excess()


@every
def test_16_25_least_among_possible_ones(system: da.System) -> None:
    """A minimiser that knows G and the possible accelerations only finds the motion."""
    now = system.at()
    N = now.virtual_displacements

    def G(s: np.ndarray) -> float:
        force = now.M @ (start + N @ s) - now.Q - now.C
        return float(force @ np.linalg.solve(now.M, force))

    start = possible(now)
    found = minimize(G, np.zeros(N.shape[1]), method="BFGS", options={"gtol": 1e-9})
    # BFGS by differences finds a place to the root of the rounding of G, here of some hundreds.
    np.testing.assert_allclose(start + N @ found.x, now.acceleration, atol=1e-5)
    assert found.fun == pytest.approx(now.gauss(), rel=1e-9)


@every
def test_17_19_alternative_forms(system: da.System) -> None:
    now = system.at()
    z = possible(now)
    force = now.M @ z - now.Q
    by_force = (force - now.C) @ np.linalg.solve(now.M, force - now.C)
    by_deviation = (z - now.a_ni) @ now.M @ (z - now.a_ni)
    assert now.gauss(z) == pytest.approx(by_force, rel=1e-10)
    assert now.gauss(z) == pytest.approx(by_deviation, rel=1e-10)


@every
def test_18_to_22_by_r(system: da.System) -> None:
    now = system.at()
    np.testing.assert_allclose(now.a_ni, np.linalg.solve(now.M, now.Q + now.C), atol=ROUNDING)  # (18)
    half = np.real(sqrtm(now.M))
    np.testing.assert_allclose(now.acceleration, np.linalg.solve(half, now.r) + now.a_ni, atol=ROUNDING)  # (20)
    right = now.b - now.A @ now.unconstrained - now.A @ now.c
    np.testing.assert_allclose(now.B @ now.r, right, atol=ROUNDING)  # (21)
    np.testing.assert_allclose(now.r, np.linalg.pinv(now.B, rcond=1e-10) @ right, atol=ROUNDING)  # (22)
    assert now.r @ now.r == pytest.approx(now.gauss(), rel=1e-10)


@every
def test_23_24_26_three_forces(system: da.System) -> None:
    now = system.at()
    half = np.real(sqrtm(now.M))
    plus, inverse = np.linalg.pinv(now.B, rcond=1e-10), np.linalg.inv(half)
    ideal = half @ plus @ (now.b - now.A @ now.unconstrained)
    nonideal = half @ (np.eye(now.q.size) - plus @ now.B) @ inverse @ now.C
    np.testing.assert_allclose(now.ideal, ideal, atol=ROUNDING)
    np.testing.assert_allclose(now.nonideal, nonideal, atol=ROUNDING)
    np.testing.assert_allclose(now.M @ now.acceleration, now.Q + ideal + nonideal, atol=ROUNDING)
    assert np.abs(now.nonideal - now.C).max() > 0.01  # F_ni ≠ C
    other = now.inverse(RNG.normal(size=plus.shape))
    np.testing.assert_allclose(now.deviation_by(other), now.deviation, atol=ROUNDING)


# -- example 1, with forces without a value and a concrete g(t)


@cache
def appell() -> da.System:
    F = da.parameters("F_x F_y F_z")
    u = sqrt(x.d**2 + y.d**2 + z.d**2)
    return da.System(
        "Appell's particle",
        coordinates=[x, y, z],
        mass=sp.eye(3),
        forces=dict(zip((x, y, z), F, strict=True)),
        constraints={"cone": x.d**2 + y.d**2 - z.d**2 - 2 * alpha * sin(w * da.t)},
        nonideal=[da.Work({q: -a0 * u * q.d for q in (x, y, z)}, "cone")],
    )


def zero(matrix: Matrix) -> bool:
    return all(sp.simplify(entry) == 0 for entry in matrix)


def test_27_to_30_example_1() -> None:
    found = appell().equations()
    v, F = Matrix([x.d, y.d, z.d]), Matrix(da.parameters("F_x F_y F_z"))
    u = sqrt(x.d**2 + y.d**2 + z.d**2)
    rate = alpha * w * cos(w * da.t)  # αġ
    A = Matrix([[x.d, y.d, -z.d]])
    assert zero(found.C + a0 * u * v)  # (27)
    assert zero(found.A - 2 * A)  # (28): ours is the derivative of the constraint as written, twice the paper's
    assert zero(found.b - Matrix([2 * rate]))
    assert zero(found.K - A.T / (2 * u**2))  # B⁺ = Aᵀ/u², halved as the row is doubled
    assert zero(found.unconstrained - F)
    matrix = Matrix(
        [
            [y.d**2 + z.d**2, -x.d * y.d, x.d * z.d],
            [-y.d * x.d, x.d**2 + z.d**2, y.d * z.d],
            [x.d * z.d, y.d * z.d, x.d**2 + y.d**2],
        ]
    )
    ideal = (rate - x.d * F[0] - y.d * F[1] + z.d * F[2]) / u**2 * A.T
    assert zero(found.impressed - F)
    assert zero(found.ideal - ideal)
    assert zero(found.nonideal + a0 / u * matrix * v)  # (29)
    assert zero(found.nonideal + a0 / u * 2 * Matrix([x.d * z.d**2, y.d * z.d**2, z.d * (x.d**2 + y.d**2)]))  # (30)
    assert zero(found.acceleration - F - found.ideal - found.nonideal)
    assert not zero(found.nonideal - found.C)


# -- example 2, with the law of dry friction itself


def block(**changes: object) -> da.System:
    settings: dict = {
        "nonideal": [da.Coulomb("plane", mu=mu)],
        "parameters": {m: 1.2, g: 9.81, theta: 0.5, mu: 0.3},
        "initial": {x: 0, y: 0, x.d: 1, y.d: tan(theta)},
        **changes,
    }
    return da.System(
        "block",
        coordinates=[x, y],
        kinetic=m * (x.d**2 + y.d**2) / 2,
        potential=m * g * y,
        constraints={"plane": sp.Eq(y, x * tan(theta))},
        **settings,
    )


def test_31_to_35_smooth() -> None:
    found = block(nonideal=[]).equations()
    assert list(found.Q) == [0, -m * g]  # (31)
    assert list(found.A) == [-tan(theta), 1]  # (33), (34)
    assert list(found.b) == [0]
    # B⁺ = √m cos²θ (−tan θ, 1)ᵀ, and K = B⁺/√m
    assert zero(found.K - cos(theta) ** 2 * Matrix([-tan(theta), 1]))
    assert list(found.ideal) == [-g * m * sin(theta) * cos(theta), g * m * cos(theta) ** 2]  # (35)
    assert sp.simplify(found.ideal.dot(found.ideal) - (m * g * cos(theta)) ** 2) == 0


def test_36_to_39_coulomb() -> None:
    """The law knows neither N nor the direction: both come from the constraint. These very expressions are printed."""
    found = block().equations()
    assert found.explicit
    size = mu * m * g * cos(theta)
    # (37) with the sign that (9) gives to C: in (36) the paper writes −C for it.
    assert list(found.C) == [-size * cos(theta) * sign(x.d), -size * sin(theta) * sign(x.d)]
    assert list(found.nonideal) == list(found.C)  # (38)
    assert list(found.impressed) == [0, -m * g]
    assert list(found.ideal) == [-g * m * sin(theta) * cos(theta), g * m * cos(theta) ** 2]
    assert zero(found.M * found.acceleration - found.impressed - found.ideal - found.nonideal)  # (39)
    text = found.text()
    assert "motion while sliding\n  m*x'' = 0 + (-g*m*sin(theta)*cos(theta)) + (-g*m*mu*cos(theta)**2*sign(x'))" in text
    assert "m*y'' = (-g*m) + g*m*cos(theta)**2 + (-g*m*mu*sin(theta)*cos(theta)*sign(x'))" in text
    assert "g and cos(theta) are positive, as the parameters have it" in found.reason
    assert "while sticking" in text
    assert "F = g*m*sin(theta)   [friction that holds it, along the sliding (x' + y'*tan(theta))*cos(theta)]" in text
    assert "F_max = g*m*mu*cos(theta)   [sticks while abs(F) is at most F_max]" in text


def test_36_before_the_plane_is_used() -> None:
    """C along the velocity, −μ mg cos θ (ẋ, ẏ)/√(ẋ² + ẏ²), is (37) on the plane."""
    speed = sqrt(x.d**2 + y.d**2)
    law = da.Work({q: -mu * m * g * cos(theta) * q.d / speed for q in (x, y)}, "plane")
    for rate in (-0.7, 1.3):
        state = {x.d: rate, y.d: rate * np.tan(0.5)}
        one, two = block(nonideal=[law]).at(state), block().at(state)
        np.testing.assert_allclose(one.C, two.C, atol=ROUNDING)
        np.testing.assert_allclose(one.acceleration, two.acceleration, atol=ROUNDING)


def test_without_values_bars_stay() -> None:
    found = block(parameters={}).equations()
    known = {g: sp.Symbol("G", positive=True), theta: sp.Symbol("T", real=True), m: sp.Symbol("M", positive=True)}
    T = known[theta]
    expected = -mu * known[m] * known[g] * Matrix([cos(T) ** 2, cos(T) * sin(T)]) * sign(x.d)
    assert zero(found.nonideal.subs(known) - expected)
    assert found.nonideal.has(sp.Abs)
    assert "F_max = m*mu*abs(g)*abs(cos(theta))" in found.text()


@pytest.mark.parametrize("rate", [1.0, -1.0])
def test_39_is_the_motion(rate: float) -> None:
    """The printed acceleration, integrated by hand (it is constant), beside the simulated motion while it slides."""
    system = block(initial={x: 0, y: 0, x.d: rate, y.d: rate * tan(theta)})
    found = system.equations()
    known = {symbol: float(value) for symbol, value in system.parameters.items()} | {x.d: rate}
    acceleration = np.array(found.acceleration.subs(known).evalf(), dtype=float)[:, 0]
    now = system.at()
    np.testing.assert_allclose(acceleration, now.acceleration, atol=ROUNDING)
    stop = -rate / acceleration[0] if rate > 0 else 1.0
    motion = system.simulate(0.9 * stop, samples=11)
    expected = np.outer(motion.t, [rate, rate * np.tan(0.5)]) + np.outer(motion.t**2 / 2, acceleration)
    # A parabola, which the integration gives to its tolerance of 1e-9.
    np.testing.assert_allclose(motion.q, expected, atol=1e-8)


def test_sticking_is_what_the_state_says() -> None:
    """At rest with μ > tan θ: F of the page is the friction told there, and F_max its limit."""
    system = block(parameters={m: 1.2, g: 9.81, theta: 0.5, mu: 0.7}, initial={x: 0, y: 0, x.d: 0, y.d: 0})
    now = system.at()
    np.testing.assert_allclose(now.acceleration, 0, atol=ROUNDING)
    np.testing.assert_allclose(now.deviation, now.K @ (now.e - now.A @ now.c) + now.c, atol=ROUNDING)
    section = next(s for s in system.equations().sections if s.title == "while sticking")
    known = {symbol: float(value) for symbol, value in system.parameters.items()}
    force, limit = (float(line.terms[0][1].subs(known)) for line in section.lines[-2:])
    assert np.hypot(*now.nonideal) == pytest.approx(force, rel=1e-12)
    assert force < limit == pytest.approx(0.7 * np.hypot(*now.ideal), rel=1e-12)
