"""A bead on a hoop that is spun about its vertical diameter: two constraints, one of which moves."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Disk, Rod, Sphere, Trace
from dalembert.model.system import System

BEAD = ("x", "y", "z")
DRAWING = [
    Rod((0, 0, "-1.3*a"), (0, 0, "1.3*a"), width="a/50", color="grey"),
    Disk((0, 0, 0), "a", axis=("-sin(Omega*t)", "cos(Omega*t)", 0), thickness="a/25", hollow=True, color="steel"),
    Trace(BEAD, 2, color="sky", opacity=0.7),
    Sphere(BEAD, "a/12", color="red"),
]


def rotating_hoop_bead(
    *,
    m: float = 1.0,
    g: float = 9.81,
    a: float = 1.0,
    Omega: float = 4.0,
    angle: float = 0.3,
    spin: float = 0.0,
) -> System:
    """A bead on a smooth hoop of radius a turning at the rate Omega: on a sphere, and in the hoop's plane.

    It starts, at t = 0, at `angle` from the lowest point with the angular velocity `spin` along the hoop.
    For Omega² > g/a it does not stay near the bottom but swings about the angle whose cosine is g/(a
    Omega²).
    """
    return System(
        "bead on a rotating hoop",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={"circle": "x^2 + y^2 + z^2 - a^2", "plane": "x*sin(Omega*t) - y*cos(Omega*t)"},
        parameters={"m": m, "g": g, "a": a, "Omega": Omega, "angle": angle, "spin": spin},
        initial={
            "x": "a*sin(angle)",
            "y": 0,
            "z": "-a*cos(angle)",
            "x'": "a*spin*cos(angle)",
            "y'": "Omega*a*sin(angle)",
            "z'": "a*spin*sin(angle)",
        },
        settings={"duration": 10.0, "samples": 501},
        draw=DRAWING,
        description=(
            "A bead on a spinning hoop climbs its side when the hoop turns fast enough. The hoop pushes it "
            "sideways, and that push does work: a constraint that moves is ideal and still exchanges "
            "energy."
        ),
    )


def forces(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """The forces of the hoop at given states (q and v of shape (…, 3), t of shape (…)).

    Towards the centre m(gz − v²)/a² r⃗, as on any sphere; across the hoop the Coriolis force's opponent
    2mΩρ̇ e_φ, where ρ is the distance from the axis along the hoop's plane. The angle from the bottom obeys
    θ̈ = Ω² sin θ cos θ − (g/a) sin θ.
    """
    known = values(system)
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    turned = known["Omega"] * np.asarray(t, dtype=float)
    c, s = np.cos(turned), np.sin(turned)
    centre = known["m"] * (known["g"] * q[..., 2] - np.sum(v**2, axis=-1)) / known["a"] ** 2
    across = 2 * known["m"] * known["Omega"] * (v[..., 0] * c + v[..., 1] * s)
    return {
        "ideal x": centre * q[..., 0] - across * s,
        "ideal y": centre * q[..., 1] + across * c,
        "ideal z": centre * q[..., 2],
        "multiplier circle": centre / 2,
        "multiplier plane": -across,
    }
