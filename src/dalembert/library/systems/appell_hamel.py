"""The Appell-Hamel particle with a constraint that brakes (Udwadia 2005, example 1)."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Disk, Plane, Rod, Sphere, Trace
from dalembert.model.friction.laws import Work
from dalembert.model.system import System

SPEED = "sqrt(x'^2 + y'^2 + z'^2)"
DRAG = Work({q: f"-a0*{SPEED}*{q}'" for q in "xyz"}, constraint="cone")


# A particle and its shadow on the ground.
IN_SPACE = [
    Plane((0, 0, 0), (0, 0, 1)),
    Trace(("x", "y", 0), color="grey", opacity=0.6),
    Rod(("x", "y", 0), ("x", "y", "z"), width=0.06, color="silver"),
    Trace(("x", "y", "z"), color="sky"),
    Sphere(("x", "y", "z"), 0.5, color="blue"),
]
# Appell's machine: a wheel of radius 1 rolls on a table, and lets down a weight by as much as it rolls.
MACHINE = [
    Plane((0, 0, 0), (0, 0, 1)),
    Trace(("x", "y", 0), color="grey", opacity=0.6),
    Trace(("x", "y", "z"), color="sky"),
    Rod(("x", "y", 1), ("x", "y", "z"), width=0.08, color="grey"),
    Disk(("x", "y", 1), 1, "-z", axis=("-y'", "x'", 0), thickness=0.25, color="copper"),
    Sphere(("x", "y", "z"), 0.5, color="steel"),
]


def appell_hamel(
    *,
    m: float = 1.0,
    gravity: float = 9.81,
    push: float = 0.8,
    alpha: float = 1.5,
    depth: float = 0.5,
    rate: float = 2.0,
    a0: float = 0.15,
    climb: float = 0.5,
    direction: float = 0.6,
) -> System:
    """ẋ² + ẏ² − ż² = 2α g(t), g(t) = 1 + depth·sin(rate·t), with the drag C = −a₀|u|u. (27)-(30)

    Gravity and a push along x act on it. The start has the vertical velocity `climb` and the horizontal
    `direction`; it satisfies the constraint at t = 0.
    """
    return System(
        "Appell-Hamel particle with drag",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*gravity*z",
        forces={"x": "push"},
        constraints={"cone": "(x'^2 + y'^2 - z'^2)/2 - alpha*(1 + depth*sin(rate*t))"},
        nonideal=[DRAG],
        parameters={
            "m": m,
            "gravity": gravity,
            "push": push,
            "alpha": alpha,
            "depth": depth,
            "rate": rate,
            "a0": a0,
            "climb": climb,
            "direction": direction,
        },
        initial={
            "x": 0,
            "y": 0,
            "z": 0,
            "x'": "sqrt(2*alpha + climb^2)*cos(direction)",
            "y'": "sqrt(2*alpha + climb^2)*sin(direction)",
            "z'": "climb",
        },
        settings={"duration": 5.0, "samples": 201},
        draw=IN_SPACE,
        description=(
            "A particle whose velocity must lie on a hyperboloid that breathes in time; the mechanism that "
            "enforces this also brakes it. The braking force that results is not the drag C itself, but "
            "what the constraint leaves of it."
        ),
    )


def forces(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """(30) at given states: q and v of shape (…, 3), t of shape (…). The motion itself has no closed form.

    Q_i = (m α ġ − ẋF_x − ẏF_y + żF_z)/u² (ẋ, ẏ, −ż),  Q_ni = −(2a₀/|u|)(ẋż², ẏż², ż(ẋ²+ẏ²)).
    """
    del q  # neither force depends on the position
    known = values(system)
    vx, vy, vz = np.moveaxis(np.asarray(v, dtype=float), -1, 0)
    squared = vx**2 + vy**2 + vz**2
    growth = known["alpha"] * known["depth"] * known["rate"] * np.cos(known["rate"] * np.asarray(t, dtype=float))
    scale = (known["m"] * growth - vx * known["push"] - vz * known["m"] * known["gravity"]) / squared
    drag = -2 * known["a0"] / np.sqrt(squared)
    return {
        "ideal x": scale * vx,
        "ideal y": scale * vy,
        "ideal z": -scale * vz,
        "nonideal x": drag * vx * vz**2,
        "nonideal y": drag * vy * vz**2,
        "nonideal z": drag * vz * (vx**2 + vy**2),
    }


def appell_fall(
    *, m: float = 1.0, gravity: float = 9.81, a0: float = 0.15, sink: float = 0.5, direction: float = 0.6
) -> System:
    """Appell's own constraint ẋ² + ẏ² = ż² (α = 0) with the same drag; it starts sinking at speed `sink`."""
    return System(
        "Appell's particle falling with drag",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*gravity*z",
        constraints={"cone": "(x'^2 + y'^2 - z'^2)/2"},
        nonideal=[DRAG],
        parameters={"m": m, "gravity": gravity, "a0": a0, "sink": sink, "direction": direction},
        initial={
            "x": 0,
            "y": 0,
            "z": 0,
            "x'": "sink*cos(direction)",
            "y'": "sink*sin(direction)",
            "z'": "-sink",
        },
        settings={"duration": 4.0, "samples": 201},
        draw=MACHINE,
        description=(
            "For every metre it sinks, the particle must advance a metre. It falls with half of gravity at "
            "first, and the braking of its constraint brings it to a terminal speed."
        ),
    )


def exact_fall(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """With w = −ż > 0, (30) becomes m ẇ = mg/2 − √2 a₀ w² in a fixed direction: w = w∞ tanh(…).

    For 0 ≤ w₀ < w∞ = √(mg/(2√2 a₀)), which is every start slower than the terminal speed.
    """
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    m, half = known["m"], known["gravity"] / 2
    sink = -known["z'"]
    ahead_x, ahead_y = known["x'"] / sink, known["y'"] / sink
    terminal = np.sqrt(m * half / (np.sqrt(2) * known["a0"]))
    phase = np.arctanh(sink / terminal)
    s = phase + half * elapsed / terminal
    w = terminal * np.tanh(s)
    # log(cosh s) − log(cosh phase), written so that large s cannot overflow
    fallen = terminal**2 / half * (np.logaddexp(s, -s) - np.logaddexp(phase, -phase))
    drag = np.sqrt(2) * known["a0"] * w**2
    return {
        "x": known["x"] + ahead_x * fallen,
        "y": known["y"] + ahead_y * fallen,
        "z": known["z"] - fallen,
        "x'": ahead_x * w,
        "y'": ahead_y * w,
        "z'": -w,
        "ideal x": np.full_like(w, m * half * ahead_x),
        "ideal y": np.full_like(w, m * half * ahead_y),
        "ideal z": np.full_like(w, m * half),
        "nonideal x": -drag * ahead_x,
        "nonideal y": -drag * ahead_y,
        "nonideal z": drag,
    }
