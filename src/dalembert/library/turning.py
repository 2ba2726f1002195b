"""What the penny and its relatives share: a point going along a heading that turns steadily.

The heading is φ = φ₀ + ωt and the speed along it obeys v̇ = g_d cos φ, where g_d is the downhill gravity
that is left after the inertia of whatever rolls has taken its share (Flannery 2011, section VI, (62)-(68)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Track:
    """The motion of such a point, each field an array over the times asked for."""

    x: np.ndarray
    y: np.ndarray
    heading: np.ndarray
    path: np.ndarray
    speed: np.ndarray

    @property
    def velocity(self) -> tuple[np.ndarray, np.ndarray]:
        return self.speed * np.cos(self.heading), self.speed * np.sin(self.heading)

    def fixed_axes(self, forward: np.ndarray, sideways: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Components along x and y of a vector given along î (forward) and ĵ (to the left)."""
        c, s = np.cos(self.heading), np.sin(self.heading)
        return forward * c - sideways * s, forward * s + sideways * c


def turning(start: Mapping[str, float], downhill: float, t: np.ndarray) -> Track:
    """The track (68), for any initial heading; `downhill` is g_d, `start` holds the initial values by name.

    With 4aω² = g_d and V = v₀ − 4aω sin φ₀: v = V + 4aω sin φ, and x, y, s are the integrals of v cos φ, v
    sin φ, v.
    """
    elapsed = np.asarray(t, dtype=float) - start["t"]
    omega, phi0 = start["phi'"], start["phi"]
    v0 = start["x'"] * np.cos(phi0) + start["y'"] * np.sin(phi0)
    phi = phi0 + omega * elapsed
    if omega == 0.0:  # without turning it goes straight with constant acceleration, limit (c) of the paper
        path = v0 * elapsed + downhill * np.cos(phi0) * elapsed**2 / 2
        x, y = start["x"] + path * np.cos(phi0), start["y"] + path * np.sin(phi0)
        return Track(x, y, phi, path, v0 + downhill * np.cos(phi0) * elapsed)
    a = downhill / (4 * omega**2)
    steady = v0 - 4 * a * omega * np.sin(phi0)

    def integrals(angle: np.ndarray | float) -> np.ndarray:
        """∫v cos φ dt and ∫v sin φ dt as functions of the heading."""
        circle, drift = steady / omega, a * 2 * angle
        return np.array(
            [
                circle * np.sin(angle) - a * np.cos(2 * angle),
                drift - a * np.sin(2 * angle) - circle * np.cos(angle),
            ]
        )

    x, y = (integrals(phi).T - integrals(phi0)).T
    path = steady * elapsed - 4 * a * (np.cos(phi) - np.cos(phi0))
    return Track(start["x"] + x, start["y"] + y, phi, path, steady + 4 * a * omega * np.sin(phi))


def starting_speed(ratio: float, downhill: float, omega: float) -> float:
    """v₀ for which R'/a has the given ratio, R' = v₀/ω and a = g_d/(4ω²)."""
    return ratio * downhill / (4 * omega)
