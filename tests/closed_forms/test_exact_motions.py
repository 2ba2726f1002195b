"""Simulated motions against closed forms: coordinates, velocities, forces and multipliers, at all times."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dalembert as da
from dalembert.library.systems.quaternion_body import body_rates

# The longest of these simulations makes two hundred steps, each allowed an error of 1e-10. Where neighbouring
# motions do not part quickly, the errors at most add up.
STEADY = 2e-8
# Where the motion is a polynomial of low degree in time, the method is exact and only rounding is left.
ROUNDING = 1e-12
# Near an unstable balance (a sphere's top, a pendulum almost going over), and along a narrow ellipse, where an
# error in the energy becomes one in the phase that grows with time, ten times more is allowed.
UNSTABLE = 2e-7

CASES: list[tuple[str, dict[str, Any], float | None, float]] = [
    # name, options, duration (None: the system's own), tolerance
    *[("penny", {"ratio": ratio}, None, STEADY) for ratio in (0, 2, 3, 4, 6, 12, 24, 48, 96)],
    ("penny", {"ratio": 3, "omega": -2.0, "R": 0.3, "beta": 0.4}, None, STEADY),
    ("upright_penny", {}, None, STEADY),
    ("upright_penny", {"ratio": 2, "R": 0.5, "m": 3.0}, None, STEADY),
    ("quadratic_penny", {}, None, STEADY),
    ("quadratic_penny", {"ratio": 12, "R": 0.5}, None, STEADY),
    ("skater", {}, None, STEADY),
    ("skater", {"ratio": 0}, None, STEADY),
    ("cart", {}, None, STEADY),
    ("cart", {"ratio": 2, "beta": 0.25, "b": 0.7}, None, STEADY),
    ("benenti_rods", {}, None, ROUNDING),
    ("appell_fall", {}, None, STEADY),
    ("appell_fall", {"m": 2.0, "a0": 0.6, "sink": 0.1}, None, STEADY),
    ("incline_block", {}, None, STEADY),
    ("rough_incline", {}, None, ROUNDING),
    # sent uphill, it stops after u0/(g sin θ + μ g cos θ) = 0.41 s; the closed form holds while it slides
    ("rough_incline", {"u0": 3.0}, 0.4, ROUNDING),
    # it slides back after 0.41 s; held by more friction at rest, it stays; sent downhill, it never stops, or does
    ("thrown_block", {}, None, STEADY),
    ("thrown_block", {"mu": 0.5, "mu_s": 0.6, "m": 2.0}, None, STEADY),
    ("thrown_block", {"u0": -1.0}, None, STEADY),
    ("thrown_block", {"u0": -1.0, "mu": 0.7, "mu_s": 0.8}, None, STEADY),
    ("thrown_block", {"u0": 0.0}, None, STEADY),
    ("stick_slip", {}, None, STEADY),
    ("stick_slip", {"k": 30.0, "vb": 0.1, "mu": 0.1}, 6.0, STEADY),
    ("stick_slip", {"k": 3.0, "mu": 0.3}, 6.0, STEADY),  # its first ride is longer than a cycle's
    ("stacked_blocks", {}, None, STEADY),
    # the friction above cannot move the lower block
    ("stacked_blocks", {"mu1": 0.3, "m2": 0.5}, None, STEADY),
    ("bouncing_ball", {}, None, STEADY),
    ("bouncing_ball", {"e": 0.3, "h": 0.4, "m": 2.0}, None, STEADY),
    ("leaving_sphere", {}, None, UNSTABLE),
    ("leaving_sphere", {"r": 2.0, "polar": 0.4, "across": 0.8, "down": 0.0}, None, UNSTABLE),
    ("sphere_particle", {}, None, UNSTABLE),
    ("spherical_pendulum", {}, None, STEADY),
    ("spherical_pendulum", {"polar": 1.0, "across": -3.0, "down": 0.7}, None, STEADY),
    ("pendulum", {}, None, STEADY),
    ("pendulum", {"angle": -2.5, "spin": 0.7}, None, UNSTABLE),
    ("pendulum", {"angle": 0.5, "spin": 8.0, "l": 0.7}, 5.0, STEADY),
    ("pendulum", {"angle": -2.5, "spin": -7.0}, 5.0, STEADY),
    ("liberated_sphere", {}, None, UNSTABLE),
    ("liberated_sphere", {"polar": 2.0, "across": 1.5, "down": -0.4, "r": 1.3, "m": 2.0}, None, STEADY),
    ("liberated_pendulum", {}, None, STEADY),
    ("liberated_pendulum", {"angle": -2.5, "spin": -7.0, "a": 0.7, "m": 3.0}, 5.0, STEADY),
    ("isokinetic", {}, None, STEADY),
    ("isokinetic", {"c2": 2.0, "share": 1.2}, None, STEADY),
    ("quaternion_body", {}, None, STEADY),
    ("quaternion_body", {"w1": 1.5, "w2": 0.3, "w3": 0.2}, None, STEADY),
    ("quaternion_body", {"w1": -0.2, "w2": 0.3, "w3": -1.2}, None, STEADY),
    ("prescribed_acceleration", {}, None, ROUNDING),
    ("prescribed_acceleration", {"a0": 20.0, "m": 0.5}, None, ROUNDING),
    ("satellite_pair", {}, None, STEADY),
    ("satellite_pair", {"k": 0.7, "climb": -0.3, "across": 0.9}, 6.0, UNSTABLE),
]


@pytest.mark.parametrize(("name", "options", "duration", "tolerance"), CASES)
def test_motion_and_forces_follow_the_closed_form(
    name: str, options: dict[str, Any], duration: float | None, tolerance: float, simulate, difference
) -> None:
    system = da.library.get(name, **options)
    motion = simulate(system, duration)
    found = difference(motion, da.library.exact(name)(system, motion.t))
    assert {key: size for key, size in found.items() if not size < tolerance} == {}


def test_every_closed_form_is_tested() -> None:
    assert {case[0] for case in CASES} == {name for name in da.library.names() if da.library.exact(name)}


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("penny", {"beta": 1.0, "v0": 2.0}),
        ("cart", {"R": 0.5, "omega": 1.5}),
        ("pendulum", {"l": 2.0, "spin": 1.0}),
        ("spherical_pendulum", {"across": 2.5}),
        ("satellite_pair", {"k": 1.3}),
    ],
)
def test_closed_form_follows_changed_parameters(name: str, changes: dict[str, float], simulate, difference) -> None:
    system = da.library.get(name).replace(parameters=changes)
    motion = simulate(system, 3.0, samples=21)
    found = difference(motion, da.library.exact(name)(system, motion.t))
    assert max(found.values()) < STEADY


@pytest.mark.parametrize("name", ["penny", "pendulum", "spherical_pendulum", "isokinetic", "quaternion_body"])
def test_closed_form_follows_a_later_start(name: str, simulate, difference) -> None:
    system = da.library.get(name).replace(initial={"t": 5.0})
    motion = simulate(system, 2.0, samples=21)
    assert motion.t[0] == 5.0
    found = difference(motion, da.library.exact(name)(system, motion.t))
    assert max(found.values()) < STEADY


@pytest.mark.parametrize("ratio", [0, 3, 6])
def test_penny_as_printed_in_the_paper(ratio: float) -> None:
    """The library's closed form allows any initial heading; at φ₀ = 0 it is (68), (72a) and (72c)."""
    system = da.library.penny(ratio=ratio, omega=1.3, beta=0.4)
    m, beta, g, alpha, omega, v0 = (float(system.parameters[s]) for s in da.parameters("m beta g alpha omega v0"))
    t = np.linspace(0, 9, 50)
    a, radius = g * np.sin(alpha) / (4 * omega**2 * (1 + beta)), v0 / omega
    assert radius == pytest.approx(ratio * a)
    found = da.library.exact("penny")(system, t)
    printed = {
        "x": a * (1 - np.cos(2 * omega * t)) + radius * np.sin(omega * t),
        "y": a * (2 * omega * t - np.sin(2 * omega * t)) + radius * (1 - np.cos(omega * t)),
        "psi": v0 * t + 4 * a * (1 - np.cos(omega * t)),  # R = 1
    }
    forward = -beta / (1 + beta) * m * g * np.sin(alpha) * np.cos(omega * t)
    sideways = m * omega * (v0 + 4 * a * (2 + beta) * omega * np.sin(omega * t))
    printed["ideal x"] = forward * np.cos(omega * t) - sideways * np.sin(omega * t)
    printed["ideal y"] = forward * np.sin(omega * t) + sideways * np.cos(omega * t)
    for key, value in printed.items():
        # two ways of writing the same sums: rounding only
        np.testing.assert_allclose(found[key], value, rtol=0, atol=1e-12)


def test_spinning_body_has_the_rates_of_jacobi(simulate) -> None:
    """ω = 2ē∘e' of the simulated quaternion against the elliptic functions."""
    system = da.library.quaternion_body()
    motion = simulate(system)
    e, de = motion.q, motion.v
    vector, scalar = e[:, 1:], e[:, :1]
    rates = 2 * (scalar * de[:, 1:] - de[:, :1] * vector - np.cross(vector, de[:, 1:]))
    np.testing.assert_allclose(rates, body_rates(system, motion.t), rtol=0, atol=STEADY)


def test_thermostat_keeps_the_kinetic_energy(simulate) -> None:
    system = da.library.isokinetic()
    motion = simulate(system)
    masses = np.array([1.0, 1.0, 2.0, 2.0])
    # projection returns to the constraint after each step, to rounding
    np.testing.assert_allclose((masses * motion.v**2).sum(axis=1) / 2, 1.5, rtol=1e-12)


def test_straight_roll_without_turning(simulate, difference) -> None:
    """Limit (c) of the paper: with ω = 0 the penny runs straight down with g sin α/(1 + β)."""
    system = da.library.penny().replace(parameters={"omega": 0.0, "v0": 1.0})
    motion = simulate(system, 2.0, samples=21)
    found = difference(motion, da.library.exact("penny")(system, motion.t))
    assert max(found.values()) < ROUNDING


def test_a_particle_leaves_the_sphere_at_two_thirds_of_its_height(simulate) -> None:
    """Almost at rest almost at the top: z = 2r/3, and in general v² = g z there."""
    system = da.library.leaving_sphere(polar=1e-3, across=1e-3, down=0.0)
    (event,) = simulate(system, 5.0).events
    assert event["name"] == "release"
    # e = v²/2 + gz is g r to a millionth at such a start.
    assert event["state"]["z"] == pytest.approx(2 / 3, rel=1e-6)


def test_friction_of_the_library_becomes_heat(simulate) -> None:
    """What stops has lost all its energy; on the belt the drive gives the heat of each cycle, μ m g times slid way."""
    stacked = simulate(da.library.stacked_blocks())
    assert sum(heat[-1] for heat in stacked.heat.values()) == pytest.approx(1.0 * 2.0**2 / 2, rel=STEADY)
    ball = simulate(da.library.bouncing_ball())
    # Bounces slower than 1e-5 of the fastest are left out: 1e-10 of the energy.
    assert ball.impact_loss[-1] == pytest.approx(9.81, rel=1e-9)
    riding = simulate(da.library.stick_slip())
    slips = [event["t"] for event in riding.events if event["name"] == "slip"]
    sticks = [event["t"] for event in riding.events if event["name"] == "stick"]
    # While it slips, the belt runs v_b T and the mass goes back by 2 (μ_s − μ) m g/k.
    slid = 0.3 * (sticks[0] - slips[0]) + 2 * 0.2 * 9.81 / 10
    done = len([t for t in sticks if t < riding.t[-1]])
    rest = riding.heat["belt"][-1] - done * 0.2 * 9.81 * slid
    assert len(slips) in (done, done + 1)
    if len(slips) == done:
        assert abs(rest) < 1e-6
    assert 0 <= rest + 1e-6 < 0.2 * 9.81 * slid
