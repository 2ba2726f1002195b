"""Hamilton's equations: H by hand, what is conserved, and the same motion as by the fundamental equation."""

from __future__ import annotations

import geometric_models
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import dalembert as da
from dalembert.mechanics.principles import hamilton
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import standard_form

x, y, r, theta, phi, psi = da.coordinates("x y r theta phi psi")
m, k, g, l, B, w, I1, I3, c = da.parameters("m k g l B w I1 I3 c")
p = {q: da.coordinates(f"p_{q.name}")[0] for q in (x, y, r, theta, phi, psi)}


def written(system: da.System) -> sp.Expr:
    found = hamilton.hamiltonian(system)
    assert not isinstance(found, str), found
    return found.H


def same(one: sp.Expr, other: sp.Expr) -> bool:
    return sp.simplify(one - other) == 0


def section(system: da.System, title: str) -> list[str]:
    return system.equations("hamilton").to_dict()["equations"][title]


# -- H by hand


def central() -> da.System:
    T = m * (r.d**2 + r**2 * theta.d**2) / 2
    return da.System("central field", coordinates=[r, theta], kinetic=T, potential=-k / r)


def test_central_field():
    # p_r = m r', p_θ = m r² θ': H = (p_r² + p_θ²/r²)/2m − k/r
    system = central()
    assert same(written(system), (p[r] ** 2 + p[theta] ** 2 / r**2) / (2 * m) - k / r)
    assert section(system, "canonical equations") == [
        "r' = p_r/m",
        "theta' = p_theta/(m*r**2)",
        "p_r' = (-k*m*r + p_theta**2)/(m*r**3)",
        "p_theta' = 0",
    ]
    assert section(system, "cyclic coordinates") == ["p_theta' = 0   [theta is cyclic: p_theta is conserved]"]
    assert section(system, "conservation") == ["H' = 0   [H is conserved]", "H = T + V   [H is the energy]"]


def test_charge_in_a_magnetic_field():
    # L = m v²/2 + (B/2)(x y' − y x'): p = m v + (B/2)(−y, x), the velocity is (p − a)/m and H = |p − a|²/2m
    L = m * (x.d**2 + y.d**2) / 2 + B * (x * y.d - y * x.d) / 2
    system = da.System("charge", coordinates=[x, y], lagrangian=L)
    assert same(written(system), ((p[x] + B * y / 2) ** 2 + (p[y] - B * x / 2) ** 2) / (2 * m))
    assert section(system, "momenta") == ["p_x = -B*y/2 + m*x'", "p_y = B*x/2 + m*y'"]


def test_bead_on_a_turning_rod():
    # The rod turns at the given rate w: T = m(r'² + w²r²)/2, so H = p²/2m − m w²r²/2 is conserved but not T.
    system = da.System("bead", coordinates=[r], kinetic=m * (r.d**2 + w**2 * r**2) / 2)
    assert same(written(system), p[r] ** 2 / (2 * m) - m * w**2 * r**2 / 2)
    assert section(system, "conservation") == [
        "H' = 0   [H is conserved]",
        "H = T + V + (-m*w**2*r**2)   [H is not the energy]",
    ]


def test_decimal_numbers():
    system = da.System("half", coordinates=[x], kinetic=0.5 * m * x.d**2, potential=0.25 * k * x**2)
    assert section(system, "momenta") == ["p_x = m*x'"]
    assert section(system, "canonical equations") == ["x' = p_x/m", "p_x' = -k*x/2"]


def test_time_in_the_lagrangian():
    # A spring that stiffens: H = p²/2m + k t x²/2 is the energy and grows by ∂H/∂t = k x²/2.
    system = da.System("stiffening spring", coordinates=[x], kinetic=m * x.d**2 / 2, potential=k * da.t * x**2 / 2)
    assert section(system, "conservation") == ["H' = k*x**2/2   [H is not conserved]", "H = T + V   [H is the energy]"]


def test_symmetric_top():
    # Two cyclic angles. H = p_θ²/2I₁ + (p_φ − p_ψ cos θ)²/(2 I₁ sin²θ) + p_ψ²/2I₃ + m g l cos θ
    T = I1 * (theta.d**2 + phi.d**2 * sp.sin(theta) ** 2) / 2 + I3 * (psi.d + phi.d * sp.cos(theta)) ** 2 / 2
    top = da.System("top", coordinates=[theta, phi, psi], kinetic=T, potential=m * g * l * sp.cos(theta))
    hand = p[theta] ** 2 / (2 * I1) + p[psi] ** 2 / (2 * I3) + m * g * l * sp.cos(theta)
    hand += (p[phi] - p[psi] * sp.cos(theta)) ** 2 / (2 * I1 * sp.sin(theta) ** 2)
    assert same(written(top), hand)
    assert [line.split("[")[1] for line in section(top, "cyclic coordinates")] == [
        "phi is cyclic: p_phi is conserved]",
        "psi is cyclic: p_psi is conserved]",
    ]


def test_forces_and_constraints_enter_the_momenta():
    # Survey (14) with the forces H does not hold: the skater's p_phi is conserved, its p_y is not although y is cyclic.
    lines = section(da.library.skater(), "canonical equations")
    assert lines[-3:] == ["p_x' = g*m*sin(alpha) + lambda_1*sin(phi)", "p_y' = -lambda_1*cos(phi)", "p_phi' = 0"]
    cyclic = section(da.library.skater(), "cyclic coordinates")
    assert cyclic[0] == "p_y' = -lambda_1*cos(phi)   [y is cyclic, but p_y changes by constraint forces]"
    assert cyclic[1] == "p_phi' = 0   [phi is cyclic: p_phi is conserved]"


@pytest.mark.parametrize(
    ("name", "verdict"),
    [
        ("penny", "H is conserved"),
        ("upright_penny", "H is conserved"),  # its speed across the held angle is zero
        ("isokinetic", "which is zero: H is conserved"),  # the thermostat takes what the field gives
        ("moving_length_pendulum", "H is not conserved"),
        ("incline_block", "H is not conserved"),
    ],
)
def test_whether_H_is_conserved(name: str, verdict: str):
    assert section(da.library.get(name), "conservation")[0].endswith(f"[{verdict}]")


# -- numbers


def test_relativistic_particle():
    # L = −mc²√(1 − v²/c²) − kx²/2 is not quadratic in v; p = γ m v, so v' = −k x/(γ³ m).
    system = da.System(
        "relativistic oscillator",
        coordinates=[x],
        lagrangian=-m * c**2 * sp.sqrt(1 - x.d**2 / c**2) - k * x**2 / 2,
        parameters={m: 2.0, c: 1.5, k: 3.0},
    )
    assert "not quadratic" in str(hamilton.hamiltonian(system))
    sampler = Sampler(standard_form(system))
    state = Sample(np.array([0.7]), np.array([0.9]), 0.0, sampler.p)
    gamma = 1 / np.sqrt(1 - (0.9 / 1.5) ** 2)
    found = hamilton.prepare(system, sampler)(state, np.zeros(1))
    assert found.acceleration[0] == pytest.approx(-3.0 * 0.7 / (gamma**3 * 2.0), rel=1e-14)
    assert "L is not quadratic" in system.equations("hamilton").text()


def test_both_routes_to_the_derivatives_of_H_agree():
    system = geometric_models.general(3)
    sampler = Sampler(standard_form(system))
    closed = hamilton.hamiltonian(system)
    assert not isinstance(closed, str)
    for state in sampler.states(3):
        one, other = (
            route(state) for route in (hamilton._symbolic(system, sampler, closed), hamilton._implicit(system, sampler))
        )
        for name in ("p", "q", "pp", "pq", "pt"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-11, atol=1e-12, err_msg=name)


@settings(max_examples=16, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_random_systems(seed: int):
    found = geometric_models.general(seed).compare(["hamilton"], states=2)
    assert found["hamilton"].applies, found["hamilton"].reason
    assert found.agree, str(found)


def test_a_wrong_momentum_is_caught(monkeypatch: pytest.MonkeyPatch):
    # The velocity is taken from H, not from the state: a wrong Legendre transform cannot hide.
    monkeypatch.setattr(hamilton, "momenta_of", lambda system: [2 * v for v in system.velocities])
    assert not da.library.moving_length_pendulum().replace(parameters={"m": 3.0}).compare(["hamilton"]).agree


# -- where it does not apply


def test_given_mass():
    constant = da.System(
        "mass", coordinates=[x, y], mass=[[m, 0], [0, 2 * m]], forces={x: -k * x}, parameters={m: 1, k: 2}
    )
    assert constant.compare(["hamilton"])["hamilton"].applies
    assert constant.compare(["hamilton"]).agree
    varying = da.System("mass", coordinates=[x], mass=[[1 + x**2]], forces={x: -x}, parameters={})
    with pytest.raises(da.DoesNotApply, match="no Lagrangian where M depends on q"):
        varying.equations("hamilton")


def test_singular_mass():
    system = da.System("massless pulley", coordinates=[x, y], kinetic=m * x.d**2 / 2, constraints={"rope": x - y})
    with pytest.raises(da.DoesNotApply, match=r"momenta do not determine the velocities of y$"):
        system.equations("hamilton")


def test_nonlinear_acceleration():
    with pytest.raises(da.DoesNotApply, match="nonlinear in the accelerations: size"):
        da.library.prescribed_acceleration().equations("hamilton")


def test_singular_at_one_state():
    # Polar coordinates at the centre: the momentum of the angle says nothing there, and elsewhere all.
    T = m * (r.d**2 + r**2 * theta.d**2) / 2
    system = da.System("polar", coordinates=[r, theta], kinetic=T, parameters={m: 1.0})
    sampler = Sampler(standard_form(system))
    solve = hamilton.prepare(system, sampler)
    with pytest.raises(NotHere, match="singular at this state"):
        solve(Sample(np.zeros(2), np.ones(2), 0.0, sampler.p), np.zeros(2))
    found = solve(Sample(np.array([2.0, 0.0]), np.ones(2), 0.0, sampler.p), np.zeros(2))
    np.testing.assert_allclose(found.acceleration, [2.0, -1.0])  # r θ'², −2r'θ'/r


def test_the_limit_that_is_told_is_the_one_that_is_tested(monkeypatch):
    system = da.System("bead", coordinates=[x, y], kinetic=m * (x.d**2 + sp.cos(x) ** 2 * y.d**2) / 2)
    size = 3  # of m cos² x: a product, a power, a cosine
    monkeypatch.setattr(hamilton, "LARGEST_METRIC", size)
    assert not isinstance(hamilton.hamiltonian(system), str)
    monkeypatch.setattr(hamilton, "LARGEST_METRIC", size - 1)
    assert hamilton.hamiltonian(system) == f"M has {size} operations; it is inverted up to {size - 1}"
