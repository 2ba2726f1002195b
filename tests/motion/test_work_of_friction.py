"""Which work counts as that of ideal and of nonideal forces while friction holds, where other constraints work too."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler

G = 9.81
BACKENDS = [
    "reference",
    pytest.param("native", marks=pytest.mark.skipif(find_compiler() is None, reason="no compiler")),
]
# Work is integrated with the motion at rtol 1e-9.
CLOSE = 1e-7


def carried(mu: float) -> da.System:
    """A block on a belt, tied to a wall by a spring; beside it a mass on a spring of its own, moved as s = b sin wt."""
    return da.System(
        "carried and driven",
        coordinates="x y s",
        kinetic="m*(x'^2 + y'^2)/2 + M*s'^2/2",
        potential="k*x^2/2 + K*s^2/2 + m*g*y",
        constraints={"belt": "y", "drive": "s - b*sin(w*t)"},
        nonideal=[da.Coulomb("belt", mu=mu, point=["x - vb*t", "y"])],
        parameters={"m": 1, "M": 2, "g": G, "k": 1, "K": 3, "vb": 0.5, "b": 0.4, "w": 2},
        initial={"x": 0, "y": 0, "s": 0, "x'": 0.5, "y'": 0, "s'": "b*w"},
    )


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_drive_beside_a_block_that_sticks(backend):
    motion = carried(0.5).simulate(1.5, backend=backend)
    assert set(motion.contacts["belt"].state) == {"stick"}
    np.testing.assert_allclose(motion["work nonideal"], 0.5**2 * motion.t**2 / 2, rtol=0, atol=CLOSE)
    s, rate = 0.4 * np.sin(2 * motion.t), 0.8 * np.cos(2 * motion.t)
    np.testing.assert_allclose(motion["work ideal"], (3 * s**2 + 2 * (rate**2 - 0.8**2)) / 2, rtol=0, atol=CLOSE)
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
def test_works_go_on_from_sticking_to_slipping(backend):
    """Friction does no other work just after it slips than just before; the drive notices nothing."""
    motion = carried(0.05).simulate(3, backend=backend)
    assert {"stick", "slip"} <= set(motion.contacts["belt"].state)
    s, rate = 0.4 * np.sin(2 * motion.t), 0.8 * np.cos(2 * motion.t)
    np.testing.assert_allclose(motion["work ideal"], (3 * s**2 + 2 * (rate**2 - 0.8**2)) / 2, rtol=0, atol=CLOSE)
    block = (motion["x"] ** 2 + motion["x'"] ** 2 - 0.5**2) / 2
    np.testing.assert_allclose(motion["work nonideal"], block, rtol=0, atol=CLOSE)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("mu", [0.5, 0.05])
def test_a_belt_that_is_a_driven_body(backend, mu):
    """Friction loads the drive. Ideal is what the drive would do without friction: nothing at constant speed. The rest,
    also what the drive does against friction, is there because of friction: v · nonideal, as `motion.nonideal` has it.
    """
    system = da.System(
        "driven body",
        coordinates="x y s h",
        kinetic="m*(x'^2 + y'^2)/2 + M*(s'^2 + h'^2)/2",
        potential="k*x^2/2 + m*g*y + M*g*h",
        constraints={"carry": "y - h - 1", "drive": "s - vb*t", "ground": "h"},
        nonideal=[da.Coulomb("carry", mu=mu, point=["x - s", "y - h"])],
        parameters={"m": 1, "M": 2, "g": G, "k": 1, "vb": 0.5},
        initial={"x": 0, "y": 1, "s": 0, "h": 0, "x'": 0.5, "y'": 0, "s'": 0.5, "h'": 0},
    )
    motion = system.simulate(3, backend=backend)
    assert ("slip" in motion.contacts["carry"].state) == (mu < 0.1)
    np.testing.assert_allclose(motion["work ideal"], 0.0, atol=1e-12)
    block = (motion["x"] ** 2 + motion["x'"] ** 2 - 0.5**2) / 2
    np.testing.assert_allclose(motion["work nonideal"], block, rtol=0, atol=CLOSE)
    # The rates of the works are those of the forces told at the points.
    power = np.gradient(motion["work nonideal"], motion.t, edge_order=2)
    told = np.einsum("ti,ti->t", motion.v, motion.nonideal)
    away = np.array([all(abs(t - event["t"]) > 0.02 for event in motion.events) for t in motion.t])
    # Differences over 6 ms of a motion that changes within seconds.
    np.testing.assert_allclose(power[away], told[away], rtol=0, atol=1e-4)
    assert motion.certificate.holds
