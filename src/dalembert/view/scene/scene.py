"""`Scene`: the shapes of a drawing over frames, as plain data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array

DIGITS = 6  # of a number in the plain data, which is far finer than a picture


@dataclass(frozen=True, eq=False)
class Scene:
    """What `view.scene` describes; arrays in the place of lists. times: (F,) seconds. bounds: (2, 3)."""

    name: str
    dimensions: int
    times: Array
    bounds: Array
    shapes: tuple[Mapping[str, Any], ...]
    events: tuple[Mapping[str, Any], ...]
    force_scale: float | None = None

    @property
    def size(self) -> float:
        """The largest extent."""
        return float(np.max(self.bounds[1] - self.bounds[0]))

    def to_dict(self) -> dict[str, Any]:
        """Plain values that JSON has, rounded to what can be seen."""
        decimals = DIGITS - 1 - int(np.floor(np.log10(self.size or 1.0)))
        return {
            "name": self.name,
            "dimensions": self.dimensions,
            "times": np.round(self.times, 9).tolist(),
            "bounds": np.round(self.bounds, decimals).tolist(),
            "force_scale": self.force_scale,
            "shapes": [{key: _plain(key, value, decimals) for key, value in shape.items()} for shape in self.shapes],
            "events": [{key: _plain(key, value, decimals) for key, value in event.items()} for event in self.events],
        }


def _plain(key: str, value: Any, decimals: int) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "ib":
            return value.tolist()
        # Components of unit length have a size of their own; − 0.0 is 0.0.
        return (np.round(value, DIGITS if key in ("rotation", "normal") else decimals) + 0.0).tolist()
    return float(value) if isinstance(value, np.floating) else value


def row_at(rows: Array, frame: int) -> Array:
    """One row of rows per frame, or the only one."""
    return rows[frame if len(rows) > 1 else 0]


def is_visible(shape: Mapping[str, Any], frame: int) -> bool:
    visible = shape.get("visible")
    return visible is None or bool(visible[frame])
