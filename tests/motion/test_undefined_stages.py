"""A step whose stages leave the domain of the model was too long, and nothing worse."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from dalembert.kernel.build import find_compiler


@pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_a_stage_without_a_value_shortens_the_step(method):
    """A particle falls onto a wall that repels it by 1/√x: long steps look behind the wall, where there is no root."""
    wall = da.System(
        "wall",
        coordinates="x",
        kinetic="x'^2/2",
        potential="k/sqrt(x) + 5*x",
        parameters={"k": 1e-3},
        initial={"x": 10, "x'": 0},
    )
    run = wall.prepare(4.0, method=method, backend="native", rtol=1e-6).run()
    assert run.failure is None
    energy = run.v[:, 0] ** 2 / 2 + 1e-3 / np.sqrt(run.q[:, 0]) + 5 * run.q[:, 0]
    # Relative to 50, at rtol 1e-6, with a turn in which the speed of ten is reversed within 1e-9 of the wall.
    assert np.abs(energy / energy[0] - 1).max() < 1e-3
