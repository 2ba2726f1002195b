"""The orbits of the penny and its relatives: their angles and lengths, and Figures 2 and 3 of Flannery 2011."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import asin, inf, pi
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from dalembert.errors import ModelError
from dalembert.library.values import values
from dalembert.model.system import System
from dalembert.results import Result, plain_values

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from dalembert.motion.result.motion import Motion
    from dalembert.view.figures import Given

# R'/a of the panels of Figure 2, in units of a, and of Figure 3, in units of R'.
FIGURE_2, FIGURE_3 = (0.0, 2.0, 3.0, 4.0, 6.0), (12.0, 24.0, 48.0, 96.0)
# How far the heading turns: three periods of the pattern, and what the caption of Figure 3 says.
TURNED_2, TURNED_3 = 6 * pi, 21 * pi
# Output times in a turn, enough for a smooth curve.
SAMPLES = 120


@dataclass(frozen=True)
class Orbit(Result):
    """The orbit (79) with the two lengths a = g_d/(4ω²) and R' = v₀/ω, from the origin with the heading downhill.

    Angles are None where the orbit has none: γ, φ₁, φ₂ for R' > 4a, where nothing stops, and φ₃, φ₄ for R' > 2a. Where
    R' < 0, it begins backward; the formulas are the same.
    """

    a: float
    radius: float

    @staticmethod
    def of(system: System) -> Orbit:
        """The orbit of a penny, skater or cart that starts as those of the library do."""
        known = values(system)
        if not {"phi", "phi'", "g", "alpha", "x'"} <= set(known) or known["phi"] != 0 or known["phi'"] == 0:
            raise ModelError(
                system.name, ["an orbit (79) is that of a penny, skater or cart with phi = 0 and phi' ≠ 0 at the start"]
            )
        wheels = 2 if "psi1" in known else 1 if "psi" in known else 0
        inertia = 1 + wheels * known.get("beta", 0.0)
        omega = known["phi'"]
        return Orbit(known["g"] * np.sin(known["alpha"]) / (4 * omega**2 * inertia), known["x'"] / omega)

    @property
    def ratio(self) -> float:
        """R'/a; infinite on a horizontal plane."""
        return self.radius / self.a if self.a else inf

    # -- the curve

    def x(self, phi: ArrayLike) -> np.ndarray:
        """(79a)."""
        phi = np.asarray(phi, dtype=float)
        return self.a * (1 - np.cos(2 * phi)) + self.radius * np.sin(phi)

    def y(self, phi: ArrayLike) -> np.ndarray:
        """(79b)."""
        phi = np.asarray(phi, dtype=float)
        return self.a * (2 * phi - np.sin(2 * phi)) + self.radius * (1 - np.cos(phi))

    def s(self, phi: ArrayLike, start: ArrayLike = 0.0) -> np.ndarray:
        """(79c): how far it has rolled from the heading `start`, backward rolling counted negative."""
        phi, start = np.asarray(phi, dtype=float), np.asarray(start, dtype=float)
        return self.radius * (phi - start) + 4 * self.a * (np.cos(start) - np.cos(phi))

    def length(self, start: float, end: float) -> float:
        """The length of the path between two headings, to and fro: (85)."""
        start, end = sorted((start, end))
        turns = []
        if self.gamma is not None:
            first, last = int(np.floor(start / (2 * pi))), int(np.ceil(end / (2 * pi)))
            both = (pi + self.gamma, 2 * pi - self.gamma)
            turns = [2 * pi * k + angle for k in range(first - 1, last + 1) for angle in both]
        marks = np.array([start, *(angle for angle in turns if start < angle < end), end])
        return float(np.abs(self.s(marks[1:], marks[:-1])).sum())

    def stretch(self, phi: ArrayLike) -> np.ndarray:
        """ds over that of the pure cycloid of the same a at the same heading, 1 + R'/(4a sin φ): case 2. Above 1 the
        path is longer there, below it shorter, negative where it rolls the other way; infinite at the cusps, φ = nπ.
        """
        phi = np.asarray(phi, dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            return 1 + self.radius / (4 * self.a * np.sin(phi))

    # -- its angles and places

    @property
    def gamma(self) -> float | None:
        """γ = arcsin(R'/4a)."""
        return asin(self.radius / (4 * self.a)) if self.a and abs(self.ratio) <= 4 else None

    @property
    def phi1(self) -> float | None:
        """φ₁ = π + γ, where it stops and begins to roll backward."""
        return None if self.gamma is None else pi + self.gamma

    @property
    def phi2(self) -> float | None:
        """φ₂ = 2π − γ, where it stops and rolls forward again."""
        return None if self.gamma is None else 2 * pi - self.gamma

    @property
    def phi3(self) -> float | None:
        """φ₃ = π + arcsin(R'/2a), where it passes its initial level once more."""
        return pi + asin(self.radius / (2 * self.a)) if self.a and abs(self.ratio) <= 2 else None

    @property
    def phi4(self) -> float | None:
        """φ₄ = 2π − arcsin(R'/2a)."""
        return None if self.phi3 is None else 3 * pi - self.phi3

    @property
    def rest(self) -> float | None:
        """x where it stops, −R'²/8a."""
        return None if self.gamma is None else -(self.radius**2) / (8 * self.a)

    @property
    def lowest(self) -> float:
        """x₊ = x(π/2) = 2a + R', the primary minimum of the picture."""
        return 2 * self.a + self.radius

    @property
    def secondary(self) -> float:
        """x₋ = x(3π/2) = 2a − R': the secondary minimum where it stops on the way, the highest place elsewhere."""
        return 2 * self.a - self.radius

    @property
    def downhill_range(self) -> float:
        """ΔX: 2a + R' + R'²/8a where it stops on the way, 2R' elsewhere."""
        return max(self._levels) - min(self._levels)

    @property
    def _levels(self) -> tuple[float, ...]:
        """x where it is highest or lowest for a while: at π/2, at 3π/2, and where it stops."""
        return (self.lowest, self.secondary, *([] if self.rest is None else [self.rest]))

    @property
    def drift(self) -> float:
        """ΔY = 4πa, from one minimum to the next like it."""
        return 4 * pi * self.a

    def to_dict(self) -> dict[str, Any]:
        keys = ("a", "radius", "ratio", "gamma", "phi1", "phi2", "phi3", "phi4", "rest", "lowest", "secondary")
        return {key: plain_values(getattr(self, key)) for key in (*keys, "downhill_range", "drift")}

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None) -> Figure:
        """Three periods of the orbit; written to `path` where that is given. axes: one panel to draw into."""
        from dalembert.view.plots.orbits import draw_orbit

        return draw_orbit(self, path, axes)

    def text(self) -> str:
        stops = {"γ": self.gamma, "φ₁": self.phi1, "φ₂": self.phi2, "x": self.rest}
        crossings = {"φ₃": self.phi3, "φ₄": self.phi4}
        lines = [
            f"orbit with a = {self.a:.6g}, R' = {self.radius:.6g}, R'/a = {self.ratio:.6g}",
            f"  stops: {_list_values(stops)}" if self.rest is not None else "  never stops",
            *([f"  passes its initial level once more: {_list_values(crossings)}"] if self.phi3 is not None else []),
            f"  downhill range {self.downhill_range:.6g}, lowest place x = {max(self._levels):.6g}, "
            f"drift {self.drift:.6g}",
            f"  lengths: {self.length(0, pi):.6g} (0 to π), {self.length(pi, 2 * pi):.6g} (π to 2π)",
        ]
        return "\n".join(lines)


def _list_values(values: Mapping[str, float | None]) -> str:
    return ", ".join(f"{name} = {value:.6g}" for name, value in values.items() if value is not None)


@dataclass(frozen=True, eq=False)
class OrbitFigure(Result):
    """One figure of the paper: simulated motions, one for each panel, drawn in units of a or of R'."""

    number: int
    unit: str
    orbits: tuple[Orbit, ...]
    motions: tuple[Motion, ...]

    def curve(self, panel: int) -> tuple[np.ndarray, np.ndarray]:
        """y and x of a panel in its unit, as drawn: across the plane and downhill."""
        orbit, motion = self.orbits[panel], self.motions[panel]
        unit = orbit.a if self.unit == "a" else orbit.radius
        return motion["y"] / unit, motion["x"] / unit

    def text(self) -> str:
        panels = ", ".join(f"{orbit.ratio:g}" for orbit in self.orbits)
        return f"Figure {self.number}: orbits in units of {self.unit}, R'/a = {panels}"

    def to_dict(self) -> dict[str, Any]:
        orbits = [orbit.to_dict() for orbit in self.orbits]
        return {"number": self.number, "unit": self.unit, "orbits": orbits}

    def plot(self, path: str | os.PathLike[str] | None = None, *, axes: Given = None) -> Figure:
        """Draw it; write it to `path` where that is given. axes: as many panels as there are orbits."""
        from dalembert.view.plots.orbits import draw

        return draw(self, path, axes)


def penny_orbits(name: str = "penny") -> tuple[OrbitFigure, OrbitFigure]:
    """Figures 2 and 3 of Flannery 2011: R'/a = 0, 2, 3, 4, 6 in units of a, and 12, 24, 48, 96 in units of R'.

    name: "penny", or what follows the same orbits, "skater", "cart", "upright_penny".

    >>> import dalembert as da
    >>> figure_2, figure_3 = da.library.penny_orbits()  # doctest: +SKIP
    >>> figure_2.plot("figure2.png")  # doctest: +SKIP
    """
    return (
        _figure(2, "a", name, FIGURE_2, TURNED_2),
        _figure(3, "R'", name, FIGURE_3, TURNED_3),
    )


def _figure(number: int, unit: str, name: str, ratios: Sequence[float], turned: float) -> OrbitFigure:
    from dalembert import library

    systems = [library.get(name, ratio=ratio) for ratio in ratios]
    orbits = tuple(Orbit.of(system) for system in systems)
    samples = int(SAMPLES * turned / (2 * pi)) + 1
    motions = tuple(system.simulate(turned / abs(values(system)["phi'"]), samples=samples) for system in systems)
    return OrbitFigure(number, unit, orbits, motions)
