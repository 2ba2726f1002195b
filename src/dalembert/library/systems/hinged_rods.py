"""Two hinged rods, their joints set free and held: the multipliers are the joint forces (Đukić 2012,
(8.9)).
"""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Plane, Point, Rod, Shape, Trace
from dalembert.model.system import System

# Centres of mass with y downwards, as in the paper: the rod OA is displaced by (x1, y1) from the fixed
# joint, and the rod AB by (x2, y2) from the end of OA. These are their velocities.
UPPER = ("x1' + l/2*phi'*cos(phi)", "y1' - l/2*phi'*sin(phi)")
LOWER = ("x1' + x2' + l*phi'*cos(phi) + l/2*psi'*cos(psi)", "y1' + y2' - l*phi'*sin(phi) - l/2*psi'*sin(psi)")


def hanging_rods(start: tuple[str, str], gap: tuple[str, str]) -> list[Shape]:
    """Rods of length l at φ and ψ from the vertical, y upwards: from `start`, and, beside its end, by `gap`."""
    end = (f"{start[0]} + l*sin(phi)", f"{start[1]} - l*cos(phi)")
    second = (f"{end[0]} + {gap[0]}", f"{end[1]} - ({gap[1]})")
    last = (f"{second[0]} + l*sin(psi)", f"{second[1]} - l*cos(psi)")
    middles = [tuple(f"({p} + {q})/2" for p, q in zip(*ends, strict=True)) for ends in ((start, end), (second, last))]
    return [
        Plane((0, 0), (0, -1), "l/2"),
        Trace(last, color="sky", opacity=0.7),
        Rod(start, end, width="l/16", color="wood"),
        Rod(second, last, width="l/16", color="copper"),
        *(
            Point(place, "l/30", color="black", label=name)
            for place, name in ((start, "O"), (second, "A"), (last, "B"))
        ),
        *(Arrow(middle, (0, "-m*g"), "impressed") for middle in middles),
    ]


DRAWING = [
    *hanging_rods(("x1", "-y1"), ("x2", "y2")),
    Arrow(("x1", "-y1"), force="ideal", of=("x1", "y1")),
    Arrow(("x1 + x2 + l*sin(phi)", "-y1 - y2 - l*cos(phi)"), force="ideal", of=("x2", "y2")),
]


def hinged_rods(
    *, m: float = 1.0, l: float = 1.0, g: float = 9.81, angle1: float = 1.2, angle2: float = -0.5
) -> System:
    """Two equal uniform rods OA and AB hanging from O, released from rest at angles from the vertical.
    (8.6)
    """
    translation = " + ".join(f"m*({velocity})^2/2" for velocity in (*UPPER, *LOWER))
    return System(
        "two hinged rods",
        coordinates="x1 y1 x2 y2 phi psi",
        kinetic=f"{translation} + m*l^2/12*(phi'^2 + psi'^2)/2",
        potential="-m*g*(2*y1 + y2 + 3*l/2*cos(phi) + l/2*cos(psi))",
        constraints={"O x": "x1", "O y": "y1", "A x": "x2", "A y": "y2"},
        parameters={"m": m, "l": l, "g": g, "angle1": angle1, "angle2": angle2},
        initial={
            **{key: 0 for q in ("x1", "y1", "x2", "y2") for key in (q, f"{q}'")},
            "phi": "angle1",
            "psi": "angle2",
            "phi'": 0,
            "psi'": 0,
        },
        settings={"duration": 5.0, "samples": 501},
        draw=DRAWING,
        description=(
            "A double pendulum of two rods whose joints are given coordinates of their own, which "
            "constraints then hold at zero. What holds them is the force in each joint."
        ),
    )


def forces(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """The joint forces (8.9) on the rod OA at O and on the rod AB at A, y downwards, q and v of shape (…, 6).

    φ̈ and ψ̈ in it come from the two Lagrange equations of the rods.
    """
    del t
    known = values(system)
    m, l, g = known["m"], known["l"], known["g"]
    phi, psi = np.moveaxis(np.asarray(q, dtype=float)[..., 4:], -1, 0)
    dphi, dpsi = np.moveaxis(np.asarray(v, dtype=float)[..., 4:], -1, 0)
    ddphi, ddpsi = angular_accelerations(known, phi, psi, dphi, dpsi)
    # d/dt of φ' cos φ and of φ' sin φ, and the same for ψ
    phi_x, phi_y = ddphi * np.cos(phi) - dphi**2 * np.sin(phi), ddphi * np.sin(phi) + dphi**2 * np.cos(phi)
    psi_x, psi_y = ddpsi * np.cos(psi) - dpsi**2 * np.sin(psi), ddpsi * np.sin(psi) + dpsi**2 * np.cos(psi)
    lower_x = m * l * (phi_x + psi_x / 2)
    lower_y = -m * g - m * l * (phi_y + psi_y / 2)
    joints = {
        "O x": m * l / 2 * phi_x + lower_x,
        "O y": -m * g - m * l / 2 * phi_y + lower_y,
        "A x": lower_x,
        "A y": lower_y,
    }
    along = dict(zip(("x1", "y1", "x2", "y2"), joints.values(), strict=True))
    return {f"multiplier {name}": force for name, force in joints.items()} | {
        f"ideal {name}": force for name, force in along.items()
    }


def angular_accelerations(
    known: dict[str, float], phi: np.ndarray, psi: np.ndarray, dphi: np.ndarray, dpsi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """φ̈ and ψ̈ of the two rods, joints held:

    (4/3) φ̈ + ½ cos(φ−ψ) ψ̈ = −½ sin(φ−ψ) ψ̇² − (3/2)(g/l) sin φ
    ½ cos(φ−ψ) φ̈ + (1/3) ψ̈ = ½ sin(φ−ψ) φ̇² − ½ (g/l) sin ψ
    """
    c, s, pull = np.cos(phi - psi), np.sin(phi - psi), known["g"] / known["l"]
    first = -s * dpsi**2 / 2 - 1.5 * pull * np.sin(phi)
    second = s * dphi**2 / 2 - 0.5 * pull * np.sin(psi)
    determinant = 4 / 9 - c**2 / 4
    return (first / 3 - c / 2 * second) / determinant, (4 / 3 * second - c / 2 * first) / determinant
