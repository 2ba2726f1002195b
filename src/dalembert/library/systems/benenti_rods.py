"""Benenti's rods: velocities that must stay parallel, and do so without force (Flannery 2011, (8))."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Point, Rod, Shape, Trace
from dalembert.model.system import System


def _drawing() -> list[Shape]:
    """Rods that lie along their velocities; one at rest has no direction, and is its midpoint alone."""
    found: list[Shape] = []
    for n, color in (("1", "blue"), ("2", "red")):
        half = [f"0.5*{q}{n}'/sqrt(x{n}'^2 + y{n}'^2 + 1e-30)" for q in "xy"]
        ends = [(f"x{n} {sign} {half[0]}", f"y{n} {sign} {half[1]}") for sign in "-+"]
        at = (f"x{n}", f"y{n}")
        found += [Trace(at, color=color, opacity=0.5), Rod(ends[0], ends[1], 0.12, color=color)]
        found += [Point(at, 0.06, color="white"), Arrow(at, (f"x{n}'", f"y{n}'"), color="black", label=f"v{n}")]
    return found


def benenti_rods(
    *, m1: float = 1.0, m2: float = 2.0, v1: float = 1.0, v2: float = 0.6, direction: float = 0.4
) -> System:
    """Two midpoints on a table with ẋ₁ẏ₂ − ẋ₂ẏ₁ = 0 (8), started at speeds v1 and v2 in one direction.

    Both speeds vanish together only at rest, where the gradient of (8) vanishes as well: one of them must
    not be zero.
    """
    return System(
        "Benenti's parallel rods",
        coordinates="x1 y1 x2 y2",
        kinetic="m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2",
        constraints={"parallel": "x1'*y2' - x2'*y1'"},
        parameters={"m1": m1, "m2": m2, "v1": v1, "v2": v2, "direction": direction},
        initial={
            "x1": 0,
            "y1": 0,
            "x2": 0,
            "y2": 1,
            "x1'": "v1*cos(direction)",
            "y1'": "v1*sin(direction)",
            "x2'": "v2*cos(direction)",
            "y2'": "v2*sin(direction)",
        },
        settings={"duration": 10.0, "samples": 201},
        draw=_drawing(),
        description=(
            "Two rods on a table may only move with parallel velocities. Left to themselves they do so "
            "anyway: the constraint is nonlinear and nonholonomic, and its force is zero."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Free motion, and no force at all: λ = 0."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    found = {"multiplier parallel": np.zeros_like(elapsed)}
    for q in ("x1", "y1", "x2", "y2"):
        found[q] = known[q] + known[f"{q}'"] * elapsed
        found[f"{q}'"] = np.full_like(elapsed, known[f"{q}'"])
        found[f"ideal {q}"] = np.zeros_like(elapsed)
    return found
