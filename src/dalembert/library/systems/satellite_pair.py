"""Two satellites kept in one radial line: a formation, and the thrust that keeps it."""

from __future__ import annotations

import numpy as np

from dalembert.library.values import values
from dalembert.model.drawings.shapes import Box, Rod, Shape, Sphere, Trace
from dalembert.model.system import System


def _drawing() -> list[Shape]:
    """A planet, and two satellites with their panels across the line through them."""
    found: list[Shape] = [
        Sphere((0, 0), "r0/5", color="blue"),
        Rod((0, 0), ("x2", "y2"), width="r0/200", color="silver"),
    ]
    for n, color in (("1", "red"), ("2", "orange")):
        at, angle = (f"x{n}", f"y{n}"), f"atan2(y{n}, x{n})"
        found += [
            Trace(at, color=color, opacity=0.6),
            Box(at, ("r0/60", "r0/5"), angle, color="steel"),
            Box(at, ("r0/18", "r0/18"), angle, color=color),
        ]
    return found


def satellite_pair(
    *,
    mu: float = 1.0,
    m1: float = 1.0,
    m2: float = 0.5,
    k: float = 1.1,
    r0: float = 1.0,
    climb: float = 0.1,
    across: float = 1.05,
) -> System:
    """Two satellites in the plane of a Kepler field μ/r², the second held at k times the first's position.

    The first starts at the distance r0 with the radial velocity `climb` and the transverse velocity
    `across`.
    """
    return System(
        "radially aligned satellites",
        coordinates="x1 y1 x2 y2",
        kinetic="m1*(x1'^2 + y1'^2)/2 + m2*(x2'^2 + y2'^2)/2",
        potential="-mu*m1/sqrt(x1^2 + y1^2) - mu*m2/sqrt(x2^2 + y2^2)",
        constraints={"formation x": "x2 - k*x1", "formation y": "y2 - k*y1"},
        parameters={"mu": mu, "m1": m1, "m2": m2, "k": k, "r0": r0, "climb": climb, "across": across},
        initial={
            "x1": "r0",
            "y1": 0,
            "x2": "k*r0",
            "y2": 0,
            "x1'": "climb",
            "y1'": "across",
            "x2'": "k*climb",
            "y2'": "k*across",
        },
        settings={"duration": 20.0, "samples": 401},
        draw=_drawing(),
        description=(
            "Two satellites fly in formation on one line through the planet. Together they move on a "
            "Kepler ellipse of a weaker planet, and the constraint forces are the thrusts that hold the "
            "formation."
        ),
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """A Kepler ellipse for the weaker μ' = μ(m₁ + m₂/k)/(m₁ + k²m₂).

    The thrust on the second satellite is λ = m₂(μ/k² − kμ') r⃗₁/r₁³, on the first −kλ.
    """
    known = values(system)
    m1, m2, k, mu = (known[name] for name in ("m1", "m2", "k", "mu"))
    weaker = mu * (m1 + m2 / k) / (m1 + k**2 * m2)
    first = np.array([known["x1"], known["y1"]])
    position, velocity = kepler(weaker, first, np.array([known["x1'"], known["y1'"]]), np.asarray(t) - known["t"])
    distance = np.linalg.norm(position, axis=-1)
    thrust = m2 * (mu / k**2 - k * weaker) * position / distance[..., None] ** 3
    found: dict[str, np.ndarray] = {}
    for i, axis in enumerate("xy"):
        found |= {
            f"{axis}1": position[..., i],
            f"{axis}2": k * position[..., i],
            f"{axis}1'": velocity[..., i],
            f"{axis}2'": k * velocity[..., i],
            f"ideal {axis}1": -k * thrust[..., i],
            f"ideal {axis}2": thrust[..., i],
            f"multiplier formation {axis}": thrust[..., i],
        }
    return found


def kepler(mu: float, position: np.ndarray, velocity: np.ndarray, elapsed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position and velocity on an elliptic orbit, shape (…, 2), from those at the start.

    Kepler's equation for the change E of the eccentric anomaly:
    √(μ/a³) t = E − (1 − r₀/a) sin E + (r⃗₀·v⃗₀/√(μa)) (1 − cos E).
    """
    elapsed = np.asarray(elapsed, dtype=float)
    r0 = np.linalg.norm(position)
    a = 1 / (2 / r0 - velocity @ velocity / mu)
    if not a > 0:
        raise ValueError("the pair is not bound: its orbit is not an ellipse; start it more slowly")
    motion = np.sqrt(mu / a**3)
    e_cos, e_sin = 1 - r0 / a, position @ velocity / np.sqrt(mu * a)
    anomaly = motion * elapsed
    for _ in range(60):  # Newton; at most a dozen rounds are needed unless the orbit is nearly a line
        residual = anomaly - e_cos * np.sin(anomaly) + e_sin * (1 - np.cos(anomaly)) - motion * elapsed
        step = residual / (1 - e_cos * np.cos(anomaly) + e_sin * np.sin(anomaly))
        anomaly = anomaly - step
        if np.all(np.abs(step) <= 1e-15 * (1 + np.abs(anomaly))):
            break
    c, s = np.cos(anomaly), np.sin(anomaly)
    r = a * (1 - e_cos * c + e_sin * s)
    f = 1 - a / r0 * (1 - c)
    g = elapsed - (anomaly - s) / motion
    df, dg = -np.sqrt(mu * a) / (r * r0) * s, 1 - a / r * (1 - c)
    outer = np.multiply.outer
    return outer(f, position) + outer(g, velocity), outer(df, position) + outer(dg, velocity)
