"""From the shapes of a drawing to their data over frames: one function for each kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.drawings.colours import colour_of
from dalembert.model.drawings.shapes import (
    Arrow,
    Box,
    Curve,
    Disk,
    Mesh,
    Plane,
    Point,
    Rod,
    Shape,
    Sphere,
    Spring,
    Trace,
)  # fmt: skip
from dalembert.model.system import System
from dalembert.view.scene import rotations
from dalembert.view.scene.mesh_files import read_mesh
from dalembert.view.scene.values import Values, curve_points

Data = dict[str, Any]
#: Colours where none is given, by kind.
PLAIN = {
    "point": "#0072b2", "sphere": "#56b4e9", "disk": "#b87333", "box": "#c89f6c", "rod": "#6f8196",
    "spring": "#6f8196", "trace": "#56b4e9", "plane": "#8a9099", "curve": "#6f8196", "mesh": "#c3c9d1",
    "arrow": "#1b1f24", "cone": "#cc79a7", "dial": "#6f8196",
}  # fmt: skip
ROLES = {"impressed": "#0072b2", "ideal": "#009e73", "nonideal": "#d55e00", "contact": "#cc79a7"}
_UP = np.array([[0.0, 0.0, 1.0]])
_STILL = np.array([[1.0, 0.0, 0.0, 0.0]])


def build_shape(shape: Shape, values: Values, system: System) -> Data:
    """The data of one shape; lengths that are to be chosen by the size of the whole are None."""
    found = head(shape.name, shape.label, shape.color, shape.opacity)
    found |= _BUILD[type(shape)](shape, values, system)
    bad = [key for key, value in found.items() if isinstance(value, np.ndarray) and not np.all(np.isfinite(value))]
    if bad:
        raise ModelError(
            system.name, [f"draw: the {bad[0]} of a {shape.name} has no finite value everywhere along the motion"]
        )
    return found


def head(kind: str, label: str = "", color: str = "", opacity: float = 1.0, role: str = "") -> Data:
    plain = ROLES.get(role, PLAIN[kind])
    return {"kind": kind, "label": label, "color": colour_of(color) or plain, "opacity": opacity, "role": role}


def single(rows: Array) -> Array:
    """One row where all are the same."""
    return rows[:1] if np.all(rows == rows[0]) else rows


def _rotation(shape: Any, values: Values) -> Array:
    """The rotation of a box, a sphere, a curve or a mesh."""
    if shape.rotation is not None:
        q = values.rows(shape.rotation)
        return single(rotations.continuous(rotations.unit(q)))
    if shape.angle is None:
        return _STILL
    axis = _UP if shape.axis is None else values.rows(shape.axis)
    return single(rotations.about(axis + np.zeros((values.count, 1)), values.one(shape.angle)))


def _length(values: Values, system: System, expression: Any, what: str) -> float | None:
    if expression is None:
        return None
    column = values.one(expression)
    number = float(column[0])
    if not (np.isfinite(number) and number >= 0):
        raise ModelError(system.name, [f"draw: {what} is {number:g}; a length is wanted"])
    if np.ptp(column) > 1e-9 * number:  # more than rounding
        raise ModelError(system.name, [f"draw: {what} changes along the motion; it is made of numbers and parameters"])
    return number


def _point(shape: Point, values: Values, system: System) -> Data:
    return {"position": single(values.rows(shape.at)), "radius": _length(values, system, shape.radius, "a radius")}


def _sphere(shape: Sphere, values: Values, system: System) -> Data:
    radius = _length(values, system, shape.radius, "the radius of a sphere")
    return {"position": single(values.rows(shape.center)), "rotation": _rotation(shape, values), "radius": radius}


def _disk(shape: Disk, values: Values, system: System) -> Data:
    axis = _UP if shape.axis is None else values.rows(shape.axis)
    angle = np.zeros(values.count) if shape.angle is None else values.one(shape.angle)
    mark = None if shape.mark is None else values.rows(shape.mark)
    return {
        "position": single(values.rows(shape.center)),
        "rotation": single(rotations.of_wheel(axis + np.zeros((values.count, 1)), angle, mark)),
        "radius": _length(values, system, shape.radius, "the radius of a disk"),
        "thickness": _length(values, system, shape.thickness, "the thickness of a disk"),
        "hollow": shape.hollow,
    }


def _box(shape: Box, values: Values, system: System) -> Data:
    size = [_length(values, system, edge, "an edge of a box") for edge in shape.size]
    size += [min(float(edge or 0.0) for edge in size)] * (3 - len(size))
    rotation = _rotation(shape, values)
    return {"position": single(values.rows(shape.center)), "rotation": rotation, "size": np.array(size, dtype=float)}


def _rod(shape: Rod | Spring, values: Values, system: System) -> Data:
    found: Data = {"from": single(values.rows(shape.a)), "to": single(values.rows(shape.b))}
    found["width"] = _length(values, system, shape.width, "a width")
    return found | ({"coils": int(shape.coils)} if isinstance(shape, Spring) else {})


def _trace(shape: Trace, values: Values, system: System) -> Data:
    return {"position": values.rows(shape.at), "seconds": _length(values, system, shape.seconds, "the time of a trace")}


def _plane(shape: Plane, values: Values, system: System) -> Data:
    normal = rotations.unit(values.rows(shape.normal))
    return {
        "position": single(values.rows(shape.at)),
        "normal": single(normal),
        "rotation": single(rotations.of_normal(normal)),
        "size": _length(values, system, shape.size, "the size of a plane"),
        "role": "ground",
    }


def _placed(shape: Curve | Mesh, values: Values) -> Data:
    position = np.zeros((1, 3)) if shape.at is None else single(values.rows(shape.at))
    return {"position": position, "rotation": _rotation(shape, values)}


def _curve(shape: Curve, values: Values, system: System) -> Data:
    return {"points": curve_points(shape, system), **_placed(shape, values)}


def _mesh(shape: Mesh, values: Values, system: System) -> Data:
    vertices, faces = read_mesh(shape.file, system.name) if shape.file else (shape.vertices, shape.faces)
    scale = values.number(shape.scale)
    vertices = np.asarray(vertices, dtype=float) * (1.0 if scale is None else scale)
    return {"vertices": vertices, "faces": np.asarray(faces, dtype=int), **_placed(shape, values)}


def _arrow(shape: Arrow, values: Values, system: System) -> Data:
    found: Data = {"position": single(values.rows(shape.at)), "role": shape.force or ""}
    if shape.force:
        found["color"] = colour_of(shape.color) or ROLES[shape.force]
    if shape.vector is not None:
        found["vector"] = single(values.rows(shape.vector))
    return found


_BUILD: Mapping[type[Shape], Callable[..., Data]] = {
    Point: _point, Sphere: _sphere, Disk: _disk, Box: _box, Rod: _rod, Spring: _rod, Trace: _trace, Plane: _plane,
    Curve: _curve, Mesh: _mesh, Arrow: _arrow,
}  # fmt: skip
