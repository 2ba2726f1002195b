"""Bodies on two to four feet: a sled on two runners, a puck on three feet, a table on four whose loads are not
determined.

The tilt of a body is a coordinate that the feet hold at zero, so that its equation of motion gives the loads; with the
centre of mass at height h, friction shifts them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import dalembert as da

from .body_reference import Body, reference
from .case import Array, Case, drawn

G = 9.81


def case(seed: int) -> Case:
    return drawn(4, seed, lambda rng: (_sled, _puck, _puck, _four)[seed % 4](rng))


def _drawn_motion(rng: np.random.Generator, kinds: list[str]) -> tuple[str, Array, float]:
    """What it does, the velocity and the spin at the start."""
    kind = str(rng.choice(kinds))
    velocity = rng.uniform(-1.5, 1.5, 2) * (kind not in ("spinning", "pushed at rest"))
    spin = rng.uniform(1, 5) * rng.choice([-1, 1]) * (kind in ("spinning", "thrown", "pushed moving"))
    return kind, velocity, spin


def _push(rng: np.random.Generator, kind: str, limit: float, size: float) -> tuple[Array, Array]:
    """Force and torque, constant and growing parts: (fx, fy, torque) each."""
    scale = np.array([limit, limit, limit * size]) * kind.startswith("pushed")
    return 0.2 * scale * rng.uniform(-1, 1, 3), scale * rng.uniform(-1, 1, 3)


def _case(
    rng: np.random.Generator,
    kind: str,
    body: Body,
    system: Mapping[str, Any],
    heights: list[str],
    points: list[tuple[str, str]],
    numbers: Mapping[str, float],
    pushes: tuple[Array, Array],
) -> Case:
    """heights and points: of each foot, as text in the coordinates; numbers: of the geometry."""
    one_sided = bool(rng.random() < 0.4)
    count = len(heights)
    names = [f"foot{k}" for k in range(1, count + 1)]

    def columns(q: Array, v: Array) -> dict[str, Array]:
        found = dict(zip(("x", "y", "th"), q.T, strict=True)) | dict(zip(("x'", "y'", "th'"), v.T, strict=True))
        return found | {"z": 0 * q[:, 0], "z'": 0 * q[:, 0]}

    duration = 1.2
    right = reference(body, duration, names, columns)
    at_rest = {name: 0.0 for tilt in system["tilts"] for name in (tilt, f"{tilt}'")}
    built = da.System(
        system["name"],
        coordinates=["x", "y", "z", *system["tilts"], "th"],
        kinetic="m*(x'^2 + y'^2 + z'^2)/2 + Ith*th'^2/2"
        + "".join(f" + J{tilt}*{tilt}'^2/2" for tilt in system["tilts"]),
        potential="m*g*z",
        forces={q: f"f{q} + g{q}*t" for q in ("x", "y", "th")},
        constraints={
            name: f"{height} {'>=' if one_sided else '='} 0" for name, height in zip(names, heights, strict=True)
        },
        nonideal=[
            da.Coulomb(name, f"mu{k}", mu_static=f"mus{k}", point=(*points[k], heights[k]))
            for k, name in enumerate(names)
        ],
        parameters={"m": body.mass, "g": G, "Ith": body.inertia, **numbers}
        | {f"J{tilt}": 0.3 * body.inertia for tilt in system["tilts"]}
        | {f"mu{k}": body.mu[k] for k in range(count)}
        | {f"mus{k}": body.mu_static[k] for k in range(count)}
        | {f"f{q}": value for q, value in zip(("x", "y", "th"), pushes[0], strict=True)}
        | {f"g{q}": value for q, value in zip(("x", "y", "th"), pushes[1], strict=True)},
        initial={
            **dict(zip(("x", "y", "th", "x'", "y'", "th'"), body.start, strict=True)),
            "z": 0.0,
            "z'": 0.0,
            **at_rest,
        },
    )
    more = "μs>μ" if np.any(body.mu_static > body.mu) else "μs=μ"
    return Case(f"{system['name']} {kind} {'one' if one_sided else 'two'}-sided {more}", built, duration, right)


def _sled(rng: np.random.Generator) -> Case:
    kind, velocity, spin = _drawn_motion(rng, ["translating", "spinning", "thrown", "pushed at rest", "pushed moving"])
    m, mu = rng.uniform(0.5, 3), rng.uniform(0.1, 0.5, 2)
    w = np.array([rng.uniform(0.3, 0.6), -rng.uniform(0.3, 0.6)])
    h = rng.uniform(0, 0.3) * (rng.random() < 0.7)
    if kind == "translating":
        mu[1] = mu[0]
    more = rng.uniform(1.1, 1.5) if rng.random() < 0.5 and kind != "pushed at rest" else 1.0
    if kind == "spinning" and rng.random() < 0.5:
        w[1], mu[1], h = -w[0], mu[0], 0.0  # turns about its middle, both stop at once
    share = np.linalg.inv(np.array([[1, 1], w]))
    pushes = _push(rng, kind, mu.mean() * m * G, w[0])

    def loads(th: float) -> tuple[Array, Array]:
        return share[:, 0] * m * G, -h * np.outer(share[:, 1], [-np.sin(th), np.cos(th)])

    body = Body(
        mass=m,
        inertia=m * rng.uniform(0.1, 0.3),
        feet=np.column_stack([[0, 0], w]),
        loads=loads,
        push=lambda t, th: ((pushes[0] + pushes[1] * t)[:2], float((pushes[0] + pushes[1] * t)[2])),
        mu=mu,
        mu_static=mu * more,
        start=np.array([0, 0, rng.uniform(0, 6), *velocity, spin]),
    )
    heights = [f"z + a*w{k}" for k in range(2)]
    points = [(f"x - (w{k} + h*a)*sin(th)", f"y + (w{k} + h*a)*cos(th)") for k in range(2)]
    numbers = {"w0": w[0], "w1": w[1], "h": h}
    return _case(rng, kind, body, {"name": "sled", "tilts": ["a"]}, heights, points, numbers, pushes)


def _text_of_feet(count: int) -> tuple[list[str], list[tuple[str, str]]]:
    heights, points = [], []
    for k in range(count):
        dx, dy = f"(p{k}*cos(th) - q{k}*sin(th))", f"(p{k}*sin(th) + q{k}*cos(th))"
        heights.append(f"z + a*{dx} + b*{dy}")
        points.append((f"x + {dx} + h*a", f"y + {dy} + h*b"))
    return heights, points


def _numbers_of_feet(feet: Array, h: float) -> dict[str, float]:
    return {"h": h} | {f"{axis}{k}": foot[i] for k, foot in enumerate(feet) for i, axis in enumerate("pq")}


def _puck(rng: np.random.Generator) -> Case:
    kind, velocity, spin = _drawn_motion(rng, ["translating", "spinning", "thrown", "pushed at rest", "pushed moving"])
    m, mu = rng.uniform(0.5, 3), rng.uniform(0.1, 0.5, 3)
    h = rng.uniform(0, 0.2) * (rng.random() < 0.7)
    angles = np.array([0, 2, 4]) * np.pi / 3
    size = rng.uniform(0.3, 0.6)
    if kind == "spinning" and rng.random() < 0.5:
        mu[:], h = mu[0], 0.0  # equilateral: turns about its middle, all three stop at once
    else:
        angles += rng.uniform(-0.3, 0.3, 3)
    if kind == "translating":
        mu[:] = mu[0]
    more = rng.uniform(1.1, 1.5) if rng.random() < 0.5 and kind != "pushed at rest" else 1.0
    feet = size * np.column_stack([np.cos(angles), np.sin(angles)])
    pushes = _push(rng, kind, mu.mean() * m * G, size)

    def loads(th: float) -> tuple[Array, Array]:
        c, s = np.cos(th), np.sin(th)
        d = feet @ np.array([[c, s], [-s, c]])
        share = np.linalg.inv(np.vstack([np.ones(3), d.T]))
        return share[:, 0] * m * G, -h * share[:, 1:]

    body = Body(
        mass=m,
        inertia=m * size**2 * rng.uniform(0.3, 0.8),
        feet=feet,
        loads=loads,
        push=lambda t, th: ((pushes[0] + pushes[1] * t)[:2], float((pushes[0] + pushes[1] * t)[2])),
        mu=mu,
        mu_static=mu * more,
        start=np.array([0, 0, rng.uniform(0, 6), *velocity, spin]),
    )
    heights, points = _text_of_feet(3)
    system = {"name": "puck", "tilts": ["a", "b"]}
    return _case(rng, kind, body, system, heights, points, _numbers_of_feet(feet, h), pushes)


def _four(rng: np.random.Generator) -> Case:
    """Loads of a square on four feet, N = mg/4 + c (1, −1, 1, −1), do not matter to a translation, nor to a turn about
    the middle: with equal μ the sums of force and torque are the same for every c.
    """
    kind, velocity, spin = _drawn_motion(rng, ["translating", "spinning"])
    m, mu, size = rng.uniform(0.5, 3), np.full(4, rng.uniform(0.1, 0.5)), rng.uniform(0.3, 0.6)
    more = rng.uniform(1.1, 1.5) if rng.random() < 0.5 else 1.0
    angles = np.arange(4) * np.pi / 2
    feet = size * np.column_stack([np.cos(angles), np.sin(angles)])
    pushes = (np.zeros(3), np.zeros(3))
    if kind == "translating" and rng.random() < 0.5:
        pushes = (
            0.5 * mu[0] * m * G * rng.uniform(-1, 1) * np.array([*velocity, 0]) / np.hypot(*velocity),
            np.zeros(3),
        )
        kind = "translating, pushed along its way"
    body = Body(
        mass=m,
        inertia=m * size**2 * rng.uniform(0.3, 0.8),
        feet=feet,
        loads=lambda th: (np.full(4, m * G / 4), np.zeros((4, 2))),
        push=lambda t, th: (pushes[0][:2], 0.0),
        mu=mu,
        mu_static=mu * more,
        start=np.array([0, 0, rng.uniform(0, 6), *velocity, spin]),
        determined=False,
    )
    heights, points = _text_of_feet(4)
    system = {"name": "four feet", "tilts": ["a", "b"]}
    return _case(rng, kind, body, system, heights, points, _numbers_of_feet(feet, 0.0), pushes)
