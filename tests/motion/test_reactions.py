"""Laws that depend on constraint forces: `ideal(…)` known beforehand, `actual(…)` solved together with the law."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from sample_systems import g, m, mu, sliding, theta, x, y

import dalembert as da

ALONG = np.array([np.cos(0.5), np.sin(0.5)])
# One state is a handful of roundings.
ROUNDING = 1e-12


class TestIncline:
    """A block that slides on a rough incline, example 2 of the 2005 paper."""

    @pytest.mark.parametrize("direction", [1, -1])
    def test_forces(self, direction: int) -> None:
        v = direction * 2.5 * ALONG
        now = sliding().at({x.d: v[0], y.d: v[1]})
        press = 1.7 * 9.81 * np.cos(0.5)
        np.testing.assert_allclose(now.ideal, press * np.array([-np.sin(0.5), np.cos(0.5)]), rtol=ROUNDING)
        np.testing.assert_allclose(now.nonideal, -direction * 0.3 * press * ALONG, rtol=ROUNDING)
        along = -9.81 * np.sin(0.5) - direction * 0.3 * 9.81 * np.cos(0.5)
        np.testing.assert_allclose(now.acceleration, along * ALONG, rtol=ROUNDING)

    def test_motion(self) -> None:
        motion = sliding().simulate(0.5, samples=11)  # it comes to rest at 0.55
        rate = -9.81 * (np.sin(0.5) + 0.3 * np.cos(0.5))
        way = 4 * motion.t + rate * motion.t**2 / 2
        np.testing.assert_allclose(motion.q, way[:, None] * ALONG, atol=1e-9)  # a polynomial: the tolerance
        work = -0.3 * 1.7 * 9.81 * np.cos(0.5) * way
        np.testing.assert_allclose(motion["work nonideal"], work, atol=1e-8)
        np.testing.assert_allclose(motion["work ideal"], 0, atol=1e-9)
        assert motion.certificate.holds

    def test_from_a_document(self) -> None:
        again = da.loads(da.dumps(sliding()))
        np.testing.assert_array_equal(again.at().nonideal, sliding().at().nonideal)

    def test_actual_equals_ideal_where_friction_is_tangential(self) -> None:
        size = sp.sqrt(da.actual(x) ** 2 + da.actual(y) ** 2) / sp.sqrt(x.d**2 + y.d**2)
        law = {x: -mu * size * x.d, y: -mu * size * y.d}
        one, other = sliding().at(), sliding(law).at()
        np.testing.assert_allclose(other.acceleration, one.acceleration, rtol=ROUNDING)
        np.testing.assert_allclose(other.nonideal, one.nonideal, rtol=ROUNDING)


def coupled(kind: str, size: float, absolute: bool = False) -> da.System:
    """M = [[2, 1], [1, 2]], forces (3, −5), y held: friction along x pushes y too, so the reaction changes with it."""
    force = {"ideal": da.ideal, "actual": da.actual}[kind](y)
    return da.System(
        "coupled",
        coordinates=[x, y],
        mass=[[2, 1], [1, 2]],
        forces={x: 3, y: -5},
        constraints={"floor": y},
        nonideal=[da.Work({x: -mu * (sp.Abs(force) if absolute else force)}, constraint="floor")],
        parameters={mu: size},
        initial={x: 0, y: 0, x.d: 1, y.d: 0},
    )


class TestActual:
    """By hand: 2ẍ = 3 + C and ẍ = −5 + λ. Ideal, C = 0: λ₀ = 6.5. With C = −μλ: λ = 6.5/(1 + μ/2)."""

    @pytest.mark.parametrize("size", [0.0, 0.4, 1.0, -0.5])
    def test_actual(self, size: float) -> None:
        now = coupled("actual", size).at()
        lam = 6.5 / (1 + size / 2)
        np.testing.assert_allclose(now.multipliers, [lam], rtol=ROUNDING)
        np.testing.assert_allclose(now.acceleration, [(3 - size * lam) / 2, 0], rtol=ROUNDING, atol=ROUNDING)
        np.testing.assert_allclose(now.C, [-size * lam, 0], rtol=ROUNDING)
        np.testing.assert_allclose(now.ideal, [0, 6.5], rtol=ROUNDING, atol=ROUNDING)
        # Q_ni is what is left of C: the same along x, and along y what the coupling hands over.
        np.testing.assert_allclose(now.nonideal, [-size * lam, -size * lam / 2], rtol=ROUNDING, atol=ROUNDING)

    def test_ideal_differs(self) -> None:
        now = coupled("ideal", 0.4).at()
        np.testing.assert_allclose(now.acceleration, [(3 - 0.4 * 6.5) / 2, 0], rtol=ROUNDING, atol=ROUNDING)
        np.testing.assert_allclose(now.multipliers, [6.5 - 0.4 * 6.5 / 2], rtol=ROUNDING)

    def test_with_an_absolute_value(self) -> None:
        same, other = coupled("actual", 0.4).at(), coupled("actual", 0.4, absolute=True).at()
        np.testing.assert_allclose(other.acceleration, same.acceleration, rtol=ROUNDING, atol=ROUNDING)

    def test_nonlinear_law(self) -> None:
        """C = −0.02 λ²: λ + 0.01 λ²·… = 6.5, the root near the ideal force."""
        system = coupled("actual", 0.02).replace(nonideal=[da.Work({x: -mu * da.actual(y) ** 2})])
        lam = (-1 + np.sqrt(1 + 4 * 0.01 * 6.5)) / (2 * 0.01)
        np.testing.assert_allclose(system.at().multipliers, [lam], rtol=ROUNDING)

    def test_motion(self) -> None:
        motion = coupled("actual", 0.4).simulate(1, samples=5)
        lam = 6.5 / 1.2
        np.testing.assert_allclose(motion["x"], motion.t + (3 - 0.4 * lam) / 4 * motion.t**2, rtol=1e-9)
        np.testing.assert_allclose(motion["multiplier floor"], np.full(5, lam), rtol=1e-9)
        assert motion.certificate.holds

    @pytest.mark.parametrize(
        "work",
        [2 * da.actual(y), 20 + da.actual(y) ** 2],  # λ = 6.5 + λ, and λ²/2 − λ + 16.5 = 0: no root, either of them
        ids=["singular", "no real root"],
    )
    def test_no_force_agrees_with_its_own_work(self, work: sp.Expr) -> None:
        """Told as an error of this package, never a number and never an error of linear algebra."""
        system = coupled("actual", 1.0).replace(nonideal=[da.Work({x: work})])
        with pytest.raises(da.InconsistentConstraints):
            system.at()


def test_redundant_constraints() -> None:
    """The actual force Aᵀλ is unique though λ is not: a doubled floor gives the same motion."""
    system = coupled("actual", 0.4)
    doubled = system.replace(constraints={"floor": y, "again": 2 * y})
    np.testing.assert_allclose(doubled.at().acceleration, system.at().acceleration, rtol=ROUNDING, atol=ROUNDING)
    assert doubled.at().dependent == ("again",)


def test_singular_mass() -> None:
    """A massless coordinate, and a law on the force that holds it."""
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=m * x.d**2 / 2,
        forces={x: 1, y: -g},
        constraints={"floor": y},
        nonideal=[da.Work({x: -mu * da.actual(y)})],
        parameters={m: 2, g: 3, mu: 0.1},
        initial={x: 0, y: 0, x.d: 1, y.d: 0},
    )
    np.testing.assert_allclose(system.at().acceleration, [(1 - 0.3) / 2, 0], rtol=ROUNDING, atol=ROUNDING)


def test_undetermined_direction_is_named() -> None:
    system = da.System(
        "s",
        coordinates=[x, y],
        kinetic=m * y.d**2 / 2,
        constraints={"floor": y},
        nonideal=[da.Work({y: -mu * da.actual(y)})],
        parameters={m: 2, mu: 0.1},
        initial={x: 0, y: 0, x.d: 1, y.d: 0},
    )
    with pytest.raises(da.UndeterminedMotion, match="x carries no mass"):
        system.at()


def test_theta_is_the_slope() -> None:
    """The angle of repose: with μ = tanθ the block slides down at constant speed."""
    system = sliding(parameters={m: 1.7, g: 9.81, theta: 0.5, mu: np.tan(0.5)})
    now = system.at({x.d: -np.cos(0.5), y.d: -np.sin(0.5)})
    np.testing.assert_allclose(now.acceleration, [0, 0], atol=1e-13)
