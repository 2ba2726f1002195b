"""Accelerations as straight expressions in any library's numbers, for peers that integrate ẏ = f(t, y).

Each function takes q, v, t and a namespace with cos, sin, sqrt, and gives q̈ in the coordinates of the dalembert model.
The algebra is done beforehand or by elimination without pivoting, so that a peer gets code about as short as can be.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from problems import andrews, appell_hamel, double_pendulum, pendulum, penny

Numbers = Sequence[Any]


def penny_acceleration(q: Numbers, v: Numbers, t: Any, f: Any) -> list[Any]:
    """(1+β) s̈ = g sin α cos φ along the heading φ, φ̈ = 0; ẋ = R ψ̇ cos φ, ẏ = R ψ̇ sin φ."""
    c = penny.DATA
    R = c["R"]
    pull = c["g"] * np.sin(c["alpha"]) / (R * (1 + c["beta"]))
    cosine, sine = f.cos(q[3]), f.sin(q[3])
    spin = pull * cosine
    turn = R * v[2] * v[3]
    return [R * spin * cosine - turn * sine, R * spin * sine + turn * cosine, spin, 0.0 * v[3]]


def pendulum_acceleration(q: Numbers, v: Numbers, t: Any, f: Any) -> list[Any]:
    """q̈ = −(0, g) − μ q with μ = (q̇² − g y)/l²."""
    c = pendulum.DATA
    pull = (v[0] * v[0] + v[1] * v[1] - c["g"] * q[1]) / c["l"] ** 2
    return [-pull * q[0], -c["g"] - pull * q[1]]


def appell_hamel_acceleration(q: Numbers, v: Numbers, t: Any, f: Any) -> list[Any]:
    return list(appell_hamel.acceleration(t, *v, cos=f.cos, sqrt=f.sqrt))


def double_pendulum_acceleration(q: Numbers, v: Numbers, t: Any, f: Any) -> list[Any]:
    """Multipliers of the two rods by a 2 × 2 system: unit masses, r = q₂ − q₁."""
    g = double_pendulum.GRAVITY
    a, b = [q[k] for k in range(3)], [q[k + 3] - q[k] for k in range(3)]
    va, vb = [v[k] for k in range(3)], [v[k + 3] - v[k] for k in range(3)]
    aa, bb, ab = _dot(a, a), _dot(b, b), _dot(a, b)
    # With q̈₁ = G − μ a + ν b and q̈₂ = G − ν b: a·q̈₁ = −va², b·(q̈₂ − q̈₁) = −vb².
    first, second = _dot(va, va) - g * a[2], _dot(vb, vb)
    # μ aa − ν ab = first ;  −μ ab + 2ν bb = second
    determinant = 2 * aa * bb - ab * ab
    mu = (2 * first * bb + second * ab) / determinant
    nu = (second * aa + first * ab) / determinant
    G = [0.0, 0.0, -g]
    return [G[k] - mu * a[k] + nu * b[k] for k in range(3)] + [G[k] - nu * b[k] for k in range(3)]


def andrews_acceleration(q: Numbers, v: Numbers, t: Any, f: Any) -> list[Any]:
    """M is 2×2 blocks and one number, each loop touches few angles: A M⁻¹ Aᵀ by elimination."""
    M, Q = andrews.mass_and_force(q, v, f.cos, f.sin, f.sqrt)
    rows = andrews.slopes(q, f.cos, f.sin)
    b = andrews.curvature(q, v, f.cos, f.sin)
    blocks = [(0, 1), (3, 4), (5, 6)]

    def divide(x: dict[int, Any]) -> dict[int, Any]:
        """M⁻¹ x by blocks."""
        out: dict[int, Any] = {}
        for i, j in blocks:
            if i in x or j in x:
                determinant = M[i, i] * M[j, j] - M[i, j] * M[i, j]
                xi, xj = x.get(i, 0.0), x.get(j, 0.0)
                out[i] = (M[j, j] * xi - M[i, j] * xj) / determinant
                out[j] = (M[i, i] * xj - M[i, j] * xi) / determinant
        if 2 in x:
            out[2] = x[2] / M[2, 2]
        return out

    free = divide(dict(enumerate(Q)))
    columns = [divide(row) for row in rows]
    S = {
        (i, j): _sum(rows[i][k] * columns[j][k] for k in rows[i] if k in columns[j])
        for i in range(6)
        for j in range(i + 1)
    }
    right = [b[i] - _sum(rows[i][k] * free[k] for k in rows[i]) for i in range(6)]
    multipliers = _ldl(S, right)
    result = []
    for k in range(7):
        result.append(free[k] + _sum(columns[j][k] * multipliers[j] for j in range(6) if k in columns[j]))
    return result


def _dot(x: Numbers, y: Numbers) -> Any:
    return _sum(a * b for a, b in zip(x, y, strict=True))


def _sum(terms: Any) -> Any:
    total = None
    for term in terms:
        total = term if total is None else total + term
    return total


def _ldl(S: dict[tuple[int, int], Any], right: list[Any]) -> list[Any]:
    """Solve with a symmetric positive matrix, its lower triangle given, without pivoting."""
    n = len(right)
    S = dict(S)
    factor: dict[tuple[int, int], Any] = {}
    for k in range(n):
        for i in range(k + 1, n):
            factor[i, k] = S[i, k] / S[k, k]
            for j in range(k + 1, i + 1):
                S[i, j] = S[i, j] - factor[i, k] * S[j, k]
    x = list(right)
    for k in range(n):
        for i in range(k + 1, n):
            x[i] = x[i] - factor[i, k] * x[k]
    x = [x[k] / S[k, k] for k in range(n)]
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            x[k] = x[k] - factor[i, k] * x[i]
    return x


ACCELERATIONS: dict[str, Callable[[Numbers, Numbers, Any, Any], list[Any]]] = {
    "penny": penny_acceleration,
    "pendulum": pendulum_acceleration,
    "andrews": andrews_acceleration,
    "appell-hamel": appell_hamel_acceleration,
    "double-pendulum": double_pendulum_acceleration,
}


def initial(name: str) -> tuple[np.ndarray, np.ndarray]:
    """(q, q̇) at the start, in the coordinates of the dalembert model."""
    if name == "penny":
        c = penny.DATA
        return np.zeros(4), np.array([c["v0"], 0.0, c["v0"] / c["R"], c["omega"]])
    if name == "pendulum":
        c = pendulum.DATA
        return c["l"] * np.array([np.sin(c["angle"]), -np.cos(c["angle"])]), np.zeros(2)
    if name == "andrews":
        return andrews.start(), np.zeros(7)
    if name == "appell-hamel":
        y = appell_hamel.start()
        return y[:3], y[3:]
    if name == "double-pendulum":
        return double_pendulum.start()
    raise KeyError(name)
