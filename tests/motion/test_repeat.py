"""Stretches of every motion are integrated again, and Δq̇ is compared with ∫ q̈ dt: a motion that contradicts itself or
its model fails, whatever its points say one by one.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import sympy as sp
from sample_systems import l, pendulum, penny, x, y

import dalembert as da
from dalembert.motion import prepare
from dalembert.motion.certificate.certify import certify
from dalembert.motion.certificate.consistency import consistency
from dalembert.motion.certificate.repeat import integrate_again
from dalembert.motion.certificate.thresholds import thresholds


def test_the_method_has_its_order() -> None:
    """x″ = −x over one unit of time: cos and sin, by twelfth order in 43 evaluations."""
    t, y = np.zeros(2), np.array([[1.0, 0.0], [0.0, 2.0]])
    calls = 0

    def slope(t: np.ndarray, y: np.ndarray) -> np.ndarray:
        nonlocal calls
        calls += 1
        return np.stack([y[:, 1], -y[:, 0]], axis=1)

    end, left, judged = integrate_again(slope, t, y, np.array([1.0, 0.5]), np.full((2, 2), 1e-8))
    right = [[np.cos(1), -np.sin(1)], [2 * np.sin(0.5), 2 * np.cos(0.5)]]
    assert judged.all()
    assert calls <= 43
    assert (left <= 1e-8).all()
    assert (np.abs(end - right) <= left + 1e-14).all(), "it knows how far it is from right"


def test_what_is_too_fast_is_not_judged() -> None:
    """Sixteen periods in a stretch."""
    slope = lambda t, y: np.stack([y[:, 1], -1e4 * y[:, 0]], axis=1)  # noqa: E731
    *_, judged = integrate_again(slope, np.zeros(1), np.array([[1.0, 0.0]]), np.ones(1), np.full((1, 2), 1e-6))
    assert not judged.any()


def stepped_over(monkeypatch: pytest.MonkeyPatch, samples: int, c: float = 5.0) -> da.Motion:
    """A pulse that the steps do not see, as they would without looking ahead."""
    monkeypatch.setattr(prepare, "look_ahead", lambda evaluation, settings, state: settings)
    system = da.System(
        "missed pulse",
        coordinates="x",
        kinetic="x'^2/2",
        forces={"x": "10*exp(-(10*(t - c))^2)"},
        parameters={"c": c},
        initial={"x": 0, "x'": 0},
    )
    return system.simulate(10, samples=samples, method="dop853")


@pytest.mark.parametrize("samples", [1001, 501, 201])
@pytest.mark.parametrize("c", [5.0, 4.93])
def test_a_pulse_that_was_stepped_over(samples: int, c: float, monkeypatch: pytest.MonkeyPatch) -> None:
    motion = stepped_over(monkeypatch, samples, c)
    assert abs(motion["x'"][-1]) < 1e-9, "the case itself: right is √π"
    assert not motion.certificate.holds
    assert "consistency" in motion.certificate.failures
    assert "repeat" in motion.certificate.failures


def test_outputs_too_coarse_to_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three points, none of them in the pulse: nothing in them contradicts anything."""
    assert stepped_over(monkeypatch, 4).certificate.consistency == 0


swing = pendulum(initial={x: l, y: 0, x.d: 0, y.d: 3})
SYSTEMS = {"penny": penny(), "pendulum": swing}


@cache
def motion_of(name: str) -> da.Motion:
    return SYSTEMS[name].simulate(2, samples=201)


@pytest.mark.parametrize("name", SYSTEMS)
def test_right_motions_are_far_below(name: str) -> None:
    certificate = motion_of(name).certificate
    assert certificate.holds
    # A hundredth of what is allowed: the thresholds are not tight.
    assert certificate.repeat < 1e-2 * certificate.thresholds["repeat"]
    assert certificate.consistency < 1e-2 * certificate.thresholds["consistency"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_velocities_of_another_motion(name: str) -> None:
    """Half a motion joined to half of one that began a little faster: every point is right by itself."""
    one = motion_of(name)
    system = one.system
    positions, velocities = (
        dict(zip(n, x[0], strict=True)) for n, x in ((system.coordinates, one.q), (system.velocities, 1.001 * one.v))
    )
    half = system.replace(initial=positions | velocities).simulate(2, samples=201)
    fields = ("q", "v", "a", "impressed", "inertial", "ideal", "nonideal", "multipliers", "energy", "work")
    joined = {f: np.concatenate([getattr(one, f)[:100], getattr(half, f)[100:]]) for f in fields}
    certificate = certify(replace(one, **joined))
    assert not certificate.holds
    assert "repeat" in certificate.failures


def test_coarse_outputs_give_no_false_alarm() -> None:
    """Points a period apart look at rest, with an acceleration: the quadrature would be wrong, and does not judge."""
    system = da.System("vibration", coordinates="x", kinetic="x'^2/2", potential="x^2/2", initial={"x": 1, "x'": 0})
    for apart in (2 * np.pi, 2 * np.pi * 1.001, np.pi, 3.0, 1.0, 0.1):
        for rtol in (1e-9, 1e-4):
            motion = system.simulate(times=apart * np.arange(60), rtol=rtol)
            assert motion.certificate.holds, (apart, rtol, motion.certificate.failures)


@pytest.mark.parametrize("unit", [1.0, 1e9])
def test_what_is_repeated_does_not_depend_on_the_unit_of_masses(unit: float) -> None:
    """Where quadratures doubt a right motion most, it is repeated: a crank with a slider, fast at a dead centre."""
    a, b, s = da.coordinates("a b s")
    crank = da.System(
        "crank",
        coordinates=[a, b, s],
        kinetic=unit * (0.05 * a.d**2 / 2 + 0.1 * b.d**2 / 2 + s.d**2),
        potential=unit * 15 * (s - 1) ** 2,
        constraints={"across": 0.3 * sp.cos(a) + sp.cos(b) - s, "up": 0.3 * sp.sin(a) - sp.sin(b)},
        initial={a: 0, b: 0, s: 1.3, a.d: 8, b.d: 2.4, s.d: 0},
    )
    assert crank.simulate(3, rtol=1e-10).certificate.holds


def test_quadrature_is_right_where_it_judges() -> None:
    """x = sin t sampled finely: Δq̇ and ∫ q̈ dt agree to rounding; with a velocity changed they do not."""
    system = da.System("vibration", coordinates="x", kinetic="x'^2/2", potential="x^2/2", initial={"x": 0, "x'": 1})
    motion = system.simulate(10, samples=501, rtol=1e-12)
    t = motion.t
    exact = replace(motion, q=np.sin(t)[:, None], v=np.cos(t)[:, None], a=-np.sin(t)[:, None])
    exact = replace(exact, timing=replace(exact.timing, steps=100))
    ones = np.ones((t.size, 1))
    # The six-point rule errs by 1e-2 h⁷ of the sixth derivative, 1e-14 here; the rest is rounding.
    assert consistency(exact, ones).max() < 1e-14
    v = exact.v.copy()
    v[250:] += 1e-6
    found = consistency(replace(exact, v=v), ones)
    assert found.argmax() == 249
    assert found.max() == pytest.approx(1e-6, rel=1e-3)


def test_the_energy_may_err_with_every_step() -> None:
    """By ten tolerances for each step, but never by more than a thousandth, or what a thousand steps are granted."""
    assert thresholds(1e-9)["energy"] == thresholds(1e-9, 1000)["energy"] == pytest.approx(1e-5)
    assert thresholds(1e-9, 20_000)["energy"] == pytest.approx(2e-4)
    assert thresholds(1e-9, 10**9)["energy"] == pytest.approx(1e-3)
    assert thresholds(1e-3, 10**9)["energy"] == pytest.approx(5e-2)


@pytest.mark.parametrize("power", ["2", "3", "4"])
def test_a_power_of_a_constraint_is_refused_at_the_start(power: str) -> None:
    system = pendulum(constraints={"rod": f"(x^2 + y^2 - l^2)^{power}"})
    with pytest.raises(da.DalembertError, match=r"'rod' has no gradient on its own surface.*without the square"):
        system.simulate(1)


def test_a_sum_of_squares_is_refused_and_so_is_one_of_velocities() -> None:
    for constraints in ({"pin": "(x - l)^2 + y^2"}, {"pin": "(x' - 2*y')^2"}):
        start = {"x": 1.5, "y": 0, "x'": 0, "y'": 0}
        system = pendulum(constraints=constraints).replace(initial=start)
        with pytest.raises(da.DalembertError, match="'pin' has no gradient on its own surface"):
            system.simulate(1)


def test_a_double_point_is_no_square() -> None:
    """The lemniscate has no gradient where it crosses itself, and one everywhere else: that is told, not refused."""
    system = pendulum(constraints={"curve": "(x^2 + y^2)^2 - x^2 + y^2"}).replace(
        initial={"x": 0, "y": 0, "x'": 1, "y'": 1}
    )
    motion = system.simulate(0.1)
    assert any("has no gradient at the initial state" in warning for warning in motion.warnings)


def test_a_short_pulse_between_few_outputs_is_not_held_against_a_motion():
    """Two coarse repetitions both step over it, and agree with each other. The momentum is A √π times the width."""
    (x,) = da.coordinates("x")
    pulse = 5 * sp.exp(-(((da.t - 7.3) / 0.02) ** 2))
    system = da.System("struck", coordinates=[x], kinetic=x.d**2 / 2, forces={x: pulse}, initial={x: 0, x.d: 0})
    motion = system.simulate(20, samples=3)
    # The tolerance of the motion is 1e-9, for each of some twenty steps over the pulse.
    assert motion["x'"][-1] == pytest.approx(5 * np.sqrt(np.pi) * 0.02, rel=1e-7)
    assert motion.certificate.holds


def test_a_pulse_between_few_outputs_is_repeated_as_closely_as_it_asks_for():
    """A blow of a five thousandth of the duration: repeated in 4 and in 16 equal pieces it is not there."""
    force = "5000*exp(-(5000*(t - 0.3))^2)"
    system = da.System(
        "struck", coordinates=["x"], kinetic="x'^2/2", potential="x^2/2", forces={"x": force}, initial={"x": 1, "x'": 0}
    )
    motion = system.simulate(1.0, samples=3)
    # An impulse of √π at 0.3, to the share that its width makes: (1/5000)² / 4 of the sine after it.
    assert motion.q[-1, 0] == pytest.approx(np.cos(1.0) + np.sqrt(np.pi) * np.sin(0.7), abs=3e-8)
    assert motion.certificate.holds
    # The same without half of the pulse is found to be wrong.
    v = motion.v.copy()
    v[1] -= np.sqrt(np.pi) / 2 * np.cos(0.2)
    assert "repeat" in certify(replace(motion, v=v)).failures


@pytest.mark.parametrize("samples", [101, 201, 501])
def test_stiff_motions_are_not_doubted_for_errors_within_the_tolerance(samples: int) -> None:
    """Van der Pol's oscillator where it creeps: q̈ is the difference of forces a million times as large, so an error of
    1e-9 of q̇ is one of 1e-6 in ∫ q̈ dt over a stretch.
    """
    oscillator = da.System(
        "creeping", coordinates=[x], kinetic=x.d**2 / 2, forces={x: 1000 * (1 - x**2) * x.d - x},
        initial={x: 2, x.d: 0},
    )  # fmt: skip
    motion = oscillator.simulate(50, samples=samples, method="stiff")
    # On its slow manifold, ln x − x²/2 + 2 − ln 2 = t/1000, but for 1/1000² of it.
    left = np.log(motion["x"]) - motion["x"] ** 2 / 2 + 2 - np.log(2) - motion.t / 1000
    assert np.abs(left[1:]).max() < 1e-5
    assert motion.certificate.holds
    wrong = replace(motion, v=motion.v * (1 + 1e-4))  # far more than the tolerance
    assert not certify(wrong).holds


def test_energies_that_a_motion_tells_are_held_against_themselves() -> None:
    """Between two outputs a pulse pushes with a force of 50, so that the balance may miss far more than 1e-4 of
    the energy; what is told of a state may not.
    """
    pushed = da.System(
        "pushed", coordinates=[x], kinetic=x.d**2 / 2, potential=x**2 / 2,
        forces={x: 50 * sp.exp(-((100 * (da.t - 5)) ** 2))}, initial={x: 1, x.d: 0},
    )  # fmt: skip
    motion = pushed.simulate(10, samples=21)
    assert motion.certificate.holds
    assert not certify(replace(motion, energy=motion.energy * (1 + 1e-4))).holds


def test_energies_that_are_told_may_be_rounded_where_their_sum_is_zero() -> None:
    """T and V of a fall from V = 0 are 34 at the end, of which 1e-14 is rounding, and all that E is."""
    fall = da.System(
        "fall", coordinates=[x], kinetic=0.7 * x.d**2 / 2, potential=0.7 * 9.81 * (x - 0.7), initial={x: 0.7, x.d: 0}
    )
    motion = fall.simulate(1, samples=21)
    assert np.abs(motion.energy).max() < 1e-12
    assert certify(replace(motion, energy=motion.energy + 1e-15)).holds
    assert not certify(replace(motion, energy=motion.energy + 1e-6)).holds


@pytest.mark.parametrize("samples", [201, 2001])
@pytest.mark.parametrize("field", ["q", "v"])
def test_what_drifts_too_slowly_to_show_between_two_outputs_is_seen(field: str, samples: int) -> None:
    """A thousandth of a column that no force depends on: of 2001 outputs, a stretch misses half of 1e-6 of it."""
    body = da.System(
        "pushed", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2,
        forces={x: sp.sin(da.t), y: sp.cos(2 * da.t)}, initial={x: 0, y: 0, x.d: 1, y.d: 1},
    )  # fmt: skip
    motion = body.simulate(10, samples=samples)
    assert motion.certificate.holds
    wrong = getattr(motion, field).copy()
    wrong[:, 0] *= 1.001
    assert not certify(replace(motion, **{field: wrong})).holds


def test_drifts_that_quadratures_only_suppose_are_overruled() -> None:
    """What is looked for in sums over stretches is judged by repeating them: a turn too sharp for the outputs about it
    is right.
    """
    hoop = da.library.get("rotating_hoop_bead")
    for samples in (101, 201, 301):
        assert hoop.simulate(10, samples=samples).certificate.holds
