"""An acceleration of prescribed size: a constraint nonlinear in the accelerations (Flannery 2011, (49))."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Sphere, Trace
from dalembert.model.system import System

DRAWING = [Trace(("x", "y"), color="sky"), Sphere(("x", "y"), 0.2, color="red")]


def prescribed_acceleration(
    *,
    m: float = 1.0,
    g: float = 9.81,
    push: float = 3.0,
    a0: float = 5.0,
    u0: float = 2.0,
    w0: float = 4.0,
) -> System:
    """ẍ² + ÿ² = a₀² under gravity and a constant horizontal push, thrown with velocity (u0, w0).

    The stationarity conditions (49) have two solutions, along the impressed force and against it; Gauss's
    function is least on the first.
    """
    return System(
        "particle with a prescribed acceleration",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="m*g*y",
        forces={"x": "push"},
        constraints={"size": "x''^2 + y''^2 - a0^2"},
        parameters={"m": m, "g": g, "push": push, "a0": a0, "u0": u0, "w0": w0},
        initial={"x": 0, "y": 0, "x'": "u0", "y'": "w0"},
        settings={"duration": 2.0, "samples": 101},
        draw=DRAWING,
        description=(
            "A thrown particle may accelerate in any direction, but always by the same amount. Of all such "
            "accelerations it takes the one nearest to what gravity and the push would give, and flies a "
            "parabola."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """q̈ = a₀ F/|F|, the nearest to F/m of that size; the constraint force is m q̈ − F = 2λ q̈."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    impressed = np.array([known["push"], -known["m"] * known["g"]])
    size = np.linalg.norm(impressed)
    found = {"multiplier size": np.full_like(elapsed, (known["m"] - size / known["a0"]) / 2)}
    for q, force in zip("xy", impressed, strict=True):
        acceleration = known["a0"] * force / size
        found[q] = known[q] + known[f"{q}'"] * elapsed + acceleration * elapsed**2 / 2
        found[f"{q}'"] = known[f"{q}'"] + acceleration * elapsed
        found[f"ideal {q}"] = np.full_like(elapsed, known["m"] * acceleration - force)
    return found
