"""Two wheels on a common axle rolling on an incline (Flannery 2011, end of section VI)."""

from __future__ import annotations

import numpy as np

from dalembert.library.systems.penny import FORWARD, SIDEWAYS, on_incline
from dalembert.library.turning import starting_speed, track_of, two_turns
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Disk, Plane, Rod, Trace
from dalembert.model.system import System

# Distance of the middle, its speed, radius of curvature, and the friction on both wheels along and across the heading.
OUTPUTS = {
    "s": "R*(psi1 + psi2)/2",
    "v": "R*(psi1' + psi2')/2",
    "rho": "R*(psi1' + psi2')/2/phi'",
    "F_i": FORWARD,
    "F_j": SIDEWAYS,
}


# The left wheel is to the left of the heading, where the axle points.
LEFT, RIGHT = (on_incline(f"x {a} b*sin(phi)", f"y {b} b*cos(phi)", "R") for a, b in ("-+", "+-"))


def _wheel(centre: tuple[str, str, str], angle: str) -> Disk:
    axis, down = on_incline("-sin(phi)", "cos(phi)"), ("-sin(alpha)", 0, "-cos(alpha)")
    return Disk(centre, "R", angle, axis=axis, mark=down, thickness="R/5", color="copper")


DRAWING = [
    Plane((0, 0, 0), ("sin(alpha)", 0, "cos(alpha)")),
    Trace(on_incline("x", "y"), color="sky"),
    Rod(LEFT, RIGHT, width="R/4", color="steel"),
    _wheel(LEFT, "psi1"),
    _wheel(RIGHT, "psi2"),
    Arrow(on_incline("x", "y", "R"), force="impressed"),
    Arrow(on_incline("x", "y"), force="ideal"),
]


def cart(
    *,
    ratio: float | None = None,
    v0: float | None = None,
    m: float = 2.0,
    R: float = 0.3,
    b: float = 0.4,
    beta: float = 0.2,
    g: float = 9.81,
    alpha: float = 0.3,
    omega: float = 1.0,
) -> System:
    """Thin uniform wheels turning independently at ±b on a uniform axle with middle x, y; m is the whole
    mass.

    β is the inertia of one wheel about the axle over mR², so that a wheel weighs 2βm and the axle the rest,
    (1−4β)m. The paper's 1+2β then stands in place of the penny's 1+β. `ratio` is R'/a with a = g sin
    α/(4ω²(1+2β)), or give the starting speed v0.
    """
    speed = starting_speed("cart", ratio, v0, g=g, alpha=alpha, omega=omega, beta=beta, wheels=2)
    return System(
        "cart on two wheels",
        coordinates="x y phi psi1 psi2",
        # about the normal: two diameters βmR²/2, two wheels of mass 2βm at distance b, an axle of length 2b
        kinetic=(
            "m*(x'^2 + y'^2)/2 + beta*m*R^2*(psi1'^2 + psi2'^2)/2"
            " + (beta*m*R^2 + 4*beta*m*b^2 + (1 - 4*beta)*m*b^2/3)*phi'^2/2"
        ),
        potential="-m*g*x*sin(alpha)",
        constraints={
            "knife edge": "x'*sin(phi) - y'*cos(phi)",
            "left wheel": "x'*cos(phi) + y'*sin(phi) - b*phi' - R*psi1'",
            "right wheel": "x'*cos(phi) + y'*sin(phi) + b*phi' - R*psi2'",
        },
        parameters={"m": m, "R": R, "b": b, "beta": beta, "g": g, "alpha": alpha, "omega": omega, "v0": speed},
        initial={
            "x": 0,
            "y": 0,
            "phi": 0,
            "psi1": 0,
            "psi2": 0,
            "x'": "v0",
            "y'": 0,
            "phi'": "omega",
            "psi1'": "(v0 - b*omega)/R",
            "psi2'": "(v0 + b*omega)/R",
        },
        settings={"duration": two_turns(omega), "samples": 401},
        draw=DRAWING,
        outputs=OUTPUTS,
        description=(
            "Two independent wheels on one axle follow the same orbits as the upright penny. Of the three "
            "rolling conditions one combination is integrable: the difference of the wheels' angles is "
            "fixed by the heading."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The orbit (68) with 1+2β; each wheel takes half of the forward friction −2β/(1+2β) m g sin α cos φ."""
    known = values(system)
    downhill = known["g"] * np.sin(known["alpha"])
    track = track_of(known, downhill / (1 + 2 * known["beta"]), t)
    forward = -2 * known["beta"] / (1 + 2 * known["beta"]) * known["m"] * downhill * np.cos(track.heading)
    sideways = known["m"] * (downhill * np.sin(track.heading) + track.speed * known["phi'"])
    force_x, force_y = track.fixed_axes(forward, sideways)
    velocity_x, velocity_y = track.velocity
    found = {
        "x": track.x,
        "y": track.y,
        "phi": track.heading,
        "x'": velocity_x,
        "y'": velocity_y,
        "phi'": np.full_like(track.speed, known["phi'"]),
        "ideal x": force_x,
        "ideal y": force_y,
        "ideal phi": np.zeros_like(forward),
        "multiplier knife edge": -sideways,
        "multiplier left wheel": forward / 2,
        "multiplier right wheel": forward / 2,
        "s": track.path + known["R"] * (known["psi1"] + known["psi2"]) / 2,
        "v": track.speed,
        "rho": track.radius(known["phi'"]),
        "F_i": forward,
        "F_j": sideways,
    }
    turned = track.heading - known["phi"]
    for wheel, side in (("psi1", -known["b"]), ("psi2", known["b"])):
        found[wheel] = known[wheel] + (track.path + side * turned) / known["R"]
        found[f"{wheel}'"] = (track.speed + side * known["phi'"]) / known["R"]
        found[f"ideal {wheel}"] = -known["R"] * forward / 2
    return found
