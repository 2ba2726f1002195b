"""Maupertuis' principle: Jacobi's geodesics by hand, the same motion, and where it does not apply."""

from __future__ import annotations

import geometric_models
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.mechanics.principles import maupertuis
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form

x, y, r, theta = da.coordinates("x y r theta")
m, g, k, E = da.parameters("m g k E")


def projectile(**changes) -> da.System:
    parts = {"coordinates": [x, y], "kinetic": m * (x.d**2 + y.d**2) / 2, "potential": m * g * y}
    return da.System("projectile", **(parts | changes))


def geodesics(system: da.System) -> list[sp.Expr]:
    lines = system.equations("maupertuis").sections[1].lines
    return [sum(term for _, term in line.terms) for line in lines]


# -- by hand


def test_projectile():
    # g_ij = 2W m δ_ij, W = E − mgy: Γ^x_xy = W_y/2W = −mg/2W, Γ^y_yy = −mg/2W, Γ^y_xx = +mg/2W
    x_s, y_s = da.coordinates("x_s y_s")
    W = E - m * g * y
    found = geodesics(projectile())
    assert sp.simplify(found[0] - m * g * x_s * y_s / W) == 0
    assert sp.simplify(found[1] - m * g * (y_s**2 - x_s**2) / (2 * W)) == 0
    shown = projectile().equations("maupertuis").to_dict()["equations"]
    assert shown["Jacobi's line element at the energy E"] == ["ds**2 = (2*E - 2*g*m*y)*(m*dx**2 + m*dy**2)"]
    assert shown["time"] == ["t_s = 1/(2*E - 2*g*m*y)"]


def test_kepler_in_polar_coordinates():
    # W = E + k/r, g_rr = 2Wm, g_θθ = 2Wm r²: θ'' = −2(1/r + W_r/2W) r'θ' and W_r = −k/r²
    T = m * (r.d**2 + r**2 * theta.d**2) / 2
    system = da.System("Kepler", coordinates=[r, theta], kinetic=T, potential=-k / r)
    r_s, theta_s = da.coordinates("r_s theta_s")
    W, W_r = E + k / r, -k / r**2
    found = geodesics(system)
    assert sp.simplify(found[1] + (2 / r + W_r / W) * r_s * theta_s) == 0
    # r'' = r θ'² − (W_r/2W)(r'² − r²θ'²)
    assert sp.simplify(found[0] - (r * theta_s**2 - W_r / (2 * W) * (r_s**2 - r**2 * theta_s**2))) == 0


def test_fall_at_a_state():
    # Whatever the energy that the state has, the acceleration is that of free fall.
    system = projectile(parameters={m: 3.0, g: 9.81})
    sampler = Sampler(standard_form(system))
    solve = maupertuis.prepare(system, sampler)
    for speed in (1e-6, 1.0, 1e4):
        found = solve(Sample(np.array([1.0, 7.0]), speed * np.array([0.6, 0.8]), 0.0, sampler.p), np.zeros(2))
        np.testing.assert_allclose(found.acceleration, [0, -9.81], rtol=1e-12, atol=1e-11)
    with pytest.raises(NotHere, match="at rest"):
        solve(Sample(np.array([1.0, 7.0]), np.zeros(2), 0.0, sampler.p), np.zeros(2))


def test_nothing_left_to_move():
    """Velocities that the constraints make zero come out of Newton's method as rounding: that is rest."""
    rows = {"circle": x**2 + y**2 - 1, "line": y - x}
    found = projectile(constraints=rows, parameters={m: 1.0, g: 9.81}).compare(["maupertuis"])
    assert not found["maupertuis"].applies
    assert "at rest" in found["maupertuis"].reason


def test_a_gradient_that_vanishes():
    start = {x: 0.6, y: 0.8, x.d: 0.8, y.d: -0.6}
    squared = projectile(constraints={"twice": (x**2 + y**2 - 1) ** 2}, parameters={m: 1.0, g: 9.81}, initial=start)
    for form in ("maupertuis", "liberation", "action"):
        row = squared.compare([form])[form]
        assert not row.applies
        assert "the gradient of twice vanishes" in row.reason


def test_a_parameter_named_E():
    assert "energy E_0" in projectile(potential=E * y).equations("maupertuis").text()


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_systems(seed: int):
    found = geometric_models.natural(seed).compare(["maupertuis"], states=2)
    assert found["maupertuis"].applies, found["maupertuis"].reason
    assert found.agree, str(found)


# -- on a page


def test_differentials_are_typeset_as_such():
    T = m * (r.d**2 + r**2 * theta.d**2) / 2
    page = da.System("Kepler", coordinates=[r, theta], kinetic=T, potential=-k / r).equations("maupertuis").latex()
    assert r"d\theta^{2}" in page
    assert "dtheta" not in page


def test_long_geodesics_are_left_to_a_function():
    """Written out, these take hundreds of operations a line."""
    found = da.library.hinged_rods().equations("maupertuis")
    shown = found.to_dict()["equations"]
    assert shown["Jacobi's line element at the energy E"][0].startswith("ds**2 = dsigma**2*(2*E")
    F, sigma, *lines = shown["geodesics, x_s = dx/ds"]
    assert F.startswith("F = sigma_s**2*(E + g*m*")
    assert sigma.startswith("sigma_s**2 = ")
    assert lines[0] == "d/ds(dF/dx1_s) - dF/dx1 = mu_1"
    assert lines[-1] == "d/ds(dF/dpsi_s) - dF/dpsi = 0"
    assert r"\frac{d}{ds}\frac{\partial F}{\partial \phi_{s}}" in found.latex()


# -- where it does not apply


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"potential": m * g * y * da.t}, "time appears in the model"),
        ({"constraints": {"edge": x.d - y * y.d}}, "not a constraint on positions: edge"),
        ({"forces": {x: -x.d}}, "forces given without a potential act on x"),
        ({"constraints": {"wire": y - x}, "nonideal": [da.Viscous("wire", 0.1)]}, "the constraints do work"),
        ({"kinetic": m * (x.d**2 + y.d**2) / 2 + x * y.d}, "terms linear in the velocities of y"),
        ({"kinetic": m * (x.d**2 + y.d**2) / 2 + x.d**4}, "not quadratic in the velocities"),
        ({"kinetic": None, "mass": [[1 + x**2, 0], [0, 1]]}, "no Lagrangian where M depends on q"),
    ],
)
def test_why_not(changes: dict, why: str):
    with pytest.raises(da.DoesNotApply, match=why):
        projectile(**changes).equations("maupertuis")
