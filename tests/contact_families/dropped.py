"""Particles that fall on a floor with friction, straight down or with a speed along it, bouncing or not.

A blow of a particle is unambiguous for every law of impact (its inertia is the same in all directions): the normal
impulse is (1 + e) m |v_n|, and friction takes min(|v_t|, μ (1 + e) |v_n|) from the speed along the floor, against it.
Between blows: a parabola. After the last one (e = 0): m a = F − μ m g v/|v|, in closed form along a line.
"""

from __future__ import annotations

import numpy as np

import dalembert as da

from .case import Array, Case, ContactReference, Reference, Unsuited, away, drawn, outputs

G = 9.81


def case(seed: int) -> Case:
    return drawn(6, seed, _case)


def _case(rng: np.random.Generator) -> Case:
    plane = bool(rng.random() < 0.5)  # in a plane: x and y; else in space, with z up
    along = bool(rng.random() < 0.6)
    e = float(rng.uniform(0.3, 0.8) if rng.random() < 0.5 else 0.0)
    m, mu = rng.uniform(0.5, 3), rng.uniform(0.1, 0.6)
    height, fall = rng.uniform(0.2, 1.0), rng.uniform(-1, 1)
    speed = rng.uniform(0.5, 4) * along
    push = rng.uniform(-0.5, 0.5) * mu * m * G * along  # along the speed, and not enough to keep it moving
    way = np.array([1.0, 0.0]) if plane else np.array([np.cos(a := rng.uniform(0, 6)), np.sin(a)])
    first = (fall + np.sqrt(fall**2 + 2 * G * height)) / G
    bounce = 2 * (G * first - fall) / G
    duration = 1.5 if e == 0 else first + bounce * (e + e**2 + e**3 / 2)  # three blows, and not the fourth
    t, s, u, y, w, mode, events = _motion(duration, height, fall, speed, push / m, mu, e)
    up = "y" if plane else "z"
    across = ["x"] if plane else ["x", "y"]
    columns = {up: y, f"{up}'": w}
    for axis, share in zip(across, way, strict=False):
        columns |= {axis: s * share, f"{axis}'": u * share}
    asked = away(t, events, duration)
    normal = np.where(mode == "open", 0.0, m * G)
    friction = np.where(mode == "open", 0.0, np.where(mode == "slip", mu * m * G, abs(push)))
    floor = ContactReference(
        np.where(asked, mode, ""), np.where(asked, normal, np.nan), np.where(asked, friction, np.nan), mu, mu
    )
    along_it = np.where(mode == "slip", -np.sign(u) * mu * m * G, np.where(mode == "stick", -push, 0.0))
    pull = {axis: np.where(asked, along_it * share, np.nan) for axis, share in zip(across, way, strict=False)}
    system = da.System(
        "particle falling on a floor",
        coordinates=[*across, up],
        kinetic="m*(" + " + ".join(f"{q}'^2" for q in [*across, up]) + ")/2",
        potential=f"m*g*{up}",
        forces={axis: f"f{axis}" for axis in across},
        constraints=[da.Constraint("floor", f"{up} >= 0", restitution="e")],
        nonideal=[da.Coulomb("floor", "mu", point=(*across, up))],
        parameters={"m": m, "g": G, "mu": mu, "e": e}
        | {f"f{axis}": push * share for axis, share in zip(across, way, strict=False)},
        initial={up: height, f"{up}'": fall}
        | dict.fromkeys(across, 0.0)
        | {f"{axis}'": speed * share for axis, share in zip(across, way, strict=False)},
    )
    words = f"{'plane' if plane else 'space'} {'along' if along else 'straight'} {'bouncing' if e else 'dead'}"
    return Case(words, system, duration, Reference(t, columns, 1e-12, {"floor": floor}, pull, events))


def _motion(duration: float, y0: float, w0: float, u0: float, a: float, mu: float, e: float):
    """Outputs t, place s and speed u along the floor, height y and rate w, mode; and the events."""
    times = outputs(duration)
    s, u, y, w = (np.zeros(times.size) for _ in range(4))
    mode = np.full(times.size, "open", dtype="<U5")
    start, place, speed, height, rate, events = 0.0, 0.0, u0, y0, w0, []
    while True:
        land = start + (rate + np.sqrt(rate**2 + 2 * G * height)) / G
        flying = (times >= start) & (times <= land)
        d = times[flying] - start
        s[flying], u[flying] = place + speed * d + a * d * d / 2, speed + a * d
        y[flying], w[flying] = height + rate * d - G * d * d / 2, rate - G * d
        if land > duration:
            return times, s, u, y, w, mode, tuple(events)
        events.append(float(land))
        d = land - start
        place, speed, down = place + speed * d + a * d * d / 2, speed + a * d, G * d - rate
        taken = mu * (1 + e) * down
        if abs(abs(speed) - taken) < 1e-2:
            raise Unsuited("just stops within the blow")
        speed = np.sign(speed) * max(0.0, abs(speed) - taken)
        start, height, rate = land, 0.0, e * down
        if e == 0:
            break
    _slide(times, s, u, mode, start, place, speed, a, mu, events)
    return times, s, u, y, w, mode, tuple(events)


def _slide(
    times: Array, s: Array, u: Array, mode: Array, start: float, place: float, speed: float, a: float, mu: float, events
) -> None:
    """On the floor along a line until it stops; the push alone does not move it."""
    slow = a - mu * G * np.sign(speed)
    stop = start + (abs(speed / slow) if speed else 0.0)
    later = times > start
    d = np.minimum(times[later], stop) - start
    s[later], u[later] = place + speed * d + slow * d * d / 2, speed + slow * d
    mode[later] = np.where(times[later] > stop, "stick", "slip")
    u[times > stop] = 0.0
    events.append(float(stop))
