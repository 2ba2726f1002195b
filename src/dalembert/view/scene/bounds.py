"""How large a drawing is, and the lengths that are chosen by it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.view.scene.rotations import rotated

# Lengths where none is given, as shares of the largest extent.
SHARES = {
    "point": {"radius": 0.016}, "rod": {"width": 0.012}, "spring": {"width": 0.05}, "disk": {"thickness": 0.012},
    "plane": {"size": 1.4},
}  # fmt: skip
SAMPLED = 64  # frames at which what turns is measured


def bounds_of(shapes: Iterable[Mapping[str, Any]]) -> Array:
    """The least and the largest x, y, z of all shapes at all frames, (2, 3), without planes and arrows."""
    ends = [corner for shape in shapes for corner in corners_of(shape)]
    if not ends:
        return np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
    points = np.concatenate(ends)
    found = np.array([points.min(axis=0), points.max(axis=0)])
    if not np.any(found[1] > found[0]):  # a single point that does not move
        found += np.array([[-1.0, -1.0, 0.0], [1.0, 1.0, 0.0]])
    return found


def corners_of(shape: Mapping[str, Any]) -> list[Array]:
    """Points (…, 3) that enclose a shape at all frames; of grounds, arrows and cones none."""
    kind = shape["kind"]
    if kind in ("rod", "spring"):
        return [shape["from"], shape["to"]]
    if kind in ("plane", "arrow", "cone"):
        return []
    position = shape["position"]
    if kind in ("point", "sphere", "dial"):
        reach = shape.get("radius") or 0.0
        return [position - reach, position + reach] if shape.get("radius") else [position]
    if kind == "trace":
        return [position]
    body = _body(shape)
    found = []
    count = max(len(position), len(shape["rotation"]))
    for frame in np.unique(np.linspace(0, count - 1, SAMPLED).astype(int)):
        turned = rotated(shape["rotation"][frame if len(shape["rotation"]) > 1 else 0], body)
        found.append(turned + position[frame if len(position) > 1 else 0])
    return found


def _body(shape: Mapping[str, Any]) -> Array:
    if shape["kind"] == "disk":
        angles = np.linspace(0, 2 * np.pi, 24, endpoint=False)
        return np.asarray(shape["radius"] * np.column_stack([np.cos(angles), np.sin(angles), 0 * angles]))
    if shape["kind"] == "box":
        signs = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)])
        return np.asarray(signs * np.asarray(shape["size"]) / 2)
    return np.asarray(shape["points"] if shape["kind"] == "curve" else shape["vertices"])


def with_lengths(shape: Mapping[str, Any], bounds: Array) -> dict[str, Any]:
    """The shape with lengths in the place of those left open; a ground without a size lies under the whole."""
    size = float(np.max(bounds[1] - bounds[0]))
    if shape["kind"] == "plane" and shape["size"] is None:
        away = bounds.mean(axis=0) - shape["position"]
        across = np.sum(away * shape["normal"], axis=1, keepdims=True) * shape["normal"]
        return {**shape, "position": shape["position"] + away - across, "size": SHARES["plane"]["size"] * size}
    shares = SHARES.get(shape["kind"], {})
    return {**shape, **{key: share * size for key, share in shares.items() if shape.get(key) is None}}
