"""Paths between two points at a given energy, against closed forms and against the motion that starts along them."""

from __future__ import annotations

from pathlib import Path as File

import numpy as np
import pytest

import dalembert as da
from dalembert.study.path import Path

x, y, z = da.coordinates("x y z")
m, g, k, R = da.parameters("m g k R")
PLANE = m * (x.d**2 + y.d**2) / 2
# Integrations along the path have local errors of 1e-12, and a hundred steps; what closed forms amplify stays below.
CLOSE = 1e-9


def plane(name: str, potential, **values: float) -> da.System:
    return da.System(
        name, coordinates=[x, y], kinetic=PLANE, potential=potential, parameters={"m": values.pop("m", 1.0), **values}
    )


def arrives(path: Path) -> None:
    """The motion that starts along the path, at its end, has the time and the place that the path says."""
    motion = path.system.replace(initial=path.initial).simulate(path.duration, rtol=1e-11)
    np.testing.assert_allclose(motion.q[-1], path.q[-1], rtol=0, atol=1e-7 * np.abs(path.q).max())
    np.testing.assert_allclose(motion.v[-1], path.v[-1], rtol=0, atol=1e-7 * np.abs(path.v).max())
    np.testing.assert_allclose(motion.energy, path.energy, rtol=0, atol=1e-8 * np.abs(path.energy) + 1e-9)


# -- the survey's example


@pytest.mark.parametrize("branch", ["low", "high"])
def test_projectile(branch: str):
    # (26): y = (C₁E − 1)/(C₁mg) − C₁mg(x − a/2)²/4 through (0, 0) and (a, 0): (C₁mga/4)² − C₁E + 1 = 0, two roots.
    mass, gravity, a, E = 2.0, 9.81, 7.0, 90.0
    ball = plane("projectile", m * g * y, m=mass, g=gravity)
    guess = "direct" if branch == "low" else [{x: a / 2, y: 3.5}]
    found = ball.path({x: 0, y: 0}, {x: a, y: 0}, energy=E, guess=guess)
    weight = mass * gravity
    small, large = np.sort(np.roots([(weight * a / 4) ** 2, -E, 1.0]))
    C1 = small if branch == "low" else large
    parabola = (C1 * E - 1) / (C1 * weight) - C1 * weight * (found["x"] - a / 2) ** 2 / 4
    np.testing.assert_allclose(found["y"], parabola, atol=CLOSE * a)
    # C₁ = 1/(E cos²), so the time is a/(v cos) = a √(C₁ m/2)
    assert found.duration == pytest.approx(a * np.sqrt(C1 * mass / 2), rel=CLOSE)
    # S₀ = ∫ 2T dt = ∫ 2(E − mgy) dt, with y the parabola at a steady ẋ
    mean = (C1 * E - 1) / (C1 * weight) - C1 * weight * a**2 / 48
    assert found.action == pytest.approx(2 * (E - weight * mean) * found.duration, rel=CLOSE)
    arrives(found)


def test_a_path_is_a_guess_for_others():
    ball = plane("projectile", m * g * y, g=10.0)
    high = ball.path([0, 0], [8, 0], energy=50, guess=[(4, 4)])
    near = ball.path([0, 0], [8, 0.5], energy=52, guess=high)
    assert near["y"].max() > 3.5
    arrives(near)


# -- Kepler's problem: four arcs join two points at one energy below zero


@pytest.mark.parametrize(
    ("way", "through"),
    [
        ("short", "direct"),
        ("short, outside", [(1.4, 0.5), (1.4, 1.6), (0.5, 1.8)]),
        ("long", [(0, -1), (-1, 0)]),
        ("long, outside", [(0.4, -1.2), (-1, -1.4), (-1.4, 0.2)]),
    ],
)
def test_kepler_arcs(way: str, through):
    # Lambert: times and eccentric anomalies follow from a, the distances and the chord alone.
    E, mu, first, last = -0.4, 1.0, np.array([1.0, 0.0]), np.array([0.0, 1.2])
    planet = plane("planet", -k / (x**2 + y**2) ** 0.5, k=mu)
    found = planet.path(first, last, energy=E, guess=through)
    a = -mu / (2 * E)
    r1, r2, chord = np.linalg.norm(first), np.linalg.norm(last), np.linalg.norm(last - first)
    s = (r1 + r2 + chord) / 2
    alpha, beta = 2 * np.arcsin(np.sqrt(s / (2 * a))), 2 * np.arcsin(np.sqrt((s - chord) / (2 * a)))
    A, B = alpha - np.sin(alpha), beta - np.sin(beta)
    anomaly, mean = {
        "short": (alpha - beta, A - B),
        "short, outside": (2 * np.pi - alpha - beta, 2 * np.pi - A - B),
        "long": (alpha + beta, A + B),
        "long, outside": (2 * np.pi - alpha + beta, 2 * np.pi - A + B),
    }[way]
    assert found.duration == pytest.approx(np.sqrt(a**3 / mu) * mean, rel=CLOSE)
    # S₀ = ∫ 2(E + μ/r) dt, and dt/r = √(a/μ) dε
    assert found.action == pytest.approx(2 * E * found.duration + 2 * np.sqrt(a * mu) * anomaly, rel=1e-8)
    # An ellipse with the centre as one focus: the sum of the distances to both is 2a.
    q, v = found.q, found.v[0]
    eccentricity = (v @ v - mu / r1) * first / mu - (first @ v) * v / mu
    distances = np.linalg.norm(q, axis=1) + np.linalg.norm(q + 2 * a * eccentricity, axis=1)
    np.testing.assert_allclose(distances, 2 * a, rtol=CLOSE)
    arrives(found)


@pytest.mark.parametrize(("mu", "size"), [(3.986e14, 8e6), (1e-12, 8e-6)])
def test_units_do_not_matter(mu: float, size: float):
    def arc(mu: float, size: float) -> Path:
        planet = plane("planet", -m * k / (x**2 + y**2) ** 0.5, m=500.0, k=mu)
        return planet.path([0.875 * size, 0], [0, size], energy=-500.0 * mu / (2 * size))

    found, unit = arc(mu, size), arc(1.0, 1.0)
    assert found.duration == pytest.approx(unit.duration * np.sqrt(size**3 / mu), rel=1e-12)


# -- wells


@pytest.mark.parametrize(("duration", "through"), [(np.pi / 4, "direct"), (3 * np.pi / 4, [(1.3, 1.2)])])
def test_ellipses_of_an_oscillator(duration: float, through):
    # q = (1, 0) cos t + v₀ sin t is at (0, 1) after T where v₀ = (−cos T, 1)/sin T, and 2E = 1 + |v₀|² = 4 gives
    # cos²T = 1/2.
    well = plane("oscillator", m * (x**2 + y**2) / 2)
    found = well.path({x: 1, y: 0}, {x: 0, y: 1}, energy=2.0, guess=through)
    v0 = np.array([-np.cos(duration), 1.0]) / np.sin(duration)
    assert found.duration == pytest.approx(duration, rel=CLOSE)
    exact = np.cos(found.t)[:, None] * [1.0, 0.0] + np.sin(found.t)[:, None] * v0
    np.testing.assert_allclose(found.q, exact, atol=CLOSE)
    np.testing.assert_allclose(found.v[0], v0, rtol=CLOSE)


def test_brachistochrone():
    # In V = −k/y at E = 0 the action is ∫ √(2mk/y) dl, the time of descent up to a factor: a cycloid.
    # With x = a(θ − sin θ), y = a(1 − cos θ): S₀ = √(2k)√(2a) Δθ and t = a√(a/k) Δ(θ − sin θ), for m = 1.
    strength, a, theta = 3.0, 1.3, np.array([1.0, 4.0])
    well = plane("cycloid", -k / y, k=strength)
    ends = np.column_stack([a * (theta - np.sin(theta)), a * (1 - np.cos(theta))])
    found = well.path(ends[0], ends[1], energy=0.0)
    angle = np.interp(found["x"], a * ((fine := np.linspace(*theta, 200_001)) - np.sin(fine)), fine)
    np.testing.assert_allclose(found["y"], a * (1 - np.cos(angle)), atol=1e-8)
    assert found.action == pytest.approx(2 * np.sqrt(strength * a) * 3.0, rel=CLOSE)
    assert found.duration == pytest.approx(a * np.sqrt(a / strength) * np.diff(theta - np.sin(theta))[0], rel=CLOSE)


# -- on constraints


def ball(potential=0) -> da.System:
    return da.System(
        "particle on a sphere",
        coordinates=[x, y, z],
        kinetic=m * (x.d**2 + y.d**2 + z.d**2) / 2,
        potential=potential,
        constraints={"sphere": x**2 + y**2 + z**2 - R**2, "again": 2 * (x**2 + y**2 + z**2 - R**2)},
        parameters={m: 2.0, R: 2.0},
    )


def test_great_circle():
    start, end = np.array([2.0, 0.0, 0.0]), np.array([-1.2, 0.96, 1.28])
    found = ball().path(start, end, energy=1.0)
    angle = np.arccos(start @ end / 4)
    # speed √(2E/m) = 1 along an arc of 2·angle; S₀ = √(2Em) times the arc
    assert found.duration == pytest.approx(2 * angle, rel=CLOSE)
    assert found.action == pytest.approx(2.0 * 2 * angle, rel=CLOSE)
    assert np.abs(found.q @ np.cross(start, end)).max() < CLOSE
    np.testing.assert_allclose(np.linalg.norm(found.q, axis=1), 2.0, rtol=CLOSE)


def test_the_other_way_round_the_sphere():
    found = ball().path([2, 0, 0], [0, 2, 0], energy=1.0, guess=[(0, -2, 0), (-2, 0, 0)])
    assert found.duration == pytest.approx(2 * 3 * np.pi / 2, rel=CLOSE)


def test_spherical_pendulum():
    found = ball(5 * z).path([2, 0, 0], [0, 1.2, -1.6], energy=9.0)
    np.testing.assert_allclose(np.einsum("ki,ki->k", found.v, found.v) + 5 * found["z"], 9.0, rtol=CLOSE)
    arrives(found)


def test_singular_mass():
    body = da.library.quaternion_body()
    found = body.path([1, 0, 0, 0], [0.8, 0.6, 0, 0], energy=1.0)
    # A turn by 2 acos 0.8 about the first axis, I₁ = 1, at the rate √2.
    assert found.duration == pytest.approx(2 * np.arccos(0.8) / np.sqrt(2), rel=CLOSE)


# -- what is told where there is none


def fails(message: str, error: type = da.MotionFailed, **changes) -> None:
    arguments = {"start": {x: 0, y: 0}, "end": {x: 8, y: 0}, "energy": 50.0} | changes
    with pytest.raises(error, match=message):
        plane("projectile", m * g * y, g=10.0).path(**arguments)


def test_outside_hills_region():
    fails(r"the end is outside Hill's region: V = 60 there, and the energy is 50", end={x: 8, y: 6})
    fails(r"the start is on the border of Hill's region", start={x: 0, y: 5})


def test_beyond_the_envelope():
    # V < E there, but no throw of this energy gets further than v²/g = 10: the least energy is mg·10.5/2 = 52.5.
    fails(r"the end is out of reach at the energy 50: .* needs about 52\.5\d? at least", end={x: 10.5, y: 0})
    fails(r"the end is out of reach at the energy 50: .* needs about 52\.5", end={x: 10.5, y: 0}, guess=[(5, 4)])
    # Upwards: E = mg(y + √(x² + y²))/2, here 5(3 + 5).
    fails(r"the end is out of reach at the energy 38: .* needs about 40", end={x: 4, y: 3}, energy=38.0)


def test_beyond_a_barrier():
    # V = 4 cos(x): a top of height 4 stands between, and the path goes over it.
    hill = da.System("hill", coordinates=[x], kinetic=x.d**2 / 2, potential="4*cos(x)")
    with pytest.raises(da.MotionFailed, match=r"out of reach at the energy 3: .* needs about 4\.0") as failed:
        hill.path({x: -2}, {x: 2}, energy=3.0)
    assert "converge" not in str(failed.value)
    assert hill.path({x: -2}, {x: 2}, energy=4.5).duration > 0


def test_a_straight_guess_through_a_singularity():
    planet = plane("planet", -k / (x**2 + y**2) ** 0.5, k=1.0)
    with pytest.raises(da.MotionFailed, match="then name points on the way: guess="):
        planet.path([1, 0], [-1, 0], energy=0.5)
    found = planet.path([1, 0], [-1, 0], energy=0.5, guess=[(0, 1)])
    arrives(found)


def test_antipodes():
    """Paths leave to all sides: the search runs away, which is no fault of the model."""
    with pytest.raises(
        da.MotionFailed, match=r"The search did not converge.*antipodes.*name points on the way: guess="
    ) as failed:
        ball(5 * z).path([2, 0, 0], [-2, 0, 0], energy=20.0)
    assert "division by zero" not in str(failed.value)
    assert "finite value" not in str(failed.value)
    found = ball().path([2, 0, 0], [-2, 0, 0], energy=1.0, guess=[(0, 2, 0)])
    assert found.duration == pytest.approx(2 * np.pi, rel=CLOSE)


def test_bad_arguments():
    fails("start: no value for y", da.ModelError, start={x: 0})
    fails("end: 'w' is no coordinate", da.ModelError, end={x: 0, y: 0, "w": 1})
    fails("end: 2 numbers wanted, got 3", da.ModelError, end=[1, 2, 3])
    fails("start: numbers are wanted", da.ModelError, start={x: "a", y: 0})
    fails("start and end are the same point", da.ModelError, end={x: 0, y: 0})
    fails("energy: a finite number is wanted", da.ModelError, energy="much")
    fails("samples: a path has at least 2 points", da.ModelError, samples=1)
    fails('guess: "direct", a Path or a list of points is wanted', da.ModelError, guess="high")
    fails("guess: V exceeds the energy 50", da.ModelError, guess=[(4, 6)])
    fails("the same point comes twice", da.ModelError, guess=[(0, 0)])


def test_off_the_constraints():
    with pytest.raises(da.InconsistentState, match="the end does not satisfy 'sphere'"):
        ball().path([2, 0, 0], [0, 1, 1], energy=1.0)


def test_where_energy_is_not_all():
    with pytest.raises(da.DoesNotApply, match="not a constraint on positions: roll x, roll y"):
        da.library.penny().path([0, 0, 0, 0], [1, 0, 1, 0], energy=1.0)


def test_columns_and_picture(tmp_path: File):
    found = plane("projectile", m * g * y, g=10.0).path([0, 0], [8, 0], energy=50, samples=11)
    assert found["x"].shape == found["y'"].shape == (11,)
    assert found.initial[x.d] == found["x'"][0]
    assert "time 0.894427" in repr(found)
    with pytest.raises(KeyError, match="no column 'w'"):
        found["w"]
    found.plot(tmp_path / "path.png")
    assert (tmp_path / "path.png").stat().st_size > 1000
