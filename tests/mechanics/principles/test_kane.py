"""Kane's and Maggi's equations: partial velocities, active and inertia forces and reactions by hand."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from rolling import disc, disc_inertia, disc_rates, g, m, r, sleigh, sleigh_gibbs, sleigh_rates
from sympy import cos, sin

import dalembert as da
from dalembert.mechanics.principles import kane
from dalembert.mechanics.principles.shared.euler_operator import euler_operator
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form
from dalembert.model.language.symbols import Coordinate


def u(*names: str) -> list[Coordinate]:
    return [Coordinate.named(name) for name in names]


def same(left: sp.Expr, right: sp.Expr) -> bool:
    return sp.simplify(sp.expand(left - right)) == 0


def penny_in_speeds() -> kane.KaneEquations:
    penny = da.library.penny()
    x, y, _, phi = penny.coordinates
    return penny.equations("kane", quasi_velocities={"v": x.d * cos(phi) + y.d * sin(phi), "omega": phi.d})


def test_penny_partial_velocities_and_forces():
    """∂(ẋ, ẏ, ψ̇, φ̇)/∂v = (cosφ, sinφ, 1/R, 0), ∂/∂ω = (0, 0, 0, 1).

    F = (mg sinα cosφ, 0), F* = −(m(1+β) v̇, ½βmR² ω̇).
    """
    found = penny_in_speeds()
    phi = found.system.coordinates[3]
    mass, R, beta, gravity, alpha = da.parameters("m R beta g alpha")
    v, omega = u("v", "omega")
    expected = sp.Matrix([[cos(phi), 0], [sin(phi), 0], [1 / R, 0], [0, 1]])
    assert sp.simplify(found.quasi.partial - expected) == sp.zeros(4, 2)
    assert same(found.active[0], mass * gravity * sin(alpha) * cos(phi))
    assert found.active[1] == 0
    assert same(found.inertia[0], -mass * (1 + beta) * v.d)
    assert same(found.inertia[1], -beta * mass * R**2 * omega.d / 2)


def test_penny_reactions_are_the_papers():
    """Flannery: with v̇ = g sinα cosφ/(1+β) the reaction along the heading is F_i = −β/(1+β) mg sinα cosφ; across it
    the centre accelerates by vω, F_j = m(vω + g sinα sinφ), which along the motion is Mω[v₀ + 4a(2+β)ω sinωt].
    """
    found = penny_in_speeds()
    phi = found.system.coordinates[3]
    mass, beta, gravity, alpha = da.parameters("m beta g alpha")
    v, omega = u("v", "omega")
    forward = gravity * sin(alpha) * cos(phi) / (1 + beta)
    reactions = [entry.subs({v.d: forward, omega.d: 0}) for entry in found.reactions]
    along = reactions[0] * cos(phi) + reactions[1] * sin(phi)
    across = -reactions[0] * sin(phi) + reactions[1] * cos(phi)
    assert same(along, -beta / (1 + beta) * mass * gravity * sin(alpha) * cos(phi))
    assert same(across, mass * (v * omega + gravity * sin(alpha) * sin(phi)))
    # s = v₀t + 4a(1 − cosωt), so v = v₀ + 4aω sinωt, with φ = ωt and a = g sinα/(4ω²(1+β))
    w, time, v0 = sp.symbols("w time v0", positive=True)
    a = gravity * sin(alpha) / (4 * w**2 * (1 + beta))
    moving = across.subs({v: v0 + 4 * a * w * sin(w * time), omega: w, phi: w * time})
    assert same(moving, mass * w * (v0 + 4 * a * (2 + beta) * w * sin(w * time)))


def test_rolling_disc():
    system, names = disc()
    speeds, lean = u(*names), system.coordinates[3]
    found = system.equations("kane", quasi_velocities=names)
    expected = disc_inertia(speeds, lean)
    assert all(same(-a, b) for a, b in zip(found.inertia, expected, strict=True))
    assert same(found.active[0], m * g * r * sin(lean))
    assert found.active[1:] == (0, 0)
    # and F + F* = 0 at the rates found by hand
    rates = dict(zip([s.d for s in speeds], disc_rates(speeds, lean), strict=True))
    assert all(same((a + b).xreplace(rates), sp.S.Zero) for a, b in zip(found.active, found.inertia, strict=True))


def test_sleigh_inertia_forces_are_the_derivatives_of_gibbs_function():
    """F*_r = −∂S/∂u̇_r, with S by hand."""
    system, names = sleigh()
    v, omega = u("v", "omega")
    found = system.equations("kane", quasi_velocities=names)
    S = sleigh_gibbs(v, omega)
    assert all(same(-a, sp.diff(S, rate)) for a, rate in zip(found.inertia, (v.d, omega.d), strict=True))


def test_sleigh_numbers():
    """At v = 2, ω = 1.5 with a = 0.3, m = 2, J = 0.4: v̇ = 0.675, ω̇ = −1.8/0.58."""
    system, names = sleigh()
    v, omega = u("v", "omega")
    parameters = {p: sp.Float(value) for p, value in system.parameters.items()}
    at = {v: 2, omega: 1.5, **parameters}
    assert [float(rate.subs(at)) for rate in sleigh_rates(v, omega)] == pytest.approx([0.675, -1.8 / 0.58])
    q, speed, t = system.initial_values()
    sampler = Sampler(standard_form(system))
    found = kane.prepare(system, sampler)(Sample(q, speed, t, sampler.p), np.zeros(3))
    c, s = np.cos(0.5), np.sin(0.5)
    # d/dt of (v cosφ, v sinφ)
    expected = [0.675 * c - 2 * 1.5 * s, 0.675 * s + 2 * 1.5 * c, -1.8 / 0.58]
    assert found.acceleration == pytest.approx(expected, rel=1e-13)
    assert names.keys() == {"v", "omega"}


def test_nonideal_forces_are_active():
    """An oiled incline: F = −(c/cos²θ) ẋ − mg tanθ on u = ẋ."""
    system = da.library.incline_block()
    found = system.equations("kane")
    c, mass, gravity, theta = da.parameters("c m g theta")
    x = system.coordinates[0]
    assert same(found.active[0], -c * x.d / cos(theta) ** 2 - mass * gravity * sp.tan(theta))


@pytest.mark.parametrize("name", ["penny", "upright_penny", "cart", "hinged_rods", "appell_fall", "satellite_pair"])
def test_reactions_do_no_work_on_partial_velocities(name: str):
    """Nᵀ(E − C) = 0 is Maggi's statement; here with E and N as they are shown and q̈ of the motion."""
    system = da.library.get(name)
    found = system.equations("kane")
    now = system.at()
    sampler = Sampler(standard_form(system))
    state = Sample(now.q, now.v, now.t, sampler.p)
    n = len(system.coordinates)
    E = sampler.function(euler_operator(system), system.accelerations)(state, *now.acceleration)
    N = sampler.function(list(found.quasi.partial))(state).reshape(n, -1)
    assert pytest.approx(np.zeros(N.shape[1]), abs=1e-10 * max(1.0, np.abs(E).max())) == N.T @ (E - now.C)
    assert pytest.approx(np.zeros((len(now.A), N.shape[1])), abs=1e-12) == now.A @ N
    assert pytest.approx(now.ideal + now.nonideal, rel=1e-9, abs=1e-10) == E


def test_latex_and_text_name_the_parts():
    found = penny_in_speeds()
    assert r"\frac{\partial \dot{x}}{\partial v} &= \cos" in found.latex()
    assert "F^{*}_{1}" in found.latex()
    assert "dx'/dv = cos(phi)" in found.text()
    assert "F*_1 = " in found.text()
    assert "  E_x*cos(phi) + E_y*sin(phi) + E_psi/R = 0" in found.text().splitlines()  # Maggi
