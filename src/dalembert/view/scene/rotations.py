"""Unit quaternions (w, x, y, z) over frames, each of shape (F, 4): from the axes of a shape to those of the drawing."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array

# A direction this close to an axis, as the sine of the angle between them, says nothing of what is across it.
LEAST_ACROSS = 1e-6


def about(axis: Array, angle: Array) -> Array:
    """A turn by angles (F,) about axes (F, 3)."""
    half = np.asarray(angle)[:, None] / 2
    return np.concatenate([np.cos(half), np.sin(half) * unit(axis)], axis=1)


def unit(rows: Array) -> Array:
    """Each row divided by its length; along z where it has none."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    up = np.zeros_like(rows)
    up[..., -1] = 1.0
    return np.where(lengths > 0, rows / np.where(lengths > 0, lengths, 1.0), up)


def of_wheel(axis: Array, angle: Array, mark: Array | None) -> Array:
    """Of a disk about axes (F, 3), turned by angles (F,): z to the axis, and x, at angle 0, as nearly to `mark` as can
    be; that is −z, or x where the axis comes along z, unless it is given.
    """
    z = unit(axis)
    down, along_x = np.array([[0.0, 0.0, -1.0]]), np.array([[1.0, 0.0, 0.0]])
    towards = down if mark is None else unit(mark)
    if mark is None and np.min(np.linalg.norm(across(towards, z), axis=1)) < LEAST_ACROSS:
        towards = along_x
    x = unit(across(towards, z))
    y = np.cross(z, x)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return of_axes(c * x + s * y, c * y - s * x, z + 0 * x)


def across(direction: Array, axis: Array) -> Array:
    """The part of directions across unit axes."""
    return direction - np.sum(direction * axis, axis=1, keepdims=True) * axis


def of_normal(normal: Array) -> Array:
    """Of a plane: z to the normal, and x as nearly as can be along x, or y where that is the normal."""
    z = unit(normal)
    first = np.array([1.0, 0.0, 0.0])
    if np.min(np.linalg.norm(across(first[None], z), axis=1)) < 0.1:  # of a wall across x
        first = np.array([0.0, 1.0, 0.0])
    x = unit(across(first[None], z))
    return of_axes(x, np.cross(z, x), z)


def of_axes(x: Array, y: Array, z: Array) -> Array:
    """From three orthonormal axes, (F, 3) each; neighbours in time have neighbouring signs."""
    R = np.stack(np.broadcast_arrays(x, y, z), axis=2)  # columns
    trace = np.einsum("fii->f", R)
    # Of four ways to the same quaternion, the one that divides by its largest component.
    choices = np.stack([trace, R[:, 0, 0], R[:, 1, 1], R[:, 2, 2]], axis=1)
    best = np.argmax(choices, axis=1)
    found = np.empty((len(R), 4))
    for k in range(4):
        rows = best == k
        if rows.any():
            found[rows] = _by_component(R[rows], trace[rows], k)
    return continuous(found / np.linalg.norm(found, axis=1, keepdims=True))


def _by_component(R: Array, trace: Array, k: int) -> Array:
    if k == 0:
        return np.stack([1 + trace, R[:, 2, 1] - R[:, 1, 2], R[:, 0, 2] - R[:, 2, 0], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    i = k - 1
    j, m = (i + 1) % 3, (i + 2) % 3
    found = np.empty((len(R), 4))
    found[:, 0] = R[:, m, j] - R[:, j, m]
    found[:, 1 + i] = 1 + R[:, i, i] - R[:, j, j] - R[:, m, m]
    found[:, 1 + j] = R[:, j, i] + R[:, i, j]
    found[:, 1 + m] = R[:, m, i] + R[:, i, m]
    return found


def continuous(q: Array) -> Array:
    """The same turns with signs such that neighbours are close."""
    flips = np.sum(q[1:] * q[:-1], axis=1) < 0
    signs = np.concatenate([[1.0], np.cumprod(np.where(flips, -1.0, 1.0))])
    return np.asarray(q * signs[:, None])


def rotated(q: Array, points: Array) -> Array:
    """Points (P, 3) turned by one quaternion (4,)."""
    w, v = q[0], q[1:]
    twice = 2 * np.cross(v, points)
    return np.asarray(points + w * twice + np.cross(v, twice))
