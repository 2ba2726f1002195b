"""The curve that a point draws: distance, curvature and radius, beside closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import dalembert as da

x, y, z = da.coordinates("x y z")


@pytest.mark.parametrize("ratio", [0, 2, 6])
def test_the_pennys_path(ratio: float):
    """(73) and (85): ρ = v/ω with the sign of v, |ρ| on the curve; the distance counts backward rolling as positive."""
    motion = da.library.penny(ratio=ratio, omega=1.3).simulate(samples=301, rtol=1e-11)
    curve = motion.trace("x", "y")
    moving = np.abs(motion["v"]) > 1e-3
    np.testing.assert_allclose(curve.radius[moving], np.abs(motion["rho"])[moving], rtol=1e-7)
    np.testing.assert_allclose(curve.speed, np.abs(motion["v"]), atol=1e-12)
    orbit = da.library.Orbit.of(motion.system)
    lengths = [orbit.length(0.0, heading) for heading in motion["phi"]]
    # Polynomials of degree 5 between outputs 0.03 apart: 1e-9 of the unit of length.
    np.testing.assert_allclose(curve.distance, lengths, atol=1e-8)


def test_a_helix_in_space():
    """x = cos t, y = sin t, z = c t has κ = 1/(1 + c²) and the length t√(1 + c²)."""
    c = 0.7
    helix = da.System(
        "helix", coordinates=[x, y, z], kinetic=(x.d**2 + y.d**2 + z.d**2) / 2, potential=(x**2 + y**2) / 2,
        initial={x: 1, y: 0, z: 0, x.d: 0, y.d: 1, z.d: c},
    ).simulate(5.0)  # fmt: skip
    curve = helix.trace(x, y, z)
    np.testing.assert_allclose(curve.curvature, 1 / (1 + c**2), rtol=1e-7)
    np.testing.assert_allclose(curve.distance, helix.t * np.sqrt(1 + c**2), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(helix.trace("y", "x").curvature, -1, rtol=1e-7)  # the sign is that of the order


def test_hertz_and_the_path_differ():
    """A mass 4 on a circle of radius 2: κ = 1/2 on paper, κ/√m = 1/4 for Hertz."""
    circle = da.library.pendulum(m=4.0, g=0.0, l=2.0, spin=1.0).simulate(1.0)
    np.testing.assert_allclose(np.abs(circle.trace("x", "y").curvature), 0.5, rtol=1e-9)
    np.testing.assert_allclose(circle.curvature(), 0.25, rtol=1e-9)


def test_bad_points():
    motion = da.library.pendulum().simulate(0.1, samples=3)
    with pytest.raises(da.ModelError, match="'w' is not a coordinate"):
        motion.trace("x", "w")
    for few in (("x",), ("x", "x"), ()):
        with pytest.raises(da.ModelError, match="two or three coordinates"):
            motion.trace(*few)


@pytest.mark.parametrize("samples", [31, 400])
def test_the_length_through_impacts(samples: int):
    """A ball that bounces to rest: parabolas between blows, each with its length by quadrature."""
    g, h, e, u = 9.81, 1.0, 0.7, 0.5
    motion = da.library.bouncing_ball(e=e, g=g, h=h, u0=u).simulate(3.0, samples=samples)
    t = np.sqrt(2 * h / g)
    length = quad(lambda s: np.hypot(u, g * s), 0, t)[0]
    up = e * g * t
    while up > 1e-12:
        length += quad(lambda s, up=up: np.hypot(u, up - g * s), 0, 2 * up / g)[0]
        t, up = t + 2 * up / g, e * up
    length += u * (3.0 - t)
    # Parabolas are cubics too; what is left is where the ball comes to rest, between two outputs: its last bounces are
    # not made, and only the velocities at both ends are known of that stretch.
    assert motion.trace("x", "y").distance[-1] == pytest.approx(length, abs=1e-6)
    assert len(motion.blows) > 20
    distances = motion.trace("x", "y").distance
    assert np.all(np.diff(distances) > 0)
