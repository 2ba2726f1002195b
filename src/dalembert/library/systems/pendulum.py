"""The plane pendulum in Cartesian coordinates, of fixed and of growing length (Đukić 2012, example 2)."""

from __future__ import annotations

import numpy as np

from dalembert.library.elliptic import first_kind, jacobi
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Disk, Plane, Point, Rod, Sphere, Trace
from dalembert.model.system import System

KINETIC = "m*(x'^2 + y'^2)/2"
POTENTIAL = "m*g*y"


BOB = ("x", "y")
DRAWING = [
    Plane((0, 0), (0, -1), "l/2"),
    Trace(BOB, color="sky", opacity=0.7),
    Rod((0, 0), BOB, width="l/40", color="steel"),
    Point((0, 0), "l/32", color="black"),
    Sphere(BOB, "l/12", color="red"),
]
# The string comes from a drum, which turns as it is paid out.
PAID_OUT = [
    Trace(BOB, color="sky", opacity=0.7),
    Rod((0, 0), BOB, width="l0/60", color="grey"),
    Disk((0, 0), "l0/8", "-rate*t*8/l0", color="copper"),
    Sphere(BOB, "l0/9", color="red"),
]


def pendulum(*, m: float = 1.0, g: float = 9.81, l: float = 1.0, angle: float = 2.0, spin: float = 0.0) -> System:
    """A mass on a rod, x² + y² = l², y upwards.

    It starts at `angle` from the downward vertical with the angular velocity `spin`.
    """
    return System(
        "pendulum",
        coordinates="x y",
        kinetic=KINETIC,
        potential=POTENTIAL,
        constraints={"rod": "x^2 + y^2 - l^2"},
        parameters={"m": m, "g": g, "l": l, "angle": angle, "spin": spin},
        initial={
            "x": "l*sin(angle)",
            "y": "-l*cos(angle)",
            "x'": "l*spin*cos(angle)",
            "y'": "l*spin*sin(angle)",
        },
        settings={"duration": 10.0, "samples": 501},
        draw=DRAWING,
        description=(
            "The pendulum as Newton would see it: a falling mass and a rod that pulls it. The force along "
            "the rod comes with the motion, at any amplitude."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Jacobi's solution, swinging or going round. With k² = sin²(α₀/2) + α̇₀²/(4ω²), ω² = g/l:

    swinging (k < 1)    sin(α/2) = k sn(ωt + u₀ | k²),     α̇ = 2kω cn
    going round (k ≥ 1) α/2 = am(±kωt + u₀ | 1/k²),        α̇ = ±2kω dn

    The rod pulls with R = −m(l α̇² + g cos α) e_r.
    """
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    m, g, l = known["m"], known["g"], known["l"]
    start = np.arctan2(known["x"], -known["y"])
    spin = (known["x'"] * np.cos(start) + known["y'"] * np.sin(start)) / l
    omega = np.sqrt(g / l)
    k = np.hypot(np.sin(start / 2), spin / (2 * omega))
    if k == 0:
        sin_half, cos_half, rate = np.zeros_like(elapsed), np.ones_like(elapsed), np.zeros_like(elapsed)
    elif k < 1:
        phase = first_kind(np.arctan2(np.sin(start / 2), spin / (2 * omega)), k**2)
        sn, cn, dn, _ = jacobi(omega * elapsed + phase, k**2)
        sin_half, cos_half, rate = k * sn, dn, 2 * k * omega * cn
    else:
        forward = k * omega * np.sign(spin)
        sn, cn, dn, _ = jacobi(forward * elapsed + first_kind(start / 2, k**-2), k**-2)
        sin_half, cos_half, rate = sn, cn, 2 * forward * dn
    sine, cosine = 2 * sin_half * cos_half, 1 - 2 * sin_half**2
    pull = m * (l * rate**2 + g * cosine)
    return {
        "x": l * sine,
        "y": -l * cosine,
        "x'": l * rate * cosine,
        "y'": l * rate * sine,
        "ideal x": -pull * sine,
        "ideal y": pull * cosine,
        "multiplier rod": -pull / (2 * l),
    }


def moving_length_pendulum(
    *,
    m: float = 1.0,
    g: float = 9.81,
    l0: float = 1.0,
    rate: float = 0.2,
    angle: float = 1.0,
    spin: float = 0.0,
) -> System:
    """A pendulum whose string is paid out steadily: x² + y² = (l₀ + rate·t)².

    It starts, at t = 0, at `angle` from the downward vertical with the angular velocity `spin`.
    """
    return System(
        "pendulum of growing length",
        coordinates="x y",
        kinetic=KINETIC,
        potential=POTENTIAL,
        constraints={"string": "x^2 + y^2 - (l0 + rate*t)^2"},
        parameters={"m": m, "g": g, "l0": l0, "rate": rate, "angle": angle, "spin": spin},
        initial={
            "x": "l0*sin(angle)",
            "y": "-l0*cos(angle)",
            "x'": "l0*spin*cos(angle) + rate*sin(angle)",
            "y'": "l0*spin*sin(angle) - rate*cos(angle)",
        },
        settings={"duration": 10.0, "samples": 501},
        draw=PAID_OUT,
        description=(
            "Lorentz's pendulum: the string lengthens while the bob swings. The swings narrow, and the "
            "string, a constraint that moves, takes energy out of the motion."
        ),
    )


def forces(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """The pull of the string, R = −m(l α̇² + g cos α) e_r because l̈ = 0; q, v of shape (…, 2), t of (…).

    The angle obeys l α̈ + 2 l̇ α̇ + g sin α = 0.
    """
    known = values(system)
    x, y = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    vx, vy = np.moveaxis(np.asarray(v, dtype=float), -1, 0)
    length = known["l0"] + known["rate"] * np.asarray(t, dtype=float)
    turning = (x * vy - y * vx) / length**2
    pull = known["m"] * (length * turning**2 - known["g"] * y / length)
    return {
        "ideal x": -pull * x / length,
        "ideal y": -pull * y / length,
        "multiplier string": -pull / (2 * length),
    }
