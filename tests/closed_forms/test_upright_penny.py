"""The upright penny from first principles: kinematics by rotation matrices, holding torque by (76)."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

import dalembert as da

R, m, beta = da.parameters("R m beta")
x, y, psi, phi, theta = da.coordinates("x y psi phi theta")
STATE = ("x", "y", "psi", "phi", "theta")


def rate(expression: sp.Matrix | sp.Expr) -> sp.Matrix | sp.Expr:
    return sum((expression.diff(q) * q.d for q in (psi, phi, theta)), start=0 * expression)


def angular_velocity() -> tuple[sp.Matrix, sp.Matrix]:
    """Orientation and angular velocity in space: turn by φ, tilt the axis by π/2 − θ, spin by ψ.

    The body's own second axis is its axis of symmetry.
    """
    # SymPy's rotations are of the axes; the transposed ones turn the body
    orientation = sp.rot_axis3(phi).T * sp.rot_axis1(sp.pi / 2 - theta).T * sp.rot_axis2(psi).T
    spin = rate(orientation) * orientation.T
    return orientation, sp.Matrix([spin[2, 1], spin[0, 2], spin[1, 0]])


def vanishes(expression: sp.Expr) -> bool:
    """Zero at random values, to rounding: enough for a polynomial in sines and cosines."""
    random = np.random.default_rng(4)
    symbols = sorted(expression.free_symbols, key=str)
    compute = sp.lambdify(symbols, expression, "numpy")
    return all(abs(compute(*random.uniform(0.3, 1.2, len(symbols)))) < 1e-12 for _ in range(5))


def test_axis_is_tilted_from_the_normal_by_theta() -> None:
    orientation, _ = angular_velocity()
    axis = orientation * sp.Matrix([0, 1, 0])
    assert vanishes(axis[2] - sp.cos(theta))


def test_rolling_constraints_say_that_the_contact_point_is_at_rest() -> None:
    _, omega = angular_velocity()
    contact = R * sp.Matrix([-sp.sin(phi) * sp.cos(theta), sp.cos(phi) * sp.cos(theta), -sp.sin(theta)])
    centre = sp.Matrix([x.d, y.d, rate(R * sp.sin(theta))])
    velocity = centre + omega.cross(contact)
    by_name = {c.name: c.expression for c in da.library.upright_penny().constraints}
    assert vanishes(velocity[0] - by_name["roll x"])
    assert vanishes(velocity[1] - by_name["roll y"])
    assert vanishes(velocity[2])


def test_kinetic_energy_is_that_of_a_thin_disk() -> None:
    orientation, omega = angular_velocity()
    about_axis = beta * m * R**2
    body = orientation.T * omega
    spinning = (sp.diag(about_axis / 2, about_axis, about_axis / 2) * body).dot(body) / 2
    moving = m * (x.d**2 + y.d**2 + rate(R * sp.sin(theta)) ** 2) / 2
    assert vanishes(da.library.upright_penny().kinetic - spinning - moving)


@pytest.mark.parametrize("ratio", [2, 6])
def test_holding_torque_is_the_multiplier_with_its_sign_changed(ratio: float, simulate, difference) -> None:
    """N_a = −M(1+β)ωR(v₀ + 8aω sin ωt), (76), about the heading; θ turns the other way."""
    system = da.library.upright_penny(ratio=ratio, R=0.4, omega=1.2)
    known = {symbol.name: float(value) for symbol, value in system.parameters.items()}
    motion = simulate(system)
    omega, v0 = known["omega"], known["v0"]
    a = known["g"] * np.sin(known["alpha"]) / (4 * omega**2 * (1 + known["beta"]))
    torque = -known["m"] * (1 + known["beta"]) * omega * known["R"]
    torque = torque * (v0 + 8 * a * omega * np.sin(omega * motion.t))
    # the torque follows the speed, which carries the error of about a hundred steps at 1e-10
    assert difference(motion, {"multiplier upright": -torque})["multiplier upright"] < 1e-8


def test_tilt_does_not_change_the_motion(simulate) -> None:
    flat, upright = (simulate(da.library.get(name, ratio=3), 6.0) for name in ("penny", "upright_penny"))
    for key in ("x", "y", "psi", "phi"):
        # two computations of one motion, each with the error of about fifty steps at 1e-10
        np.testing.assert_allclose(flat[key], upright[key], rtol=0, atol=1e-8)


def test_with_the_papers_three_constraints() -> None:
    """Below (77): λ₃ of θ = π/2 beside (56b) and (58), which say nothing of the tilt, is I₂ψ̇φ̇ = −(N_a + R F_j) along
    θ, which turns about −î; that is the paper's λ₃ with its sign changed.
    """
    upright = da.library.upright_penny(ratio=3, R=0.4, omega=1.2)
    by_three = upright.replace(
        constraints={
            "speed": "x'^2 + y'^2 = R^2*psi'^2",
            "knife edge": "x'*sin(phi) = y'*cos(phi)",
            "upright": "theta = pi/2",
        }
    )
    exact = da.library.exact("upright_penny")
    for time in (0.3, 1.1):
        state = {key: float(value) for key, value in exact(upright, time).items() if key.rstrip("'") in STATE}
        held, now = by_three.at(state).multipliers[2], upright.at(state)
        # all of size one, from the solution of small systems
        np.testing.assert_allclose(held, -now.outputs["N_a"] - 0.4 * now.outputs["F_j"], rtol=1e-10)
        np.testing.assert_allclose(held, 0.5 * 0.4**2 * state["psi'"] * state["phi'"], rtol=1e-10)


def test_a_couple_in_the_place_of_the_hand_keeps_it_upright() -> None:
    """F_a ĵ at the height R + b and −F_a ĵ at R − b, (76): without the constraint on the tilt, θ̈ stays zero."""
    b = sp.Symbol("b", real=True)
    held = da.library.upright_penny(ratio=3, R=0.4, omega=1.2)
    form = da.library.closed_form("upright_penny")
    couple = form.written_out("F_a").xreplace({da.parameters("b")[0]: b})
    # Points of the disk at distances ±b from its centre along −n̂, so that they are as high as the paper says.
    inward = -sp.Matrix([-sp.sin(phi) * sp.cos(theta), sp.cos(phi) * sp.cos(theta), -sp.sin(theta)])
    along = sp.Matrix([-sp.sin(phi), sp.cos(phi), 0])
    pull = 2 * b * couple * along.dot(inward.diff(theta))  # the force along θ: Σ F·∂r/∂θ
    free = held.replace(
        constraints=[c for c in held.constraints if c.name != "upright"],
        forces={theta: sp.cancel(pull)},  # whatever b is
        outputs={},
    )
    exact = da.library.exact("upright_penny")
    for time in (0.0, 0.4, 1.1, 2.7):
        state = {key: float(value) for key, value in exact(held, time).items() if key.rstrip("'") in STATE}
        tilting = free.at(state, t=time).acceleration[4]
        assert abs(tilting) < 1e-9  # torques of size ten over a moment of inertia of size one tenth, to rounding
        assert abs(free.replace(forces={}).at(state, t=time).acceleration[4]) > 1
