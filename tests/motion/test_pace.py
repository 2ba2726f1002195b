"""Forces that depend on time are not stepped over, tolerances do not come from a start that is next to nothing."""

from __future__ import annotations

from math import erf, exp, pi, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.errors import ModelError
from dalembert.kernel.build import find_compiler
from dalembert.motion.integrate import ahead
from dalembert.motion.integrate.pace import Pace, no_longer, pace_of

BACKENDS = ["reference", pytest.param("native", marks=pytest.mark.skipif(find_compiler() is None, reason="no C"))]


def pulse(force: str = "h*exp(-((t - c)/w)^2)", start: float = 0.0, **values: float) -> da.System:
    """A free mass and a short force; ∫ F dt = h w √π."""
    parameters = {"h": 10.0, "c": 5.0, "w": 0.1} | values
    initial = {"x": start, "x'": 0}
    return da.System(
        "pulse", coordinates="x", kinetic="x'^2/2", forces={"x": force}, parameters=parameters, initial=initial
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    ("method", "c", "w"),
    [("dop853", 5.0, 0.1), ("dop853", 7.7777, 0.005), ("dopri5", 2.618, 0.02), ("stiff", 7.7777, 0.02)],
)
def test_a_pulse_is_seen(method: str, backend: str, c: float, w: float) -> None:
    motion = pulse(c=c, w=w, h=1 / w).simulate(10, method=method, backend=backend)
    # The closed form; a hundred tolerances of 1e-9 are below the error of the few dozen steps that a pulse takes.
    assert motion["x'"][-1] == pytest.approx(sqrt(pi) / 2 * (erf((10 - c) / w) + erf(c / w)), rel=1e-7)
    assert motion.certificate.holds
    assert motion.timing is not None
    assert motion.timing.steps < 500


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_a_series_sees_a_pulse() -> None:
    motion = pulse(c=2.618, w=0.02, h=50.0).simulate(10, method="taylor")
    assert motion["x'"][-1] == pytest.approx(sqrt(pi), rel=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_weak_pulse_beside_a_strong_one(backend: str) -> None:
    """A thousandth of the height of what else happens."""
    force = "exp(-((t - 2)/0.5)^2) + 1e-3*exp(-((t - 8)/0.02)^2)"
    motion = pulse(force).simulate(10, backend=backend)
    # ∫ F dt; the second pulse contributes 4e-5 of the velocity.
    assert motion["x'"][-1] == pytest.approx(sqrt(pi) * (0.5 + 2e-5), rel=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_pulse_that_the_start_does_not_show(backend: str) -> None:
    """Its factor is zero in the initial state: other states are sampled too. x(t) = x₀ + v t until it comes."""
    system = pulse("h*sin(3*x)*exp(-((t - c)/w)^2)", w=0.01, h=30.0).replace(initial={"x": 0, "x'": 0.25})
    motion = system.simulate(10, backend=backend)

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], 30 * np.sin(3 * y[0]) * exp(-(((t - 5) / 0.01) ** 2))]

    finer = solve_ivp(rates, (0, 10), [0, 0.25], method="DOP853", rtol=1e-12, atol=1e-14, max_step=2e-3)
    assert finer.y[1, -1] != pytest.approx(0.25, abs=0.1), "the pulse matters"
    # SciPy's own error, a few thousand steps of 1e-12, is far below ours.
    assert motion["x'"][-1] == pytest.approx(finer.y[1, -1], rel=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("bump", ["exp(-(x - 10)^2)", "max(0, 1 - (x - 10)^2)", "1/(exp(9*(9 - x)) + 1)"])
def test_a_pulse_where_the_motion_comes_to_later(bump: str, backend: str) -> None:
    """At x = 10, far from the start, beside a force that hides what little of it there is anywhere near that."""
    system = pulse(f"h*{bump}*exp(-((t - c)/w)^2) - 0.01*x'", w=0.01, h=100.0).replace(initial={"x": 0, "x'": 2})
    motion = system.simulate(10, backend=backend)
    finer = system.simulate(10, max_step=2e-3, rtol=1e-11)
    assert finer["x'"][-1] > 2.5, "the pulse matters"
    assert motion["x'"][-1] == pytest.approx(finer["x'"][-1], rel=1e-7)
    assert motion.timing is not None
    assert motion.timing.steps < 500


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_bounds_of_steps_are_those_of_numpy() -> None:
    t = np.linspace(0, 1, 4097)
    columns = [np.exp(-(((t - c) / w) ** 2)) for c, w in ((0.3, 0.01), (0.71, 0.001), (0.999, 0.02))]
    columns += [np.sin(300 * t**2), t**3, np.full_like(t, np.nan), (t > 0.4) * 1e-3, np.cos(t) * 1e-20]
    values, noise = np.column_stack(columns), np.array([0, 0, 0, 0, 1e-3, 0, 0, 1e-16])
    found = ahead.step_bounds(values, float(t[1]), noise)
    assert np.isfinite(found).any()
    np.testing.assert_array_equal(found, ahead._bounds_without_library(values, float(t[1]), noise))


@pytest.mark.skipif(find_compiler() is None, reason="no C")
def test_the_longest_step_finds_what_samples_miss() -> None:
    """A pulse between two samples, of 1/50000 of the duration, beside a force that hides its tails."""
    narrow = pulse("sin(t) + h*exp(-((t - c)/w)^2)", c=1365.5 / 4096, w=2e-5, h=5e4)
    slow = 1 - np.cos(1.0)
    assert narrow.simulate(1, samples=3)["x'"][-1] == pytest.approx(slow, abs=1e-9)
    motion = narrow.simulate(1, samples=3, max_step=1e-4)
    assert motion["x'"][-1] == pytest.approx(slow + sqrt(pi), rel=1e-7)
    assert motion.timing is not None
    assert motion.timing.steps >= 1e4


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_longest_step_finds_a_narrow_place(backend: str) -> None:
    """Nothing depends on t here, so that nothing is sampled in advance."""
    narrow = pulse("-h*((x - c)/w)*exp(-((x - c)/w)^2)", c=0.5, w=1e-3, h=1e3).replace(initial={"x": 0, "x'": 1})
    motion = narrow.simulate(1, backend=backend, max_step=3e-3)
    # V = −(h w/2) exp(−((x − c)/w)²), a well of depth ½: it is passed at once, and leaves the speed as it was. The time
    # gained inside: ∫ (1 − 1/√(1 + e^(−u²))) w du.
    u = np.linspace(-8, 8, 16001)
    gained = 1e-3 * np.sum(1 - 1 / np.sqrt(1 + np.exp(-(u**2)))) * (u[1] - u[0])
    assert motion["x"][-1] == pytest.approx(1 + gained, abs=1e-7)
    assert narrow.simulate(1, backend=backend, samples=3)["x"][-1] == pytest.approx(1, abs=1e-9), "or it is not seen"


def test_the_longest_step_is_an_option_of_documents_too() -> None:
    system = pulse().replace(settings={"max_step": 0.01, "duration": 10.0})
    motion = system.simulate(samples=3)
    assert motion.timing is not None
    assert motion.timing.steps >= 1000


@pytest.mark.parametrize("value", [0, -1, float("nan"), "long", True, 1e-12])
def test_a_longest_step_that_is_none(value: object) -> None:
    with pytest.raises(ModelError, match="max_step is"):
        pulse().simulate(10, max_step=value)  # type: ignore[arg-type]


def test_variational_steps_have_one_length() -> None:
    with pytest.raises(ModelError, match="max_step is no option"):
        pulse().simulate(10, method="variational", step=0.01, max_step=0.1)


def test_terms_that_cancel_at_the_start_ask_for_no_short_steps() -> None:
    """A bead on a line that turns evenly, r″ = 36 r, where φ̇ of the start is rounding at any time."""
    line = da.System(
        "turning line",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        constraints={"line": "y*cos(6*t) - x*sin(6*t) = 0"},
        initial={"x": 0.15, "y": 0, "x'": 0, "y'": 0.9},
    )
    motion = line.simulate(1.0, samples=5)
    assert motion.timing.steps < 200  # half as many as there were samples before
    assert np.hypot(*motion.q.T) == pytest.approx(0.15 * np.cosh(6 * motion.t), rel=1e-7)


def test_a_step_ends_where_shorter_ones_begin() -> None:
    pace = Pace(np.array([0.0, 4.0, 5.0]), np.array([np.inf, 0.1, 2.0]))
    assert pace.longest(0.0) == 4.0
    assert pace.longest(3.95) == pytest.approx(0.1)
    assert pace.longest(4.5) == 0.1
    assert pace.longest(5.0) == 2.0
    assert pace_of(0.0, np.full(4, np.inf), 1.0, None) is None
    joined = pace_of(1.0, np.array([3.0, 3.0, 0.5, 9.0]), 0.25, 2.0)
    assert joined is not None
    np.testing.assert_array_equal(joined.starts, [1.0, 1.5, 1.75])
    np.testing.assert_array_equal(joined.bounds, [2.0, 0.5, 2.0])


def quarter_car(w: float) -> da.System:
    return da.System(
        "quarter car over a bump",
        coordinates="z u",
        kinetic="m*z'^2/2 + 40*u'^2/2",
        potential="k*(z - u)^2/2",
        forces={"z": "-c*(z' - u')", "u": "c*(z' - u')"},
        constraints={"road": "u = h*exp(-((v*t - 50)/w)^2)"},
        parameters={"m": 250, "k": 16000, "c": 1000, "h": 0.1, "v": 10, "w": w},
        initial={"z": 0, "u": "h*exp(-2500/w^2)", "z'": 0, "u'": 0},
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("w", "method"), [(1.0, "dop853"), (2.0, "dop853"), (4.0, "stiff"), (2.0, "dopri5")])
def test_a_start_that_is_next_to_nothing(w: float, method: str, backend: str) -> None:
    """u begins at 0.1 e^(−2500/w²), which says nothing about the size of the motion."""
    motion = quarter_car(w).simulate(10, method=method, rtol=1e-8, backend=backend)

    def rates(t: float, y: np.ndarray) -> list[float]:
        s = (10 * t - 50) / w
        u = 0.1 * exp(-s * s)
        speed = -2 * s * 10 / w * u
        return [y[1], (-16000 * (y[0] - u) - 1000 * (y[1] - speed)) / 250]

    how = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-15, "first_step": 0.01, "max_step": 0.01}
    finer = solve_ivp(rates, (0, 10), [0, 1e-30], t_eval=motion.t, **how)
    assert np.abs(finer.y[0]).max() > 0.02, "the bump matters"
    # A hundred tolerances of the largest values.
    np.testing.assert_allclose(motion["z"], finer.y[0], atol=1e-6 * np.abs(finer.y[0]).max())
    np.testing.assert_allclose(motion["z'"], finer.y[1], atol=1e-6 * np.abs(finer.y[1]).max())
    assert motion.timing is not None
    assert motion.timing.steps < 1000
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_tolerances_follow_the_motion(backend: str) -> None:
    """Next to the upper equilibrium of a pendulum, by 1e-30: it falls, goes around, and comes to rest there again, but
    only to rounding, which is 1e14 times what it began with.
    """
    system = da.System(
        "pendulum", coordinates="a", kinetic="a'^2/2", potential="cos(a)", initial={"a": 1e-30, "a'": 1e-30}
    )
    motion = system.simulate(140, backend=backend)
    # On the separatrix a = 4 atan(e^(t − t₀)), which is 2π − 4 e^(t₀ − t) at last; tan(5e-31/2) = e^(−t₀)·…
    shift = np.log(4e30)
    along = motion.t < shift + 5  # an error grows a hundredfold until then, and without end
    np.testing.assert_allclose(motion["a"][along], 4 * np.arctan(np.exp(motion.t[along] - shift)), atol=1e-6)
    assert motion.timing is not None
    assert motion.timing.steps < 2000


@pytest.mark.parametrize("backend", BACKENDS)
def test_small_units_keep_their_accuracy(backend: str) -> None:
    """A vibration of a nanometre: what grows with the motion must not be more than a share of it."""
    system = da.System("vibration", coordinates="x", kinetic="x'^2/2", potential="x^2/2", initial={"x": 1e-9, "x'": 0})
    motion = system.simulate(20, backend=backend)
    np.testing.assert_allclose(motion["x"], 1e-9 * np.cos(motion.t), atol=1e-15)


def test_first_steps_of_a_bounce_are_bounded_besides() -> None:
    alone = no_longer(None, 1.0, 0.25)
    assert alone.longest(1.0) == alone.longest(1.125) == 0.25
    assert alone.longest(1.25) == np.inf
    both = no_longer(Pace(np.array([0.0, 1.125]), np.array([0.5, 0.0625])), 1.0, 0.25)
    # From 0.5 no step ends later than where a shorter bound begins.
    assert [both.longest(t) for t in (0.5, 1.0, 1.125, 1.25, 2.0)] == [0.5, 0.125, 0.0625, 0.0625, 0.0625]
