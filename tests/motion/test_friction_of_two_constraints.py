"""A bead on a helix, which two constraints hold and one law of friction slows: their reactions add up as arrows do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dalembert as da
from dalembert.motion.certificate.certify import certify
from dalembert.motion.contacts.modes.contacts import Contacts
from dalembert.motion.contacts.modes.modes import SLIP, Mode

G, MU, R, P = 9.81, 0.1, 1.0, 0.3
LENGTH = np.hypot(R, P)  # of the curve for each unit of angle


def helix(mu: float = MU) -> da.System:
    return da.System(
        "helix",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential=f"{G}*z",
        constraints={"a": f"x = {R}*cos(z/{P})", "b": f"y = {R}*sin(z/{P})"},
        nonideal=[da.Coulomb(["a", "b"], mu, point=["x", "y", "z"])],
        initial={"x": R, "y": 0, "z": 0, "x'": 0, "y'": 0, "z'": 0},
    )


def pressing(speed: np.ndarray) -> np.ndarray:
    """m |N|: what the slope leaves of the weight, across the curve, and the centripetal force v² R/(R² + p²)."""
    return np.hypot(G * R / LENGTH, speed**2 * R / LENGTH**2)


@pytest.mark.parametrize("samples", [7, 301])
def test_a_bead_on_a_helix(samples):
    motion = helix().simulate(1, samples=samples, rtol=1e-9)
    (contact,) = motion.contacts.values()
    speed = np.linalg.norm(motion.v, axis=1)
    # Forces come from algebra at the outputs: digits of rounding are lost, no tolerances.
    assert contact.normal[1:] == pytest.approx(pressing(speed)[1:], rel=1e-9)
    assert contact.friction[1:] == pytest.approx(MU * pressing(speed)[1:], rel=1e-9)
    along = G * P / LENGTH - MU * pressing(speed)
    assert np.einsum("ti,ti->t", motion.a, motion.v)[1:] == pytest.approx((along * speed)[1:], rel=1e-9)
    assert motion.certificate.holds


def test_forces_at_many_points_are_those_at_each():
    contacts = Contacts(helix())
    mode = Mode((SLIP,), (1,), (1,), ())
    angle, turning = np.linspace(-9, 9, 41), np.linspace(0.1, 7, 41)
    q = np.stack([R * np.cos(angle), R * np.sin(angle), P * angle], axis=1)
    v = turning[:, None] * np.stack([-R * np.sin(angle), R * np.cos(angle), np.full(41, P)], axis=1)
    found = contacts.solve_along([mode] * 41, q, v, np.zeros(41))
    assert found is not None
    assert found.served.all()
    for k in range(41):
        one = contacts.solve(mode, q[k], v[k], 0.0)
        assert found.C[k] == pytest.approx(one.C, rel=1e-11, abs=1e-11)
        assert found.normal[k] == pytest.approx(one.normal, rel=1e-11)


@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
def test_heat_told_wrongly_is_seen_between_many_outputs(rtol):
    motion = helix().simulate(3, samples=201, rtol=rtol)
    assert motion.certificate.holds
    wrong = {name: np.where(np.arange(201) < 100, heat, heat + 0.2 * heat[-1]) for name, heat in motion.heat.items()}
    assert "energy" in certify(replace(motion, heat=wrong)).failures
