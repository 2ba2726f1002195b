"""Constraints that are dependent, or have no gradient, exactly at a state of the computation: at the start, at an
output time, at the end of the last step. Against closed forms, on both backends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.build import find_compiler

BACKENDS = ["reference", pytest.param("native", marks=pytest.mark.skipif(find_compiler() is None, reason="no C"))]
METHODS = ["dop853", "dopri5", "stiff"]


def in_line(speeds: tuple[float, float], **changes: Any) -> da.System:
    """A four-bar mechanism of unit lengths with all bars on one line: rank 2 of 3. It can go on as a parallelogram,
    both tips at the same speed, or with the first crank at rest and the second swinging about its end.
    """
    parts: dict[str, Any] = {
        "coordinates": "x y u w",
        "kinetic": "(x'^2 + y'^2)/2 + 3*(u'^2 + w'^2)/2",
        "constraints": {"crank": "x^2 + y^2 = 1", "other": "(u-1)^2 + w^2 = 1", "coupler": "(u-x)^2 + (w-y)^2 = 1"},
        "initial": {"x": 1, "y": 0, "u": 2, "w": 0, "x'": 0, "y'": speeds[0], "u'": 0, "w'": speeds[1]},
    }
    return da.System("four-bar mechanism", **{**parts, **changes})


def plane(constraints: dict[str, str], speed: tuple[float, float], **forces: Any) -> da.System:
    return da.System(
        "plane",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        forces=forces,
        constraints=constraints,
        initial={"x": 0, "y": 0, "x'": speed[0], "y'": speed[1]},
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("speed", [-1.0, 5.0])
def test_a_parallelogram_in_line_at_the_start(speed: float, method: str, backend: str) -> None:
    """4 θ̈ = 2 cos θ − 4 g cos θ. The force pulls at the first tip alone: without the coupler, which is the
    dependent one at this instant, the cranks would part.
    """
    system = in_line((speed, speed), potential="9.81*(y + 3*w)", forces={"y": 2})
    motion = system.simulate(1, samples=2, rtol=1e-6, method=method, backend=backend)
    found = solve_ivp(
        lambda t, u: [u[1], (0.5 - 9.81) * np.cos(u[0])], (0, 1), [0, speed], rtol=1e-12, atol=1e-12, method="DOP853"
    )
    angle = found.y[0, -1]
    tip = np.array([np.cos(angle), np.sin(angle)])
    # A few tolerances of a motion of speeds up to five; another branch is off by order one.
    np.testing.assert_allclose(motion.q[-1], [*tip, tip[0] + 1, tip[1]], atol=2e-5)
    assert motion.rank[0] == 2
    assert motion.rank[-1] == 3
    assert motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
def test_one_crank_at_rest_from_the_start(method: str, backend: str) -> None:
    """The force on the crank would move it if the coupler did not begin to act at once."""
    motion = in_line((0, 1), forces={"y": -1}).simulate(2, samples=5, rtol=1e-7, method=method, backend=backend)
    one, zero = np.ones(5), np.zeros(5)
    exact = np.stack([one, zero, one + np.cos(motion.t), np.sin(motion.t)], axis=1)
    # Tens of tolerances.
    np.testing.assert_allclose(motion.q, exact, atol=1e-5)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
def test_two_rows_equal_at_one_instant(method: str, backend: str) -> None:
    """At t = 1, an output time, the second row is the first one; before and after, both together hold x' = 1."""
    system = plane({"c": "y'", "d": "y' + (t - 1)*(x' - 1)"}, (1, 0), x=5, y=-3)
    motion = system.simulate(2, samples=5, rtol=1e-9, method=method, backend=backend)
    # Nothing moves but at constant speed: rounding, divided by the angle between the rows where a stage is near.
    np.testing.assert_allclose(motion.q, np.stack([motion.t, np.zeros(5)], axis=1), atol=1e-9)
    np.testing.assert_array_equal(motion.rank, [2, 2, 1, 2, 2])
    np.testing.assert_allclose(motion.ideal[[0, 1, 3, 4]], [[-5, 3]] * 4, atol=1e-6)
    assert [e["t"] for e in motion.events if e["name"] == "singular configuration"] == pytest.approx([1], abs=1e-6)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
def test_a_gradient_that_vanishes_where_the_last_step_ends(method: str, backend: str) -> None:
    """(t − 1) y' = 0 has no gradient at t = 1, the end, whatever the state: the force is free there for one instant."""
    motion = plane({"c": "(t - 1)*y'"}, (1, 0), y=5).simulate(1, samples=5, rtol=1e-9, method=method, backend=backend)
    # The last step feels the free force at its end: as much as the tolerance allows, times the last step.
    np.testing.assert_allclose(motion.q, np.stack([motion.t, np.zeros(5)], axis=1), atol=1e-9)
    np.testing.assert_array_equal(motion.rank, [1, 1, 1, 1, 0])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("constraint", "speed"), [("t*y'", 0), ("t*(y - sin(t))", 1)])
def test_a_gradient_that_vanishes_at_the_start(constraint: str, speed: float, method: str, backend: str) -> None:
    """The force acts alone for one instant, and is held from then on."""
    motion = plane({"c": constraint}, (1, speed), y=5).simulate(1, samples=5, rtol=1e-9, method=method, backend=backend)
    np.testing.assert_allclose(motion.q, np.stack([motion.t, speed * np.sin(motion.t)], axis=1), atol=1e-9)
    np.testing.assert_array_equal(motion.rank, [0, 1, 1, 1, 1])


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_a_redundant_row_that_becomes_independent(rtol: float, method: str, backend: str) -> None:
    """The second row repeats the first one until t = 1; from then on it holds x' = 1 against a force that sets in.

    Trial states use the rows that were independent at the last accepted state, so that within one step the new row is
    not yet there. How much that costs depends on the length of this step, and the certificate tells.
    """
    system = plane({"c": "y'", "d": "y' + max(t - 1, 0)^3*(x' - 1)"}, (1, 0), x="5*max(t - 1, 0)", y=-3)
    motion = system.simulate(2, samples=5, rtol=rtol, method=method, backend=backend)
    np.testing.assert_array_equal(motion.rank, [1, 1, 1, 2, 2])
    (change,) = [e for e in motion.events if e["name"] == "rank change"]
    assert (change["from"], change["to"]) == (1, 2)
    assert change["t"] > 1
    # Once it acts, it acts in full: the velocity is back at one, and the force is held.
    np.testing.assert_allclose(motion.v[-1], [1, 0], atol=1e-8)
    np.testing.assert_allclose(motion.ideal[-1], [-5, 3], atol=1e-6)
    # Until then the free force, 5 (t − 1), has moved it by 5 (t − 1)³/6.
    late = 5 * (change["t"] - 1) ** 3 / 6
    np.testing.assert_allclose(motion.q[-1], [2, 0], atol=late + 1e-4)
    assert late < 1e-4 or not motion.certificate.holds


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rtol", [1e-8, 1e-10])
def test_a_velocity_constraint_that_vanishes_at_the_very_end(backend: str, rtol: float) -> None:
    """(t − 1)(x' − y') = 0 until t = 1: pushed together, the sum of the forces over the sum of the masses."""
    system = da.System(
        "until the end",
        coordinates="x y",
        kinetic="(x'^2 + 2*y'^2)/2",
        forces={"x": 3, "y": -1},
        constraints={"together": "(t - 1)*(x' - y')"},
        initial={"x": 0, "y": 0, "x'": 1, "y'": 1},
    )
    motion = system.simulate(1, rtol=rtol, backend=backend, samples=5)
    # A hundred tolerances, as for other motions.
    np.testing.assert_allclose(motion.q[-1], 1 + 1 / 3, rtol=100 * rtol)
    np.testing.assert_allclose(motion.v[-1], 1 + 2 / 3, rtol=100 * rtol)
    assert motion.certificate.holds
