"""The plane of accelerations in which Gauss's principle is a projection: its numbers, by hand and against G itself."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

import dalembert as da

ONE = {"liberated_pendulum"}  # a picture needs two accelerations
DRAWN = [name for name in da.library.names() if name not in {"quaternion_body"} | ONE]


def test_block_on_an_oiled_incline_by_hand():
    """m = 1: a = (0, −g), M⁻¹C = −c(ẋ, ẏ)/m; the line through the origin with slope tanθ; q̈ its nearest point."""
    system = da.library.incline_block()
    known = {p.name: float(value) for p, value in system.parameters.items()}
    _, velocity, _ = system.initial_values()
    root, theta = np.sqrt(known["m"]), known["theta"]
    found = system.at().gauss_picture()
    a = root * np.array([0, -known["g"]])
    free = a - known["c"] / known["m"] * root * velocity
    line = np.array([np.cos(theta), np.sin(theta)])
    assert found.unconstrained == pytest.approx(a, rel=1e-14)
    assert found.free == pytest.approx(free, rel=1e-14)
    assert np.abs(found.allowed[:, 0] @ line) == pytest.approx(1, rel=1e-14)
    assert found.projection == pytest.approx(line * (line @ free), rel=1e-13)
    assert found.residual == pytest.approx(abs(line[0] * free[1] - line[1] * free[0]), rel=1e-13)
    assert found.off_plane == 0
    assert found.labels[0] == r"$\sqrt{M_{x x}}\;\ddot{x}$"


@pytest.mark.filterwarnings("ignore:.*is not possible")  # G has values off the constraints, too
@pytest.mark.parametrize("name", DRAWN)
def test_geometry_of_every_library_system(name: str):
    """The basis is orthonormal in the metric of M; G of the plane is G of the instant; the foot is a right angle."""
    now = da.library.get(name).at()
    found = now.gauss_picture()
    P = found.basis
    assert pytest.approx(np.eye(2), abs=1e-13) == P.T @ now.M @ P
    assert found.orthogonality < 1e-13
    assert found.residual**2 == pytest.approx(now.gauss(), rel=1e-10, abs=1e-20)
    assert found.gauss(found.projection) == pytest.approx(now.gauss(), rel=1e-10, abs=1e-20)
    for step in np.random.default_rng(0).normal(size=(3, 2)):
        z = now.acceleration + P @ step
        assert found.gauss(found.projection + step) == pytest.approx(now.gauss(z), rel=1e-9)
    # directions of the line are allowed, and those of the line only
    size = np.abs(now.A).max(initial=1.0)
    assert now.A @ P @ found.allowed == pytest.approx(np.zeros((len(now.A), found.allowed.shape[1])), abs=1e-12 * size)
    if found.allowed.shape[1] == 1:
        across = P @ np.array([-found.allowed[1, 0], found.allowed[0, 0]])
        assert np.abs(now.A @ across).max() > 1e-3
    # more than two accelerations: a + M⁻¹C lies in the plane that is chosen
    assert found.off_plane < 1e-12 * max(1.0, found.residual)


def test_plane_of_two_coordinates_among_more():
    """With the others held, the motion is still the least allowed of the plane, though a + M⁻¹C lies beside it."""
    now = da.library.penny().at()
    found = now.gauss_picture(["x", "psi"])
    assert found.off_plane > 0
    s = found.projection + np.outer(np.linspace(-1, 1, 21), found.allowed[:, 0])
    assert np.argmin(found.gauss(s)) == 10
    assert now.gauss() == pytest.approx(found.gauss(found.projection), rel=1e-12)


def test_coupled_coordinates_get_orthogonal_axes():
    now = da.library.hinged_rods().at()
    found = now.gauss_picture(["phi", "psi"])
    assert found.basis.T @ now.M @ found.basis == pytest.approx(np.eye(2), abs=1e-13)
    assert "orthogonal" in found.labels[1]
    assert found.allowed.shape == (2, 2)  # the angles are free


def test_nonlinear_constraint_gives_its_curve():
    """ẍ² + ÿ² = a₀² in mass-scaled accelerations is a circle about the origin, of radius √m a₀."""
    system = da.library.prescribed_acceleration(m=4.0, a0=5.0)
    found = system.at().gauss_picture()
    angles = np.linspace(0, 6, 7)
    circle = 10.0 * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    assert found.violation(circle) == pytest.approx(np.zeros((7, 1)), abs=1e-12)
    assert found.violation(1.1 * circle) == pytest.approx(np.full((7, 1), 25 * 0.21))
    assert found.violation(found.projection) == pytest.approx([0], abs=1e-10)


def test_what_cannot_be_drawn_is_said():
    with pytest.raises(da.DoesNotApply, match="M is singular"):
        da.library.quaternion_body().at().gauss_picture()
    x = da.coordinates("x")[0]
    one = da.System("one", coordinates=[x], kinetic=x.d**2, initial={x: 0, x.d: 1})
    with pytest.raises(da.DoesNotApply, match="two accelerations"):
        one.at().gauss_picture()
    for chosen in (["x"], ["x", "x"], ["x", "w"], ["x", "y", "phi"], 3):
        with pytest.raises(da.ModelError, match="two of the coordinates x, y, psi, phi"):
            da.library.penny().at().gauss_picture(chosen)


def test_it_is_a_value():
    found = da.library.pendulum().at().gauss_picture()
    with pytest.raises(FrozenInstanceError):
        found.residual = 1.0
