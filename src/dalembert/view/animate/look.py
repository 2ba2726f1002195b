"""How each kind of shape is put on paper at a frame."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.view.animate.camera import LIGHT, Camera
from dalembert.view.animate.marks import BACK, Area, Faces, Label, Line, Mark, mixed, shaded
from dalembert.view.scene.rotations import rotated
from dalembert.view.scene.scene import row_at

Shape = Mapping[str, Any]
_TURN = np.linspace(0, 2 * np.pi, 49)
CIRCLE = np.column_stack([np.cos(_TURN), np.sin(_TURN), 0 * _TURN])
_CORNERS = np.array([[-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]) / 2.0
#: The faces of a unit cube, each with its normal.
FACES = [(np.roll(_CORNERS * s, k, axis=1), np.roll([0.0, 0.0, float(s)], k)) for k in range(3) for s in (1, -1)]
HEAD = 9.0  # pixels: half the width of an arrow's head is 0.45 of that
GRID = 8  # squares of a ground along each side
GHOST = 0.35


class Look:
    """camera: from where; times: of the frames; pixel: its length in the drawing; flat: in two dimensions; ink: the
    colour of outlines and texts.
    """

    def __init__(self, camera: Camera, times: Array, pixel: float, flat: bool, ink: str, paper: str) -> None:
        self.camera, self.times, self.pixel = camera, times, pixel
        self.flat, self.ink, self.paper = flat, ink, paper
        self.traces: dict[int, Array] = {}

    def marks(self, shape: Shape, frame: int) -> list[Mark]:
        return _LOOK[shape["kind"]](self, shape, frame)

    def bright(self, color: str) -> str:
        """A colour of arrows: lighter on dark paper."""
        return mixed(color, "#ffffff", 0.35) if self.paper < "#7" else color

    def alpha(self, shape: Shape) -> float:
        return float(shape["opacity"]) * (GHOST if shape["role"] == "ghost" else 1.0)

    def placed(self, shape: Shape, frame: int, points: Array) -> Array:
        """Points in the axes of a shape as the camera sees them."""
        turned = rotated(row_at(shape["rotation"], frame), points)
        return self.camera.seen(turned + row_at(shape["position"], frame))

    def label(self, shape: Shape, seen: Array) -> list[Mark]:
        return [Label(seen[:2], shape["label"], 1e30)] if shape["label"] else []


def _ball(look: Look, shape: Shape, frame: int) -> list[Mark]:
    """A dot, or a sphere with light on it; one that is seen through has circles around it."""
    at, radius, alpha = look.camera.seen(row_at(shape["position"], frame)), float(shape["radius"]), look.alpha(shape)
    ring, color = CIRCLE[:, :2] * radius, shape["color"]
    edge = mixed(color, look.ink, 0.45)
    found: list[Mark] = [Area(at[:2] + ring, color, at[2], alpha, edge, 1.0)]
    if alpha < 0.7:
        found += _parallels(look, shape, frame, edge) if not look.flat and shape["kind"] == "sphere" else []
    elif radius > 3 * look.pixel:
        for share, bright in ((0.78, 1.12), (0.5, 1.26), (0.22, 1.45)):
            spot = at[:2] + radius * (1 - share) * 0.55 * np.array([-0.55, 0.75])
            found.append(Area(spot + share * ring, shaded(color, bright), at[2]))
        if shape["kind"] == "sphere" and len(shape["rotation"]) > 1:
            found += _meridians(look, shape, frame, edge)
    return found + look.label(shape, at + 0.75 * radius)


def _meridians(look: Look, shape: Shape, frame: int, color: str) -> list[Mark]:
    """The near half of two great circles, which show how a ball turns."""
    found: list[Mark] = []
    centre = look.camera.seen(row_at(shape["position"], frame))
    for turn in (0, 1):
        seen = look.placed(shape, frame, np.roll(CIRCLE, turn, axis=1) * float(shape["radius"]))
        near = np.where((seen[:, 2:] >= centre[2]), seen[:, :2], np.nan)
        found.append(Line(near, color, centre[2], 1.4))
    return found


def _parallels(look: Look, shape: Shape, frame: int, color: str) -> list[Mark]:
    radius, at = float(shape["radius"]), row_at(shape["position"], frame)
    found: list[Mark] = []
    for z in (-0.5, 0.0, 0.5):
        seen = look.camera.seen(at + CIRCLE * radius * np.sqrt(1 - z**2) + [0, 0, z * radius])
        found.append(Line(seen[:, :2], color, look.camera.seen(at)[2], 0.8, 0.35))
    for turn in (0.0, np.pi / 3, 2 * np.pi / 3):
        c, s = np.cos(turn), np.sin(turn)
        ring = np.column_stack([CIRCLE[:, 0] * c, CIRCLE[:, 0] * s, CIRCLE[:, 1]]) * radius
        found.append(Line(look.camera.seen(at + ring)[:, :2], color, look.camera.seen(at)[2], 0.8, 0.25))
    return found


def _disk(look: Look, shape: Shape, frame: int) -> list[Mark]:
    radius, half = float(shape["radius"]), float(shape["thickness"]) / 2
    alpha, color = look.alpha(shape), shape["color"]
    axis = rotated(row_at(shape["rotation"], frame), np.array([0.0, 0.0, 1.0]))
    side = 1.0 if look.camera.seen(axis)[2] >= 0 else -1.0
    centre = look.placed(shape, frame, np.zeros(3))
    near = look.placed(shape, frame, CIRCLE * radius + [0, 0, side * half])
    edge = mixed(color, look.ink, 0.5)
    if shape["hollow"]:
        width = max(2 * half / look.pixel, 2.5)
        ring = look.placed(shape, frame, CIRCLE * radius)
        back = np.where(ring[:, 2:] <= centre[2] + 1e-12, ring[:, :2], np.nan)
        front = np.where(ring[:, 2:] >= centre[2] - 1e-12, ring[:, :2], np.nan)
        hoop: list[Mark] = [Line(front, color, centre[2] + radius, width, alpha)]
        return (
            hoop if look.flat else [Line(back, mixed(color, look.paper, 0.35), centre[2] - radius, width, alpha), *hoop]
        )
    found: list[Mark] = []
    if not look.flat:
        far = look.placed(shape, frame, CIRCLE * radius - [0, 0, side * half])
        found.append(Area(hull(np.concatenate([near, far])[:, :2]), shaded(color, 0.62), centre[2], alpha, edge, 1.0))
    bright = 1.0 if look.flat else look.camera.shade(side * axis)
    found.append(Area(near[:, :2], shaded(color, bright), centre[2], alpha, edge, 1.0))
    spoke = look.placed(shape, frame, np.array([[0, 0, side * half], [radius, 0, side * half]]))
    mark = look.placed(shape, frame, CIRCLE * radius * 0.13 + [0.72 * radius, 0, side * half])
    found.append(Line(spoke[:, :2], edge, centre[2], max(1.5, 0.05 * radius / look.pixel), alpha))
    found.append(Area(mark[:, :2], mixed(color, look.ink, 0.75), centre[2], alpha))
    return found + look.label(shape, near[6])


def _box(look: Look, shape: Shape, frame: int) -> list[Mark]:
    alpha, size, q = look.alpha(shape), np.asarray(shape["size"]), row_at(shape["rotation"], frame)
    edge = mixed(shape["color"], look.ink, 0.5)
    found: list[Mark] = []
    for corners, normal in FACES:
        turned = rotated(q, normal)
        if look.camera.seen(turned)[2] > 1e-9 and (not look.flat or normal[2] > 0):
            seen = look.placed(shape, frame, corners * size)
            bright = 1.0 if look.flat else look.camera.shade(turned)
            found.append(Area(seen[:, :2], shaded(shape["color"], bright), float(seen[:, 2].mean()), alpha, edge, 1.0))
    centre = look.camera.seen(row_at(shape["position"], frame))
    return [*found, Label(centre[:2], shape["label"], 1e29, "inside")] if shape["label"] else found


def _rod(look: Look, shape: Shape, frame: int) -> list[Mark]:
    seen = look.camera.seen(np.array([row_at(shape["from"], frame), row_at(shape["to"], frame)]))
    width, alpha, depth = max(float(shape["width"]) / look.pixel, 1.5), look.alpha(shape), float(seen[:, 2].mean())
    edge = mixed(shape["color"], look.ink, 0.5)
    found: list[Mark] = [Line(seen[:, :2], edge, depth, width + 1.6, alpha)] if width > 4 else []
    found.append(Line(seen[:, :2], shape["color"], depth, width, alpha))
    return found + look.label(shape, seen.mean(axis=0))


def _spring(look: Look, shape: Shape, frame: int) -> list[Mark]:
    a, b = row_at(shape["from"], frame), row_at(shape["to"], frame)
    along = b - a
    length = float(np.linalg.norm(along))
    unit = along / length if length else np.array([1.0, 0.0, 0.0])
    toward = look.camera.axes[2]
    across = np.cross(toward, unit)
    across = across / np.linalg.norm(across) if np.linalg.norm(across) > 1e-9 else look.camera.axes[0]
    turn = np.linspace(0, 2 * np.pi * shape["coils"], 16 * shape["coils"] + 1)
    lead, half = 0.12, float(shape["width"]) / 2
    s = lead + (1 - 2 * lead) * turn / turn[-1]
    # A helix seen a little from its side: it goes forwards and back along its axis as it winds.
    lean = np.minimum(0.45 * half, 0.3 * length / shape["coils"]) * (1 - np.cos(turn))
    coil = a + s[:, None] * along + np.sin(turn)[:, None] * half * across + lean[:, None] * unit
    seen = look.camera.seen(np.concatenate([[a], coil, [b]]))
    return [Line(seen[:, :2], shape["color"], float(seen[:, 2].mean()), 1.8, look.alpha(shape))]


def _trace(look: Look, shape: Shape, frame: int) -> list[Mark]:
    if id(shape) not in look.traces:
        look.traces[id(shape)] = look.camera.seen(shape["position"])[:, :2]
    back = shape["seconds"]
    first = 0 if back is None else int(np.searchsorted(look.times, look.times[frame] - back))
    seen = look.traces[id(shape)][first : frame + 1]
    return [Line(seen, shape["color"], BACK / 2, 1.8, 0.9 * look.alpha(shape))] if len(seen) > 1 else []


def _plane(look: Look, shape: Shape, frame: int) -> list[Mark]:
    half, color = float(shape["size"]) / 2, shape["color"]
    if look.flat:
        at, normal = row_at(shape["position"], frame)[:2], row_at(shape["normal"], frame)[:2]
        along = np.array([normal[1], -normal[0]])
        ends = np.array([at - half * along, at + half * along])
        strokes = []
        step = 14 * look.pixel
        # Strokes move with the ground, so that a belt is seen to run.
        for s in np.arange(-np.floor(half / step), np.floor(half / step) + 1) * step:
            top = at + s * along
            strokes += [top, top - 9 * look.pixel * (normal + along), [np.nan, np.nan]]
        return [
            Line(np.array(strokes), color, BACK, 1.0, 0.8),
            Line(ends, mixed(color, look.ink, 0.4), BACK, 1.6),
        ]
    corners = look.placed(shape, frame, np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * half)
    grid = []
    for s in np.linspace(-half, half, GRID + 1):
        for pair in ([[s, -half, 0], [s, half, 0]], [[-half, s, 0], [half, s, 0]]):
            grid += [*look.placed(shape, frame, np.array(pair))[:, :2], [np.nan, np.nan]]
    return [
        Area(corners[:, :2], color, BACK, 0.14 * look.alpha(shape)),
        Line(np.array(grid), color, BACK, 0.8, 0.45 * look.alpha(shape)),
    ]


def _curve(look: Look, shape: Shape, frame: int) -> list[Mark]:
    seen = look.placed(shape, frame, shape["points"])
    depth = BACK / 2 if look.flat else float(seen[:, 2].mean())
    return [Line(seen[:, :2], shape["color"], depth, 2.2, look.alpha(shape)), *look.label(shape, seen[0])]


def _mesh(look: Look, shape: Shape, frame: int) -> list[Mark]:
    """Its near side, the nearest faces last."""
    corners = look.placed(shape, frame, shape["vertices"])[shape["faces"]]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    near = normals[:, 2] > 0
    corners, normals = corners[near], normals[near] / np.linalg.norm(normals[near], axis=1, keepdims=True)
    order = np.argsort(corners[:, :, 2].mean(axis=1))
    bright = np.clip(0.85 + 0.3 * normals @ LIGHT / np.linalg.norm(LIGHT), 0, 1)[order, None]
    base = np.array([int(shape["color"][k : k + 2], 16) / 255 for k in (1, 3, 5)])
    colors = np.concatenate([bright * base, np.full((len(order), 1), look.alpha(shape))], axis=1)
    middle = look.placed(shape, frame, np.zeros((1, 3)))[0]
    return [Faces(corners[order][:, :, :2], colors, float(middle[2])), *look.label(shape, middle)]


def _arrow(look: Look, shape: Shape, frame: int) -> list[Mark]:
    at = row_at(shape["position"], frame)
    ends = look.camera.seen(np.array([at, at + row_at(shape["vector"], frame)]))
    a, b = ends[:, :2]
    length = float(np.hypot(*(b - a)))
    if length < 2 * look.pixel:
        return []
    along = (b - a) / length
    side = np.array([-along[1], along[0]])
    head = min(HEAD * look.pixel, 0.6 * length)
    neck, alpha, color = b - head * along, look.alpha(shape), look.bright(shape["color"])
    return [
        Line(np.array([a, neck]), color, 1e20, 2.4, alpha),
        Area(np.array([b, neck + 0.45 * head * side, neck - 0.45 * head * side]), color, 1e20, alpha),
        *look.label(shape, ends[1]),
    ]


def _cone(look: Look, shape: Shape, frame: int) -> list[Mark]:
    at, axis, height = row_at(shape["position"], frame), row_at(shape["normal"], frame), float(shape["size"])
    other = np.array([1.0, 0.0, 0.0]) if abs(axis[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    u = np.cross(axis, other) if not look.flat else np.cross(axis, [0.0, 0.0, 1.0])
    u /= np.linalg.norm(u)
    v = np.cross(axis, u) * (0.0 if look.flat else 1.0)
    ring = at + height * axis + height * np.tan(shape["angle"]) * (CIRCLE[:, :1] * u + CIRCLE[:, 1:2] * v)
    seen = look.camera.seen(np.concatenate([[at], ring]))
    return [Area(hull(seen[:, :2]), shape["color"], 1e19, 0.4 * look.alpha(shape), shape["color"], 0.8)]


def _dial(look: Look, shape: Shape, frame: int) -> list[Mark]:
    radius, at = float(shape["radius"]), look.camera.seen(row_at(shape["position"], frame))
    hand = look.placed(shape, frame, np.array([[0, 0, 0], [0.85 * radius, 0, 0]]))
    ticks = [[*(at[:2] + r * radius * CIRCLE[k, :2] for r in (0.88, 1.0)), [np.nan] * 2] for k in range(0, 48, 6)]
    return [
        Area(at[:2] + radius * CIRCLE[:, :2], look.paper, at[2], 1.0, shape["color"], 1.5),
        Line(np.array([point for tick in ticks for point in tick]), shape["color"], at[2], 1.0),
        Line(hand[:, :2], "#d55e00", at[2], 2.4),
        Label(at[:2] - np.array([0.0, 1.02 * radius]), shape["label"], 1e30, "below"),
    ]


def hull(points: Array) -> Array:
    """The convex hull of points (P, 2), by going along them from the left to the right and back."""
    given = points[np.lexsort((points[:, 1], points[:, 0]))].tolist()
    halves = []
    for order in (given, given[::-1]):
        half: list[list[float]] = []
        for p in order:
            while len(half) > 1 and _turn(half[-2], half[-1], p) <= 0:
                half.pop()
            half.append(p)
        halves.append(half[:-1])
    return np.array(halves[0] + halves[1])


def _turn(a: list[float], b: list[float], c: list[float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


_LOOK: Mapping[str, Callable[[Look, Shape, int], list[Mark]]] = {
    "point": _ball, "sphere": _ball, "disk": _disk, "box": _box, "rod": _rod, "spring": _spring, "trace": _trace,
    "plane": _plane, "curve": _curve, "mesh": _mesh, "arrow": _arrow, "cone": _cone, "dial": _dial,
}  # fmt: skip
