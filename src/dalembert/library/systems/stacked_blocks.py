"""Two blocks, one on the other, on a rough floor: two contacts with friction."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Box, Plane
from dalembert.model.friction.laws import Coulomb
from dalembert.model.system import System

DRAWING = [
    Plane((0, 0), (0, 1)),
    Box(("x1", "y1 + h/2"), ("7*h", "h"), color="wood", label="m1"),
    Box(("x2", "y2 + h/3"), ("h", "2*h/3"), color="red", label="m2"),
]


def stacked_blocks(
    *,
    m1: float = 3.0,
    m2: float = 1.0,
    g: float = 9.81,
    h: float = 0.2,
    mu1: float = 0.05,
    mu2: float = 0.4,
    u0: float = 2.0,
) -> System:
    """A block m2 slides with u0 onto a resting one, m1 of height h: μ₁ between floor and m1, μ₂ between the blocks."""
    return System(
        "two stacked blocks",
        coordinates="x1 y1 x2 y2",
        kinetic="m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2",
        potential="m1*g*y1 + m2*g*y2",
        constraints={"floor": "y1", "between": "y2 - y1 - h"},
        nonideal=[
            Coulomb("floor", mu="mu1", point=["x1", "y1"]),
            Coulomb("between", mu="mu2", point=["x2 - x1", "y2 - y1"]),
        ],
        parameters={"m1": m1, "m2": m2, "g": g, "h": h, "mu1": mu1, "mu2": mu2, "u0": u0},
        initial={"x1": 0, "y1": 0, "x2": 0, "y2": "h", "x1'": 0, "y1'": 0, "x2'": "u0", "y2'": 0},
        settings={"duration": 2.0, "samples": 201},
        draw=DRAWING,
        description=(
            "A block slides over another one and drags it along, if friction above is stronger than what holds "
            "the lower one. Then they move together, and stop together."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The upper one slides with −μ₂g until both are equally fast, the lower one with what is left of the friction
    above; then both with −μ₁g until they rest. The lower one starts at rest, the upper one with ẋ₂ > 0.
    """
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    m1, m2, g = known["m1"], known["m2"], known["g"]
    above, below = known["mu2"] * m2 * g, known["mu1"] * (m1 + m2) * g
    dragged, slowed = max(above - below, 0.0) / m1, above / m2
    meet = known["x2'"] / (slowed + dragged)
    common, braked = dragged * meet, known["mu1"] * g
    stop = meet + (common / braked if common else 0.0)
    first, second = np.minimum(elapsed, meet), np.clip(elapsed - meet, 0.0, stop - meet)
    together = common * second - braked * second**2 / 2
    sliding, moving = elapsed < meet, elapsed < stop
    speed = np.where(moving, common - braked * second, 0.0)
    zero = 0 * elapsed
    return {
        "x1": known["x1"] + dragged * first**2 / 2 + together,
        "x2": known["x2"] + known["x2'"] * first - slowed * first**2 / 2 + together,
        "y1": known["y1"] + zero,
        "y2": known["y2"] + zero,
        "x1'": np.where(sliding, dragged * first, speed),
        "x2'": np.where(sliding, known["x2'"] - slowed * first, speed),
        "y1'": zero,
        "y2'": zero,
        "ideal x1": zero,
        "ideal x2": zero,
        "ideal y1": zero + m1 * g,
        "ideal y2": zero + m2 * g,
        "nonideal x1": np.where(sliding, m1 * dragged, np.where(moving, -m1 * braked, 0.0)),
        "nonideal x2": np.where(sliding, -above, np.where(moving, -m2 * braked, 0.0)),
        "multiplier floor": zero + (m1 + m2) * g,
        "multiplier between": zero + m2 * g,
    }
