"""A mass on a spring that rides on a rough belt: stick and slip, over and over."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Box, Disk, Plane, Rod, Spring
from dalembert.model.friction.laws import Coulomb
from dalembert.model.system import System

# By how far the spring is stretched where the mass tears itself off: belt, rollers and block are drawn after it.
FAR = "mu_s*m*g/k"
ROLLER = f"0.3*{FAR}"
DRAWING = [
    Plane((f"-1.3*{FAR}", f"0.2*{FAR}"), (1, 0), f"0.9*{FAR}"),
    Rod((f"-0.5*{FAR}", 0), (f"1.7*{FAR}", 0), width=f"0.05*{FAR}", color="black"),
    Rod((f"-0.5*{FAR}", f"-2*{ROLLER}"), (f"1.7*{FAR}", f"-2*{ROLLER}"), width=f"0.05*{FAR}", color="black"),
    Disk((f"-0.5*{FAR}", f"-{ROLLER}"), ROLLER, f"-vb*t/({ROLLER})", color="steel"),
    Disk((f"1.7*{FAR}", f"-{ROLLER}"), ROLLER, f"-vb*t/({ROLLER})", color="steel"),
    Spring((f"-1.3*{FAR}", f"0.2*{FAR}"), (f"x - 0.25*{FAR}", f"0.2*{FAR}"), 9, f"0.2*{FAR}"),
    Box(("x", f"y + 0.2*{FAR}"), (f"0.5*{FAR}", f"0.4*{FAR}"), color="wood"),
]


def stick_slip(
    *,
    m: float = 1.0,
    k: float = 10.0,
    g: float = 9.81,
    mu: float = 0.2,
    mu_s: float = 0.4,
    vb: float = 0.3,
) -> System:
    """A mass tied to a wall by a spring k, on a belt that runs at vb, with μ < μ_s.

    It rides along until the spring pulls with μ_s m g, swings back, and rides again.
    """
    return System(
        "mass on a rough belt",
        coordinates="x y",
        kinetic="m*(x'^2 + y'^2)/2",
        potential="k*x^2/2 + m*g*y",
        constraints={"belt": "y"},
        nonideal=[Coulomb("belt", mu="mu", mu_static="mu_s", point=["x - vb*t", "y"])],
        parameters={"m": m, "k": k, "g": g, "mu": mu, "mu_s": mu_s, "vb": vb},
        initial={"x": 0, "y": 0, "x'": "vb", "y'": 0},
        settings={"duration": 12.0, "samples": 501},
        draw=DRAWING,
        description=(
            "A mass on a spring rides on a belt, tears itself off and swings back until it has the speed of "
            "the belt again: a bow on a string. The drive of the belt gives what friction turns into heat."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Riding x = x₀ + v_b t up to μ_s m g/k; then about μ m g/k with ω² = k/m, until ẋ = v_b again. It starts
    riding.
    """
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    m, k, belt = known["m"], known["k"], known["vb"]
    weight, omega = m * known["g"], np.sqrt(k / m)
    far, middle = known["mu_s"] * weight / k, known["mu"] * weight / k
    tear = (far - known["x"]) / belt
    slipping = (2 * np.pi - 2 * np.arctan(omega * (far - middle) / belt)) / omega
    period = slipping + 2 * (far - middle) / belt
    phase = np.where(elapsed < tear, elapsed - tear + period, np.mod(elapsed - tear, period))
    slips = (elapsed >= tear) & (phase < slipping)  # the first ride may be longer than those that follow
    turn = omega * phase
    swing = middle + (far - middle) * np.cos(turn) + belt / omega * np.sin(turn)
    ride = far - belt * (period - phase)
    x = np.where(slips, swing, ride)
    rate = np.where(slips, belt * np.cos(turn) - (far - middle) * omega * np.sin(turn), belt)
    zero = 0 * x
    return {
        "x": x,
        "y": zero,
        "x'": rate,
        "y'": zero,
        "ideal x": zero,
        "ideal y": zero + weight,
        "nonideal x": np.where(slips, known["mu"] * weight, k * x),
        "nonideal y": zero,
        "multiplier belt": zero + weight,
    }
