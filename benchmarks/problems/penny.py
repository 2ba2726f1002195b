"""A penny rolling upright on an incline while it turns, 20 s: two nonholonomic constraints, closed form."""

from __future__ import annotations

import numpy as np

from dalembert import System, library
from dalembert.library.systems.penny import exact

from .base import Array, Problem

DATA = {"m": 1.0, "R": 1.0, "beta": 0.5, "g": 9.81, "alpha": 0.3, "omega": 1.0, "v0": 1.0}
DURATION = 20.0


def system() -> System:
    """The library's penny with the starting speed v0 of these measurements."""
    return library.penny().replace(parameters=DATA)


def true_end() -> Array:
    """Flannery 2011, (68): a blend of a cycloid and a circle."""
    end = exact(system(), np.array([DURATION]))
    return np.array([end[name][0] for name in ("x", "y", "psi", "phi")])


PROBLEM = Problem(
    name="penny",
    title="Rolling penny, 20 s",
    duration=DURATION,
    data=DATA,
    system=system,
    observe=lambda q, v: q,
    compute=true_end,
    recipe="closed form (Flannery 2011, eq. 68): x, y, psi, phi at 20 s",
)
