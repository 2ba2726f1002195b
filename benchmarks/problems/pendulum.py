"""A pendulum in Cartesian coordinates, 10 s at a large amplitude: the simplest position constraint."""

from __future__ import annotations

import mpmath

from dalembert import System, library

from .base import Array, Problem
from .precise import taylor_end

DATA = {"m": 1.0, "g": 9.81, "l": 1.0, "angle": 2.0, "spin": 0.0}
DURATION = 10.0


def true_end() -> Array:
    """The pendulum equation for the angle in 30 digits."""
    with mpmath.workdps(30):
        g, start = mpmath.mpf("9.81"), mpmath.mpf(2)
        angle, _ = taylor_end(lambda t, y: [y[1], -g * mpmath.sin(y[0])], [start, mpmath.mpf(0)], DURATION)
        return [mpmath.sin(angle), -mpmath.cos(angle)]


def system() -> System:
    return library.pendulum().replace(parameters=DATA)


PROBLEM = Problem(
    name="pendulum",
    title="Cartesian pendulum, 10 s",
    duration=DURATION,
    data=DATA,
    system=system,
    observe=lambda q, v: q,
    compute=true_end,
    recipe="minimal coordinate, Taylor series in 30 digits (mpmath.odefun): x, y at 10 s",
)
