"""A skater on an incline: a knife edge and nothing that rolls (Flannery 2011, end of section VI)."""

from __future__ import annotations

import numpy as np

from dalembert.library.systems.penny import on_incline
from dalembert.library.turning import starting_speed, track_of, two_turns
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Plane, Rod, Sphere, Trace
from dalembert.model.system import System

# Speed along the edge (63), radius of curvature (73), force of the edge to the left (72c).
OUTPUTS = {
    "v": "x'*cos(phi) + y'*sin(phi)",
    "rho": "(x'*cos(phi) + y'*sin(phi))/phi'",
    "F_j": "ideal(y)*cos(phi) - ideal(x)*sin(phi)",
}


# Somewhat larger than life, on slopes of some twenty metres: blade, body and head.
DRAWING = [
    Plane((0, 0, 0), ("sin(alpha)", 0, "cos(alpha)")),
    Trace(on_incline("x", "y"), color="sky"),
    Rod(
        on_incline("x - 0.8*cos(phi)", "y - 0.8*sin(phi)", "0.08"),
        on_incline("x + 0.8*cos(phi)", "y + 0.8*sin(phi)", "0.08"),
        width=0.16,
        color="steel",
    ),
    Rod(on_incline("x", "y", "0.1"), on_incline("x", "y", "1.8"), width=0.45, color="blue"),
    Rod(
        on_incline("x + 0.75*sin(phi)", "y - 0.75*cos(phi)", "1.7"),
        on_incline("x - 0.75*sin(phi)", "y + 0.75*cos(phi)", "1.7"),
        width=0.18,
        color="blue",
    ),
    Sphere(on_incline("x", "y", "2.3"), 0.34, color="wood"),
    Arrow(on_incline("x", "y", "1"), force="impressed"),
    Arrow(on_incline("x", "y"), force="ideal"),
]


def skater(
    *,
    ratio: float | None = None,
    v0: float | None = None,
    m: float = 60.0,
    J: float = 1.5,
    g: float = 9.81,
    alpha: float = 0.3,
    omega: float = 1.0,
) -> System:
    """A body with moment of inertia J about the normal that slides only along its edge: (56b) alone.

    `ratio` is R'/a with a = g sin α/(4ω²), the penny's with β = 0; it sets the starting speed v0, which
    may be given instead.
    """
    speed = starting_speed("skater", ratio, v0, g=g, alpha=alpha, omega=omega)
    return System(
        "skater on an incline",
        coordinates="x y phi",
        kinetic="m*(x'^2 + y'^2)/2 + J*phi'^2/2",
        potential="-m*g*x*sin(alpha)",
        constraints={"knife edge": "x'*sin(phi) - y'*cos(phi)"},
        parameters={
            "m": m,
            "J": J,
            "g": g,
            "alpha": alpha,
            "omega": omega,
            "v0": speed,
        },
        initial={"x": 0, "y": 0, "phi": 0, "x'": "v0", "y'": 0, "phi'": "omega"},
        settings={"duration": two_turns(omega), "samples": 401},
        draw=DRAWING,
        outputs=OUTPUTS,
        description=(
            "A turning skater on a slope glides only along the blade. The sideways force of the edge does "
            "no work, and yet it keeps the skater, on average, at the same height."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The orbit (68) with β = 0; the edge pushes to the left with F_j = m g sin α sin φ + m v ω = −λ."""
    known = values(system)
    track = track_of(known, known["g"] * np.sin(known["alpha"]), t)
    sideways = known["m"] * (known["g"] * np.sin(known["alpha"]) * np.sin(track.heading) + track.speed * known["phi'"])
    force_x, force_y = track.fixed_axes(np.zeros_like(sideways), sideways)
    velocity_x, velocity_y = track.velocity
    return {
        "x": track.x,
        "y": track.y,
        "phi": track.heading,
        "x'": velocity_x,
        "y'": velocity_y,
        "phi'": np.full_like(track.speed, known["phi'"]),
        "ideal x": force_x,
        "ideal y": force_y,
        "ideal phi": np.zeros_like(sideways),
        "multiplier knife edge": -sideways,
        "v": track.speed,
        "rho": track.radius(known["phi'"]),
        "F_j": sideways,
    }
