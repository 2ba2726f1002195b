"""Systems without a closed form: motion against minimal coordinates, forces against formulas."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da

Rates = Callable[[float, np.ndarray], list[float]]


def numbers(system: da.System) -> dict[str, float]:
    return {symbol.name: float(value) for symbol, value in system.parameters.items()}


def reference(rates: Rates, start: list[float], times: np.ndarray) -> np.ndarray:
    """The reduced equations, a hundred times finer than the simulation: shape (state, time)."""
    span = (times[0], times[-1])
    found = solve_ivp(rates, span, start, method="DOP853", rtol=1e-12, atol=1e-13, t_eval=times)
    assert found.success
    return found.y


@pytest.mark.parametrize("name", [name for name in da.library.names() if da.library.forces(name)])
def test_forces_follow_their_formula(name: str, simulate, difference) -> None:
    system = da.library.get(name)
    motion = simulate(system)
    found = difference(motion, da.library.forces(name)(system, motion.q, motion.v, motion.t))
    # Both are evaluated at the same states, so only rounding is left. The formulas use that the state is on
    # the constraints, which it is to about 1e-13.
    assert {key: size for key, size in found.items() if not size < 1e-11} == {}


def test_pendulum_of_growing_length(simulate) -> None:
    """l α̈ + 2 l̇ α̇ + g sin α = 0."""
    system = da.library.moving_length_pendulum()
    motion, p = simulate(system), numbers(system)

    def rates(t: float, y: np.ndarray) -> list[float]:
        length = p["l0"] + p["rate"] * t
        return [y[1], -(2 * p["rate"] * y[1] + p["g"] * np.sin(y[0])) / length]

    angle, _ = reference(rates, [p["angle"], p["spin"]], motion.t)
    length = p["l0"] + p["rate"] * motion.t
    # about a hundred steps at 1e-10
    np.testing.assert_allclose(motion["x"], length * np.sin(angle), rtol=0, atol=1e-8)
    np.testing.assert_allclose(motion["y"], -length * np.cos(angle), rtol=0, atol=1e-8)


@pytest.mark.parametrize("spin_of_hoop", [2.0, 4.0])
def test_bead_on_a_rotating_hoop(spin_of_hoop: float, simulate) -> None:
    """θ̈ = Ω² sin θ cos θ − (g/a) sin θ, below and above √(g/a) = 3.1, where the bottom becomes unstable."""
    system = da.library.rotating_hoop_bead(Omega=spin_of_hoop)
    motion, p = simulate(system), numbers(system)

    def rates(t: float, y: np.ndarray) -> list[float]:
        return [y[1], p["Omega"] ** 2 * np.sin(y[0]) * np.cos(y[0]) - p["g"] / p["a"] * np.sin(y[0])]

    angle, _ = reference(rates, [p["angle"], p["spin"]], motion.t)
    turned = p["Omega"] * motion.t
    expected = p["a"] * np.stack([np.sin(angle) * np.cos(turned), np.sin(angle) * np.sin(turned), -np.cos(angle)])
    # about two hundred steps at 1e-10
    np.testing.assert_allclose(motion.q.T, expected, rtol=0, atol=2e-8)


def test_two_hinged_rods(simulate) -> None:
    """The rods as a physical double pendulum, M(φ−ψ)(φ̈, ψ̈) = f, solved at each instant."""
    system = da.library.hinged_rods()
    motion, p = simulate(system), numbers(system)
    m, l, g = p["m"], p["l"], p["g"]

    def rates(t: float, y: np.ndarray) -> list[float]:
        phi, psi, dphi, dpsi = y
        coupling = m * l**2 / 2 * np.cos(phi - psi)
        mass = [[m * l**2 * (1 / 12 + 1 / 4 + 1), coupling], [coupling, m * l**2 * (1 / 12 + 1 / 4)]]
        centrifugal = m * l**2 / 2 * np.sin(phi - psi)
        force = [
            -centrifugal * dpsi**2 - m * g * l * (1 / 2 + 1) * np.sin(phi),
            centrifugal * dphi**2 - m * g * l / 2 * np.sin(psi),
        ]
        return [dphi, dpsi, *np.linalg.solve(mass, force)]

    angles = reference(rates, [p["angle1"], p["angle2"], 0.0, 0.0], motion.t)
    found = np.stack([motion[key] for key in ("phi", "psi", "phi'", "psi'")])
    # about two hundred steps at 1e-10, magnified by the divergence of a double pendulum over 5 s
    np.testing.assert_allclose(found, angles, rtol=0, atol=1e-6)
    # the joints stay closed: projection holds them to rounding
    np.testing.assert_allclose(motion.q[:, :4], 0, atol=1e-13)


def test_joint_forces_of_the_rods_carry_their_weight_and_acceleration(simulate) -> None:
    """(8.9) against Newton: the force at O and both weights accelerate the centre of mass of the two rods."""
    system = da.library.hinged_rods()
    motion, p = simulate(system), numbers(system)
    phi, psi = motion["phi"], motion["psi"]
    dphi, dpsi = motion["phi'"], motion["psi'"]
    ddphi, ddpsi = motion.a[:, 4], motion.a[:, 5]
    # second derivative of the sum of the two centres, (3/2) l sin φ + (1/2) l sin ψ and the same with cosines
    across = 1.5 * (ddphi * np.cos(phi) - dphi**2 * np.sin(phi)) + 0.5 * (ddpsi * np.cos(psi) - dpsi**2 * np.sin(psi))
    down = -1.5 * (ddphi * np.sin(phi) + dphi**2 * np.cos(phi)) - 0.5 * (ddpsi * np.sin(psi) + dpsi**2 * np.cos(psi))
    # an identity at each state: rounding in forces of about 50
    np.testing.assert_allclose(motion.multipliers[:, 0], p["m"] * p["l"] * across, atol=1e-11)
    np.testing.assert_allclose(motion.multipliers[:, 1], p["m"] * p["l"] * down - 2 * p["m"] * p["g"], atol=1e-11)


def test_double_pendulum_with_a_redundant_rod(simulate) -> None:
    """The textbook equations in two angles; the rank of the three constraints is two throughout."""
    system = da.library.redundant_double_pendulum()
    motion, p = simulate(system), numbers(system)
    m1, m2, l1, l2, g = (p[name] for name in ("m1", "m2", "l1", "l2", "g"))

    def rates(t: float, y: np.ndarray) -> list[float]:
        one, two, spin1, spin2 = y
        c, s = np.cos(one - two), np.sin(one - two)
        mass = [[(m1 + m2) * l1, m2 * l2 * c], [l1 * c, l2]]
        force = [
            -m2 * l2 * s * spin2**2 - (m1 + m2) * g * np.sin(one),
            l1 * s * spin1**2 - g * np.sin(two),
        ]
        return [spin1, spin2, *np.linalg.solve(mass, force)]

    one, two, _, _ = reference(rates, [p["angle1"], p["angle2"], 0.0, 0.0], motion.t)
    upper = l1 * np.stack([np.sin(one), -np.cos(one)])
    lower = upper + l2 * np.stack([np.sin(two), -np.cos(two)])
    # about a hundred steps at 1e-10; 4 s are too short for neighbouring motions to part
    np.testing.assert_allclose(motion.q.T, np.concatenate([upper, lower]), rtol=0, atol=1e-8)
    assert motion.certificate.rank_min == motion.certificate.rank_max == 2


def test_appell_hamel_particle_with_drag(simulate) -> None:
    """(30) on the hyperboloid: ẋ = h cos η, ẏ = h sin η, ż = w with h² = 2αg(t) + w².

    Both parts of the constraint force lie along (ẋ, ẏ) in the horizontal, so that m h η̇ = −F_x sin η.
    """
    system = da.library.appell_hamel()
    motion, p = simulate(system), numbers(system)

    def horizontal(t: float, w: float) -> float:
        return np.sqrt(2 * p["alpha"] * (1 + p["depth"] * np.sin(p["rate"] * t)) + w**2)

    def rates(t: float, y: np.ndarray) -> list[float]:
        eta, w = y[3:]
        h = horizontal(t, w)
        u = np.hypot(h, w)
        growth = p["alpha"] * p["depth"] * p["rate"] * np.cos(p["rate"] * t)
        weight = -p["m"] * p["gravity"]
        scale = (p["m"] * growth - h * np.cos(eta) * p["push"] + w * weight) / u**2
        turning = -p["push"] * np.sin(eta) / (p["m"] * h)
        climbing = (weight - scale * w - 2 * p["a0"] / u * w * h**2) / p["m"]
        return [h * np.cos(eta), h * np.sin(eta), w, turning, climbing]

    found = reference(rates, [0.0, 0.0, 0.0, p["direction"], p["climb"]], motion.t)
    # about forty steps at 1e-10, on distances of about 20
    np.testing.assert_allclose(motion.q.T, found[:3], rtol=0, atol=1e-7)
