"""Multipliers of constraints whose gradient vanishes at an output are warned of."""

from __future__ import annotations

from math import asin, pi

import numpy as np
import pytest

import dalembert as da


@pytest.mark.parametrize("backend", ["native", "reference"])
def test_where_the_quadratic_penny_stops(backend: str):
    """λ₁ = F_i/(2v) has no bound at φ₁ = π + γ; F_i itself is −β/(1+β) mg sin α cos φ₁."""
    system = da.library.quadratic_penny(ratio=2)
    stop = da.Event("psi'", terminal=True)
    motion = system.simulate(events={"stop": stop}, backend=backend)
    assert motion.t[-1] == pytest.approx(pi + asin(0.5), abs=1e-7)
    assert abs(motion["multiplier speed"][-1]) > 1e6
    (warning,) = motion.warnings
    assert "the gradient of constraint 'speed' vanishes at t = 3.66519" in warning
    assert "means nothing" in warning
    exact = da.library.exact("quadratic_penny")(system, motion.t)
    np.testing.assert_allclose(motion["F_i"][:-1], exact["F_i"][:-1], atol=1e-7)
    np.testing.assert_allclose(motion["F_j"][:-1], exact["F_j"][:-1], atol=1e-7)
    assert motion.certificate.holds
    # At the stop the gradient is 1e-12, which is what the event's time is known to, and F_i is rounding. Where it is
    # 1e-6, that is known to 1e-10 of it, and F_i is as good as anywhere.
    near = system.simulate(times=[0, pi + asin(0.5) - 1e-6], backend=backend)
    assert abs(near["multiplier speed"][-1]) > 1e5
    assert near["F_i"][-1] == pytest.approx(da.library.exact("quadratic_penny")(system, near.t)["F_i"][-1], abs=1e-7)


def test_several_outputs_are_counted():
    """At φ₁ and φ₂ of one turn."""
    orbit = da.library.Orbit(1.0, 2.0)
    motion = da.library.quadratic_penny(ratio=2).simulate(times=[0, 1, orbit.phi1, orbit.phi2, 6])
    assert "and at 1 other output:" in motion.warnings[0]


@pytest.mark.parametrize("name", ["quadratic_penny", "penny", "skater", "pendulum", "moving_length_pendulum"])
def test_nothing_is_said_elsewhere(name: str):
    options = {"ratio": 6} if name in ("penny", "quadratic_penny", "skater") else {}
    assert da.library.get(name, **options).simulate(3.0).warnings == ()


def test_a_gradient_that_grows_a_thousandfold_does_not_vanish():
    """x² + y² = (1 + 1000 t)²: the gradient at the start is 1e-3 of that at the end, and as good as any."""
    x, y = da.coordinates("x y")
    system = da.System(
        "paid out", coordinates=[x, y], kinetic=(x.d**2 + y.d**2) / 2,
        constraints={"rope": x**2 + y**2 - (1 + 1000 * da.t) ** 2},
        initial={x: 1, y: 0, x.d: 1000, y.d: 1},
    )  # fmt: skip
    assert system.simulate(1.0, samples=1001).warnings == ()


def test_the_quadratic_penny_cannot_start_from_rest():
    for options in ({"ratio": 0}, {"v0": 0.0}):
        with pytest.raises(da.ModelError, match="cannot start from rest"):
            da.library.quadratic_penny(**options)
