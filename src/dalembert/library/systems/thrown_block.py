"""A block thrown up a rough incline: dry friction that slips, sticks or turns round."""

from __future__ import annotations

import numpy as np

from dalembert.library.systems.incline import KINETIC, PLANE, POTENTIAL, START, along_plane, block_on_incline
from dalembert.library.values import values
from dalembert.model.friction.laws import Coulomb
from dalembert.model.system import System


def thrown_block(
    *,
    m: float = 1.0,
    g: float = 9.81,
    theta: float = 0.5,
    mu: float = 0.3,
    mu_s: float = 0.4,
    u0: float = 3.0,
) -> System:
    """A block sent up the plane y = x tan θ at speed u0, with Coulomb friction μ and μ_s at rest.

    It stops after u0/(g sin θ + μ g cos θ). With μ_s ≥ tan θ it stays there, otherwise it slides back.
    """
    return System(
        "block thrown up a rough incline",
        coordinates="x y",
        kinetic=KINETIC,
        potential=POTENTIAL,
        constraints=PLANE,
        nonideal=[Coulomb("plane", mu="mu", mu_static="mu_s")],
        parameters={"m": m, "g": g, "theta": theta, "mu": mu, "mu_s": mu_s, "u0": u0},
        initial=START,
        settings={"duration": 1.5, "samples": 201},
        draw=block_on_incline("max(u0^2/g, 0.5)/8"),
        description=(
            "A block slides up a rough plane and stops. If friction at rest can hold it, it stays; here the "
            "plane is too steep, and it slides back, braked by what slowed it before."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Along the plane u̇ = −g sin θ ∓ μ g cos θ against the motion, and u = 0 where μ_s ≥ tan θ holds it."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    pull, rough = known["g"] * np.sin(known["theta"]), known["mu"] * known["g"] * np.cos(known["theta"])
    u0 = known["x'"] / np.cos(known["theta"])
    first = -pull - rough * np.sign(u0)
    stop = -u0 / first if u0 * first < 0 else (np.inf if u0 else 0.0)
    holds = known["mu_s"] >= np.tan(known["theta"])
    second = 0.0 if holds else -pull + rough
    before, after = np.minimum(elapsed, stop), np.maximum(elapsed - stop, 0.0)
    moved = u0 * before + first * before**2 / 2 + second * after**2 / 2
    stopped = elapsed >= stop
    u = np.where(stopped, second * after, u0 + first * before)
    rub = known["m"] * np.where(stopped, pull if holds else rough, -rough * np.sign(u0))
    return along_plane(known, moved, u, rub)
