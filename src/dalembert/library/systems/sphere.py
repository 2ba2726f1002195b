"""A particle on a sphere: sliding off its top, or hanging as a spherical pendulum (Đukić 2012, example 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.library.elliptic import first_kind, jacobi, third_kind
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Plane, Point, Rod, Shape, Sphere, Trace
from dalembert.model.system import System

PLACE = ("x", "y", "z")


def particle_on_sphere(place: tuple[str, str, str]) -> list[Shape]:
    """A particle on a ball of radius r that can be seen through."""
    return [
        Sphere((0, 0, 0), "r", color="silver", opacity=0.3),
        Trace(place, color="sky"),
        Sphere(place, "r/16", color="blue"),
    ]


HANGING = [
    Plane((0, 0, 0), (0, 0, -1), "l/2"),
    Trace(PLACE, color="sky", opacity=0.8),
    Rod((0, 0, 0), PLACE, width="l/50", color="steel"),
    Point((0, 0, 0), "l/40", color="black"),
    Sphere(PLACE, "l/14", color="red"),
]


def _on_sphere(
    name: str, radius: str, constraint: str, given: dict[str, float], duration: float, text: str, draw: list[Shape]
) -> System:
    """A particle on a sphere, z upwards, at `polar` from its top, with speeds `across` and `down`."""
    return System(
        name,
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        constraints={constraint: f"x^2 + y^2 + z^2 - {radius}^2"},
        parameters=given,
        initial={
            "x": f"{radius}*sin(polar)",
            "y": 0,
            "z": f"{radius}*cos(polar)",
            "x'": "down*cos(polar)",
            "y'": "across",
            "z'": "-down*sin(polar)",
        },
        settings={"duration": duration, "samples": 501},
        description=text,
        draw=draw,
    )


def sphere_particle(
    *,
    m: float = 1.0,
    g: float = 9.81,
    r: float = 1.0,
    polar: float = 0.2,
    across: float = 0.3,
    down: float = 0.1,
) -> System:
    """A particle on a smooth sphere of radius r, started at the angle `polar` from the top.

    The constraint holds it from both sides: where R points inwards, a particle merely lying on the sphere
    would have left it.
    """
    return _on_sphere(
        "particle on a sphere",
        "r",
        "sphere",
        {"m": m, "g": g, "r": r, "polar": polar, "across": across, "down": down},
        5.0,
        "A particle slides off the top of a smooth sphere that cannot let it go. The reaction changes sign "
        "where a free particle would leave the surface.",
        particle_on_sphere(PLACE),
    )


def spherical_pendulum(
    *,
    m: float = 1.0,
    g: float = 9.81,
    l: float = 1.0,
    polar: float = 2.0,
    across: float = 1.5,
    down: float = 0.0,
) -> System:
    """A mass on a rod of length l swinging in space, started at `polar` from the upward vertical."""
    return _on_sphere(
        "spherical pendulum",
        "l",
        "rod",
        {"m": m, "g": g, "l": l, "polar": polar, "across": across, "down": down},
        10.0,
        "A pendulum swinging in space: it rises and falls between two heights while its plane of swing "
        "advances. The angular momentum about the vertical is conserved.",
        HANGING,
    )


def exact(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The motion by elliptic functions, when it has angular momentum about the vertical; R = m(gz − v²)/r² r⃗.

    With e = v²/2 + gz and h = xẏ − yẋ, r²ż² = 2(e − gz)(r² − z²) − h² = 2g(z − z₁)(z − z₂)(z − z₃)
    and z stays between the two smaller roots:

    z = z₁ + (z₂ − z₁) sn²(κ(t − t₁) | k²), κ² = g(z₃ − z₁)/(2r²), k² = (z₂ − z₁)/(z₃ − z₁)

    and the azimuth is the integral of h/(r² − z²), two elliptic integrals of the third kind.
    """
    known = values(system)
    moving = along_sphere(known, np.asarray(t, dtype=float) - known["t"])
    m, g, r, z, vz = known["m"], known["g"], moving.r, moving.z, moving.vz
    c, s, distance = np.cos(moving.azimuth), np.sin(moving.azimuth), np.sqrt(r**2 - z**2)
    outward, around = -z * vz / distance, moving.swirl / distance
    x, y = distance * c, distance * s
    reaction = m * (g * z - 2 * (moving.energy - g * z)) / r**2
    return {
        "x": x,
        "y": y,
        "z": z,
        "x'": outward * c - around * s,
        "y'": outward * s + around * c,
        "z'": vz,
        "ideal x": reaction * x,
        "ideal y": reaction * y,
        "ideal z": reaction * z,
        f"multiplier {system.constraints[0].name}": reaction / 2,
    }


@dataclass(frozen=True)
class Moving:
    """Height, its rate and azimuth over time; radius, energy and swirl per mass."""

    z: np.ndarray
    vz: np.ndarray
    azimuth: np.ndarray
    r: float
    energy: float
    swirl: float


def along_sphere(known: dict[str, float], elapsed: np.ndarray) -> Moving:
    """The motion from the state x, y, z, x', y', z' in `known`, where g is as well."""
    path = path_of(known)
    r, swirl, low, kappa, k2, start = path.r, path.swirl, path.low, path.kappa, path.k2, path.start
    span = path.high - low
    sn, cn, dn, amplitude = jacobi(kappa * elapsed + first_kind(start, k2), k2)

    def turned(angle: np.ndarray | float) -> np.ndarray:
        """The azimuth as a function of the amplitude."""
        above = third_kind(span / (r - low), angle, k2) / (r - low)
        below = third_kind(-span / (r + low), angle, k2) / (r + low)
        return swirl / (2 * r * kappa) * (above + below)

    azimuth = np.arctan2(known["y"], known["x"]) + turned(amplitude) - turned(start)
    return Moving(low + span * sn**2, 2 * span * kappa * sn * cn * dn, azimuth, r, path.energy, swirl)


@dataclass(frozen=True)
class Path:
    """The constants of a motion: radius, energy and swirl per mass, heights between which it moves; rate κ, parameter
    k² and starting amplitude of its elliptic functions.
    """

    r: float
    energy: float
    swirl: float
    low: float
    high: float
    kappa: float
    k2: float
    start: float


def path_of(known: dict[str, float]) -> Path:
    """From parameters and initial state."""
    g = known["g"]
    r = np.sqrt(known["x"] ** 2 + known["y"] ** 2 + known["z"] ** 2)
    energy = (known["x'"] ** 2 + known["y'"] ** 2 + known["z'"] ** 2) / 2 + g * known["z"]
    swirl = known["x"] * known["y'"] - known["y"] * known["x'"]
    low, high, outside = np.sort(np.roots([2 * g, -2 * energy, -2 * g * r**2, 2 * energy * r**2 - swirl**2]).real)
    kappa, k2 = np.sqrt(g * (outside - low) / (2 * r**2)), (high - low) / (outside - low)
    return Path(r, energy, swirl, low, high, kappa, k2, _starting_amplitude(known, low, high, kappa, k2))


def _starting_amplitude(known: dict[str, float], low: float, high: float, kappa: float, k2: float) -> float:
    """am at the start; from twice the angle, which is well conditioned at the turning points too."""
    span = high - low
    if span == 0.0:
        return 0.0
    dn = np.sqrt(1 - k2 * np.clip((known["z"] - low) / span, 0, 1))
    return np.arctan2(known["z'"] / (kappa * dn), low + high - 2 * known["z"]) / 2


def forces(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """The reaction R = m(gz − v²)/r² r⃗ at given states, q and v of shape (…, 3)."""
    del t  # the sphere is at rest
    known = values(system)
    q, v = np.asarray(q, dtype=float), np.asarray(v, dtype=float)
    scale = known["m"] * (known["g"] * q[..., 2] - np.sum(v**2, axis=-1)) / np.sum(q**2, axis=-1)
    return {f"ideal {name}": scale * q[..., i] for i, name in enumerate("xyz")} | {
        f"multiplier {system.constraints[0].name}": scale / 2
    }
