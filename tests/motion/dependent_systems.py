"""Systems whose constraints depend on each other, of any size."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

import dalembert as da


def _apart(one: tuple[sp.Expr, ...], other: tuple[sp.Expr, ...]) -> sp.Expr:
    return sp.Add(*((p - q) ** 2 for p, q in zip(one, other, strict=True)))


@cache
def held_net(side: int) -> da.System:
    """Masses in a flat square joined by rods; one edge is held, and the rods along it are one too many each."""
    c = da.coordinates(" ".join(f"x{i}_{j} y{i}_{j} z{i}_{j}" for i in range(side) for j in range(side)))
    m, g = da.parameters("m g")
    at = {(i, j): c[3 * (i * side + j) : 3 * (i * side + j) + 3] for i in range(side) for j in range(side)}
    constraints, initial = {}, {}
    for (i, j), here in at.items():
        for there in ((i + 1, j), (i, j + 1)):
            if there in at:
                constraints[f"rod {i} {j} to {there[0]} {there[1]}"] = _apart(here, at[there]) - 1
        for q, value in zip(here, (float(i), float(j), 0.0), strict=True):
            initial |= {q: value, q.d: 0}
            if i == 0:
                constraints[f"hold {q.name}"] = q - value
    return da.System(
        "held net",
        coordinates=list(c),
        kinetic=sp.Add(*(m * q.d**2 / 2 for q in c)),
        potential=sp.Add(*(m * g * z for z in c[2::3])),
        constraints=constraints,
        parameters={"m": 1.3, "g": 9.81},
        initial=initial,
    )


def ring_points(angle: float) -> np.ndarray:
    """(6, 2, 3): ends of the hinges of a ring of six tetrahedra (the trihedral case of Bricard's), one for each angle.

    Hinge k lies in the upright plane at 60 k degrees, those with even and odd k inclined by φ and ψ. That neighbours
    are orthogonal says tan φ tan ψ = −1/2; that the line between their middles is perpendicular to both, the radii.
    """
    slopes = np.tan(angle), -0.5 / np.tan(angle)
    radii = np.linalg.solve([[-1.0, 0.5], [-0.5, 1.0]], [-slopes[0], -slopes[1]])  # for a height of one between them
    unit = np.sqrt(radii @ radii - radii[0] * radii[1] + 1.0)
    points = []
    for k in range(6):
        outward = np.array([np.cos(k * np.pi / 3), np.sin(k * np.pi / 3), 0.0])
        incline = np.arctan(slopes[k % 2])
        along = np.cos(incline) * outward + np.sin(incline) * np.array([0, 0, 1.0])
        middle = (radii[k % 2] * outward + np.array([0, 0, k % 2])) / unit
        points.append([middle - along / 2, middle + along / 2])
    return np.array(points)


@cache
def ring() -> da.System:
    """Thirty rods between twelve masses: none is free to move but for the ring, of which one rod is one too many."""
    c = da.coordinates(" ".join(f"x{k} y{k} z{k}" for k in range(12)))
    points = ring_points(0.6)
    at = [c[3 * k : 3 * k + 3] for k in range(12)]
    rods = [(2 * k, 2 * k + 1) for k in range(6)]
    rods += [(2 * k + a, (2 * k + 2 + b) % 12) for k in range(6) for a in (0, 1) for b in (0, 1)]
    flat = points.reshape(12, 3)
    lengths = {pair: float(np.sum((flat[pair[0]] - flat[pair[1]]) ** 2)) for pair in rods}
    return da.System(
        "ring of tetrahedra",
        coordinates=list(c),
        kinetic=sp.Add(*(q.d**2 / 2 for q in c)),
        potential=sp.Add(*(sp.Rational(3, 10) * q**2 for q in c[::3])),
        constraints={f"rod {i} {j}": _apart(at[i], at[j]) - lengths[i, j] for i, j in rods},
        initial=dict(zip(c, flat.ravel(), strict=True)) | {q.d: 0 for q in c},
    )


@cache
def braced_bodies(seed: int) -> da.System:
    """Three bodies of five masses each, drawn at random, with a rod between any two of a body, which is one too many;
    the bodies hang on each other by a rod each.
    """
    rng = np.random.default_rng(seed)
    c = da.coordinates(" ".join(f"x{k} y{k} z{k}" for k in range(15)))
    at = [c[3 * k : 3 * k + 3] for k in range(15)]
    place = rng.uniform(-1, 1, (15, 3)) + 3.0 * np.repeat(np.arange(3), 5)[:, None]
    rods = [(5 * b + i, 5 * b + j) for b in range(3) for i in range(5) for j in range(i)]
    rods += [(5 * b + int(rng.integers(5)), 5 * b - 5 + int(rng.integers(5))) for b in (1, 2)]
    masses = rng.uniform(0.5, 2.0, 15)
    return da.System(
        "braced bodies",
        coordinates=list(c),
        kinetic=sp.Add(*(m * sum(q.d**2 for q in point) / 2 for m, point in zip(masses, at, strict=True))),
        potential=sp.Add(*(9.81 * m * point[2] for m, point in zip(masses, at, strict=True))),
        constraints={f"rod {i} {j}": _apart(at[i], at[j]) - float(np.sum((place[i] - place[j]) ** 2)) for i, j in rods},
        initial=dict(zip(c, place.ravel().tolist(), strict=True)) | {q.d: 0 for q in c},
    )


@cache
def windows(count: int) -> da.System:
    """Cranks of unit length, upright, side by side, their tips joined by couplers of unit length; tips at unit speed.
    All lie on one line where the cranks are level.
    """
    c = da.coordinates(" ".join(f"x{k} y{k}" for k in range(count + 1)))
    at = [c[2 * k : 2 * k + 2] for k in range(count + 1)]
    constraints = {f"crank {k}": _apart(here, (sp.Integer(k), sp.Integer(0))) - 1 for k, here in enumerate(at)}
    constraints |= {f"coupler {k}": _apart(at[k], at[k + 1]) - 1 for k in range(count)}
    return da.System(
        "windows",
        coordinates=list(c),
        kinetic=sp.Add(*(q.d**2 / 2 for q in c)),
        potential=sp.Add(*(9.81 * y for y in c[1::2])),
        constraints=constraints,
        initial={q: value for k, (x, y) in enumerate(at) for q, value in ((x, k), (y, 1), (x.d, 1), (y.d, 0))},
    )


def windows_with_centres(count: int) -> da.System:
    """The same with masses at the centres of couplers, which have coordinates of their own."""
    plain = windows(count)
    tips, centres = plain.coordinates, da.coordinates(" ".join(f"u{k} w{k}" for k in range(count)))
    held = {
        f"centre {k} {axis}": centres[2 * k + i] - (tips[2 * k + i] + tips[2 * k + 2 + i]) / 2
        for k in range(count)
        for i, axis in enumerate("xy")
    }
    start = {q: value for k in range(count) for q, value in ((centres[2 * k], k + 0.5), (centres[2 * k + 1], 1))}
    start |= {q.d: value for k in range(count) for q, value in ((centres[2 * k], 1), (centres[2 * k + 1], 0))}
    return da.System(
        "windows with centres",
        coordinates=[*tips, *centres],
        kinetic=sp.Add(*(q.d**2 / 2 for q in (*tips, *centres))),
        potential=sp.Add(*(9.81 * y for y in (*tips[1::2], *centres[1::2]))),
        constraints={c.name: c.expression for c in plain.constraints} | held,
        initial=dict(plain.initial) | start,
    )
