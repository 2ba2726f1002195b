"""The penny rolling and turning upright on an incline, by two kinds of constraint (Flannery 2011, section
VI).
"""

from __future__ import annotations

import numpy as np

from dalembert.errors import ModelError
from dalembert.library.turning import Track, starting_speed, track_of, two_turns
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Disk, Plane, Trace
from dalembert.model.system import System

KINETIC = "m*(x'^2 + y'^2)/2 + beta*m*R^2*psi'^2/2 + beta*m*R^2*phi'^2/4"
POTENTIAL = "-m*g*x*sin(alpha)"
# The start is written with v0 and omega, so that it stays on the constraints when they or R are changed.
START = {"x": 0, "y": 0, "psi": 0, "phi": 0, "x'": "v0", "y'": 0, "psi'": "v0/R", "phi'": "omega"}
# Along the heading î and to the left of it, ĵ: the friction at the point of contact (72).
FORWARD, SIDEWAYS = "(ideal(x)*cos(phi) + ideal(y)*sin(phi))", "(ideal(y)*cos(phi) - ideal(x)*sin(phi))"
# What the paper names: distance (68c), speed (63), radius of curvature (73), friction (72), the torque about î that
# holds it upright (76), and the coefficient of friction without which it would slip, by both components.
OUTPUTS = {
    "s": "R*psi",
    "v": "R*psi'",
    "rho": "R*psi'/phi'",
    "F_i": FORWARD,
    "F_j": SIDEWAYS,
    "N_a": f"-beta*m*R^2*psi'*phi' - R*{SIDEWAYS}",
    "mu needed": "sqrt(ideal(x)^2 + ideal(y)^2)/(m*g*cos(alpha))",
}


def on_incline(x: str, y: str, height: str = "0") -> tuple[str, str, str]:
    """A place on the incline, x downhill, y across and a height above it, with z upwards."""
    return f"({x})*cos(alpha) + ({height})*sin(alpha)", y, f"-({x})*sin(alpha) + ({height})*cos(alpha)"


# The disk rolls about ĵ; its spoke points to the ground at ψ = 0. Friction acts where it touches the ground.
CONTACT = on_incline("x", "y")
DRAWING = [
    Plane((0, 0, 0), ("sin(alpha)", 0, "cos(alpha)")),
    Trace(CONTACT, color="sky"),
    Disk(
        on_incline("x", "y", "R"),
        "R",
        "psi",
        axis=on_incline("-sin(phi)", "cos(phi)"),
        mark=("-sin(alpha)", 0, "-cos(alpha)"),
        thickness="R/8",
        color="copper",
    ),
    Arrow(on_incline("x", "y", "R"), force="impressed"),
    Arrow(CONTACT, force="ideal"),
]


def penny(
    *,
    ratio: float | None = None,
    v0: float | None = None,
    m: float = 1.0,
    R: float = 1.0,
    beta: float = 0.5,
    g: float = 9.81,
    alpha: float = 0.3,
    omega: float = 1.0,
) -> System:
    """A penny rolling upright without slipping on a plane inclined by alpha; x points downhill. (53)-(55)

    Its moment of inertia about the axis is βmR², about a diameter half of that. `ratio` is R'/a, which sets
    the shape of the orbit (figures 2 and 3 of the paper: 0, 2, 3, 4, 6 and 12, 24, 48, 96; default 6) through the
    starting speed v0; or give v0 itself, as where the plane is horizontal or omega is zero.
    """
    speed = starting_speed("penny", ratio, v0, g=g, alpha=alpha, omega=omega, beta=beta)
    return System(
        "rolling penny",
        coordinates="x y psi phi",
        kinetic=KINETIC,
        potential=POTENTIAL,
        constraints={"roll x": "x' - R*psi'*cos(phi)", "roll y": "y' - R*psi'*sin(phi)"},
        parameters={"m": m, "R": R, "beta": beta, "g": g, "alpha": alpha, "omega": omega, "v0": speed},
        initial=START,
        settings={"duration": two_turns(omega), "samples": 401},
        outputs=OUTPUTS,
        draw=DRAWING,
        description=(
            "A coin rolls upright down an incline while it turns steadily. Instead of running downhill it "
            "drifts sideways on a cycloid blended with circles, and on average it stays at the same "
            "height."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The orbit (68) and the friction (72), which acts at the point of contact."""
    known = values(system)
    track = track_of(known, known["g"] * np.sin(known["alpha"]) / (1 + known["beta"]), t)
    forward, sideways = friction(known, track)
    force_x, force_y = track.fixed_axes(forward, sideways)
    return _motion(known, track) | {
        "ideal x": force_x,
        "ideal y": force_y,
        "ideal psi": -known["R"] * forward,
        "ideal phi": np.zeros_like(forward),
        "multiplier roll x": force_x,
        "multiplier roll y": force_y,
        **_outputs(known, track, forward, sideways),
    }


def quadratic_penny(
    *,
    ratio: float | None = None,
    v0: float | None = None,
    m: float = 1.0,
    R: float = 1.0,
    beta: float = 0.5,
    g: float = 9.81,
    alpha: float = 0.3,
    omega: float = 1.0,
) -> System:
    """The same penny with its rolling written as the quadratic constraint (58), beside the knife edge (56b).

    The gradient of (58) vanishes at rest, so it cannot start there (`ratio` 0, or v0 = 0). Where it stops on its way,
    for R'/a up to 4, motion and forces go on as the penny's, but the multiplier of the constraint is unbounded there.
    """
    if ratio == 0 or v0 == 0:
        raise ModelError(
            "quadratic_penny", ["it cannot start from rest, where the constraint (58) has no gradient; penny can"]
        )
    linear = penny(ratio=ratio, v0=v0, m=m, R=R, beta=beta, g=g, alpha=alpha, omega=omega)
    return linear.replace(
        name="penny by a quadratic constraint",
        constraints={"speed": "x'^2 + y'^2 - R^2*psi'^2", "knife edge": "x'*sin(phi) - y'*cos(phi)"},
        description=(
            "The rolling penny again, but the rolling is stated as an equality of squared speeds. Away "
            "from rest the motion and the forces are those of the linear constraints; only the multipliers "
            "differ."
        ),
    )


def exact_quadratic(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """As for the penny; the multipliers are λ₁ = F_i/(2v), infinite where it stops, and λ₂ = −F_j, from (77)."""
    known = values(system)
    track = track_of(known, known["g"] * np.sin(known["alpha"]) / (1 + known["beta"]), t)
    forward, sideways = friction(known, track)
    found = {key: value for key, value in exact(system, t).items() if not key.startswith("multiplier")}
    with np.errstate(divide="ignore", invalid="ignore"):
        return found | {"multiplier speed": forward / (2 * track.speed), "multiplier knife edge": -sideways}


def friction(known: dict[str, float], track: Track) -> tuple[np.ndarray, np.ndarray]:
    """F_i = −β/(1+β) m g sin α cos φ forward and F_j = m g sin α sin φ + m v ω to the left: (72a), (72b)."""
    weight = known["m"] * known["g"] * np.sin(known["alpha"])
    forward = -known["beta"] / (1 + known["beta"]) * weight * np.cos(track.heading)
    sideways = weight * np.sin(track.heading) + known["m"] * known["phi'"] * track.speed
    return forward, sideways


def _outputs(known: dict[str, float], track: Track, forward: np.ndarray, sideways: np.ndarray) -> dict[str, np.ndarray]:
    """The outputs; N_a = −(I₂ψ̇φ̇ + R F_j), from (75)."""
    gyroscopic = known["beta"] * known["m"] * known["R"] * track.speed * known["phi'"]
    with np.errstate(divide="ignore", invalid="ignore"):
        needed = np.hypot(forward, sideways) / (known["m"] * known["g"] * np.cos(known["alpha"]))
    return {
        "s": track.path + known["R"] * known["psi"],
        "v": track.speed,
        "rho": track.radius(known["phi'"]),
        "F_i": forward,
        "F_j": sideways,
        "N_a": -gyroscopic - known["R"] * sideways,
        "mu needed": needed,
    }


def _motion(known: dict[str, float], track: Track) -> dict[str, np.ndarray]:
    velocity_x, velocity_y = track.velocity
    return {
        "x": track.x,
        "y": track.y,
        "psi": known["psi"] + track.path / known["R"],
        "phi": track.heading,
        "x'": velocity_x,
        "y'": velocity_y,
        "psi'": track.speed / known["R"],
        "phi'": np.full_like(track.speed, known["phi'"]),
    }
