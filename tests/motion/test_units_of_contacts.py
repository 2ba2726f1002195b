"""What holds a system may be as large as it likes: steps do not follow the rounding of forces that hold each other."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert as da
from motion.each_backend import needs_compiler


def pushed(length: float, time: float) -> da.System:
    """A particle on a rough slope that is pushed to and fro, and rests between."""
    a = length / time**2
    return da.System(
        "pushed",
        coordinates="x y z",
        kinetic="(x'^2 + y'^2 + z'^2)/2",
        potential=f"{9.81 * a!r}*z",
        forces={"x": f"{5 * a!r}*sin({2 / time!r}*t)", "y": f"{3 * a!r}*cos({3 / time!r}*t)"},
        constraints={"plane": "z = 0.2*x"},
        nonideal=[da.Coulomb("plane", 0.3, mu_static=0.4)],
        initial={
            **dict.fromkeys("xyz", 0.0),
            **{f"{name}'": share * length / time for name, share in (("x", 1.0), ("y", -1.0), ("z", 0.2))},
        },
    )


@needs_compiler  # a thousand steps take the reference backend a second
@pytest.mark.parametrize(("length", "time"), [(1e9, 1.0), (1e-9, 1.0), (1.0, 1e-9), (1e7, 1e9)])
def test_a_unit_of_any_size_takes_about_as_many_steps(length: float, time: float) -> None:
    """It took 15 million steps in units a thousand millionth of the usual, all but some hundred while nothing moved."""
    common = pushed(1.0, 1.0).simulate(5.0, samples=21)
    motion = pushed(length, time).simulate(5.0 * time, samples=21)
    # A thousand steps of each of two rests, at most, and some hundred of slipping.
    assert motion.timing.steps < 5000
    # Instants and places to a hundred tolerances of 1e-9.
    at = [event["t"] / time for event in motion.events]
    np.testing.assert_allclose(at, [event["t"] for event in common.events], rtol=1e-7)
    np.testing.assert_allclose(motion.q / length, common.q, atol=1e-7)
    np.testing.assert_allclose(motion.v * time / length, common.v, atol=1e-7)
    assert motion.certificate.holds, motion.certificate
