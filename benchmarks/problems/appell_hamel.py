"""The Appell–Hamel particle with a constraint that brakes, 5 s: nonlinear in the velocities, moving, not ideal."""

from __future__ import annotations

import numpy as np

from dalembert import System, library

from .base import Array, Problem
from .precise import tight_end

DURATION = 5.0
DATA = {
    "m": 1.0,
    "gravity": 9.81,
    "push": 0.8,
    "alpha": 1.5,
    "depth": 0.5,
    "rate": 2.0,
    "a0": 0.15,
    "climb": 0.5,
    "direction": 0.6,
}


def start() -> Array:
    c = DATA
    speed = np.sqrt(2 * c["alpha"] + c["climb"] ** 2)
    return np.array([0, 0, 0, speed * np.cos(c["direction"]), speed * np.sin(c["direction"]), c["climb"]])


def acceleration(t, vx, vy, vz, cos=np.cos, sqrt=np.sqrt) -> tuple:
    """Udwadia 2005, (30), for unit mass: impressed, ideal and nonideal parts, in any library's numbers."""
    c = DATA
    squared = vx * vx + vy * vy + vz * vz
    ideal = (c["alpha"] * c["depth"] * c["rate"] * cos(c["rate"] * t) - vx * c["push"] - vz * c["gravity"]) / squared
    drag = -2 * c["a0"] / sqrt(squared)
    return (
        c["push"] + ideal * vx + drag * vx * vz * vz,
        ideal * vy + drag * vy * vz * vz,
        -c["gravity"] - ideal * vz + drag * vz * (vx * vx + vy * vy),
    )


def true_end() -> Array:
    """The two horizontal velocity components as the angle and ż, so that the constraint holds identically."""
    c = DATA

    def f(t: float, y: Array) -> Array:
        _, _, _, heading, vz = y
        level = np.sqrt(2 * c["alpha"] * (1 + c["depth"] * np.sin(c["rate"] * t)) + vz * vz)
        vx, vy = level * np.cos(heading), level * np.sin(heading)
        ax, ay, az = acceleration(t, vx, vy, vz)
        return np.array([vx, vy, vz, (vx * ay - vy * ax) / level**2, az])

    return tight_end(f, [0.0, 0.0, 0.0, c["direction"], c["climb"]], DURATION)[:3]


def system() -> System:
    return library.appell_hamel().replace(parameters=DATA)


PROBLEM = Problem(
    name="appell-hamel",
    title="Appell–Hamel particle with drag, 5 s",
    duration=DURATION,
    data=DATA,
    system=system,
    observe=lambda q, v: q,
    compute=true_end,
    recipe="velocity by heading and ż (constraint holds identically), SciPy DOP853 at rtol 1e-13: x, y, z at 5 s",
)
