"""Scenes and panels as compact plain data for the player.

Lengths are divided by the half-diagonal of a scene and places counted from its middle, in double precision, so that
single precision is enough for the rest: an orbit of 1e7 m is shown as well as a crystal. Long lists of numbers travel
as base64 of little-endian floats, short ones as numbers of six digits.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.scene.build import ROLES
from dalembert.view.scene.scene import Scene

TEXTS = ("kind", "label", "color", "role")
#: One row for each frame, or one for all: places, lengths, and what has no unit of length.
ROWS = ("position", "from", "to", "vector", "rotation", "normal", "visible")
#: The same throughout.
STEADY = ("radius", "size", "width", "thickness", "points", "vertices", "faces", "angle", "coils", "seconds", "hollow")
PLACES = ("position", "from", "to")
LENGTHS = ("vector", "radius", "size", "width", "thickness", "points", "vertices")
#: Lists of more numbers than this are packed.
SHORT = 24
DIGITS = 6
#: Of all numbers of a scene (about 8 MB of text); one with more keeps every second frame, every third, …
MOST_NUMBERS = 1_500_000
#: Points of a curve: more than a plot has pixels.
MOST_POINTS = 2000


def pack_scene(scene: Scene) -> dict[str, Any]:
    """A scene as the player reads it; see `view.scene` for what shapes have."""
    bounds = np.asarray(scene.bounds, dtype=float)
    middle = bounds.mean(axis=0)
    unit = float(np.linalg.norm(bounds[1] - bounds[0])) / 2 or 1.0
    kept = kept_frames(scene)
    return {
        "name": scene.name,
        "dimensions": scene.dimensions,
        "unit": unit,
        "times": numbers(np.asarray(scene.times)[kept], wide=True),
        "bounds": ((bounds - middle) / unit).round(DIGITS).tolist(),
        "note": _note(scene, unit),
        "shapes": [_shape(shape, scene.times.size, kept, middle, unit) for shape in scene.shapes],
        "events": [_event(event, middle, unit) for event in scene.events],
    }


def kept_frames(scene: Scene) -> NDArray[np.intp]:
    """The frames that are shown: all of them, unless they would make the page too large; the last one always."""
    count = scene.times.size
    rows = [np.asarray(shape[key]) for shape in scene.shapes for key in ROWS if shape.get(key) is not None]
    total = sum(value.size for value in rows if len(value) == count)
    chosen = np.arange(0, count, max(1, -(-total // MOST_NUMBERS)))
    return chosen if chosen[-1] == count - 1 else np.append(chosen, count - 1)


def _shape(shape: Mapping[str, Any], count: int, kept: NDArray[np.intp], middle: Array, unit: float) -> dict[str, Any]:
    found = {key: shape[key] for key in TEXTS if shape.get(key)}
    if found.get("color") == ROLES.get(found.get("role", "")):
        found.pop("color", None)  # the player has these for light and dark
    if shape.get("opacity", 1.0) != 1.0:
        found["opacity"] = float(shape["opacity"])
    for key in (*ROWS, *STEADY):
        value = shape.get(key)
        if value is None:
            continue
        value = np.asarray(value)
        if key in ROWS and len(value) == count:
            value = value[kept]
        if key in PLACES:
            value = value - middle
        found[key] = numbers(value / unit if key in PLACES or key in LENGTHS else value)
    return found


def _event(event: Mapping[str, Any], middle: Array, unit: float) -> dict[str, Any]:
    place = event.get("position")
    return {
        "time": float(event["time"]),
        "name": event["name"],
        "kind": event["kind"],
        "position": None if place is None else numbers((np.asarray(place, dtype=float) - middle) / unit),
    }


def _note(scene: Scene, unit: float) -> str:
    """The scale of arrows of forces in words, by a round force that is drawn about a quarter of the scene long."""
    if not scene.force_scale:
        return ""
    force = 10.0 ** np.floor(np.log10(unit / 2 / scene.force_scale))
    return f"a force of {force:.4g} is drawn {force * scene.force_scale:.3g} long"


def pack_panel(panel: Panel) -> dict[str, Any]:
    """A panel as the player reads it, its curves by as many points as can be seen."""
    return {
        "title": panel.title,
        "x_label": panel.x_label,
        "y_label": panel.y_label,
        "log": panel.log,
        "equal": panel.equal,
        "over_time": panel.over_time,
        "text": panel.text,
        "rows": list(panel.rows),
        "curves": [_curve(curve) for curve in panel.thinned(MOST_POINTS).curves],
        "bands": [{"row": b.row, "start": b.start, "end": b.end, "state": b.state} for b in panel.bands],
        "marks": [{"time": mark.time, "label": mark.label, "kind": mark.kind} for mark in panel.marks],
    }


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "label": curve.label,
        "role": curve.role,
        "hue": curve.hue,
        "x": numbers(curve.x, wide=True),
        "y": numbers(curve.y, wide=True),
        **({} if curve.t is None else {"t": numbers(curve.t, wide=True)}),
    }


def numbers(values: Any, wide: bool = False) -> Any:
    """An array as the player unpacks it; numbers that are none become null. wide: with double precision."""
    values = np.asarray(values)
    if values.size <= SHORT:
        return _plain(values.tolist(), wide)
    data = np.ascontiguousarray(values, dtype="<f8" if wide else "<f4")
    of = 1 if values.ndim == 1 else values.shape[1]
    return {"data": base64.b64encode(data.tobytes()).decode(), "of": of, **({"wide": True} if wide else {})}


def _plain(value: Any, wide: bool) -> Any:
    if isinstance(value, list):
        return [_plain(entry, wide) for entry in value]
    if isinstance(value, bool | int):
        return value
    if not np.isfinite(value):
        return None
    return value if wide else float(f"{value:.{DIGITS}g}")
