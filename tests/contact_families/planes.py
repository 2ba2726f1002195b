"""Particles on planes z = a x + b y: flat and tilted, pushed or not, from rest or sliding, with and without μ_s > μ."""

from __future__ import annotations

import numpy as np

import dalembert as da

from .case import Case, drawn
from .particle_reference import Particle, reference

G = 9.81


def case(seed: int) -> Case:
    return drawn(1, seed, _case)


def _case(rng: np.random.Generator) -> Case:
    flat, given, moving, one_sided = rng.random(4) < (0.3, 0.5, 0.6, 0.3)
    push = rng.choice(["free", "constant", "growing"], p=[0.25, 0.3, 0.45])
    if not moving and push == "free":
        push = "growing"
    a, b = (0.0, 0.0) if flat else rng.uniform(-0.8, 0.8, 2)
    m, mu = rng.uniform(0.5, 3), rng.uniform(0.2, 1.2)
    mu_static = mu * (rng.uniform(1.1, 1.6) if rng.random() < 0.5 else 1.0)
    weight = m * G
    # Sideways rather than up, so that a one-sided plane is not left.
    push_0 = weight * rng.uniform(-0.5, 0.5, 3) * (1, 1, 0.2) * (push != "free")
    push_1 = weight * rng.uniform(-0.6, 0.6, 3) * (1, 1, 0.1) * (push == "growing")
    x, y, vx, vy = rng.uniform(-1, 1, 4)
    speed = rng.uniform(0.5, 3) * moving
    v = speed * np.array([vx, vy, a * vx + b * vy]) / np.hypot(vx, vy)
    if moving and not flat and rng.random() < 0.2:
        # Straight up the slope of a plane that is not pushed sideways: it stops and stays, or turns back.
        push, push_0, push_1 = "free", 0 * push_0, 0 * push_1
        v = speed * np.array([a, b, a * a + b * b]) / np.hypot(a, b)
    n = np.array([-a, -b, 1.0])
    particle = Particle(
        gradient=lambda r: n,
        hessian=lambda r: np.zeros((3, 3)),
        force=lambda t: push_0 + push_1 * t - np.array([0, 0, weight]),
        m=m,
        mu=mu,
        mu_static=mu_static,
        one_sided=bool(one_sided),
        start=(np.array([x, y, a * x + b * y]), v),
    )
    duration = 2.0
    right = reference(particle, duration, "plane")
    system = da.System(
        "particle on a plane",
        coordinates="x y z",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2",
        potential="m*g*z",
        forces={q: f"f{q} + g{q}*t" for q in "xyz"},
        constraints={"plane": "z >= a*x + b*y" if one_sided else "z = a*x + b*y"},
        nonideal=[da.Coulomb("plane", "mu", mu_static="mus", point=("x", "y", "z") if given else None)],
        parameters={"m": m, "g": G, "a": a, "b": b, "mu": mu, "mus": mu_static}
        | {f"f{q}": value for q, value in zip("xyz", push_0, strict=True)}
        | {f"g{q}": value for q, value in zip("xyz", push_1, strict=True)},
        initial={
            **dict(zip("xyz", particle.start[0], strict=True)),
            **{f"{q}'": value for q, value in zip("xyz", v, strict=True)},
        },
    )
    kind = " ".join(
        [
            "flat" if flat else "tilted",
            "one-sided" if one_sided else "two-sided",
            "point" if given else "no point",
            "moving" if moving else "at rest",
            push,
            "μs>μ" if mu_static > mu else "μs=μ",
        ]
    )
    return Case(kind, system, duration, right)
