"""The three examples of Đukić 2012 as particles in generalized coordinates, with the constraints that hold them.

`da.liberate(system)` gives the reaction on every particle; the closed forms here have it as "reaction x_NAME".
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dalembert.library.elliptic import first_kind, jacobi
from dalembert.library.systems.hinged_rods import angular_accelerations, hanging_rods
from dalembert.library.systems.sphere import along_sphere, particle_on_sphere
from dalembert.library.values import values
from dalembert.model.drawings.shapes import Arrow, Plane, Point, Rod, Sphere, Trace
from dalembert.model.particles.particles import Particle, Particles
from dalembert.model.system import System

ON_SPHERE = ("r*sin(u)*cos(w)", "r*sin(u)*sin(w)", "r*cos(u)")
BOB = ("a*sin(alpha)", "-a*cos(alpha)")
PENDULUM = [
    Plane((0, 0), (0, -1), "a/2"),
    Trace(BOB, color="sky", opacity=0.7),
    Rod((0, 0), BOB, width="a/40", color="steel"),
    Point((0, 0), "a/32", color="black"),
    Sphere(BOB, "a/12", color="red"),
    Arrow(BOB, (0, "-m*g"), "impressed"),
]


def liberated_sphere(
    *, m: float = 1.0, g: float = 9.81, r: float = 1.0, polar: float = 0.2, across: float = 0.3, down: float = 0.1
) -> System:
    """A particle on a smooth sphere, by its angles u from the top and w around it, z upwards. Example 1"""
    point = Particle("point", "m", ON_SPHERE)
    return Particles(
        "particle on a sphere, liberated",
        coordinates="u w",
        particles=[point],
        constraints={"sphere": "x_point^2 + y_point^2 + z_point^2 - r^2"},
        potential="m*g*z_point",
        parameters={"m": m, "g": g, "r": r, "polar": polar, "across": across, "down": down},
        initial={"u": "polar", "w": 0, "u'": "down/r", "w'": "across/(r*sin(polar))"},
        settings={"duration": 5.0, "samples": 501},
        description="A particle slides off the top of a sphere, in two angles. Freed along the normal, it shows the "
        "reaction of the surface.",
    ).system.replace(draw=[*particle_on_sphere(ON_SPHERE), Arrow(ON_SPHERE, (0, 0, "-m*g"), "impressed")])


def exact_sphere(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """The angles from the elliptic functions of the height; R = m(gz − v²)/r² r⃗."""
    known = values(system)
    r, u, w = known["r"], known["u"], known["w"]
    place = np.array([np.sin(u) * np.cos(w), np.sin(u) * np.sin(w), np.cos(u)]) * r
    along = r * known["u'"] * np.array([np.cos(u) * np.cos(w), np.cos(u) * np.sin(w), -np.sin(u)])
    around = r * known["w'"] * np.sin(u) * np.array([-np.sin(w), np.cos(w), 0.0])
    velocity = along + around
    cartesian = known | dict(zip(("x", "y", "z"), map(float, place), strict=True))
    cartesian |= dict(zip(("x'", "y'", "z'"), map(float, velocity), strict=True))
    moving = along_sphere(cartesian, np.asarray(t, dtype=float) - known["t"])
    z, distance = moving.z, np.sqrt(r**2 - moving.z**2)
    azimuth = w + moving.azimuth - np.arctan2(cartesian["y"], cartesian["x"])
    reaction = known["m"] * (known["g"] * z - 2 * (moving.energy - known["g"] * z)) / r**2
    return {
        "u": np.arccos(z / r),
        "w": azimuth,
        "u'": -moving.vz / distance,
        "w'": moving.swirl / distance**2,
        "reaction x_point": reaction * distance * np.cos(azimuth),
        "reaction y_point": reaction * distance * np.sin(azimuth),
        "reaction z_point": reaction * z,
    }


def liberated_pendulum(
    *, m: float = 1.0, g: float = 9.81, a: float = 1.0, angle: float = 2.0, spin: float = 0.0
) -> System:
    """A mathematical pendulum by its angle from the vertical, y downwards. Example 2"""
    bob = Particle("bob", "m", ("a*sin(alpha)", "a*cos(alpha)"))
    return Particles(
        "pendulum, liberated",
        coordinates="alpha",
        particles=[bob],
        constraints={"rod": "x_bob^2 + y_bob^2 - a^2"},
        potential="-m*g*y_bob",
        parameters={"m": m, "g": g, "a": a, "angle": angle, "spin": spin},
        initial={"alpha": "angle", "alpha'": "spin"},
        settings={"duration": 10.0, "samples": 501},
        description="A pendulum in its angle alone. Freed along the rod, the bob shows what the rod pulls with.",
    ).system.replace(draw=PENDULUM)


def exact_pendulum(system: System, t: np.ndarray) -> dict[str, np.ndarray]:
    """Jacobi's solution, see `pendulum`; R = −m(a α̇² + g cos α)(sin α, cos α), y downwards."""
    known = values(system)
    elapsed = np.asarray(t, dtype=float) - known["t"]
    m, g, a, start, spin = (known[key] for key in ("m", "g", "a", "alpha", "alpha'"))
    omega = np.sqrt(g / a)
    turns = 2 * np.pi * np.round(start / (2 * np.pi))
    start -= turns
    k = np.hypot(np.sin(start / 2), spin / (2 * omega))
    if k == 0:
        alpha, rate = np.zeros_like(elapsed), np.zeros_like(elapsed)
    elif k < 1:
        phase = first_kind(np.arctan2(np.sin(start / 2), spin / (2 * omega)), k**2)
        sn, cn, _, _ = jacobi(omega * elapsed + phase, k**2)
        alpha, rate = 2 * np.arcsin(k * sn), 2 * k * omega * cn
    else:
        forward = k * omega * np.sign(spin)
        _, _, dn, amplitude = jacobi(forward * elapsed + first_kind(start / 2, k**-2), k**-2)
        alpha, rate = 2 * amplitude, 2 * forward * dn
    pull = m * (a * rate**2 + g * np.cos(alpha))
    return {
        "alpha": alpha + turns,
        "alpha'": rate,
        "reaction x_bob": -pull * np.sin(alpha),
        "reaction y_bob": -pull * np.cos(alpha),
    }


# A uniform rod moves as particles of m/6 at its ends and 2m/3 in the middle: the same mass, centre and moment of
# inertia. Those of OA and AB by their distances along φ and ψ, in lengths of a rod; y downwards, as in the paper.
RODS = {"O": ("0", "0"), "C1": ("1/2", "0"), "A1": ("1", "0"), "A2": ("1", "0"), "C2": ("1", "1/2"), "B": ("1", "1")}


def liberated_rods(
    *, m: float = 1.0, l: float = 1.0, g: float = 9.81, angle1: float = 1.2, angle2: float = -0.5
) -> System:
    """Two hinged rods OA and AB, each as three particles, in their angles φ and ψ from the vertical. Example 3

    (R⁻¹) of "O x", …, "A y" are the forces (8.9) in the joints.
    """
    particles = []
    for name, (first, second) in RODS.items():
        mass = "2*m/3" if name in ("C1", "C2") else "m/6"
        place = tuple(f"l*({first}*{f}(phi) + {second}*{f}(psi))" for f in ("sin", "cos"))
        particles.append(Particle(name, mass, place))
    constraints = {"O x": "x_O", "O y": "y_O", "A x": "x_A2 - x_A1", "A y": "y_A2 - y_A1"}
    for name, (start, middle, end) in {"OA": ("O", "C1", "A1"), "AB": ("A2", "C2", "B")}.items():
        constraints[f"{name} length"] = f"(x_{end} - x_{start})^2 + (y_{end} - y_{start})^2 - l^2"
        constraints |= {f"{name} {s}": f"{s}_{middle} - ({s}_{start} + {s}_{end})/2" for s in ("x", "y")}
    weight = " + ".join(f"{particle.mass}*y_{particle.name}" for particle in particles)
    return Particles(
        "two hinged rods, liberated",
        coordinates="phi psi",
        particles=particles,
        constraints=constraints,
        potential=f"-g*({weight})",
        parameters={"m": m, "l": l, "g": g, "angle1": angle1, "angle2": angle2},
        initial={"phi": "angle1", "psi": "angle2", "phi'": 0, "psi'": 0},
        settings={"duration": 5.0, "samples": 501},
        description="Two hinged rods in two angles, each made of three particles. What the constraints do to each "
        "particle holds the forces in the joints.",
    ).system.replace(draw=hanging_rods(("0", "0"), ("0", "0")))


def forces_rods(system: System, q: np.ndarray, v: np.ndarray, t: np.ndarray) -> dict[str, np.ndarray]:
    """Accelerations of the angles, and what Newton's law leaves for the reaction on every particle, m_i r̈_i − F_i;
    q and v of shape (…, 2).
    """
    del t
    known = values(system)
    phi, psi = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    dphi, dpsi = np.moveaxis(np.asarray(v, dtype=float), -1, 0)
    ddphi, ddpsi = angular_accelerations(known, phi, psi, dphi, dpsi)
    m, l, g = known["m"], known["l"], known["g"]
    bend = [
        (dd * np.cos(angle) - d**2 * np.sin(angle), -dd * np.sin(angle) - d**2 * np.cos(angle))
        for angle, d, dd in ((phi, dphi, ddphi), (psi, dpsi, ddpsi))
    ]
    found = {"phi''": ddphi, "psi''": ddpsi}
    for name, parts in RODS.items():
        first, second = (float(Fraction(part)) for part in parts)
        mass = 2 * m / 3 if name in ("C1", "C2") else m / 6
        found[f"reaction x_{name}"] = mass * l * (first * bend[0][0] + second * bend[1][0])
        found[f"reaction y_{name}"] = mass * (l * (first * bend[0][1] + second * bend[1][1]) - g)
    return found
