"""`scene_of(motion)`: the drawing of a system along its motion, evaluated over frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.drawings.shapes import Arrow, Shape
from dalembert.motion.result.motion import Motion
from dalembert.study.vakonomic import VakonomicMotion
from dalembert.view.scene.bounds import bounds_of, with_lengths
from dalembert.view.scene.build import build_shape
from dalembert.view.scene.contacts import cones, touches_of
from dalembert.view.scene.default import axes_in_space, default_drawing, dials
from dalembert.view.scene.events import events_of
from dalembert.view.scene.forces import (
    Anchor,
    anchors_of,
    automatic_arrows,
    bodies_among,
    force_at,
    own_anchors,
    scale_forces,
)
from dalembert.view.scene.frames import Frames, frame_times, frames_of
from dalembert.view.scene.scene import Scene
from dalembert.view.scene.values import Values, expressions_of


def scene_of(
    motion: Motion | VakonomicMotion, *, frames: Any = None, fps: float = 30.0, speed: float = 1.0, forces: bool = True
) -> Scene:
    """The shapes of `motion.system.draw`, or a plain drawing where it has none, over frames.

    frames: how many, or at which times of the motion, or "outputs"; by default `fps` for each second, in which `speed`
    seconds of the motion pass. forces: with arrows for them.

    >>> import dalembert as da
    >>> scene = scene_of(da.library.pendulum().simulate(1.0), fps=10)
    >>> scene.times.size, scene.dimensions
    (11, 2)
    """
    return _Maker(motion, frame_times(motion, frames, fps, speed), forces).scene()


class _Maker:
    """Makes one scene."""

    def __init__(self, motion: Motion | VakonomicMotion, times: Array, forces: bool) -> None:
        self.motion, self.system = motion, motion.system.as_written
        self.with_forces = forces and isinstance(motion, Motion)
        self.frames: Frames = frames_of(motion, times)
        shapes: Sequence[Shape] = self.system.draw or default_drawing(self.system)
        if not self.with_forces:
            shapes = [shape for shape in shapes if not (isinstance(shape, Arrow) and shape.force)]
        self.shapes = tuple(shapes)
        anchors = anchors_of(self.shapes, self.system)
        self.own: dict[int, Anchor] = own_anchors(self.shapes, self.system)
        expressions = [e for shape in self.shapes for e in expressions_of(shape)]
        expressions += [e for anchor in (*anchors, *self.own.values()) for e in anchor.expressions()]
        touches = touches_of(motion, anchors) if self.with_forces and isinstance(motion, Motion) else []
        expressions += [e for touch in touches for e in touch.expressions()]
        self.values = Values(self.frames, expressions)
        if not self.system.draw:
            # Of points that nobody asked for, those are left out that have no value everywhere.
            self.shapes = tuple(shape for shape in self.shapes if self._has_values(shape))
        self.bodies = bodies_among(anchors, self.values)
        self.touches = touches

    def scene(self) -> Scene:
        built = [build_shape(shape, self.values, self.system) for shape in self.shapes]
        for k, anchor in self.own.items():
            built[k]["vector"] = self._force(k, anchor)
        if not self.system.draw:
            built += axes_in_space(built) if self._is_in_space(built) else []
            built += dials(self.system, self.frames, built)
        bounds = bounds_of(built)
        size = float(np.max(bounds[1] - bounds[0]))
        arrows = [shape for shape in built if shape["kind"] == "arrow" and shape["role"]]
        rest = [with_lengths(shape, bounds) for shape in built if not (shape["kind"] == "arrow" and shape["role"])]
        drawn = any(isinstance(shape, Arrow) and shape.force for shape in self.shapes)
        if self.with_forces and not drawn:
            arrows = automatic_arrows(self.bodies, self.frames, self.values)
        if isinstance(self.motion, Motion) and self.touches:
            data = dict(zip(self.shapes, built, strict=False))  # dials come after
            rest += cones(self.touches, self.motion, self.frames, self.values, data, size)
        scaled, scale = scale_forces(arrows, size)
        tips = [bounds, *(arrow["position"] + arrow["vector"] for arrow in scaled)]
        ends = np.concatenate(tips)
        in_space = self._is_in_space(built)
        ends = ends if in_space else ends * [1.0, 1.0, 0.0]
        events = events_of(self.motion, self.bodies) if isinstance(self.motion, Motion) else []
        return Scene(
            name=self.system.name,
            dimensions=3 if in_space else 2,
            times=self.frames.t,
            bounds=np.array([ends.min(axis=0), ends.max(axis=0)]),
            shapes=(*rest, *scaled),
            events=tuple(events),
            force_scale=scale,
        )

    def _has_values(self, shape: Shape) -> bool:
        return all(np.all(np.isfinite(self.values.one(e))) for e in expressions_of(shape))

    def _force(self, k: int, anchor: Anchor) -> Array:
        arrow = self.shapes[k]
        assert isinstance(arrow, Arrow)
        assert arrow.force is not None
        force = force_at(anchor, arrow.force, self.frames, self.values)
        if force is None:
            names = ", ".join(q.name for q in anchor.of)
            raise ModelError(
                self.system.name,
                [
                    f"draw: arrow {k + 1}: {names} do not move its place as Cartesian coordinates do, so that forces "
                    "along them are no components of a force there; give vector=(…), or name others by of="
                ],
            )
        return force

    def _is_in_space(self, built: list[dict[str, Any]]) -> bool:
        given = [
            e for shape in self.shapes for e in (getattr(shape, name, None) for name in ("at", "center", "a", "b"))
        ]
        rows = [row for shape in self.shapes for row in getattr(shape, "points", ())]
        several = any(len(place) == 3 for place in (*given, *rows) if place is not None)
        return several or any(shape["kind"] == "mesh" for shape in built)
