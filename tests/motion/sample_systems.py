"""A few systems with known answers, used by the tests of this folder."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

import dalembert as da

x, y, z, psi, phi = da.coordinates("x y z psi phi")
m, g, l, R, beta, alpha, mu, theta = da.parameters("m g l R beta alpha mu theta")


def pendulum(**changes: Any) -> da.System:
    """A mass on a rod in a vertical plane, in Cartesian coordinates; at rest, level, at first."""
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "potential": m * g * y,
        "constraints": {"rod": x**2 + y**2 - l**2},
        "parameters": {m: 2, g: 9.81, l: 1.5},
        "initial": {x: l, y: 0, x.d: 0, y.d: 0},
    }
    return da.System("pendulum", **{**parts, **changes})


def falling(**changes: Any) -> da.System:
    """One free coordinate."""
    parts: dict[str, Any] = {"coordinates": [x], "kinetic": x.d**2 / 2, "initial": {x: 1, x.d: 0}}
    return da.System("one coordinate", **{**parts, **changes})


PENNY = {"m": 0.6, "R": 0.25, "beta": 0.5, "g": 9.81, "alpha": 0.4}
SPEED, TURN = 0.9, 1.3  # initial speed of the centre and rate of turning


def penny(**changes: Any) -> da.System:
    """A penny that rolls on an incline without slipping."""
    parts: dict[str, Any] = {
        "coordinates": [x, y, psi, phi],
        "kinetic": m * (x.d**2 + y.d**2) / 2 + beta * m * R**2 * psi.d**2 / 2 + m * R**2 * phi.d**2 / 8,
        "potential": -m * g * x * sp.sin(alpha),
        "constraints": {"roll x": x.d - R * psi.d * sp.cos(phi), "roll y": y.d - R * psi.d * sp.sin(phi)},
        "parameters": PENNY,
        "initial": {x: 0, y: 0, psi: 0, phi: 0, x.d: SPEED, y.d: 0, psi.d: SPEED / 0.25, phi.d: TURN},
    }
    return da.System("penny", **{**parts, **changes})


def penny_path(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """x and y of the penny: section 7 of the theory."""
    w, b = TURN, PENNY["beta"]
    a = PENNY["g"] * np.sin(PENNY["alpha"]) / (4 * w**2 * (1 + b))
    radius = SPEED / w
    return (
        a * (1 - np.cos(2 * w * t)) + radius * np.sin(w * t),
        a * (2 * w * t - np.sin(2 * w * t)) + radius * (1 - np.cos(w * t)),
    )


def sliding(law: dict[Any, Any] | None = None, **changes: Any) -> da.System:
    """A block that slides up a rough incline; its friction follows the ideal force of the plane."""
    size = sp.sqrt(da.ideal(x) ** 2 + da.ideal(y) ** 2) / sp.sqrt(x.d**2 + y.d**2)
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "potential": m * g * y,
        "constraints": {"plane": y - x * sp.tan(theta)},
        "nonideal": [da.Work(law or {x: -mu * size * x.d, y: -mu * size * y.d}, constraint="plane")],
        "parameters": {m: 1.7, g: 9.81, theta: 0.5, mu: 0.3},
        "initial": {x: 0, y: 0, x.d: 4 * np.cos(0.5), y.d: 4 * np.sin(0.5)},
    }
    return da.System("sliding block", **{**parts, **changes})


def steered(**changes: Any) -> da.System:
    """A particle whose acceleration has the size 2, pushed by a force that turns at the rate 1.5."""
    parts: dict[str, Any] = {
        "coordinates": [x, y],
        "kinetic": m * (x.d**2 + y.d**2) / 2,
        "forces": {x: 5 * sp.cos(1.5 * da.t), y: 5 * sp.sin(1.5 * da.t)},
        "constraints": {"size": x.dd**2 + y.dd**2 - 4},
        "parameters": {m: 0.7},
        "initial": {x: 0.1, y: -0.2, x.d: 0.3, y.d: 0.4},
    }
    return da.System("steered particle", **{**parts, **changes})
