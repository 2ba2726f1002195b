"""Motions between two places: closed forms, minimum or saddle, and the same motion launched by `simulate`."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da

x, y = da.coordinates("x y")
m, k, g = da.parameters("m k g")


def free(**changes) -> da.System:
    parts = {"coordinates": [x, y], "kinetic": m * (x.d**2 + y.d**2) / 2, "parameters": {m: 1.5}}
    return da.System("particle", **{**parts, **changes})


def oscillator() -> da.System:
    """ω = √(k/m) = 2, so that half a period lasts π/2."""
    return da.System(
        "oscillator", coordinates=[x], kinetic=m * x.d**2 / 2, potential=k * x**2 / 2, parameters={m: 0.5, k: 2}
    )


def on_rod(angle: float) -> dict[str, float]:
    return {"x": np.sin(angle), "y": -np.cos(angle)}


def launched(passage) -> da.Motion:
    """The motion of `simulate` with the velocities found: it must pass through the same places."""
    motion = passage.motion(rtol=1e-11)
    size = np.abs(passage.q).max()
    np.testing.assert_allclose(motion.q, passage.q, atol=1e-8 * size)
    np.testing.assert_allclose(motion.v, passage.v, atol=1e-7 * max(np.abs(passage.v).max(), 1.0))
    assert motion.certificate.holds
    return motion


def test_free_particle():
    """Straight and steady; S = m d²/(2T)."""
    found = free().between({x: 1, y: 2}, {x: 4, y: -2}, 2.5)
    np.testing.assert_allclose(found.v, np.tile([3 / 2.5, -4 / 2.5], (len(found.t), 1)), rtol=1e-11)
    assert found.action == pytest.approx(1.5 * 25 / (2 * 2.5), rel=1e-12)
    assert found.kind == "minimum"
    launched(found)


def test_projectile():
    """v₀ = d/T + (0, gT/2); S = m d²/(2T) − m g T (y₀ + y₁)/2 − m g²T³/24."""
    thrown = free(potential=m * g * y, parameters={m: 1.5, g: 9.81})
    found = thrown.between({x: 0, y: 1}, {x: 3, y: 2}, 0.8)
    np.testing.assert_allclose(found.v[0], [3 / 0.8, 1 / 0.8 + 9.81 * 0.4], rtol=1e-11)
    action = 1.5 * 10 / 1.6 - 1.5 * 9.81 * 0.8 * 3 / 2 - 1.5 * 9.81**2 * 0.8**3 / 24
    assert found.action == pytest.approx(action, rel=1e-11)
    np.testing.assert_allclose(found["y"], 1 + found.v[0, 1] * found.t - 9.81 * found.t**2 / 2, atol=1e-10)
    assert found.kind == "minimum"
    launched(found)


@pytest.mark.parametrize(("duration", "index"), [(0.7, 0), (1.5, 0), (1.65, 1), (2.9, 1), (3.5, 2), (5.0, 3)])
def test_oscillator_below_and_past_half_periods(duration: float, index: int):
    """S = mω/(2 sin ωT) [(x₀² + x₁²) cos ωT − 2 x₀x₁]; one falling direction for each half period, π/2, passed."""
    found = oscillator().between({x: 1.0}, {x: 0.4}, duration)
    angle = 2 * duration
    assert found.action == pytest.approx(0.5 * 2 / (2 * np.sin(angle)) * (1.16 * np.cos(angle) - 0.8), rel=1e-9)
    assert found.v[0, 0] == pytest.approx(2 * (0.4 - np.cos(angle)) / np.sin(angle), rel=1e-8)
    assert found.index == index
    assert found.kind == ("saddle" if index else "minimum")
    launched(found)


def test_pendulum_on_a_rod_both_ways_round():
    pendulum = da.library.pendulum()
    direct = pendulum.between(on_rod(-0.5), on_rod(1.0), 0.8)
    over = pendulum.between(on_rod(-0.5), on_rod(1.0), 0.8, guess={"x'": -8})
    np.testing.assert_allclose(np.linalg.norm(direct.q, axis=1), 1, rtol=1e-13)
    np.testing.assert_allclose(np.sum(direct.q * direct.v, axis=1), 0, atol=1e-11)
    assert direct.launch["x'"] > 0 > over.launch["x'"]
    assert over["y"].max() > 0.9 > direct["y"].max()
    assert over.action > direct.action
    for passage in (direct, over):
        launched(passage)


def test_swinging_past_the_turning_point_is_a_saddle():
    """After half a swing, 1.0 s for a small one, motions from one place have met again: a conjugate point. Before it,
    the way is a minimum; past it, a saddle.
    """
    for duration, kind, index in ((0.7, "minimum", 0), (1.5, "saddle", 1), (2.5, "saddle", 2)):
        start = {**on_rod(0.3), "x'": 0.5 * np.cos(0.3), "y'": 0.5 * np.sin(0.3)}
        swung = da.library.pendulum().replace(initial=start).simulate(duration, samples=101)
        end = {"x": swung["x"][-1], "y": swung["y"][-1]}
        found = swung.system.between(on_rod(0.3), end, duration, guess=swung)
        np.testing.assert_allclose(found.v[0], swung.v[0], rtol=1e-7)
        assert (found.kind, found.index) == (kind, index)


def test_singular_mass_and_redundant_constraints():
    for name, duration in (("quaternion_body", 1.5), ("redundant_double_pendulum", 1.0)):
        system = da.library.get(name)
        names = [q.name for q in system.coordinates]
        exact = system.simulate(duration, rtol=1e-11, samples=33)
        found = system.between(None, dict(zip(names, exact.q[-1], strict=True)), duration, guess=exact)
        np.testing.assert_allclose(found.v[0], exact.v[0], atol=1e-7)
        np.testing.assert_allclose(found.q, exact.q, atol=1e-7)


def test_a_path_or_another_passage_as_guess():
    pendulum = da.library.pendulum()
    over = pendulum.between(on_rod(-0.5), on_rod(1.0), 0.8, guess={"x'": -8})
    angles = np.linspace(-0.5, 1.0 - 2 * np.pi, 40)
    drawn = np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    for guess in (drawn, over):
        again = pendulum.between(on_rod(-0.5), on_rod(1.0), 0.8, guess=guess)
        np.testing.assert_allclose(again.q, over.q, atol=1e-9)


def test_forces_without_a_potential():
    """Drag −c ẋ: x = A + B e^(−ct/m); there is no action to be stationary, and that is said."""
    found = free(forces={x: -0.9 * x.d}).between({x: 0, y: 0}, {x: 1, y: 0}, 2.0)
    rate = 0.9 / 1.5
    assert found.v[0, 0] == pytest.approx(rate / (1 - np.exp(-2 * rate)), rel=1e-9)
    assert found.kind == "no action"
    launched(found)


def test_a_moving_constraint():
    """A bead on a wire that turns at the rate 2: r = sinh(2t)/sinh(2) from the centre to r = 1 at t = 1."""
    bead = free(constraints={"wire": "x*sin(2*t) - y*cos(2*t)"})
    found = bead.between({x: 0, y: 0}, {x: np.cos(2), y: np.sin(2)}, 1.0, guess={"x'": 0.5})
    radius = np.sinh(2 * found.t) / np.sinh(2)
    np.testing.assert_allclose(found["x"], radius * np.cos(2 * found.t), atol=1e-9)


def test_faults_are_told():
    pendulum = da.library.pendulum()
    with pytest.raises(da.InconsistentState, match=r"the end is not on the constraints.*rod"):
        pendulum.between(on_rod(0.1), {"x": 2, "y": 0}, 1.0)
    with pytest.raises(da.ModelError, match="positive"):
        pendulum.between(on_rod(0.1), on_rod(0.2), 0.0)
    with pytest.raises(da.ModelError, match="is no coordinate"):
        pendulum.between({"z": 1}, on_rod(0.2), 1.0)
    for nowhere in (None, [1, 0]):
        with pytest.raises(da.ModelError, match=r"end: a mapping such as \{'x': 1\} is wanted"):
            pendulum.between(on_rod(0.1), nowhere, 1.0)
    with pytest.raises(da.ModelError, match="shape"):
        pendulum.between(on_rod(0.1), on_rod(0.2), 1.0, guess=np.zeros((4, 3)))
    with pytest.raises(da.MissingValues, match="y"):
        free().between({x: 0}, {x: 1}, 1.0)
    with pytest.raises(da.DoesNotApply, match="not a constraint on positions"):
        da.library.penny().between(None, {"x": 1}, 1.0)
    # After half a period every motion is at −x₀: nothing else can be reached.
    with pytest.raises(da.MotionFailed, match="guess="):
        oscillator().between({x: 1.0}, {x: 0.4}, np.pi / 2)
    with pytest.raises(KeyError, match="y"):
        oscillator().between({x: 1.0}, {x: 0.4}, 1.0)["y"]
