"""N four-bar mechanism: problem A02 of the benchmark library for multibody dynamics (lim.ii.udc.es/mbsbenchmark).

2N + 1 uniform links of 1 m and 1 kg: N + 1 cranks hinged to the ground at x = 0, 1, …, N, their tips B0 … BN joined
by N couplers. Gravity 9.81 m/s². The cranks start upright, the tip B0 at 1 m/s in x. At every passage through the
horizontal all links lie on one line and the mechanism has N + 1 freedoms for an instant: each window may leave as a
parallelogram or crossed. Parallelograms are the motion (the crossed branch would need an impulse): the mechanism is
one pendulum.

The published problem runs 20 s with N = 40; here 10 s with N = 1, 10, 40, observed at the end: the tips B0 and BN.
"""

from __future__ import annotations

import mpmath
import numpy as np

from dalembert import System

from .base import Array, Problem
from .precise import taylor_end

DURATION = 10.0
GRAVITY = 9.81
SPEED = 1.0


def system(windows: int) -> System:
    """Coordinates of the tips (x, y) and of the couplers' centres (u, w).

    A uniform rod moves like 1/6 of its mass at each end and 2/3 at its centre: M is diagonal, every constraint local.
    """
    tips, couplers = range(windows + 1), range(windows)
    ends = [(k > 0) + (k < windows) for k in tips]  # of couplers at tip k
    kinetic = [f"m*{2 + ends[k]}/12*(x{k}'^2 + y{k}'^2)" for k in tips] + [f"m/3*(u{k}'^2 + w{k}'^2)" for k in couplers]
    heights = [f"{3 + ends[k]}/6*y{k}" for k in tips] + [f"2/3*w{k}" for k in couplers]
    rods = {f"crank {k}": f"(x{k} - {k})^2 + y{k}^2 - 1" for k in tips}
    names: list[str] = []
    initial: dict[str, float] = {}
    for k in tips:
        names += [f"x{k}", f"y{k}"]
        initial |= {f"x{k}": k, f"y{k}": 1.0, f"x{k}'": SPEED, f"y{k}'": 0.0}
        if k < windows:
            names += [f"u{k}", f"w{k}"]
            initial |= {f"u{k}": k + 0.5, f"w{k}": 1.0, f"u{k}'": SPEED, f"w{k}'": 0.0}
            rods[f"coupler {k}"] = f"(x{k + 1} - x{k})^2 + (y{k + 1} - y{k})^2 - 1"
            rods[f"centre {k} x"] = f"u{k} - (x{k} + x{k + 1})/2"
            rods[f"centre {k} y"] = f"w{k} - (y{k} + y{k + 1})/2"
    return System(
        f"{windows} four-bar mechanism",
        coordinates=" ".join(names),
        kinetic=" + ".join(kinetic),
        potential="m*g*(" + " + ".join(heights) + ")",
        constraints=rods,
        parameters={"m": 1.0, "g": GRAVITY},
        initial=initial,
    )


def observe(windows: int, q: Array) -> Array:
    """B0 and BN, each from the hinge of its crank."""
    return np.array([q[0], q[1], q[-2] - windows, q[-1]])


def of_angles(first: float, last: float) -> Array:
    """The same from the angles of the first and the last crank, for models in joint angles."""
    return np.array([np.cos(first), np.sin(first), np.cos(last), np.sin(last)])


def energy(windows: int, angle: float, rate: float) -> float:
    """Of the parallelogram motion, with the cranks at `angle` from the x axis."""
    inertia = (windows + 1) / 3 + windows
    return inertia * rate**2 / 2 + GRAVITY * ((windows + 1) / 2 + windows) * float(np.sin(angle))


def true_end(windows: int) -> list[mpmath.mpf]:
    """((N+1)/3 + N) θ̈ = −g ((N+1)/2 + N) cos θ, θ(0) = π/2, θ̇(0) = −1, in 30 digits."""
    with mpmath.workdps(30):
        pull = mpmath.mpf("9.81") * (mpmath.mpf(windows + 1) / 2 + windows)
        inertia = mpmath.mpf(windows + 1) / 3 + windows
        angle, _ = taylor_end(
            lambda t, y: [y[1], -pull / inertia * mpmath.cos(y[0])], [mpmath.pi / 2, mpmath.mpf(-1)], DURATION
        )
        return [mpmath.cos(angle), mpmath.sin(angle)] * 2


def problem(windows: int) -> Problem:
    return Problem(
        name=f"four-bar {windows}",
        title=f"N four-bar mechanism, N = {windows}, 10 s",
        duration=DURATION,
        data={"windows": windows, "g": GRAVITY, "speed": SPEED},
        system=lambda: system(windows),
        observe=lambda q, v: observe(windows, q),
        compute=lambda: true_end(windows),
        recipe="one pendulum equation in 30 digits (mpmath.odefun): B0, BN − (N, 0) at 10 s",
    )


PROBLEMS = tuple(problem(windows) for windows in (1, 10, 40))
