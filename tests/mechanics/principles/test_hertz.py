"""Least curvature: geodesics by hand, great circles and helices, and where the principle is silent."""

from __future__ import annotations

import geometric_models
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.mechanics.principles import hertz
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form

x, y, z, theta, phi, u = da.coordinates("x y z theta phi u")
m, R, J = da.parameters("m R J")


def lines(system: da.System, title: str) -> list[str]:
    return system.equations("hertz").to_dict()["equations"][title]


GEODESIC = "geodesics: K is least, x_s = dx/ds"


def ball(**changes) -> da.System:
    parts = {
        "coordinates": [x, y, z],
        "kinetic": m * (x.d**2 + y.d**2 + z.d**2) / 2,
        "constraints": {"sphere": x**2 + y**2 + z**2 - R**2},
        "parameters": {m: 4.0, R: 2.0},
        "initial": {x: 2, y: 0, z: 0, x.d: 0, y.d: 0.6, z.d: 0.8},
    }
    return da.System("particle on a sphere", **(parts | changes))


# -- by hand


def test_sphere_in_angles():
    # ds² = mR²(dθ² + sin²θ dφ²): Γ^θ_φφ = −sin θ cos θ, Γ^φ_θφ = cot θ
    T = m * R**2 * (theta.d**2 + sp.sin(theta) ** 2 * phi.d**2) / 2
    system = da.System("sphere", coordinates=[theta, phi], kinetic=T)
    assert lines(system, "line element") == ["ds**2 = R**2*m*dphi**2*sin(theta)**2 + R**2*m*dtheta**2"]
    assert lines(system, GEODESIC) == [
        "theta_ss = phi_s**2*sin(theta)*cos(theta)",
        "phi_ss = -2*phi_s*theta_s*cos(theta)/sin(theta)",
    ]
    assert system.compare(["hertz"]).agree


def test_knife_edge():
    # A skater without gravity: m x'' = μ sin φ, m y'' = −μ cos φ, J φ'' = 0 by arc length; a circle at constant speed.
    T = m * (x.d**2 + y.d**2) / 2 + J * phi.d**2 / 2
    edge = x.d * sp.sin(phi) - y.d * sp.cos(phi)
    values = {m: 2.0, J: 0.5}
    start = {x: 0, y: 0, phi: 0, x.d: 1.5, y.d: 0, phi.d: 0.7}
    system = da.System(
        "skater", coordinates=[x, y, phi], kinetic=T, constraints={"edge": edge}, parameters=values, initial=start
    )
    assert lines(system, GEODESIC) == ["x_ss = mu_1*sin(phi)/m", "y_ss = -mu_1*cos(phi)/m", "phi_ss = 0"]
    sampler = Sampler(standard_form(system))
    state = Sample(np.zeros(3), np.array([1.5, 0, 0.7]), 0.0, sampler.p)
    found = hertz.prepare(system, sampler)(state, np.zeros(3))
    # v φ' across the blade, and the force m v φ' that makes it
    np.testing.assert_allclose(found.acceleration, [0, 1.05, 0], atol=1e-15)
    np.testing.assert_allclose(found.force, [0, 2.1, 0], atol=1e-15)


def test_the_survey_on_curvature():
    # (9) for a particle of mass m, ds² = m|dr|² here: K = m|d²r/ds²|², mG/(2T)² with G = m|r̈|², divided by m.
    assert lines(ball(), "squared curvature, x_s = dx/ds") == ["K = m*x_ss**2 + m*y_ss**2 + m*z_ss**2"]
    motion = ball().simulate(1.0)
    mass, G = 4.0, 4.0 * np.sum(motion.a**2, axis=1)
    np.testing.assert_allclose(motion.curvature() ** 2, mass * G / (2 * motion.energy) ** 2 / mass, rtol=1e-9)


def test_the_curvature_found_is_the_least():
    rng = np.random.default_rng(1)
    n = 4
    B = rng.normal(size=(n, n))
    M, c, A, bend = B @ B.T + np.eye(n), rng.normal(size=n), rng.normal(size=(2, n)), rng.normal(size=2)
    turn = hertz.least_curvature(M, c, A, bend)
    np.testing.assert_allclose(A @ turn, -bend, atol=1e-13)

    def K(z: np.ndarray) -> float:
        return float((M @ z + c) @ np.linalg.solve(M, M @ z + c))

    null = np.linalg.svd(A)[2][2:].T
    others = [K(turn + null @ step) for step in rng.normal(size=(20, 2))]
    assert min(others) > K(turn)


# -- along motions


def test_great_circle():
    motion = ball().simulate(10.0)
    # √K = 1/(√m R), and the path stays in the plane through the centre
    np.testing.assert_allclose(motion.curvature(), 1 / (2 * 2.0), rtol=1e-9)
    normal = np.cross([2.0, 0, 0], [0, 0.6, 0.8])
    assert np.abs(motion.q @ normal).max() < 1e-8
    assert ball().compare(["hertz"]).agree


def test_helix_on_a_cylinder():
    # x² + y² = R²: with the speed v cos α around and v sin α along, the curvature is cos²α/R.
    system = ball(constraints={"cylinder": x**2 + y**2 - R**2}, initial={x: 2, y: 0, z: 0, x.d: 0, y.d: 0.6, z.d: 0.8})
    motion = system.simulate(10.0)
    np.testing.assert_allclose(motion.curvature(), 0.36 / (2.0 * 2), rtol=1e-9)
    np.testing.assert_allclose(motion["z"], 0.8 * motion.t, atol=1e-8)
    np.testing.assert_allclose(motion["x"], 2 * np.cos(0.3 * motion.t), atol=1e-8)
    assert system.compare(["hertz"]).agree


def test_curvature_where_forces_act_and_at_rest():
    # A projectile at its apex: g/v², divided by √m; thrown straight up it does not bend.
    start = {x: 0, y: 0, x.d: 1.5, y.d: 0}
    T, V = m * (x.d**2 + y.d**2) / 2, 10 * m * y
    thrown = da.System("projectile", coordinates=[x, y], kinetic=T, potential=V, parameters={m: 4.0}, initial=start)
    assert thrown.simulate(0.5).curvature()[0] == pytest.approx(10 / 1.5**2 / 2, rel=1e-12)
    dropped = thrown.replace(initial={x.d: 0}).simulate(0.5).curvature()
    assert np.isnan(dropped[0])
    assert np.abs(dropped[1:]).max() < 1e-10  # rounding, divided by the square of a speed of down to 0.03


def test_curvature_in_curved_coordinates():
    # The same circle in polar coordinates, where M depends on the position.
    T = m * (x.d**2 + x**2 * phi.d**2) / 2
    polar = da.System(
        "circle", coordinates=[x, phi], kinetic=T, constraints={"ring": x - R}, parameters={m: 4.0, R: 2.0}
    )
    motion = polar.replace(initial={x: 2, phi: 0, x.d: 0, phi.d: 1}).simulate(1.0)
    np.testing.assert_allclose(motion.curvature(), 0.25, rtol=1e-12)


def test_curvature_needs_a_metric():
    with pytest.raises(da.DoesNotApply, match="momenta do not determine the velocities"):
        da.library.quaternion_body().simulate(0.1).curvature()
    moving = da.System(
        "growing mass", coordinates=[x], kinetic=(1 + da.t) * x.d**2 / 2, initial={x: 0, x.d: 1}
    ).simulate(0.1)
    with pytest.raises(da.DoesNotApply, match="the same at all times"):
        moving.curvature()


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_systems(seed: int):
    found = geometric_models.force_free(seed).compare(["hertz"], states=2)
    assert found["hertz"].applies, found["hertz"].reason
    assert found.agree, str(found)


# -- where it does not apply


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"potential": 3 * z}, "a potential acts on z"),
        ({"forces": {x: 1.0}}, "forces given without a potential act on x"),
        ({"constraints": {"sphere": x**2 + y**2 + z**2 - (R + da.t) ** 2}}, "time appears in the model"),
        ({"constraints": {"pace": x.d - 1}}, "not homogeneous in the velocities: pace is about speeds"),
        ({"constraints": {"pace": x.d**2 + y.d**2 + z.d**2 - 1}}, "pace is about speeds, not about paths alone"),
        ({"constraints": {"hold": x.dd}}, "a constraint on accelerations: hold"),
        ({"nonideal": [da.Work({x: -x.d})]}, "the constraints do work"),
        ({"kinetic": m * (x.d**2 + y.d**2 + z.d**2) / 2 + x * y.d}, "terms linear in the velocities of y"),
    ],
)
def test_why_not(changes: dict, why: str):
    with pytest.raises(da.DoesNotApply, match=why):
        ball(**changes).equations("hertz")


def test_at_rest():
    system = ball()
    sampler = Sampler(standard_form(system))
    with pytest.raises(NotHere, match="at rest"):
        hertz.prepare(system, sampler)(Sample(np.array([2.0, 0, 0]), np.zeros(3), 0.0, sampler.p), np.zeros(3))
    # The other states are compared all the same.
    assert system.replace(initial={y.d: 0, z.d: 0}).compare(["hertz"])["hertz"].applies


def test_nothing_left_to_move():
    rows = {"sphere": x**2 + y**2 + z**2 - R**2, "meridian": y - x, "level": z - x}
    row = ball(constraints=rows, initial={}).compare(["hertz"])["hertz"]
    assert not row.applies
    assert "at rest" in row.reason


def test_a_gradient_that_vanishes():
    row = ball(constraints={"twice": (x**2 + y**2 + z**2 - R**2) ** 2}).compare(["hertz"])["hertz"]
    assert not row.applies
    assert "the gradient of twice vanishes" in row.reason
