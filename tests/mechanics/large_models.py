"""Two systems whose expressions are long: a bicycle and a rattleback, as a user would write them down."""

from __future__ import annotations

import sympy as sp
from sympy import Matrix, cos, sin, sqrt

import dalembert as da

x, y, z = da.coordinates("x y z")
yaw, roll, pitch, steer, rear, front = da.coordinates("yaw roll pitch steer rear front")


def turned(axis: str, angle: sp.Expr) -> Matrix:
    """The rotation about a coordinate axis."""
    s, c = sin(angle), cos(angle)
    return {
        "x": Matrix([[1, 0, 0], [0, c, -s], [0, s, c]]),
        "y": Matrix([[c, 0, s], [0, 1, 0], [-s, 0, c]]),
        "z": Matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]]),
    }[axis]


def symmetric(xx: sp.Expr, yy: sp.Expr, zz: sp.Expr, xz: sp.Expr = sp.S.Zero) -> Matrix:
    return Matrix([[xx, 0, xz], [0, yy, 0], [xz, 0, zz]])


def half(matrix: Matrix, vector: Matrix) -> sp.Expr:
    return (vector.T * matrix * vector)[0] / 2


# Meijaard, Papadopoulos, Ruina and Schwab 2007, table 1.
BENCHMARK = {
    "w": 1.02, "c": 0.08, "lean": sp.pi / 10, "g": 9.81, "rR": 0.3, "mR": 2, "IRx": 0.0603, "IRy": 0.12, "xB": 0.3,
    "zB": -0.9, "mB": 85, "IBx": 9.2, "IBy": 11, "IBz": 2.8, "IBxz": 2.4, "xH": 0.9, "zH": -0.7, "mH": 4,
    "IHx": 0.05892, "IHy": 0.06, "IHz": 0.00708, "IHxz": -0.00756, "rF": 0.35, "mF": 3, "IFx": 0.1405, "IFy": 0.28,
}  # fmt: skip


def bicycle(**changes) -> da.System:
    """Whipple's bicycle, not linearised: z points down, x, y and z are the centre of the rear wheel.

    Both wheels touch the ground (two position constraints) and roll (four velocity constraints).
    """
    names = {name: da.parameters(name)[0] for name in BENCHMARK}
    w, c, g, rR, rF, lean = (names[k] for k in ("w", "c", "g", "rR", "rF", "lean"))
    frame = turned("z", yaw) * turned("x", roll) * turned("y", pitch)
    tilt = turned("y", lean)
    fork = tilt * turned("z", steer) * tilt.T
    down = frame.T * Matrix([0, 0, 1])
    up_fork = fork.T * down
    yaxis = Matrix([0, 1, 0])
    spin = turned("y", pitch).T * (turned("x", roll).T * Matrix([0, 0, yaw.d]) + Matrix([roll.d, 0, 0]))
    spin += Matrix([0, pitch.d, 0])
    steering = tilt * Matrix([0, 0, steer.d])
    spin_fork = fork.T * spin + steering
    hub, axis = Matrix([0, 0, -rR]), Matrix([w + c, 0, 0])
    base = frame.T * Matrix([x.d, y.d, z.d])
    at_axis = base + spin.cross(axis - hub)

    def on_fork(place: Matrix) -> Matrix:
        return fork.T * at_axis + spin_fork.cross(place - axis)

    other = Matrix([w, 0, -rF])
    body, bars = Matrix([names["xB"], 0, names["zB"]]), Matrix([names["xH"], 0, names["zH"]])
    moving = [
        (names["mR"], base, symmetric(names["IRx"], names["IRy"], names["IRx"]), spin + rear.d * yaxis),
        (
            names["mB"],
            base + spin.cross(body - hub),
            symmetric(*(names[f"IB{k}"] for k in ("x", "y", "z", "xz"))),
            spin,
        ),
        (names["mH"], on_fork(bars), symmetric(*(names[f"IH{k}"] for k in ("x", "y", "z", "xz"))), spin_fork),
        (names["mF"], on_fork(other), symmetric(names["IFx"], names["IFy"], names["IFx"]), spin_fork + front.d * yaxis),
    ]
    kinetic = sum(m * (v.T * v)[0] / 2 + half(inertia, spin) for m, v, inertia, spin in moving)
    heights = [z, z + (frame * (body - hub))[2], z + (frame * (axis - hub + fork * (bars - axis)))[2]]
    heights.append(z + (frame * (axis - hub + fork * (other - axis)))[2])
    potential = -sum(m * g * h for (m, *_), h in zip(moving, heights, strict=True))
    flat = sqrt(1 - up_fork[1] ** 2)
    to_rear = rR * (down - sin(roll) * yaxis) / cos(roll)
    to_front = rF * (up_fork - up_fork[1] * yaxis) / flat
    slip_rear = frame * (base + (spin + rear.d * yaxis).cross(to_rear))
    slip_front = frame * fork * (on_fork(other) + (spin_fork + front.d * yaxis).cross(to_front))
    parts = {
        "coordinates": [x, y, z, yaw, roll, pitch, steer, rear, front],
        "kinetic": kinetic,
        "potential": potential,
        "constraints": {
            "rear height": z + rR * cos(roll),
            "front height": heights[3] + rF * flat,
            "rear x": slip_rear[0],
            "rear y": slip_rear[1],
            "front x": slip_front[0],
            "front y": slip_front[1],
        },
        "parameters": BENCHMARK,
        "initial": {
            x: 0, y: 0, z: "-rR", yaw: 0, roll: 0, pitch: 0, steer: 0, rear: 0, front: 0,
            x.d: 4.6, y.d: 0, z.d: 0, yaw.d: 0, roll.d: 0, pitch.d: 0, steer.d: 0,
            rear.d: "-4.6/rR", front.d: "-4.6/rF",
        },
    }  # fmt: skip
    return da.System("bicycle", **{**parts, **changes})


def rattleback(**changes) -> da.System:
    """An ellipsoid that rolls on a plane; its axes of inertia are turned against those of its shape."""
    m, g, a, b, c, h, A, B, C, D = da.parameters("m g a b c h A B C D")
    body = turned("z", yaw) * turned("x", roll) * turned("y", pitch)
    up = body.T * Matrix([0, 0, 1])
    spin = turned("y", pitch).T * (turned("x", roll).T * Matrix([0, 0, yaw.d]) + Matrix([roll.d, 0, 0]))
    spin += Matrix([0, pitch.d, 0])
    reach = sqrt(a**2 * up[0] ** 2 + b**2 * up[1] ** 2 + c**2 * up[2] ** 2)
    # The mass centre is at h below the centre of the ellipsoid, on its own axis.
    contact = Matrix([0, 0, h]) - Matrix([a**2 * up[0], b**2 * up[1], c**2 * up[2]]) / reach
    slip = Matrix([x.d, y.d, z.d]) + body * spin.cross(contact)
    inertia = Matrix([[A, D, 0], [D, B, 0], [0, 0, C]])
    parts = {
        "coordinates": [x, y, z, yaw, roll, pitch],
        "kinetic": m * (x.d**2 + y.d**2 + z.d**2) / 2 + half(inertia, spin),
        "potential": m * g * z,
        "constraints": {"touch": z + h * up[2] - reach, "roll x": slip[0], "roll y": slip[1]},
        "parameters": {
            "m": 1, "g": 9.81, "a": 0.2, "b": 0.03, "c": 0.02, "h": 0.01, "A": 2e-4, "B": 1.6e-3, "C": 1.7e-3,
            "D": -2e-5,
        },
    }  # fmt: skip
    return da.System("rattleback", **{**parts, **changes})
