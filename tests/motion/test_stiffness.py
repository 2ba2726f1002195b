"""A stiff motion on an explicit method is told, with the remedy; others are left alone."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler

BACKENDS = ["reference", pytest.param("native", marks=pytest.mark.skipif(find_compiler() is None, reason="no C"))]


def damped(rate: str) -> da.System:
    """A mass in honey on a slow drive: the rate of damping is what is stiff."""
    return da.System(
        "damped",
        coordinates="x",
        kinetic="x'^2/2",
        forces={"x": f"-({rate})*x' + sin(t)"},
        parameters={"c": 1e4},
        initial={"x": 0, "x'": 0},
    )


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("method", "rtol"), [("dop853", 1e-6), ("dopri5", 1e-4)])
def test_told_with_the_remedy(method: str, rtol: float, backend: str) -> None:
    motion = damped("c").simulate(1.5, samples=3, method=method, rtol=rtol, backend=backend)
    (warning,) = motion.warnings
    assert "stiff" in warning
    assert "method='stiff'" in warning
    remedy = damped("c").simulate(1.5, samples=3, method="stiff", rtol=rtol, backend=backend)
    assert remedy.warnings == ()
    assert remedy.timing is not None
    assert motion.timing is not None
    assert remedy.timing.steps < motion.timing.steps / 10


@pytest.mark.parametrize("backend", BACKENDS)
def test_from_when(backend: str) -> None:
    """Damping that sets in at t = 1: by then it is 5000."""
    motion = damped("c*(1 + tanh(50*(t - 1)))/2").simulate(2, samples=3, rtol=1e-6, backend=backend)
    (warning,) = motion.warnings
    since = float(warning.split("t = ")[1].split(":")[0])
    # It is a fiftieth of its height at 0.96, and full at 1.04.
    assert 0.9 < since < 1.1


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_fast_vibration_is_not_stiff(rtol: float, backend: str) -> None:
    """Accuracy asks for these steps: no other method would take fewer."""
    system = da.System("vibration", coordinates="x", kinetic="x'^2/2", potential="x^2/2", initial={"x": 1, "x'": 0})
    motion = system.simulate(1500, samples=3, rtol=rtol, backend=backend)
    assert motion.timing is not None
    assert motion.timing.steps > 500
    assert motion.warnings == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_rounding_is_not_stiffness(backend: str) -> None:
    """Constant acceleration: last stage and result differ by rounding only."""
    system = da.System(
        "fall",
        coordinates="x y",
        kinetic="(x'^2 + y'^2)/2",
        potential="9.81*y",
        initial={"x": 0, "y": 0, "x'": 1, "y'": 0},
    )
    motion = system.simulate(times=np.linspace(0, 10, 3001), backend=backend)
    assert motion.warnings == ()


@pytest.mark.parametrize("backend", BACKENDS)
def test_short_runs_are_left_alone(backend: str) -> None:
    motion = damped("c").simulate(0.1, samples=3, method="dop853", rtol=1e-6, backend=backend)
    assert motion.warnings == ()
