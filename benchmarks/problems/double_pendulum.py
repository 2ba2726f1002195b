"""The spatial double pendulum, 10 s: two point masses on two rods of 1 m, free to swing in space."""

from __future__ import annotations

import numpy as np

from dalembert import System

from .base import Array, Problem
from .precise import tight_end

DURATION = 10.0
GRAVITY = 9.81
# Moderate swings: errors grow slowly, and no rod comes near the pole of its two angles (rotation about x, then y).
ANGLES = (0.4, 0.3, -0.3, 0.5)
RATES = (0.5, -0.8, 0.3, 0.6)


def rod(a, b, cos=np.cos, sin=np.sin) -> tuple:
    """The direction of a rod that hangs down at a = b = 0, turned by b about y, then by a about x."""
    return -sin(b), sin(a) * cos(b), -cos(a) * cos(b)


def start() -> tuple[Array, Array]:
    """Positions and velocities of the two masses, (x1, y1, z1, x2, y2, z2)."""
    h = 1e-30
    a1, b1, a2, b2 = (complex(x, h * r) for x, r in zip(ANGLES, RATES, strict=True))
    first = np.array(rod(a1, b1, np.cos, np.sin))
    second = first + np.array(rod(a2, b2, np.cos, np.sin))
    both = np.concatenate([first, second])
    return both.real, both.imag / h


def true_end() -> Array:
    """Lagrange's equations in the four angles: J(q)ᵀ (J q̈ + J̇ q̇ − g) = 0 for the two masses."""

    def f(t: float, y: Array) -> Array:
        a1, b1, a2, b2, *rates = y
        r = np.array(rates)

        def parts(a, b, u, w):
            sa, ca, sb, cb = np.sin(a), np.cos(a), np.sin(b), np.cos(b)
            columns = np.array([[0, -cb], [ca * cb, -sa * sb], [sa * cb, ca * sb]])
            turn = np.array(
                [
                    sb * w * w,
                    -sa * cb * (u * u + w * w) - 2 * ca * sb * u * w,
                    ca * cb * (u * u + w * w) - 2 * sa * sb * u * w,
                ]
            )
            return columns, turn

        J1, t1 = parts(a1, b1, r[0], r[1])
        J2, t2 = parts(a2, b2, r[2], r[3])
        J = np.block([[J1, np.zeros((3, 2))], [J1, J2]])
        pull = np.array([0, 0, -GRAVITY] * 2)
        acceleration = np.linalg.solve(J.T @ J, J.T @ (pull - np.concatenate([t1, t1 + t2])))
        return np.concatenate([r, acceleration])

    a1, b1, a2, b2 = tight_end(f, [*ANGLES, *RATES], DURATION)[:4]
    first = np.array(rod(a1, b1))
    return np.concatenate([first, first + np.array(rod(a2, b2))])


def system() -> System:
    q, v = start()
    names = ["x1", "y1", "z1", "x2", "y2", "z2"]
    return System(
        "spatial double pendulum",
        coordinates=" ".join(names),
        kinetic="m*(x1'^2 + y1'^2 + z1'^2 + x2'^2 + y2'^2 + z2'^2)/2",
        potential="m*g*(z1 + z2)",
        constraints={
            "first rod": "x1^2 + y1^2 + z1^2 - 1",
            "second rod": "(x2 - x1)^2 + (y2 - y1)^2 + (z2 - z1)^2 - 1",
        },
        parameters={"m": 1.0, "g": GRAVITY},
        initial=dict(zip(names, q, strict=True)) | dict(zip([f"{name}'" for name in names], v, strict=True)),
    )


PROBLEM = Problem(
    name="double-pendulum",
    title="Spatial double pendulum, 10 s",
    duration=DURATION,
    data={"g": GRAVITY, "angles": ANGLES, "rates": RATES},
    system=system,
    observe=lambda q, v: q,
    compute=true_end,
    recipe="four angles, SciPy DOP853 at rtol 1e-13: both positions at 10 s",
)
