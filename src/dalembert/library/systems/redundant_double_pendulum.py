"""A double pendulum with one of its rods stated twice: dependent constraints, and forces that do not care."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Plane, Point, Rod, Sphere, Trace
from dalembert.model.system import System

FIRST, SECOND = ("x1", "y1"), ("x2", "y2")
DRAWING = [
    Plane((0, 0), (0, -1), "l1/2"),
    Trace(SECOND, color="sky", opacity=0.8),
    Rod((0, 0), FIRST, width="l1/30", color="steel"),
    Rod(FIRST, SECOND, width="l1/30", color="steel"),
    Point((0, 0), "l1/28", color="black"),
    Sphere(FIRST, "l1/11", color="red", label="m1"),
    Sphere(SECOND, "l1/11", color="blue", label="m2"),
]


def redundant_double_pendulum(
    *,
    m1: float = 1.0,
    m2: float = 0.5,
    l1: float = 1.0,
    l2: float = 0.8,
    g: float = 9.81,
    angle1: float = 1.0,
    angle2: float = 1.8,
) -> System:
    """Two masses on two rods, y upwards, released from rest; the upper rod is stated in two ways."""
    return System(
        "double pendulum with a redundant rod",
        coordinates="x1 y1 x2 y2",
        kinetic="m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2",
        potential="m1*g*y1 + m2*g*y2",
        constraints={
            "upper rod": "x1^2 + y1^2 - l1^2",
            "lower rod": "(x2 - x1)^2 + (y2 - y1)^2 - l2^2",
            "upper rod again": "sqrt(x1^2 + y1^2) - l1",
        },
        parameters={"m1": m1, "m2": m2, "l1": l1, "l2": l2, "g": g, "angle1": angle1, "angle2": angle2},
        initial={
            "x1": "l1*sin(angle1)",
            "y1": "-l1*cos(angle1)",
            "x2": "l1*sin(angle1) + l2*sin(angle2)",
            "y2": "-l1*cos(angle1) - l2*cos(angle2)",
            **{f"{q}'": 0 for q in ("x1", "y1", "x2", "y2")},
        },
        settings={"duration": 4.0, "samples": 401},
        draw=DRAWING,
        description=(
            "Three constraints, two of which say the same. How the upper rod's pull is divided between its "
            "two statements is anyone's choice; the pull itself, and the motion, are not."
        ),
    )


def forces(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """The pulls of the rods on the masses at given states, q and v of shape (…, 4).

    With unit vectors e₁, e₂ along the rods, c = e₁·e₂ and gravity γ, the rods keep their lengths when
    T₁ − c T₂ = m₁(v₁²/l₁ + e₁·γ) and (1/m₁ + 1/m₂) T₂ − c T₁/m₁ = |v₂−v₁|²/l₂.
    """
    del t
    known = values(system)
    m1, m2, l1, l2 = (known[name] for name in ("m1", "m2", "l1", "l2"))
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    upper, lower = q[..., :2] / l1, (q[..., 2:] - q[..., :2]) / l2
    c = np.sum(upper * lower, axis=-1)
    hanging = np.sum(v[..., :2] ** 2, axis=-1) / l1 - known["g"] * upper[..., 1]
    swinging = np.sum((v[..., 2:] - v[..., :2]) ** 2, axis=-1) / l2
    pull2 = (swinging + c * hanging) / ((1 - c**2) / m1 + 1 / m2)
    pull1 = m1 * hanging + c * pull2
    on_second = -pull2[..., None] * lower
    on_first = -pull1[..., None] * upper - on_second
    return {
        "ideal x1": on_first[..., 0],
        "ideal y1": on_first[..., 1],
        "ideal x2": on_second[..., 0],
        "ideal y2": on_second[..., 1],
    }
