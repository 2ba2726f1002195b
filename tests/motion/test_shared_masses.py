"""Coordinates that share their masses: what rounding of their accelerations leaves of small ones."""

from __future__ import annotations

import numpy as np
import sympy as sp
from large_systems import VALUES, angles_of, chain
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.motion.integrate.settings import above_rounding, settings_of, tolerances


def by_hand(angles: np.ndarray, end: float) -> np.ndarray:
    """Lagrange's equations of point masses in the angles of their links, with a drag −|v| v / 5 on the last one."""
    n = angles.size
    beyond = np.minimum.outer(n - np.arange(n), n - np.arange(n)).astype(float)
    inertia = VALUES["m"] * VALUES["l"] ** 2

    def rates(_: float, y: np.ndarray) -> np.ndarray:
        q, v = y[:n], y[n:]
        apart = q[:, None] - q[None, :]
        load = -inertia * (beyond * np.sin(apart)) @ v**2
        load -= VALUES["m"] * VALUES["g"] * VALUES["l"] * np.diagonal(beyond) * np.sin(q)
        load[-1] -= abs(v[-1]) * v[-1] / 5
        return np.concatenate([v, np.linalg.solve(inertia * beyond * np.cos(apart), load)])

    start = np.concatenate([angles, np.zeros(n)])
    return solve_ivp(rates, (0, end), start, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]


def test_links_at_rest_that_happen_to_be_upright() -> None:
    """The 61st link begins at 7e-6 and its end falls freely: both its angle and its acceleration are next to zero, and
    its tolerance, a thousandth of rtol of that, was below rounding of the other links: 106 steps for 11 here, no end
    for 150 links. The kink makes it one system of 80 coordinates, whatever its structure.
    """
    system = chain(80)
    last = system.coordinates[-1]
    motion = system.replace(forces={last: -sp.Abs(last.d) * last.d / 5}).simulate(0.2, samples=3, rtol=1e-9)
    assert motion.certificate.holds
    assert motion.timing.steps < 30
    expected = by_hand(angles_of(80), 0.2)
    # Some ten steps, each to a billionth.
    np.testing.assert_allclose(motion.q[-1], expected[:80], rtol=0, atol=1e-8 * np.abs(expected[:80]).max())
    np.testing.assert_allclose(motion.v[-1], expected[80:], rtol=0, atol=1e-8 * np.abs(expected[80:]).max())


def test_what_has_its_own_mass_keeps_its_own_tolerance() -> None:
    """A vibration of a nanometre beside a slow chain of metres: in the time of the chain, rounding of its force would
    count as thousands of what is asked for.
    """
    slow = chain(14)
    (x,) = da.coordinates("x")
    system = slow.replace(
        coordinates=[*slow.coordinates, x],
        kinetic=slow.kinetic + x.d**2 / 2,
        potential=slow.potential + 1e12 * x**2 / 2,
        initial={**slow.initial, x: 1e-9, x.d: 0},
        parameters={"g": 1e-4},
    )
    now, settings = system.at(), settings_of(system, 10.0, None, 0.0, {"rtol": 1e-9})
    q, v = np.append(angles_of(14), 1e-9), np.zeros(15)
    asked = tolerances(settings, q, v, now.acceleration)
    found = above_rounding(asked, settings, q, now)
    assert found[[14, 29]].tolist() == asked[[14, 29]].tolist()
    assert found.max() < 1e-12 * 1.1  # of no coordinate more than a thousandth of rtol of a unit, as it was
