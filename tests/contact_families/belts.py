"""Chains of blocks on a belt (Burridge and Knopoff): 1 to 20 blocks, springs between them and to a wall."""

from __future__ import annotations

import numpy as np

import dalembert as da

from .case import Case, drawn
from .chain_reference import Chain, G, reference

#: Several sizes, small ones more often: the cost of a case grows with it.
SIZES = (2, 3, 1, 2, 5, 4, 2, 3, 8, 20)


def case(seed: int) -> Case:
    return drawn(5, seed, lambda rng: blocks(rng, SIZES[seed % len(SIZES)]))


def blocks(rng: np.random.Generator, n: int) -> Case:
    kind = str(rng.choice(["belt", "belt", "table, thrown", "table, pulled"]))
    alike, more = rng.random(2) < (0.25, 0.5)
    mass, mu = rng.uniform(0.5, 2, n), rng.uniform(0.1, 0.4, n)
    if alike:  # all blocks and their starts: everything happens to all at once
        mass[:], mu[:] = mass[0], mu[0]
    mu_static = mu * (rng.uniform(1.1, 1.6) if more else 1.0)
    joint, wall = rng.uniform(5, 30), rng.uniform(5, 20)
    belt = rng.uniform(0.2, 0.6) if kind == "belt" else 0.0
    speed = rng.uniform(-2, 2, n) * (kind == "table, thrown") + belt * (rng.random() < 0.5)
    place = rng.uniform(-0.1, 0.1, n)
    pull = np.zeros((2, n))
    if kind == "table, pulled":
        pull[1, -1] = mass[-1] * G * rng.uniform(0.3, 0.8)
    if alike:
        speed, place, pull = np.full(n, speed[0]), np.full(n, place[0]), np.tile(pull[:, -1:], n)
    K = wall * np.eye(n)
    for k in range(n - 1):
        K[k : k + 2, k : k + 2] += joint * np.array([[1, -1], [-1, 1]])
    duration = 3.0 if n < 10 else 1.5
    names = [f"ground{k}" for k in range(1, n + 1)]
    right = reference(Chain(mass, K, pull, belt, mu, mu_static, (place, speed)), duration, names)
    each = range(1, n + 1)
    springs = [f"kw*x{k}^2/2" for k in each] + [f"kj*(x{k + 1} - x{k})^2/2" for k in each if k < n]
    system = da.System(
        "blocks on a belt",
        coordinates=[f"{q}{k}" for k in each for q in "xy"],
        kinetic=" + ".join(f"m{k}*(x{k}'^2 + y{k}'^2)/2" for k in each),
        potential=" + ".join([f"m{k}*g*y{k}" for k in each] + springs),
        forces={f"x{k}": f"p{k}*t" for k in each},
        constraints={name: f"y{k} = 0" for k, name in enumerate(names, start=1)},
        nonideal=[
            da.Coulomb(name, f"mu{k}", mu_static=f"mus{k}", point=(f"x{k} - V*t", f"y{k}"))
            for k, name in enumerate(names, start=1)
        ],
        parameters={"g": G, "V": belt, "kj": joint, "kw": wall}
        | {f"m{k}": mass[k - 1] for k in each}
        | {f"mu{k}": mu[k - 1] for k in each}
        | {f"mus{k}": mu_static[k - 1] for k in each}
        | {f"p{k}": pull[1, k - 1] for k in each},
        initial={f"x{k}": place[k - 1] for k in each}
        | {f"x{k}'": speed[k - 1] for k in each}
        | {f"y{k}{mark}": 0.0 for k in each for mark in ("", "'")},
    )
    words = f"{n} blocks {kind}{' alike' if alike else ''} {'μs>μ' if more else 'μs=μ'}, {len(right.events)} events"
    return Case(words, system, duration, right)
