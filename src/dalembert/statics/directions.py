"""Directions about a configuration: which coordinates must give way, and where the balance persists."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.statics.statics import RANK, Balance, Parts, Statics

# The balance persists in a direction where its slope is this small against the slopes at a distance NEARBY, in sizes of
# the coordinates: at x⁴, solved to 1e-5, it is 1e-8 of them.
PERSISTS, NEARBY = 1e-6, 0.1


def coordinates_to_move(statics: Statics, start: Array, parts: Parts, kept: tuple[int, ...]) -> tuple[int, ...]:
    """Coordinates that may change while those `kept` do not: as few as constraints and balance need, the last ones
    first.
    """
    s = statics.sizes
    r, _, reach = statics.balance(start, np.zeros(statics.m), np.zeros(statics.columns))
    columns, lengths = _columns(statics, reach, parts)
    both = np.zeros(statics.m + statics.columns)
    both[_acting_columns(statics, parts)] = np.linalg.lstsq(columns, -s * r, rcond=RANK)[0] / lengths
    J = np.vstack(_response(statics, start, both[: statics.m], both[statics.m :], parts))
    J = _unit_rows(J)
    chosen: list[int] = []
    for k in reversed(range(statics.n)):
        if k not in kept and np.linalg.matrix_rank(J[:, [*chosen, k]], tol=1e-8) == len(chosen) + 1:
            chosen.append(k)
    return tuple(sorted(chosen))


def persistent_directions(statics: Statics, at: Balance, parts: Parts) -> Array:
    """Directions (n, k), in sizes of the coordinates, in which the balance persists to first order."""
    s = statics.sizes
    slope, held = _response(statics, at.q, at.multipliers, at.friction, parts)
    near = np.abs(slope).max(initial=0.0)
    for step in NEARBY * np.vstack([np.diag(s), -np.diag(s)]):
        there = np.outer(s, s) * statics.linear(at.q + step, at.multipliers, at.friction)[1]
        near = max(near, np.abs(there).max(initial=0.0) if np.isfinite(there).all() else 0.0)
    J = np.vstack([slope / (near or 1.0), _unit_rows(held)])
    _, sigma, V = np.linalg.svd(J, full_matrices=True)
    return V[int(np.sum(sigma > PERSISTS)) :].T


def _acting_columns(statics: Statics, parts: Parts) -> list[int]:
    return [*parts.rows, *(statics.m + k for k in parts.components)]


def _columns(statics: Statics, reach: Array, parts: Parts) -> tuple[Array, Array]:
    """What the forces that act reach, as unit columns, and their lengths."""
    columns = statics.sizes[:, None] * reach[:, _acting_columns(statics, parts)]
    lengths = np.linalg.norm(columns, axis=0)
    lengths = np.where(lengths > 0, lengths, 1.0)
    return columns / lengths, lengths


def _response(statics: Statics, q: Array, l: Array, f: Array, parts: Parts) -> tuple[Array, Array]:
    """How the balance, less what the forces that act take up, and the conditions change, in sizes."""
    s = statics.sizes
    _, slope, reach = statics.balance(q, l, f)
    U, sigma, _ = np.linalg.svd(_columns(statics, reach, parts)[0], full_matrices=True)
    N = U[:, int(np.sum(sigma > RANK)) :]
    return N.T @ (np.outer(s, s) * slope), statics.conditions(q)[1][list(parts.rows)] * s


def _unit_rows(J: Array) -> Array:
    norms = np.linalg.norm(J, axis=1)
    return J / np.where(norms > 0, norms, 1.0)[:, None]
