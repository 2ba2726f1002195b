"""A ball that bounces infinitely often in finite time."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.constraints import Constraint
from dalembert.model.drawings.shapes import Plane, Sphere, Trace
from dalembert.model.system import System

# y is the height of the lowest point of the ball.
DRAWING = [
    Plane((0, 0), (0, 1)),
    Trace(("x", "y + h/16"), color="sky", opacity=0.7),
    Sphere(("x", "y + h/16"), "h/16", color="red"),
]


def bouncing_ball(
    *,
    m: float = 1.0,
    g: float = 9.81,
    h: float = 1.0,
    e: float = 0.7,
    u0: float = 0.5,
) -> System:
    """A ball dropped from the height h, with the speed u0 along a smooth floor and restitution e < 1."""
    return System(
        "bouncing ball",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        constraints=[Constraint("floor", "y", one_sided=True, restitution="e")],
        parameters={"m": m, "g": g, "h": h, "e": e, "u0": u0},
        initial={"x": 0, "y": "h", "x'": "u0", "y'": 0},
        settings={"duration": 3.0, "samples": 301},
        draw=DRAWING,
        description=(
            "A ball bounces lower and lower, infinitely often until a certain instant, and then slides along "
            "the floor. A floor that only pushes is a one-sided constraint."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Flight n leaves the floor with eⁿw, w the speed of the first impact, and takes 2eⁿw/g: a geometric series."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    g, e = known["g"], known["e"]
    w = np.sqrt(known["y'"] ** 2 + 2 * g * known["y"])
    first = (known["y'"] + w) / g
    longest = 2 * e * w / g  # the flight after the first impact
    rest = first + longest / (1 - e)
    bounced, still = elapsed >= first, elapsed >= rest
    left = np.where(bounced & ~still, 1 - (elapsed - first) * (1 - e) / longest, 1.0)
    flight = np.floor(np.log(left) / np.log(e))
    since = elapsed - first - longest * (1 - e**flight) / (1 - e)
    up = w * e ** (flight + 1)
    y = np.where(bounced, up * since - g * since**2 / 2, known["y"] + known["y'"] * elapsed - g * elapsed**2 / 2)
    rate = np.where(bounced, up - g * since, known["y'"] - g * elapsed)
    zero = 0 * elapsed
    weight = np.where(still, known["m"] * g, 0.0)
    return {
        "x": known["x"] + known["x'"] * elapsed,
        "y": np.where(still, 0.0, y),
        "x'": known["x'"] + zero,
        "y'": np.where(still, 0.0, rate),
        "ideal x": zero,
        "ideal y": weight,
        "multiplier floor": weight,
    }
