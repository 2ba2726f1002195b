"""A block on an incline that is not ideal: an oil film, and dry friction (Udwadia 2005, example 2)."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Box, Plane, Shape
from dalembert.model.friction.laws import Work
from dalembert.model.system import System

KINETIC = "m*(x'^2 + y'^2)/2"
POTENTIAL = "m*g*y"
PLANE = {"plane": "y - x*tan(theta)"}
START = {"x": 0, "y": 0, "x'": "u0*cos(theta)", "y'": "u0*sin(theta)"}


def block_on_incline(length: str) -> list[Shape]:
    """A block of this length, two thirds as high, that stands on the plane at (x, y)."""
    height = f"({length})/1.5"
    centre = (f"x - {height}/2*sin(theta)", f"y + {height}/2*cos(theta)")
    return [Plane((0, 0), ("-sin(theta)", "cos(theta)")), Box(centre, (length, height), "theta", color="wood")]


def incline_block(*, m: float = 1.0, g: float = 9.81, theta: float = 0.5, c: float = 0.8, u0: float = 4.0) -> System:
    """A block sent up the plane y = x tan θ (32) at speed u0, with an oil film under it: C = −c(ẋ, ẏ)."""
    return System(
        "block on an oiled incline",
        coordinates="x y",
        kinetic=KINETIC,
        potential=POTENTIAL,
        constraints=PLANE,
        nonideal=[Work({"x": "-c*x'", "y": "-c*y'"}, constraint="plane")],
        parameters={"m": m, "g": g, "theta": theta, "c": c, "u0": u0},
        initial=START,
        settings={"duration": 4.0, "samples": 201},
        draw=block_on_incline("0.9"),
        description=(
            "A block slides up an oiled plane, stops, and slides back towards its terminal speed. The "
            "plane carries it and the film brakes it: an ideal and a nonideal part of one constraint "
            "force."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Along the plane m u̇ = −m g sin θ − c u, c > 0: u tends to −m g sin θ/c exponentially."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    rate, pull = known["c"] / known["m"], known["g"] * np.sin(known["theta"])
    u0 = known["x'"] / np.cos(known["theta"])
    spent = -np.expm1(-rate * elapsed) / rate  # (1 − exp(−ct/m)) m/c
    u = u0 * np.exp(-rate * elapsed) - pull * spent
    return along_plane(known, u0 * spent - pull * (elapsed - spent) / rate, u, -known["c"] * u)


def rough_incline(*, m: float = 1.0, g: float = 9.81, theta: float = 0.5, mu: float = 0.3, u0: float = -0.5) -> System:
    """A block on a rough plane: C = −μ m g cos θ (cos θ, sin θ) sgn ẋ, (37) with the sign of (36).

    u0 is its speed uphill. By default it slides down with μ < tan θ, so it never stops. A block sent uphill
    stops at u0/(g sin θ + μ g cos θ).
    """
    friction = "-mu*m*g*cos(theta)*sign(x')"
    return System(
        "block on a rough incline",
        coordinates="x y",
        kinetic=KINETIC,
        potential=POTENTIAL,
        constraints=PLANE,
        nonideal=[Work({"x": f"{friction}*cos(theta)", "y": f"{friction}*sin(theta)"}, constraint="plane")],
        parameters={"m": m, "g": g, "theta": theta, "mu": mu, "u0": u0},
        initial=START,
        settings={"duration": 2.0, "samples": 201},
        draw=block_on_incline("0.5"),
        description=(
            "A block slides down a rough plane. The plane presses with m g cos θ and rubs with μ times "
            "that: the second is the work that makes the constraint nonideal."
        ),
    )


def exact_rough(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Along the plane u̇ = −g sin θ − μ g cos θ sgn u (39) while the block slides; NaN once it has stopped."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    u0 = known["x'"] / np.cos(known["theta"])
    rub = -known["mu"] * known["m"] * known["g"] * np.cos(known["theta"]) * np.sign(u0)
    acceleration = -known["g"] * np.sin(known["theta"]) + rub / known["m"]
    u = u0 + acceleration * elapsed
    u = np.where(u * u0 > 0, u, np.nan)
    return along_plane(known, (u0 + u) / 2 * elapsed, u, rub + 0 * u)


def along_plane(known: dict[str, float], moved: np.ndarray, u: np.ndarray, rub: np.ndarray) -> dict[str, np.ndarray]:
    """Motion and forces by x and y from the distance moved up the plane, the speed and the force along it."""
    c, s = np.cos(known["theta"]), np.sin(known["theta"])
    press = known["m"] * known["g"] * c + 0 * u
    return {
        "x": known["x"] + moved * c,
        "y": known["y"] + moved * s,
        "x'": u * c,
        "y'": u * s,
        "ideal x": -press * s,
        "ideal y": press * c,
        "nonideal x": rub * c,
        "nonideal y": rub * s,
        "multiplier plane": press * c,  # the gradient of y − x tan θ has length 1/cos θ
    }
