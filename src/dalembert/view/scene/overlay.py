"""A second motion over the first, as its ghost: what would be, or what was."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.errors import OutputError
from dalembert.motion.result.motion import Motion
from dalembert.study.vakonomic import VakonomicMotion
from dalembert.view.scene.scene import Scene
from dalembert.view.scene.scene_of import scene_of


def with_ghost(scene: Scene, other: Motion | VakonomicMotion) -> Scene:
    """The scene with the shapes of another motion at the same times, without grounds and forces, as ghosts. After the
    end of the other they stay where they are.
    """
    first, last = float(other.t[0]), float(other.t[-1])
    if first > scene.times[0] or last <= scene.times[0]:
        raise OutputError(
            f"the ghost goes from t = {first:g} to {last:g}, and the motion begins at t = {scene.times[0]:g}: "
            "their times must overlap"
        )
    below = scene_of(other, frames=np.minimum(scene.times, last), forces=False)
    ghosts = [{**shape, "role": "ghost", "label": ""} for shape in below.shapes if shape["kind"] != "plane"]
    bounds = np.array([np.minimum(scene.bounds[0], below.bounds[0]), np.maximum(scene.bounds[1], below.bounds[1])])
    dimensions = max(scene.dimensions, below.dimensions)
    return replace(scene, shapes=(*ghosts, *scene.shapes), bounds=bounds, dimensions=dimensions)
