"""Surfaces from files: Wavefront .obj and .stl, as text or binary. Only numbers are read from them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError

MOST_BYTES = 50_000_000
MOST_FACES = 200_000


def read_mesh(file: str, where: str) -> tuple[Array, np.ndarray]:
    """Vertices (V, 3) and faces (F, 3); where: begins the message."""
    path = Path(file)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ModelError(where, [f"draw: mesh {file!r}: the file is larger than {MOST_BYTES // 1_000_000} MB"])
        content = path.read_bytes()
    except OSError as error:
        raise ModelError(where, [f"draw: mesh {file!r} cannot be read: {error.strerror}"]) from None
    try:
        vertices, faces = _obj(content) if path.suffix.lower() == ".obj" else _stl(content)
        fits = len(faces) > 0 and faces.min() >= 0 and faces.max() < len(vertices) and bool(np.isfinite(vertices).all())
    except (ValueError, IndexError):
        fits = False
    if not fits:
        raise ModelError(where, [f"draw: mesh {file!r}: this is no mesh of triangles that can be read"])
    if len(faces) > MOST_FACES:
        raise ModelError(where, [f"draw: mesh {file!r} has {len(faces)} faces; {MOST_FACES} are possible"])
    return vertices, faces


def _obj(content: bytes) -> tuple[Array, np.ndarray]:
    """Lines `v x y z` and `f a b c …`, counted from 1, negative from the end; longer faces are cut into triangles."""
    vertices: list[list[float]] = []
    faces: list[tuple[int, int, int]] = []
    for line in content.decode("utf-8", "replace").splitlines():
        word, *rest = line.split() or [""]
        if word == "v":
            vertices.append([float(x) for x in rest[:3]])
        elif word == "f":
            numbers = [int(entry.split("/")[0]) for entry in rest]
            corners = [k - 1 if k > 0 else len(vertices) + k for k in numbers]
            faces += [(corners[0], b, c) for b, c in pairwise(corners[1:])]
    return np.array(vertices, dtype=float).reshape(-1, 3), np.array(faces, dtype=int).reshape(-1, 3)


def _stl(content: bytes) -> tuple[Array, np.ndarray]:
    count = int.from_bytes(content[80:84], "little") if len(content) >= 84 else -1
    if len(content) == 84 + 50 * count:
        rows = np.frombuffer(content, dtype=np.uint8, offset=84).reshape(count, 50)[:, 12:48]
        corners = rows.copy().view("<f4").astype(float).reshape(-1, 3)
    else:
        words = [line.split() for line in content.decode("utf-8", "replace").splitlines()]
        corners = np.array([[float(x) for x in w[1:4]] for w in words if w[:1] == ["vertex"]]).reshape(-1, 3)
    vertices, faces = np.unique(corners, axis=0, return_inverse=True)
    return vertices, faces.reshape(-1, 3)
