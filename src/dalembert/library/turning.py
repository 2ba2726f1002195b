"""What the penny and its relatives share: a point going along a heading that turns steadily.

The heading is φ = φ₀ + ωt and the speed along it obeys v̇ = g_d cos φ, where g_d is the downhill gravity
that is left after the inertia of whatever rolls has taken its share (Flannery 2011, section VI, (62)-(68)).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import pi, sin
from typing import Any

import numpy as np

from dalembert.errors import ModelError

# Below this angle of turning, quotients such as (τ − sin τ)/τ² are taken from their series: at 0.01 three terms of
# it leave out less than 1e-14 of the first, and rounding of the quotient itself would be 1e-12 below.
SMALL = 0.01
# R'/a where a system is built without one: the penny goes forward all the time.
RATIO = 6.0


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

    def radius(self, omega: float) -> np.ndarray:
        """ρ = v/ω, (73): positive where the centre of curvature lies along ĵ, infinite without turning."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.speed / omega


def track_of(start: Mapping[str, float], downhill: float, t: np.ndarray) -> Track:
    """The track (68), for any initial heading; `downhill` is g_d, `start` holds the initial values by name.

    With C = ∫cos φ dt: v = v₀ + g_d C, x = v₀C + g_d C²/2, and y, s are the integrals of v sin φ and v. All are written
    with τ = ωt in quotients that are finite for τ = 0, where it goes straight on: limit (c) of the paper.
    """
    elapsed = np.asarray(t, dtype=float) - start["t"]
    omega, phi0 = start["phi'"], start["phi"]
    c0, s0 = np.cos(phi0), np.sin(phi0)
    v0 = start["x'"] * c0 + start["y'"] * s0
    tau = omega * elapsed
    chord = elapsed * np.sinc(tau / (2 * pi))
    along, across = chord * np.cos(phi0 + tau / 2), chord * np.sin(phi0 + tau / 2)  # ∫cos φ dt, ∫sin φ dt
    squares = _over_square(tau, (tau - np.sin(2 * tau) / 2) / 2, 1 / 3, -1 / 15, 2 / 315)  # ∫sin²u du, over τ²
    short = _over_square(tau, tau - np.sin(tau), 1 / 6, -1 / 120, 1 / 5040)
    half, whole = np.sinc(tau / (2 * pi)) ** 2 / 2, np.sinc(tau / pi) ** 2  # (1 − cos τ)/τ², sin²τ/τ²
    # ∫C sin φ dt, over t²: sin φ = s₀ cos u + c₀ sin u and ωC = s₀(cos u − 1) + c₀ sin u multiplied out
    drift = s0**2 * (short - squares) + s0 * c0 * (whole - half) + c0**2 * squares
    x = v0 * along + downhill * along**2 / 2
    y = v0 * across + downhill * elapsed**2 * drift
    path = v0 * elapsed + downhill * elapsed**2 * (c0 * half - s0 * short)
    return Track(start["x"] + x, start["y"] + y, phi0 + tau, path, v0 + downhill * along)


def _over_square(tau: np.ndarray, value: np.ndarray, first: float, third: float, fifth: float) -> np.ndarray:
    """value/τ², where value is τ² (first τ + third τ³ + fifth τ⁵ + …)."""
    small = np.abs(tau) < SMALL
    return np.where(small, first * tau + third * tau**3 + fifth * tau**5, value / np.where(small, 1.0, tau) ** 2)


def starting_speed(
    name: str,
    ratio: float | None,
    v0: float | None,
    *,
    g: float,
    alpha: float,
    omega: float,
    beta: float = 0.0,
    wheels: int = 1,
) -> float:
    """v₀ as given, or that for which R'/a has the given ratio: R' = v₀/ω, a = g_d/(4ω²), g_d = g sin α/(1 + β).

    beta, wheels: what each of the bodies that roll adds to 1, and how many there are.
    """
    given = {"g": g, "alpha": alpha, "omega": omega, "beta": beta}
    given |= {key: value for key, value in (("ratio", ratio), ("v0", v0)) if value is not None}
    faults = [f"{key}: a number is wanted, got {value!r}" for key, value in given.items() if not _is_number(value)]
    if faults:
        raise ModelError(name, faults)
    if ratio is not None and v0 is not None:
        raise ModelError(name, ["ratio and v0 both set the starting speed: give one of them"])
    if beta < 0:
        raise ModelError(name, ["beta is a moment of inertia over m R^2: it cannot be negative"])
    if v0 is not None:
        return float(v0)
    weight = g * sin(alpha)
    if omega == 0 or weight == 0:
        why = "omega = 0, it goes straight" if omega == 0 else "nothing pulls it downhill, a = 0"
        raise ModelError(name, [f"{why}: there is no ratio R'/a; give the starting speed v0"])
    return float((RATIO if ratio is None else ratio) * weight / (1 + wheels * beta) / (4 * omega))


def _is_number(value: Any) -> bool:
    """Numbers of any kind, as sympy's pi/6."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (str, bytes))


def two_turns(omega: float) -> float:
    """How long two turns take; without turning, the time of two turns at a unit rate."""
    return 4 * pi / abs(omega or 1.0)
