"""Constraints whose own gradient fades or vanishes on the way or at the start, on both backends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sympy as sp

import dalembert as da
from dalembert.kernel.build import find_compiler

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")

x, y = da.coordinates("x y")
# The length of the lemniscate (x² + y²)² = x² − y²: twice the lemniscate constant.
LEMNISCATE = 5.244115108584239


def plane(constraints: dict[str, sp.Expr], start: tuple[float, ...], **changes: Any) -> da.System:
    initial = dict(zip((x, y, x.d, y.d), start, strict=True))
    parts: dict[str, Any] = {"kinetic": (x.d**2 + y.d**2) / 2, "constraints": constraints, "initial": initial}
    return da.System("plane", coordinates=[x, y], **{**parts, **changes})


def lemniscate() -> da.System:
    """No force: constant speed, straight through the double point, where the gradient vanishes."""
    return plane({"curve": (x**2 + y**2) ** 2 - x**2 + y**2}, (1, 0, 0, 1))


@pytest.mark.parametrize(("backend", "method"), [("native", "auto"), ("native", "taylor"), ("reference", "auto")])
@pytest.mark.parametrize("rtol", [1e-5, 1e-7, 1e-9, 1e-11])
def test_through_a_double_point(rtol: float, backend: str, method: str) -> None:
    """Once around the lemniscate is back at the start."""
    motion = lemniscate().simulate(LEMNISCATE, rtol=rtol, samples=3, backend=backend, method=method)
    assert motion.backend == backend
    # At the double point the curve is as good as the square root of rounding, 1e-8.
    np.testing.assert_allclose(motion.q[-1], [1, 0], atol=max(1e3 * rtol, 1e-7))
    np.testing.assert_allclose(motion.v[-1], [0, 1], atol=max(1e3 * rtol, 1e-7))
    np.testing.assert_allclose(motion.q[1], [-1, 0], atol=max(1e3 * rtol, 1e-7))


def test_native_takes_every_tolerance_through() -> None:
    """The steps meet the double point in many ways; none may leave the branch."""
    for rtol in np.logspace(-4, -12, 33):
        motion = lemniscate().simulate(3 * LEMNISCATE, rtol=float(rtol), samples=2, backend="native", method="dop853")
        np.testing.assert_allclose(motion.q[-1], [1, 0], atol=max(3e3 * rtol, 1e-6), err_msg=str(rtol))


CASES: dict[str, tuple[da.System, float]] = {
    "cross": (plane({"c": x * y}, (-1, 0, 1, 0), forces={x: 0.5, y: 0.3 * x}), 2.0),
    "two curves": (plane({"c": (y - x**2 / 2) * (y + x)}, (-1, 0.5, 1, -1)), 1.5),
    "velocities that fade": (plane({"c": x.d**2 - y.d**2}, (0, 0, 1, 1), forces={x: -1, y: -1}), 0.99),
    "vanishing at the start": (plane({"c": x * y}, (0, 0, 1, 0), forces={x: 1}), 1.0),
    "vanishing from rest": (plane({"c": x.d**2 - y.d**2}, (0, 0, 0, 0), forces={x: 1, y: 1}), 1.0),
    "with a repeated row": (plane({"c": x * y, "d": 2 * x * y}, (-1, 0, 1, 0), forces={x: 0.5}), 2.0),
    "singular mass": (
        plane({"c": (y - x) * (y + x - 4)}, (0, 0, 1, 1), kinetic=x.d**2 / 2, forces={x: 0.1, y: 0.2}),
        3.0,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_both_backends(name: str) -> None:
    system, duration = CASES[name]
    one = system.simulate(duration, samples=11, rtol=1e-10, backend="reference")
    two = system.simulate(duration, samples=11, rtol=1e-10, backend="native")
    assert two.backend == "native"
    assert two.warnings == one.warnings
    assert two.certificate.holds == one.certificate.holds
    # Two integrators at rtol 1e-10, a few hundred tolerances.
    np.testing.assert_allclose(two.q, one.q, atol=1e-7)
    np.testing.assert_allclose(two.v, one.v, atol=1e-7)
    steps = [[(e["from"], e["to"]) for e in motion.events if e["name"] == "rank change"] for motion in (one, two)]
    assert steps[0] == steps[1]
