"""Particles on spheres, cylinders, cones, paraboloids and saddles: inside and on top, two-sided and one-sided."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

import dalembert as da

from .case import Array, Case, Unsuited, drawn
from .particle_reference import Particle, reference

G = 9.81


@dataclass(frozen=True)
class Shape:
    """φ as text in x, y, z and the parameter R, positive above; its gradient and second derivatives by hand; where a
    place (x, y) of the plane lies on it.
    """

    equation: str
    gradient: Callable[[Array, float], Array]
    hessian: Callable[[Array, float], Array]
    height: Callable[[float, float, float], float]


def _round(r: Array) -> float:
    return float(np.hypot(r[0], r[1]))


def _cone_hessian(r: Array, R: float) -> Array:
    x, y, rho = r[0], r[1], _round(r)
    return -R * np.array([[y * y, -x * y, 0], [-x * y, x * x, 0], [0, 0, 0]]) / rho**3


SHAPES = {
    "bowl": Shape(  # inside a sphere
        "R^2 - x^2 - y^2 - z^2",
        lambda r, R: -2 * r,
        lambda r, R: -2 * np.eye(3),
        lambda x, y, R: -np.sqrt(R * R - x * x - y * y),
    ),
    "ball": Shape(  # on top of a sphere
        "x^2 + y^2 + z^2 - R^2",
        lambda r, R: 2 * r,
        lambda r, R: 2 * np.eye(3),
        lambda x, y, R: np.sqrt(R * R - x * x - y * y),
    ),
    "gutter": Shape(  # inside a lying cylinder
        "R^2 - x^2 - z^2",
        lambda r, R: -2 * r * (1, 0, 1),
        lambda r, R: np.diag([-2.0, 0, -2]),
        lambda x, y, R: -np.sqrt(R * R - x * x),
    ),
    "log": Shape(  # on top of it
        "x^2 + z^2 - R^2",
        lambda r, R: 2 * r * (1, 0, 1),
        lambda r, R: np.diag([2.0, 0, 2]),
        lambda x, y, R: np.sqrt(R * R - x * x),
    ),
    "cone": Shape(  # R is its slope
        "z - R*sqrt(x^2 + y^2)",
        lambda r, R: np.array([-R * r[0] / _round(r), -R * r[1] / _round(r), 1]),
        _cone_hessian,
        lambda x, y, R: R * np.hypot(x, y),
    ),
    "paraboloid": Shape(
        "z - (x^2 + y^2)/(2*R)",
        lambda r, R: np.array([-r[0] / R, -r[1] / R, 1]),
        lambda r, R: np.diag([-1 / R, -1 / R, 0]),
        lambda x, y, R: (x * x + y * y) / (2 * R),
    ),
    "saddle": Shape(
        "z - (x^2 - y^2)/(2*R)",
        lambda r, R: np.array([-r[0] / R, r[1] / R, 1]),
        lambda r, R: np.diag([-1 / R, 1 / R, 0]),
        lambda x, y, R: (x * x - y * y) / (2 * R),
    ),
}


def case(seed: int) -> Case:
    return drawn(2, seed, lambda rng: _case(rng, list(SHAPES)[seed % len(SHAPES)]))


def _case(rng: np.random.Generator, name: str) -> Case:
    shape = SHAPES[name]
    one_sided, moving, pushed, given = rng.random(4) < (0.5, 0.7, 0.5, 0.5)
    R = float(rng.uniform(0.2, 0.8) if name == "cone" else rng.uniform(0.8, 2.0))
    m, mu = rng.uniform(0.5, 3), rng.uniform(0.15, 0.9)
    mu_static = mu * (rng.uniform(1.1, 1.5) if rng.random() < 0.5 else 1.0)
    way, far = rng.uniform(0, 2 * np.pi), (0.8 if name == "cone" else R) * rng.uniform(0.2, 0.8)
    x, y = far * np.cos(way), far * np.sin(way)
    r = np.array([x, y, shape.height(x, y, R)])
    n = shape.gradient(r, R)
    v = rng.uniform(-1, 1, 3)
    v -= (v @ n) * n / (n @ n)
    v *= rng.uniform(0.5, 2.0) * moving / np.linalg.norm(v)
    weight = m * G
    push_0 = weight * rng.uniform(-0.2, 0.2, 3) * (1, 1, 0.2) * pushed
    push_1 = weight * rng.uniform(-0.4, 0.4, 3) * (1, 1, 0.1) * pushed
    particle = Particle(
        gradient=lambda r: shape.gradient(r, R),
        hessian=lambda r: shape.hessian(r, R),
        force=lambda t: push_0 + push_1 * t - np.array([0, 0, weight]),
        m=m,
        mu=mu,
        mu_static=mu_static,
        one_sided=bool(one_sided),
        start=(r, v),
    )
    duration = 1.5
    right = reference(particle, duration, "surface")
    places = np.column_stack([right.columns[q] for q in "xyz"])
    if name == "cone" and np.hypot(places[:, 0], places[:, 1]).min() < 0.15:
        raise Unsuited("near the apex")
    if np.abs(places).max() > 50:
        raise Unsuited("far away")
    if one_sided:  # once it has let go it must not land again within the run: a blow is another family
        heights = [_value(name, place, R) for place in places]
        flying = right.contacts["surface"].state == "open"
        if any(height <= 0 for height, open_ in zip(heights, flying, strict=True) if open_):
            raise Unsuited("lands again")
    system = da.System(
        f"particle on a {name}",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        forces={q: f"f{q} + g{q}*t" for q in "xyz"},
        constraints={"surface": f"{shape.equation} {'>=' if one_sided else '='} 0"},
        nonideal=[da.Coulomb("surface", "mu", mu_static="mus", point=("x", "y", "z") if given else None)],
        parameters={"m": m, "g": G, "R": R, "mu": mu, "mus": mu_static}
        | {f"f{q}": value for q, value in zip("xyz", push_0, strict=True)}
        | {f"g{q}": value for q, value in zip("xyz", push_1, strict=True)},
        initial={**dict(zip("xyz", r, strict=True)), **{f"{q}'": value for q, value in zip("xyz", v, strict=True)}},
    )
    kind = " ".join(
        [
            name,
            "one-sided" if one_sided else "two-sided",
            "moving" if moving else "at rest",
            "pushed" if pushed else "free",
            "μs>μ" if mu_static > mu else "μs=μ",
        ]
    )
    return Case(kind, system, duration, right)


def _value(name: str, r: Array, R: float) -> float:
    """φ at a place."""
    x, y, z = r
    rho = x * x + y * y
    return {
        "bowl": R * R - rho - z * z,
        "ball": rho + z * z - R * R,
        "gutter": R * R - x * x - z * z,
        "log": x * x + z * z - R * R,
        "cone": z - R * np.sqrt(rho),
        "paraboloid": z - rho / (2 * R),
        "saddle": z - (x * x - y * y) / (2 * R),
    }[name]
