"""Systems of any size, in several formulations, for the tests of large ones."""

from __future__ import annotations

from functools import cache

import numpy as np
import sympy as sp

import dalembert as da

VALUES = {"m": 1.3, "l": 1.0, "g": 9.81}


def angles_of(links: int) -> np.ndarray:
    """Of a chain at its start: a wave of more than one length."""
    return 0.5 * np.cos(0.7 * np.arange(links)) + 0.2


@cache
def chain(links: int, force: bool = False) -> da.System:
    """Point masses on massless links in the plane, in the angles of the links, positions as definitions."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    d = da.definitions(" ".join(f"x{k} y{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    definitions, kinetic, potential = {}, [], []
    for k in range(links):
        x, y = d[2 * k], d[2 * k + 1]
        before = (d[2 * k - 2], d[2 * k - 1]) if k else (0, 0)
        definitions[x], definitions[y] = before[0] + l * sp.sin(a[k]), before[1] - l * sp.cos(a[k])
        kinetic.append(m * (x.d**2 + y.d**2) / 2)
        potential.append(m * g * y)
    initial = dict(zip(a, angles_of(links), strict=True)) | {q.d: 0 for q in a}
    return da.System(
        "chain",
        coordinates=list(a),
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*potential),
        forces={q: -q.d / 5 for q in a} if force else {},
        parameters=VALUES,
        initial=initial,
    )


@cache
def rods(links: int) -> da.System:
    """The same in Cartesian coordinates, each link a constraint."""
    c = da.coordinates(" ".join(f"x{k} y{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    constraints = {}
    for k in range(links):
        x, y = (c[2 * k - 2], c[2 * k - 1]) if k else (0, 0)
        constraints[f"rod {k}"] = (c[2 * k] - x) ** 2 + (c[2 * k + 1] - y) ** 2 - l**2
    angles = angles_of(links)
    at = np.stack([np.cumsum(np.sin(angles)), -np.cumsum(np.cos(angles))], axis=1).ravel()
    return da.System(
        "rods",
        coordinates=list(c),
        kinetic=sp.Add(*(m * q.d**2 / 2 for q in c)),
        potential=sp.Add(*(m * g * y for y in c[1::2])),
        constraints=constraints,
        parameters=VALUES,
        initial=dict(zip(c, at, strict=True)) | {q.d: 0 for q in c},
    )


@cache
def tree(joints: int, seed: int = 3, depth: int = 6) -> da.System:
    """Point masses on links of several lengths that branch at random, each joint on one of the `depth` before it; every
    third slides along its link as well.
    """
    rng = np.random.default_rng(seed)
    m, l, g = da.parameters("m l g")
    coordinates, definitions, kinetic, potential, initial = [], {}, [], [], {}
    at: list[tuple[sp.Expr, sp.Expr]] = [(sp.Integer(0), sp.Integer(0))]
    for k in range(joints):
        (a,) = da.coordinates(f"a{k}")
        way = l * sp.Float(rng.uniform(0.6, 1.4))
        coordinates.append(a)
        initial |= {a: rng.uniform(-1, 1), a.d: 0}
        if k % 3 == 1:
            (s,) = da.coordinates(f"s{k}")
            coordinates.append(s)
            way += s
            potential.append(20 * s**2)
            initial |= {s: 0.1, s.d: 0}
        x, y = da.definitions(f"x{k} y{k}")
        before = at[rng.integers(max(0, len(at) - depth), len(at))]
        definitions |= {x: before[0] + way * sp.sin(a), y: before[1] - way * sp.cos(a)}
        kinetic.append(m * (x.d**2 + y.d**2) / 2)
        potential.append(m * g * y)
        at.append((x, y))
    return da.System(
        "tree",
        coordinates=coordinates,
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*potential),
        parameters=VALUES,
        initial=initial,
    )


@cache
def chain_in_space(links: int, held: bool = False) -> da.System:
    """Two angles for each link; held: the end stays at its height."""
    c = da.coordinates(" ".join(f"a{k} b{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    definitions, kinetic, potential = {}, [], []
    before: tuple[sp.Expr, ...] = (sp.Integer(0),) * 3
    for k, (a, b) in enumerate(zip(c[::2], c[1::2], strict=True)):
        here = da.definitions(f"x{k} y{k} z{k}")
        way = (l * sp.sin(a), l * sp.cos(a) * sp.sin(b), -l * sp.cos(a) * sp.cos(b))
        definitions |= {d: old + step for d, old, step in zip(here, before, way, strict=True)}
        kinetic.append(m * sp.Add(*(d.d**2 for d in here)) / 2)
        potential.append(m * g * here[2])
        before = here
    at = dict(zip(c, 0.3 * np.cos(np.arange(2 * links)), strict=True))
    height = -np.sum(np.cos([at[a] for a in c[::2]]) * np.cos([at[b] for b in c[1::2]]))
    return da.System(
        "chain in space",
        coordinates=list(c),
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*potential),
        constraints={"end": before[2] - l * height} if held else {},
        parameters=VALUES,
        initial=at | {q.d: 0 for q in c},
    )


@cache
def net(side: int) -> da.System:
    """Masses in a square, joined by springs, and by rods in places, so that nothing repeats evenly."""
    c = da.coordinates(" ".join(f"x{i}_{j} y{i}_{j} z{i}_{j}" for i in range(side) for j in range(side)))
    m, k, g = da.parameters("m k g")
    at = {(i, j): c[3 * (i * side + j) : 3 * (i * side + j) + 3] for i in range(side) for j in range(side)}
    potential, constraints, initial = [], {}, {}
    for (i, j), here in at.items():
        potential.append(m * g * here[2])
        for there in ((i + 1, j), (i, j + 1)):
            if there in at:
                square = sum((p - q) ** 2 for p, q in zip(here, at[there], strict=True))
                if (i + j) % 3 == 0 and there[1] == j:
                    constraints[f"rod {i} {j}"] = square - 1
                else:
                    potential.append(k * square / 2)
        for q, value in zip(here, (float(i), float(j), 0.1 * j), strict=True):
            initial |= {q: value, q.d: 0}
    return da.System(
        "net",
        coordinates=list(c),
        kinetic=sp.Add(*(m * q.d**2 / 2 for q in c)),
        potential=sp.Add(*potential),
        constraints=constraints,
        parameters={"m": 1.0, "k": 30.0, "g": 9.81},
        initial=initial,
    )


@cache
def chain_by_velocities(links: int) -> da.System:
    """The chain with velocities as definitions, each made of the one before it, and others that are no rates of
    positions: they are written out.
    """
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    definitions, kinetic = {}, []
    u, w = sp.Integer(0), sp.Integer(0)
    for k, q in enumerate(a):
        turned, to, up = da.definitions(f"turned{k} u{k} w{k}")
        definitions |= {turned: sp.cos(q) * q.d, to: u + l * turned, up: w + l * sp.sin(q) * q.d}
        (swung,) = da.definitions(f"swung{k}")
        definitions[swung] = sp.cos(a[k - 1]) * q.d  # not the rate of anything
        kinetic.append(m * (to**2 + up**2) / 2 + m * l**2 * (swung**2 + sp.sin(a[k - 1]) ** 2 * q.d**2) / 6)
        u, w = to, up
    return da.System(
        "chain by velocities",
        coordinates=list(a),
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*(-(links - k) * m * g * l * sp.cos(q) for k, q in enumerate(a))),
        parameters=VALUES,
        initial=dict(zip(a, angles_of(links), strict=True)) | {q.d: 0 for q in a},
    )


@cache
def plain_chain(links: int) -> da.System:
    """Point masses in the angles of their links, velocities as sums without a definition."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    sums: tuple[list[sp.Expr], list[sp.Expr]] = ([], [])
    kinetic = []
    for q in a:
        sums[0].append(l * sp.cos(q) * q.d)
        sums[1].append(l * sp.sin(q) * q.d)
        kinetic += [m * sp.Add(*terms) ** 2 / 2 for terms in sums]
    return da.System(
        "plain chain",
        coordinates=list(a),
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*(-(links - k) * m * g * l * sp.cos(q) for k, q in enumerate(a))),
        parameters=VALUES,
        initial=dict(zip(a, angles_of(links), strict=True)) | {q.d: 0 for q in a},
    )


@cache
def plain_bodies(links: int) -> da.System:
    """Uniform rods in their angles, written as sums without a definition."""
    a = da.coordinates(" ".join(f"a{k}" for k in range(links)))
    m, l, g = da.parameters("m l g")
    x = y = sp.Integer(0)
    kinetic, potential = [], []
    for q in a:
        middle = x + l * sp.sin(q) / 2, y - l * sp.cos(q) / 2
        x, y = x + l * sp.sin(q), y - l * sp.cos(q)
        kinetic.append(m * (da.rate(middle[0]) ** 2 + da.rate(middle[1]) ** 2) / 2 + m * l**2 * q.d**2 / 24)
        potential.append(m * g * middle[1])
    return da.System(
        "plain bodies",
        coordinates=list(a),
        kinetic=sp.Add(*kinetic),
        potential=sp.Add(*potential),
        parameters=VALUES,
        initial=dict(zip(a, angles_of(links), strict=True)) | {q.d: 0 for q in a},
    )


def acceleration_of_bodies(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Lagrange's equations of uniform rods in their angles: M_ij = c_ij cos(a_i − a_j), in units of m l²."""
    beyond = q.size - 1 - np.arange(q.size)
    weight = np.minimum.outer(beyond, beyond) + 0.5
    np.fill_diagonal(weight, beyond + 1 / 3)
    apart = q[:, None] - q[None, :]
    pull = VALUES["g"] / VALUES["l"] * (beyond + 0.5) * np.sin(q)
    return np.linalg.solve(weight * np.cos(apart), -pull - (weight * np.sin(apart)) @ v**2)


@cache
def trailers(count: int, turned: int = -1) -> da.System:
    """A car with so many trailers: axles as definitions, none of which slides sideways. turned: an axle that lies along
    its trailer.
    """
    x, y = da.coordinates("x y")
    h = da.coordinates(" ".join(f"h{k}" for k in range(count + 1)))
    d = da.definitions(" ".join(f"x{k} y{k}" for k in range(1, count + 1)))
    m, J, l = da.parameters("m J l")
    definitions, kinetic, constraints = {}, [], {}
    at = (x, y)
    for k, heading in enumerate(h):
        if k:
            here = d[2 * k - 2], d[2 * k - 1]
            definitions[here[0]], definitions[here[1]] = at[0] - l * sp.cos(heading), at[1] - l * sp.sin(heading)
            at = here
        kinetic.append(m * (at[0].d ** 2 + at[1].d ** 2) / 2 + J * heading.d**2 / 2)
        along, across = (at[0].d, at[1].d) if k != turned else (-at[1].d, at[0].d)
        constraints[f"axle {k}"] = sp.cos(heading) * across - sp.sin(heading) * along
    initial = dict.fromkeys((x, y, *h), 0) | dict.fromkeys((q.d for q in (x, y, *h)), 0) | {x.d: 1, h[0].d: 0.5}
    return da.System(
        "car with trailers",
        coordinates=[x, y, *h],
        definitions=definitions,
        kinetic=sp.Add(*kinetic),
        potential=0,
        constraints=constraints,
        parameters={"m": 1.2, "J": 0.1, "l": 0.8},
        initial=initial,
    )
