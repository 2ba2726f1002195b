"""Problems with contacts: the system, what is observed at its end, the true values, and what a peer is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from tests.contact_families import body_reference, chain_reference
from tests.contact_families.case import Unsuited

import dalembert as da

G = 9.81


@dataclass(frozen=True)
class Problem:
    """observed: columns whose last values are compared. truth: those values. peers: name, script, numbers, settings
    ("step" of each run; empty: one run of a closed form).
    """

    title: str
    system: da.System
    duration: float
    observed: tuple[str, ...]
    truth: np.ndarray
    peers: tuple[tuple[str, str, dict[str, Any], tuple[float, ...]], ...] = field(default=())


def blocks(n: int, duration: float, steps: tuple[float, ...] = (1e-2, 1e-3, 1e-4)) -> Problem:
    """Blocks on a belt (Burridge and Knopoff); one block is the stick–slip oscillator. Of numbers drawn at random the
    first that make no block stop just at its limit, where rounding would decide.
    """
    for attempt in range(20):
        try:
            return _blocks(np.random.default_rng([n, attempt]), n, duration, steps)
        except Unsuited:
            continue
    raise AssertionError("no suitable numbers")


def _blocks(rng: np.random.Generator, n: int, duration: float, steps: tuple[float, ...]) -> Problem:
    mass, mu, place = rng.uniform(0.5, 2, n), rng.uniform(0.1, 0.4, n), rng.uniform(-0.1, 0.1, n)
    wall, joint, belt, speed = 10.0, 15.0, 0.3, np.zeros(n)
    K = wall * np.eye(n)
    for k in range(n - 1):
        K[k : k + 2, k : k + 2] += joint * np.array([[1, -1], [-1, 1]])
    each = range(1, n + 1)
    chain = chain_reference.Chain(mass, K, np.zeros((2, n)), belt, mu, mu, (place, speed))
    right = chain_reference.reference(chain, duration, [f"ground{k}" for k in each])
    springs = [f"kw*x{k}^2/2" for k in each] + [f"kj*(x{k + 1} - x{k})^2/2" for k in each if k < n]
    system = da.System(
        f"{n} blocks on a belt",
        coordinates=[f"{q}{k}" for k in each for q in "xy"],
        kinetic=" + ".join(f"m{k}*(x{k}'^2 + y{k}'^2)/2" for k in each),
        potential=" + ".join([f"m{k}*g*y{k}" for k in each] + springs),
        constraints={f"ground{k}": f"y{k} = 0" for k in each},
        nonideal=[da.Coulomb(f"ground{k}", f"mu{k}", point=(f"x{k} - V*t", f"y{k}")) for k in each],
        parameters={"g": G, "V": belt, "kj": joint, "kw": wall}
        | {f"m{k}": mass[k - 1] for k in each}
        | {f"mu{k}": mu[k - 1] for k in each},
        initial={f"x{k}": place[k - 1] for k in each}
        | {f"{q}{k}{mark}": 0.0 for k in each for q, mark in (("x", "'"), ("y", ""), ("y", "'"))},
    )
    numbers = {"problem": "blocks", "duration": duration, "wall": wall, "joint": joint, "belt": belt, "gravity": G}
    numbers |= {"mass": list(mass), "mu": list(mu), "place": list(place), "speed": list(speed)}
    truth = np.array([right.columns[f"x{k}"][-1] for k in each])
    title = (
        f"{'stick–slip oscillator' if n == 1 else f'{n} blocks on a belt'}, {duration:g} s, {len(right.events)} events"
    )
    peer = ("Siconos, Moreau–Jean", "siconos", numbers, steps)
    return Problem(title, system, duration, tuple(f"x{k}" for k in each), truth, (peer,))


def ball(duration: float) -> Problem:
    """Dropped from height 1 with e = 0.8: a parabola after each blow."""
    e, start, height, rate = 0.8, 0.0, 1.0, 0.0
    while (land := start + (rate + np.sqrt(rate**2 + 2 * G * height)) / G) < duration:
        start, height, rate = land, 0.0, e * (G * (land - start) - rate)
    d = duration - start
    system = da.System(
        "bouncing ball",
        coordinates="y",
        kinetic="m*y'^2/2",
        potential="m*g*y",
        constraints=[da.Constraint("floor", "y >= 0", restitution="e")],
        parameters={"m": 1, "g": G, "e": e},
        initial={"y": 1, "y'": 0},
    )
    numbers = {"duration": duration, "mass": 1.0, "height": 1.0, "restitution": e, "gravity": G}
    peers = tuple(
        (f"Siconos, {way}", "siconos", {"problem": name, **numbers}, steps)
        for way, name, steps in (
            ("Moreau–Jean", "ball", (1e-3, 1e-4, 1e-5)),
            ("event-driven", "ball, event-driven", (1e-1, 1e-2)),
        )
    )
    truth = np.array([height + rate * d - G * d * d / 2, rate - G * d])
    return Problem(f"bouncing ball, {duration:g} s", system, duration, ("y", "y'"), truth, peers)


def rocking(duration: float) -> Problem:
    """A slender block that rocks without sliding (Housner): I_O θ″ = ∓ m g (b cos θ ∓ h sin θ) about the corner it
    stands on, and θ′ is multiplied by (I + m (h² − b²))/I_O when it changes corners.
    """
    m, b, h, tilt, mu = 1.0, 0.1, 0.5, 0.1, 2.0
    inertia = m * (b * b + h * h) / 3
    about = inertia + m * (b * b + h * h)

    def slope(t: float, y: np.ndarray) -> list[float]:
        side = 1.0 if y[2] > 0 else -1.0
        return [y[1], -side * m * G * (b * np.cos(y[0]) - side * h * np.sin(y[0])) / about, 0.0]

    def upright(t: float, y: np.ndarray) -> float:
        return y[2] * y[0]

    upright.terminal, upright.direction = True, -1  # type: ignore[attr-defined]
    t, y = 0.0, np.array([tilt, 0.0, 1.0])
    while True:
        leg = solve_ivp(slope, (t, duration), y, "DOP853", events=upright, rtol=1e-12, atol=1e-14)
        t, y = leg.t[-1], leg.y[:, -1]
        if leg.status == 0:
            break
        y = np.array([0.0, y[1] * (inertia + m * (h * h - b * b)) / about, -y[2]])
    c, s = np.cos(tilt), np.sin(tilt)
    corners = [[b, -h], [-b, -h]]
    system = da.System(
        "rocking block",
        coordinates="x y th",
        kinetic="m*(x'^2 + y'^2)/2 + J*th'^2/2",
        potential="m*g*y",
        constraints={name: f"y {sign} b*sin(th) - h*cos(th) >= 0" for name, sign in (("right", "+"), ("left", "-"))},
        nonideal=[
            da.Coulomb(name, "mu", point=(f"x {sign} b*cos(th) + h*sin(th)", f"y {sign} b*sin(th) - h*cos(th)"))
            for name, sign in (("right", "+"), ("left", "-"))
        ],
        parameters={"m": m, "g": G, "b": b, "h": h, "J": inertia, "mu": mu},
        initial={"x": b * c - h * s, "y": b * s + h * c, "th": tilt, "x'": 0, "y'": 0, "th'": 0},
    )
    numbers = {"problem": "rocking", "duration": duration, "mass": m, "inertia": inertia, "corners": corners, "mu": mu}
    numbers |= {"start": [b * c - h * s, b * s + h * c, tilt, 0.0, 0.0, 0.0], "gravity": G}
    peer = ("Siconos, Moreau–Jean", "siconos", numbers, (1e-3, 1e-4, 1e-5))
    return Problem(f"rocking block, {duration:g} s", system, duration, ("th",), y[:1], (peer,))


def puck(duration: float) -> Problem:
    """Thrown with a spin, on three feet, to rest."""
    m, inertia, mu, start = 1.0, 0.1, 0.3, [0.2, 1.0, 0.3, 2.0]
    feet = 0.4 * np.array([[np.cos(a), np.sin(a)] for a in np.arange(3) * 2 * np.pi / 3])
    body = body_reference.Body(
        mass=m,
        inertia=inertia,
        feet=feet,
        loads=lambda th: (np.full(3, m * G / 3), np.zeros((3, 2))),
        push=lambda t, th: (np.zeros(2), 0.0),
        mu=np.full(3, mu),
        mu_static=np.full(3, mu),
        start=np.array([0, 0, *start]),
    )
    right = body_reference.reference(
        body, duration, ["1", "2", "3"], lambda q, v: dict(zip(("x", "y", "th"), q.T, strict=True))
    )
    across = [(f"(p{k}*cos(th) - q{k}*sin(th))", f"(p{k}*sin(th) + q{k}*cos(th))") for k in range(3)]
    system = da.System(
        "puck on three feet",
        coordinates="x y z a b th",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2 + Ja*a'^2/2 + Jb*b'^2/2 + J*th'^2/2",
        potential="m*g*z",
        constraints={f"foot{k}": f"z + a*{dx} + b*{dy} = 0" for k, (dx, dy) in enumerate(across)},
        nonideal=[
            da.Coulomb(f"foot{k}", "mu", point=(f"x + {dx}", f"y + {dy}", f"z + a*{dx} + b*{dy}"))
            for k, (dx, dy) in enumerate(across)
        ],
        parameters={"m": m, "g": G, "J": inertia, "Ja": 0.3 * inertia, "Jb": 0.3 * inertia, "mu": mu}
        | {f"p{k}": foot[0] for k, foot in enumerate(feet)}
        | {f"q{k}": foot[1] for k, foot in enumerate(feet)},
        initial=dict(zip(("th", "x'", "y'", "th'"), start, strict=True))
        | dict.fromkeys(("x", "y", "z", "a", "b", "z'", "a'", "b'"), 0.0),
    )
    numbers = {"problem": "puck", "duration": duration, "mass": m, "inertia": inertia, "feet": feet.tolist(), "mu": mu}
    peer = ("Siconos, Moreau–Jean", "siconos", numbers | {"start": start, "gravity": G}, (1e-2, 1e-3, 1e-4))
    truth = np.array([right.columns[name][-1] for name in ("x", "y", "th")])
    return Problem(f"puck on three feet, {duration:g} s", system, duration, ("x", "y", "th"), truth, (peer,))


def billiard(duration: float) -> Problem:
    """A ball that slides, then rolls. Its inertia is the same about all axes, so that angles al and be about the fixed
    axes x and y may be coordinates: J ω′ is the torque. The sliding velocity u keeps its direction and ends after
    2|u|/(7 μ g).
    """
    m, R, mu = 0.17, 0.028, 0.2
    v, w = np.array([1.2, 0.3]), np.array([-20.0, 15.0])
    u = v + R * np.array([-w[1], w[0]])
    slides = min(duration, 2 * np.hypot(*u) / (7 * mu * G))
    way = u / np.hypot(*u)
    end = v - mu * G * slides * way
    place = v * slides - mu * G * slides**2 * way / 2 + end * (duration - slides)
    turn = w + 5 / (2 * R) * mu * G * slides * np.array([-way[1], way[0]])
    system = da.System(
        "billiard ball",
        coordinates="x y z al be",
        kinetic="m*(x'^2 + y'^2 + z'^2)/2 + J*(al'^2 + be'^2)/2",
        potential="m*g*z",
        constraints={"table": "z = 0"},
        nonideal=[da.Coulomb("table", "mu", point=("x - R*be", "y + R*al"))],
        parameters={"m": m, "g": G, "R": R, "J": 0.4 * m * R * R, "mu": mu},
        initial=dict.fromkeys(("x", "y", "z", "al", "be", "z'"), 0.0)
        | dict(zip(("x'", "y'", "al'", "be'"), (*v, *w), strict=True)),
    )
    numbers = {"radius": R, "mass": m, "mu": mu, "velocity": list(v), "spin": list(w), "duration": duration}
    peer = ("pooltool, closed form", "pooltool", numbers | {"gravity": G}, ())
    observed = ("x", "y", "x'", "y'", "al'", "be'")
    truth = np.concatenate([place, end, turn])
    return Problem(f"billiard ball, {duration:g} s", system, duration, observed, truth, (peer,))


#: Each with the same ten times as large or (about) as long beside it.
PROBLEMS: dict[str, Callable[[], Problem]] = {
    "oscillator": lambda: blocks(1, 5.0),
    "oscillator, longer": lambda: blocks(1, 50.0),
    "2 blocks": lambda: blocks(2, 2.0),
    "20 blocks": lambda: blocks(20, 2.0, (1e-2, 1e-3)),
    "200 blocks": lambda: blocks(200, 2.0, (1e-2,)),
    "ball": lambda: ball(0.8),
    "ball, longer": lambda: ball(4.0),
    "rocking": lambda: rocking(0.6),
    "rocking, longer": lambda: rocking(3.0),
    "puck": lambda: puck(1.0),
    "puck, longer": lambda: puck(10.0),
    "billiard": lambda: billiard(0.5),
    "billiard, longer": lambda: billiard(5.0),
}
