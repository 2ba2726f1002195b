"""A stiff motion on an explicit method is told, with the remedy; others are left alone."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.kernel.build import find_compiler
from dalembert.motion.integrate import choose, stiffness

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C")
BACKENDS = ["reference", pytest.param("native", marks=needs_compiler)]


def damped(rate: str) -> da.System:
    """A mass in honey on a slow drive: the rate of damping is what is stiff."""
    return da.System(
        "damped",
        coordinates="x",
        kinetic="x'^2/2",
        forces={"x": f"-({rate})*x' + sin(t)"},
        parameters={"c": 1e4},
        initial={"x": 0, "x'": 0},
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("method", "rtol"), [("dop853", 1e-6), ("dopri5", 1e-4)])
def test_told_with_the_remedy(method: str, rtol: float, backend: str) -> None:
    motion = damped("c").simulate(1.5, samples=3, method=method, rtol=rtol, backend=backend)
    (warning,) = motion.warnings
    assert "stiff" in warning
    assert "method='stiff'" in warning
    remedy = damped("c").simulate(1.5, samples=3, method="stiff", rtol=rtol, backend=backend)
    assert remedy.warnings == ()
    assert remedy.timing is not None
    assert motion.timing is not None
    assert remedy.timing.steps < motion.timing.steps / 10


@pytest.mark.parametrize("backend", BACKENDS)
def test_from_when(backend: str) -> None:
    """Damping that sets in at t = 1: by then it is 5000."""
    motion = damped("c*(1 + tanh(50*(t - 1)))/2").simulate(2, samples=3, rtol=1e-6, backend=backend)
    (warning,) = motion.warnings
    since = float(warning.split("t = ")[1].split(":")[0])
    # It is a fiftieth of its height at 0.96, and full at 1.04.
    assert 0.9 < since < 1.1


# The watch is the same at every tolerance, and the slow backend is left the one with the fewest steps.
@pytest.mark.parametrize(
    ("backend", "rtol"), [("reference", 1e-4), *(pytest.param("native", r, marks=needs_compiler) for r in (1e-4, 1e-7))]
)
def test_fast_vibration_is_not_stiff(rtol: float, backend: str) -> None:
    """Accuracy asks for these steps: no other method would take fewer."""
    system = da.System("vibration", coordinates="x", kinetic="x'^2/2", potential="x^2/2", initial={"x": 1, "x'": 0})
    motion = system.simulate(1500, samples=3, rtol=rtol, backend=backend)
    assert motion.timing is not None
    assert motion.timing.steps > 500
    assert motion.warnings == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_rounding_is_not_stiffness(backend: str) -> None:
    """Constant acceleration: last stage and result differ by rounding only."""
    system = da.System(
        "fall",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        initial={"x": 0, "y": 0, "x'": 1, "y'": 0},
    )
    motion = system.simulate(times=np.linspace(0, 10, 3001), backend=backend)
    assert motion.warnings == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_short_runs_are_left_alone(backend: str) -> None:
    motion = damped("c").simulate(0.1, samples=3, method="dop853", rtol=1e-6, backend=backend)
    assert motion.warnings == ()


def governor(damping: float, spring: float = 1e5) -> da.System:
    """A flyball governor with a light valve on a strong, damped linkage: modes of −1e5 and −1e3 at damping 100."""
    return da.System(
        "flyball governor",
        coordinates="a s u",
        kinetic="m*l^2*(a'^2 + s'^2*sin(a)^2) + J*s'^2/2 + mu*u'^2/2",
        potential="-2*m*g*l*cos(a) + k*(u - l*(1 - cos(a)))^2/2",
        forces={"s": "T*(1 - u/h) - load*s'", "u": "-c*u'", "a": "-d*a'"},
        parameters={"m": 1, "l": 0.3, "J": 2, "g": 9.81, "k": spring, "c": damping, "mu": 1e-3}
        | {"T": 20, "h": 0.2, "load": 1, "d": 2},
        initial={"a": 0.5, "s": 0, "u": 0.0367, "a'": 0, "s'": 6, "u'": 0},
    )


@pytest.mark.skipif(find_compiler() is None, reason="no C")
@pytest.mark.parametrize(("damping", "spring"), [(100, 1e5), (10, 1e6)])
def test_rounding_does_not_hide_stiffness(damping: float, spring: float) -> None:
    """At 1e-9, rounding magnified by the stiffness keeps steps below the limit of stability: they do not show it."""
    system = governor(damping, spring)
    asked = system.simulate(2, samples=21, method="dop853")
    (warning,) = asked.warnings
    assert "method='stiff' will need far fewer steps" in warning
    assert asked.method == "DOP853"
    left = system.simulate(2, samples=21)
    (told,) = left.warnings
    assert "integrated by the stiff method" in told
    assert left.method == "Radau"
    assert asked.timing is not None
    assert left.timing is not None
    assert left.timing.steps < asked.timing.steps / 20
    assert left.certificate.holds
    # A hundred times the tolerance, of the largest of each.
    for name in ("a", "s", "u", "a'", "s'"):
        np.testing.assert_allclose(left[name], asked[name], atol=1e-7 * np.abs(asked[name]).max())


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_a_relaxation_oscillation_is_left_to_the_stiff_method() -> None:
    """Van der Pol's equation: 6000 explicit steps, at the limit of stability, are worth it."""
    system = da.System(
        "relaxation",
        coordinates="x",
        kinetic="x'^2/2",
        potential="x^2/2",
        forces={"x": "mu*(1 - x^2)*x'"},
        parameters={"mu": 100},
        initial={"x": 2, "x'": 0},
    )
    motion = system.simulate(200, rtol=1e-5, samples=41)
    (told,) = motion.warnings
    assert "integrated by the stiff method" in told
    assert motion.timing is not None
    assert motion.timing.steps < 500
    finer = system.simulate(200, rtol=1e-11, samples=41, method="dop853")
    # A jump at t ≈ 81 and 163 comes late by what errors make of its time: x is slow elsewhere, dx/dt < 0.1.
    np.testing.assert_allclose(motion["x"], finer["x"], atol=1e-3)


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_steps_below_the_limit_of_stability_may_be_stiff() -> None:
    """A pendulum on a stiff, critically damped spring: at 1e-9 the product of step and mode is 0.25, where methods of
    this order are stable up to 6, and the motion itself asks for steps a hundred times longer.
    """
    system = da.System(
        "spring rod",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="g*y + k*(sqrt(x^2 + y^2) - 1)^2/2",
        forces={"x": "-c*(x*x' + y*y')*x/(x^2 + y^2)", "y": "-c*(x*x' + y*y')*y/(x^2 + y^2)"},
        parameters={"g": 9.81, "k": 1e6, "c": 2e3},
        initial={"x": 1, "y": 0, "x'": 0, "y'": 0},
    )
    motion = system.simulate(3, samples=31)
    (told,) = motion.warnings
    assert "integrated by the stiff method" in told
    asked = system.simulate(3, samples=31, method="dop853")
    assert motion.timing is not None
    assert asked.timing is not None
    assert motion.timing.steps < asked.timing.steps / 5
    # A hundred tolerances.
    np.testing.assert_allclose(motion.q, asked.q, atol=1e-7)


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_stiffness_that_comes_late_is_seen() -> None:
    """More than 1000 steps follow a fast drive, which ends at t = 55; honey comes at 60."""
    system = damped("c*(1 + tanh(5*(t - 60)))/2").replace(
        forces={"x": "-c*(1 + tanh(5*(t - 60)))/2*x' + sin(t) + sin(20*t)*(1 - tanh(5*(t - 55)))/2"}
    )
    motion = system.simulate(100, samples=41, rtol=1e-6)
    (told,) = motion.warnings
    assert "integrated by the stiff method" in told
    # What is left long after: x′ = (c sin t − cos t)/(c² + 1), by a tolerance of 1e-6 of speeds up to one.
    c, t = 1e4, motion.t[motion.t > 62]
    np.testing.assert_allclose(motion["x'"][-t.size :], (c * np.sin(t) - np.cos(t)) / (c * c + 1), atol=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_is_recommended_that_did_not_pay(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "STIFF_LOOK", 100)
    monkeypatch.setattr(choose, "PAYS", 1e-3)
    for module in (choose, stiffness):
        monkeypatch.setattr(module, "STIFF_WORTH", 100)
    asked = damped("c").simulate(0.3, samples=3, rtol=1e-6, backend=backend, method="dop853")
    assert len(asked.warnings) == 1
    motion = damped("c").simulate(0.3, samples=3, rtol=1e-6, backend=backend)
    assert motion.method == "DOP853"
    assert motion.warnings == ()


def test_the_reference_changes_its_method_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choose, "STIFF_LOOK", 300)  # fewer, because it is slow
    motion = damped("c").simulate(1.0, samples=7, rtol=1e-6, backend="reference")
    (told,) = motion.warnings
    assert "integrated by the stiff method" in told
    assert motion.method == "Radau"
    c, t = 1e4, motion.t
    # x″ + c x′ = sin t from rest. Both methods allow 1e-6 of values below 1e-4, in each of some hundred steps.
    right = (c * np.sin(t) - np.cos(t) + np.exp(-c * t)) / (c * c + 1)
    np.testing.assert_allclose(motion["x'"], right, atol=1e-8)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_explicit_method_goes_on_where_nothing_is_stiff(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damped, driven vibration: its mode has died out, but is no faster than what drives it."""
    monkeypatch.setattr(choose, "STIFF_LOOK", 100)
    system = damped("c").replace(parameters={"c": 0.2}, potential="x^2/2")
    motion = system.simulate(400, samples=41, rtol=1e-6, backend=backend)
    assert motion.warnings == ()
    assert motion.method == "DOP853"
    # What remains of x″ + c x′ + x = sin t: −cos(t)/c.
    assert motion["x"][-1] == pytest.approx(-np.cos(400) / 0.2, abs=1e-4)


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_a_fast_vibration_on_its_own_is_not_stiff() -> None:
    """Without damping the valve vibrates: the stiff method would take more steps, and none is recommended."""
    for method in ("auto", "dop853", "dopri5"):
        motion = governor(0, 1e6).simulate(1, samples=11, method=method, rtol=1e-4 if method == "dopri5" else 1e-6)
        assert motion.warnings == ()


def rod(spring: float, damping: float) -> da.System:
    """A point on a damped spring, all but a rod, that falls from the horizontal."""
    x, y = da.coordinates("x y")
    length = sp.sqrt(x**2 + y**2)
    along = -damping * (x * x.d + y * y.d) / length**2
    return da.System(
        "damped stiff rod",
        coordinates=[x, y],
        kinetic=(x.d**2 + y.d**2) / 2,
        potential=9.81 * y + spring * (length - 1) ** 2 / 2,
        forces={x: along * x, y: along * y},
        initial={x: 1, y: 0, x.d: 0, y.d: 0},
    )


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_a_stiff_rod_is_seen_at_a_tight_tolerance() -> None:
    """Its vibration is not dead after a thousand steps, and later rounding of the stiff force hides it."""
    motion = rod(1e6, 1e3).simulate(10, rtol=1e-11, samples=11, backend="native")
    explicit = rod(1e6, 1e3).simulate(10, rtol=1e-11, samples=11, method="dop853", backend="native")
    assert motion.method == "Radau"
    assert motion.timing.steps < explicit.timing.steps / 4
    # Both are within their tolerances times the steps they take in ten seconds.
    assert motion.q == pytest.approx(explicit.q, abs=1e-8)


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_steps_that_rounding_makes_short_are_seen_as_stiff() -> None:
    """A hundred times as stiff: rounding of its force asks for steps of a thousandth of the vibration that is dead."""
    motion = rod(1e8, 1e4).simulate(3, rtol=1e-11, samples=5, backend="native")
    assert motion.method == "Radau"
    assert "is stiff" in motion.warnings[0]
    # As a pendulum, v² = −2 g y: the rod is longer by its load over 1e8, 3 g at most, and holds 5e-6 of energy.
    x, y, vx, vy = (motion[name][-1] for name in ("x", "y", "x'", "y'"))
    assert vx**2 + vy**2 == pytest.approx(-2 * 9.81 * y, abs=2e-5)
    assert x**2 + y**2 == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
def test_work_inside_long_stiff_steps(backend: str) -> None:
    """x = t³ is no error to a method of order 5, whose few steps are long; the work of 6 t along it is 4.5 t⁴."""
    system = da.System("pushed", coordinates="x", kinetic="x'^2/2", forces={"x": "6*t"}, initial={"x": 0, "x'": 0})
    motion = system.simulate(2, method="stiff", samples=21, backend=backend)
    assert motion.timing is not None
    assert motion.timing.steps < 20
    np.testing.assert_allclose(motion.work[:, 0], 4.5 * motion.t**4, atol=1e-12 * 72)  # of the largest: rounding
    assert motion.certificate.holds, motion.certificate
