"""Two pucks on a rod (a dumbbell with unequal masses, too): Cartesian particles, a rod and a table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import dalembert as da

from .body_reference import Body, reference
from .case import Array, Case, drawn

G = 9.81


def case(seed: int) -> Case:
    return drawn(3, seed, _case)


def _case(rng: np.random.Generator) -> Case:
    kind = str(rng.choice(["translating", "spinning", "thrown", "pushed at rest", "pushed moving"]))
    one_sided, equal, given = rng.random(3) < (0.3, 0.5, 0.5)
    m = rng.uniform(0.5, 2, 2)
    mu = rng.uniform(0.15, 0.6, 2)
    if equal:
        m[1], mu[1] = m[0], mu[0]
    if kind == "translating":
        mu[1] = mu[0]  # both slow down alike, whatever their masses, and stop together
    more = rng.uniform(1.1, 1.5) if rng.random() < 0.5 and kind != "pushed at rest" else 1.0
    length, angle = rng.uniform(0.5, 1.5), rng.uniform(0, 2 * np.pi)
    velocity = rng.uniform(-1.5, 1.5, 2) * (kind not in ("spinning", "pushed at rest"))
    spin = rng.uniform(1, 5) * rng.choice([-1, 1]) * (kind in ("spinning", "thrown", "pushed moving"))
    weight = m.sum() * G
    push = kind.startswith("pushed")
    f_0 = 0.2 * mu[0] * weight * rng.uniform(-1, 1, 2) * push
    f_1 = mu[0] * weight * rng.uniform(-1, 1, 2) * push
    along = np.array([np.cos(angle), np.sin(angle)])
    arms = np.array([-m[1], m[0]]) * length / m.sum()
    body = Body(
        mass=m.sum(),
        inertia=m.prod() / m.sum() * length**2,
        feet=np.column_stack([arms, [0, 0]]),
        loads=lambda th: (m * G, np.zeros((2, 2))),
        push=lambda t, th: (
            f_0 + f_1 * t,
            arms[0] * float(np.cos(th) * (f_0 + f_1 * t)[1] - np.sin(th) * (f_0 + f_1 * t)[0]),
        ),
        mu=mu,
        mu_static=mu * more,
        start=np.array([0, 0, angle, *velocity, spin]),
    )

    def columns(q: Array, v: Array) -> dict[str, Array]:
        c, s = np.cos(q[:, 2]), np.sin(q[:, 2])
        found = {}
        for k, arm in enumerate(arms, start=1):
            found |= {f"x{k}": q[:, 0] + arm * c, f"y{k}": q[:, 1] + arm * s, f"z{k}": 0 * c}
            found |= {f"x{k}'": v[:, 0] - arm * s * v[:, 2], f"y{k}'": v[:, 1] + arm * c * v[:, 2], f"z{k}'": 0 * c}
        return found

    duration = 1.2
    whole = reference(body, duration, ["table1", "table2"], columns)
    # Here every puck has coordinates of its own; the forces on each are asked for by their sizes.
    right = replace(whole, pull={})
    side = ">=" if one_sided else "="
    sign = np.array([-along[1], along[0]])
    initial = {}
    for k, arm in enumerate(arms, start=1):
        place, rate = arm * along, velocity + arm * spin * sign
        initial |= {f"x{k}": place[0], f"y{k}": place[1], f"z{k}": 0}
        initial |= {f"x{k}'": rate[0], f"y{k}'": rate[1], f"z{k}'": 0}
    system = da.System(
        "two pucks on a rod",
        coordinates="x1 y1 z1 x2 y2 z2",
        kinetic="m1*(x1'^2 + y1'^2 + z1'^2)/2 + m2*(x2'^2 + y2'^2 + z2'^2)/2",
        potential="g*(m1*z1 + m2*z2)",
        forces={"x1": "fx + gx*t", "y1": "fy + gy*t"},
        constraints={
            "rod": "(x1 - x2)^2 + (y1 - y2)^2 + (z1 - z2)^2 = l^2",
            "table1": f"z1 {side} 0",
            "table2": f"z2 {side} 0",
        },
        nonideal=[
            da.Coulomb(f"table{k}", f"mu{k}", mu_static=f"mus{k}", point=(f"x{k}", f"y{k}", f"z{k}") if given else None)
            for k in (1, 2)
        ],
        parameters={"m1": m[0], "m2": m[1], "g": G, "l": length, "mu1": mu[0], "mu2": mu[1]}
        | {"mus1": mu[0] * more, "mus2": mu[1] * more, "fx": f_0[0], "fy": f_0[1], "gx": f_1[0], "gy": f_1[1]},
        initial=initial,
    )
    words = (
        f"{kind} {'equal' if equal else 'unequal'} {'one' if one_sided else 'two'}-sided μs{'>' if more > 1 else '='}μ"
    )
    return Case(words, system, duration, right)
