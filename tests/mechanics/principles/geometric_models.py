"""Random systems with a positive definite kinetic energy that depends on positions, and constraints of chosen kinds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import sympy as sp

import dalembert as da
from dalembert.model.language.symbols import Coordinate, t


def rounded(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Numbers of three digits: what a failing example prints can be typed."""
    return np.round(rng.uniform(-1, 1, shape), 3)


def metric(rng: np.random.Generator, q: Sequence[Coordinate]) -> sp.Matrix:
    """D + b bᵀ + c cᵀ with D at least a half; b and c couple a few coordinates and depend on them."""
    n = len(q)
    m = sp.diag(*(1 + rounded(rng, n) / 2).tolist())
    for bend in (sp.sin, lambda u: u / 2):
        i, j, k = rng.integers(0, n, 3)
        b = sp.zeros(n, 1)
        b[i] = rounded(rng, 1)[0]
        b[j] += bend(q[k])
        m += b * b.T
    return m


def kinetic(rng: np.random.Generator, q: Sequence[Coordinate]) -> sp.Expr:
    v = sp.Matrix([c.d for c in q])
    return (v.T * metric(rng, q) * v)[0] / 2


def potential(rng: np.random.Generator, q: Sequence[Coordinate]) -> sp.Expr:
    slopes, springs = rounded(rng, len(q)), rounded(rng, len(q))
    i, j = rng.integers(0, len(q), 2)
    return sp.Add(*(a * c + b * c**2 for a, b, c in zip(slopes, springs, q, strict=True))) + sp.cos(q[i] - 2 * q[j])


def surface(rng: np.random.Generator, q: Sequence[Coordinate]) -> sp.Expr:
    """A position constraint through the neighbourhood of the origin."""
    slopes = rounded(rng, len(q))
    slopes[np.argmax(np.abs(slopes))] += 1.0
    i, j = rng.integers(0, len(q), 2)
    bend, level = rounded(rng, 2)
    return sp.Add(*(a * c for a, c in zip(slopes, q, strict=True))) + bend * q[i] * q[j] / 2 + level / 4


def rolling(rng: np.random.Generator, q: Sequence[Coordinate]) -> sp.Expr:
    """A Pfaffian constraint, as a rule not integrable."""
    slopes = rounded(rng, len(q))
    slopes[np.argmax(np.abs(slopes))] += 1.0
    i, j, k = rng.integers(0, len(q), 3)
    return sp.Add(*(a * c.d for a, c in zip(slopes, q, strict=True))) + sp.sin(q[i]) * q[j].d / 2 + q[k] * q[i].d / 3


def cone(rng: np.random.Generator, q: Sequence[Coordinate]) -> sp.Expr:
    """A constraint homogeneous of degree two in the velocities, met by velocities of any size."""
    a, b = rounded(rng, 2)
    return q[0].d ** 2 - (1 + a / 2) * q[1].d ** 2 + b / 2 * sp.cos(q[1]) * q[0].d * q[-1].d


def general(seed: int) -> da.System:
    """Anything that has momenta: linear terms and time in L, forces, constraints of every level, work of theirs."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 5))
    q = da.coordinates(" ".join(f"q{k}" for k in range(1, n + 1)))
    drive = sp.Add(*(a * c.d * (sp.sin(t) + q[0]) for a, c in zip(rounded(rng, n), q, strict=True)))
    L = kinetic(rng, q) * (1 + sp.cos(t) / 4) + drive - potential(rng, q) * (1 + t / 8)
    chosen = {
        "surface": surface(rng, q) + sp.sin(t) / 5,
        "rolling": rolling(rng, q) - sp.Rational(1, 3),
        "cone": cone(rng, q),
        "driven": q[0].dd + q[1].d * q[-1].dd / 3 - sp.cos(t),
    }
    keys = list(rng.permutation(list(chosen))[: int(rng.integers(0, n))])
    constraints = {str(key): chosen[str(key)] for key in keys}
    if keys and rng.random() < 0.5:
        constraints["again"] = 2 * constraints[str(keys[0])]
    work = {c: a * c.d + b for a, b, c in zip(rounded(rng, n), rounded(rng, n), q, strict=True)}
    return da.System(
        f"general {seed}",
        coordinates=q,
        lagrangian=L,
        forces={q[0]: rounded(rng, 1)[0] * q[-1].d + sp.sin(t)},
        constraints=constraints,
        nonideal=[da.Work(work)] if keys and rng.random() < 0.5 else [],
    )


def force_free(seed: int) -> da.System:
    """No forces at all, and constraints that any speed satisfies."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 6))
    q = da.coordinates(" ".join(f"q{k}" for k in range(1, n + 1)))
    chosen = {"surface": surface(rng, q), "rolling": rolling(rng, q), "cone": cone(rng, q)}
    keys = [str(key) for key in rng.permutation(list(chosen))[: int(rng.integers(0, 3))]]
    constraints = {key: chosen[key] for key in keys}
    if keys and rng.random() < 0.5:
        constraints["again"] = 2 * constraints[keys[0]]
    return da.System(f"free {seed}", coordinates=q, kinetic=kinetic(rng, q), constraints=constraints)


def natural(seed: int) -> da.System:
    """T − V with position constraints."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 6))
    q = da.coordinates(" ".join(f"q{k}" for k in range(1, n + 1)))
    constraints = {f"surface {k}": surface(rng, q) for k in range(int(rng.integers(0, min(n, 3))))}
    if constraints and rng.random() < 0.5:
        constraints["again"] = 2 * constraints["surface 0"]
    V = potential(rng, q)
    return da.System(f"natural {seed}", coordinates=q, kinetic=kinetic(rng, q), potential=V, constraints=constraints)
