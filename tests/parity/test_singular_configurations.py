"""Singular configurations passed on the way are reported as events, the same on both backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dalembert as da
from dalembert.kernel.build import find_compiler

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")
BACKENDS = ["reference", pytest.param("native", marks=needs_compiler)]


def four_bar() -> da.System:
    """Two cranks and a coupler of unit length in their tips; released upright, the tips at unit speed."""
    return da.System(
        "four-bar mechanism",
        coordinates="x y u w",
        kinetic="(x'^2 + y'^2 + u'^2 + w'^2)/2",
        potential="9.81*(y + w)",
        constraints={"crank": "x^2 + y^2 - 1", "other": "(u - 1)^2 + w^2 - 1", "coupler": "(u - x)^2 + (w - y)^2 - 1"},
        initial={"x": 0, "y": 1, "u": 1, "w": 1, "x'": 1, "y'": 0, "u'": 1, "w'": 0},
    )


def flat_times(duration: float) -> np.ndarray:
    """The mechanism is one pendulum, θ̈ = −g cos θ: when its cranks are level, all bars lie on one line."""

    def level(t: float, u: np.ndarray) -> float:
        return float(np.sin(u[0]))

    found: Any = solve_ivp(
        lambda t, u: [u[1], -9.81 * np.cos(u[0])],
        (0, duration),
        [np.pi / 2, -1],
        method="DOP853",
        rtol=1e-13,
        atol=1e-13,
        events=level,
    )
    return np.array(found.t_events[0])


def passed(motion: da.Motion) -> list[Any]:
    return [event for event in motion.events if event["name"] == "singular configuration"]


WAYS = [("dop853", 1e-9), ("dop853", 1e-6), ("dopri5", 1e-6), ("stiff", 1e-6)]
# Steps of Taylor series are so long that states inside them must be looked at too; they are native only.
SERIES = [("taylor", 1e-6, "native"), ("taylor", 1e-9, "native"), ("taylor", 1e-11, "native")]


@pytest.mark.parametrize(
    ("method", "rtol", "backend"),
    [(*way, "reference") for way in WAYS]
    + [pytest.param(*way, marks=needs_compiler) for way in (*((*way, "native") for way in WAYS), *SERIES)],
)
def test_each_passage_once(method: str, rtol: float, backend: str) -> None:
    motion = four_bar().simulate(5, samples=2, rtol=rtol, method=method, backend=backend)
    exact = flat_times(5)
    assert len(exact) >= 4
    events = passed(motion)
    assert len(events) == len(exact)
    # The error of the motion itself, a few hundred tolerances, at speeds above one.
    np.testing.assert_allclose([event["t"] for event in events], exact, atol=1e3 * rtol)
    assert max(event["pivot"] for event in events) < 1e-10


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_passage_in_the_last_step(backend: str) -> None:
    """Wherever the motion ends after the passage, however short the last step."""
    first = flat_times(5)[0]
    for more in (1e-4, 1e-3, 1e-2, 3e-2, 0.1):
        events = passed(four_bar().simulate(float(first) + more, samples=2, backend=backend))
        assert [event["t"] for event in events] == pytest.approx([first], abs=1e-6), more
    assert passed(four_bar().simulate(float(first) - 1e-2, samples=2, backend=backend)) == []


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("gap", [0.2, 0.01, 1e-4])
def test_a_near_miss(gap: float, backend: str) -> None:
    """Two constraints on (x, y, z) whose directions include the angle atan √(z² + gap²): least at z = 0, t = 1."""
    system = da.System(
        "near",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        constraints={"one": "y'", "two": "y' + sqrt(z^2 + gap^2)*x'"},
        parameters={"gap": gap},
        initial={"x": 0, "y": 0, "z": -1, "x'": 0, "y'": 0, "z'": 1},
    )
    events = passed(system.simulate(2.1, samples=2, backend=backend))
    if gap**2 > 1e-6:
        assert events == []
        return
    (event,) = events
    # sin² of the angle in the kernel, half of it for the smallest singular value: gap² or half of it.
    assert event["pivot"] == pytest.approx(gap**2, rel=0.6)
    # The minimum is flat: s² = z² + gap² to a relative rounding of 1e-16/gap².
    assert event["t"] == pytest.approx(1, abs=1e-5)
