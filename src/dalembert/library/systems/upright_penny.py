"""The penny with its tilt as a fifth coordinate: the torque that keeps it upright (Flannery 2011, (76))."""

from __future__ import annotations

import numpy as np

from dalembert.library.systems import penny as flat
from dalembert.library.turning import starting_speed, track_of, two_turns
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Disk, Plane, Trace
from dalembert.model.system import System

# Kinematics. Î points downhill, K̂ along the normal. The disk heads along î = (cos φ, sin φ, 0), ĵ = K̂×î.
# Its axis ê = ĵ sin θ + K̂ cos θ is at θ from the normal, and Ω = φ'K̂ + ψ'ê − θ'î: θ turns it about −î.
# The point of contact lies at R n̂ from the centre, n̂ = ê×î = ĵ cos θ − K̂ sin θ, so it is R sin θ high.
# Rolling, v + Ω×R n̂ = 0, reads v = R(ψ' + φ' cos θ) î + R θ' ê; its normal part is the height's rate already.
# Along ê, Ω has ψ' + φ' cos θ; along the diameters î and n̂ it has −θ' and −φ' sin θ.


# The centre, the axis ê and the direction n̂ to the point of contact.
CENTRE = flat.on_incline("x", "y", "R*sin(theta)")
AXIS = flat.on_incline("-sin(phi)*sin(theta)", "cos(phi)*sin(theta)", "cos(theta)")
DOWN = flat.on_incline("-sin(phi)*cos(theta)", "cos(phi)*cos(theta)", "-sin(theta)")
CONTACT = flat.on_incline("x - R*sin(phi)*cos(theta)", "y + R*cos(phi)*cos(theta)")
DRAWING = [
    Plane((0, 0, 0), ("sin(alpha)", 0, "cos(alpha)")),
    Trace(CONTACT, color="sky"),
    Disk(CENTRE, "R", "psi", axis=AXIS, mark=DOWN, thickness="R/8", color="copper"),
    Arrow(CENTRE, force="impressed", of=("x", "y")),
    Arrow(CONTACT, force="ideal", of=("x", "y")),
]


def upright_penny(
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
    """The rolling penny with the tilt θ of its axis from the normal, which a constraint holds at π/2.

    The moments of inertia are βmR² about the axis and βmR²/2 about a diameter (a thin body). `ratio` is
    R'/a as for `penny`, or give the starting speed v0.
    """
    speed = starting_speed("upright_penny", ratio, v0, g=g, alpha=alpha, omega=omega, beta=beta)
    return System(
        "penny held upright",
        coordinates="x y psi phi theta",
        kinetic=(
            "m*(x'^2 + y'^2 + R^2*cos(theta)^2*theta'^2)/2 + beta*m*R^2*(psi' + phi'*cos(theta))^2/2"
            " + beta*m*R^2*(theta'^2 + phi'^2*sin(theta)^2)/4"
        ),
        potential="-m*g*x*sin(alpha) + m*g*R*sin(theta)*cos(alpha)",
        constraints={
            "roll x": "x' - R*(psi' + phi'*cos(theta))*cos(phi) + R*theta'*sin(theta)*sin(phi)",
            "roll y": "y' - R*(psi' + phi'*cos(theta))*sin(phi) - R*theta'*sin(theta)*cos(phi)",
            "upright": "theta - pi/2",
        },
        parameters={"m": m, "R": R, "beta": beta, "g": g, "alpha": alpha, "omega": omega, "v0": speed},
        initial=flat.START | {"theta": "pi/2", "theta'": 0},
        settings={"duration": two_turns(omega), "samples": 401},
        draw=DRAWING,
        # the multiplier acts along theta, which turns about −î
        outputs=flat.OUTPUTS | {"N_a": "-multiplier(upright)"},
        description=(
            "The rolling penny with its tilt set free and then held: the multiplier of 'upright' is the "
            "torque a hand must apply to keep the coin from falling on its face."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """As for the penny; the multiplier of 'upright' is −N_a, N_a = −(I₂ψ'φ' + R F_j) the torque (76).

    The sign: N_a is measured about î and the coordinate θ turns about −î. The force along θ is only
    βmR²ψ'φ', because the sideways friction F_j acts on θ too, through the rolling constraints.
    """
    known = values(system)
    track = track_of(known, known["g"] * np.sin(known["alpha"]) / (1 + known["beta"]), t)
    _, sideways = flat.friction(known, track)
    gyroscopic = known["beta"] * known["m"] * known["R"] * track.speed * known["phi'"]
    return flat.exact(system, t) | {
        "theta": np.full_like(track.speed, np.pi / 2),
        "theta'": np.zeros_like(track.speed),
        "ideal theta": gyroscopic,
        "multiplier upright": gyroscopic + known["R"] * sideways,
    }
