"""Every method shows the order it promises, fitted on a smooth problem with a closed form."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


def error_and_step(method: str, rtol: float) -> tuple[float, float]:
    system = da.library.penny()
    exact = da.library.exact("penny")
    assert exact is not None
    motion = system.simulate(10.0, rtol=rtol, samples=2, backend="native", method=method, project=False)
    truth = exact(system, motion.t)
    error = max(abs(float(motion[name][-1] - truth[name][-1])) for name in ("x", "y", "psi"))
    return error, 10.0 / motion.timing.steps


@pytest.mark.parametrize(
    ("method", "order", "tolerances"),
    [
        ("dopri5", 5, np.logspace(-5, -9, 9)),
        ("dop853", 8, np.logspace(-6, -11, 11)),
        ("stiff", 5, np.logspace(-4, -8, 9)),
    ],
)
def test_order(method, order, tolerances):
    pairs = [error_and_step(method, float(rtol)) for rtol in tolerances]
    steps = np.log([step for _, step in pairs])
    errors = np.log([error for error, _ in pairs])
    slope = np.polyfit(steps, errors, 1)[0]
    # Step control keeps errors from falling exactly with the step; half an order less would be a lower method.
    assert order - 0.6 < slope < order + 1.5
