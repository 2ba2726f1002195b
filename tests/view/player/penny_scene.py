"""A penny that rolls in a circle, by its closed form, as a scene with panels: all that the player shows, at once."""

from __future__ import annotations

import numpy as np

from dalembert.view.plots.panel import Band, Curve, Mark, Panel
from dalembert.view.scene.scene import Scene

RADIUS, PATH, RATE = 0.3, 1.0, 1.5  # of the penny, of its path, and how fast it goes round


def penny_scene(name: str = "penny", frames: int = 61, seconds: float = 4.0, forces: bool = True) -> Scene:
    t = np.linspace(0.0, seconds, frames)
    heading, rolled = RATE * t, -RATE * PATH / RADIUS * t
    centre = np.column_stack([PATH * np.cos(heading), PATH * np.sin(heading), np.full(frames, RADIUS)])
    outward = np.column_stack([np.cos(heading), np.sin(heading), 0 * t])
    still = np.zeros((1, 3))
    # The axis of the penny, z of its own, points outwards: about y by a quarter turn, then about z by the heading.
    first = np.array([np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0])
    about_z = np.column_stack([np.cos(heading / 2), 0 * t, 0 * t, np.sin(heading / 2)])
    spin = np.column_stack([np.cos(rolled / 2), 0 * t, 0 * t, np.sin(rolled / 2)])
    shapes: list[dict[str, object]] = [
        {"kind": "plane", "label": "", "color": "#8a9099", "role": "ground", "position": still,
         "normal": np.array([[0.0, 0.0, 1.0]]), "rotation": np.array([[1.0, 0.0, 0.0, 0.0]]), "size": 4.0},
        {"kind": "disk", "label": name, "color": "#b87333", "role": "", "position": centre, "radius": RADIUS,
         "rotation": product(product(about_z, first[None]), spin), "thickness": 0.05, "hollow": False},
        {"kind": "trace", "label": "", "color": "#56b4e9", "role": "", "position": centre * [1, 1, 0]},
    ]  # fmt: skip
    if forces:
        shapes += [
            {"kind": "arrow", "label": "", "color": "#0072b2", "role": "impressed", "position": centre,
             "vector": np.array([[0.0, 0.0, -0.6]])},
            {"kind": "arrow", "label": "", "color": "#009e73", "role": "ideal", "position": centre * [1, 1, 0],
             "vector": -0.5 * outward + [0, 0, 0.6]},
        ]  # fmt: skip
    return Scene(
        name=name,
        dimensions=3,
        times=t,
        bounds=np.array([[-1.3, -1.3, 0.0], [1.3, 1.3, 0.6]]),
        shapes=tuple(shapes),
        events=({"time": 2.0, "name": "half way", "position": [0.0, 0.0, 0.0], "kind": "event"},),
        force_scale=0.06,
    )


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Of quaternions (F, 4), the second turn first."""
    w = a[:, :1] * b[:, :1] - np.sum(a[:, 1:] * b[:, 1:], axis=1, keepdims=True)
    return np.concatenate([w, a[:, :1] * b[:, 1:] + b[:, :1] * a[:, 1:] + np.cross(a[:, 1:], b[:, 1:])], axis=1)


def penny_panels(points: int = 201, seconds: float = 4.0) -> list[Panel]:
    t = np.linspace(0.0, seconds, points)
    marks = (Mark(2.0, "half way", "event"),)
    x, y = np.cos(RATE * t), np.sin(RATE * t)
    small = Curve("rolling", t, 1e-12 * (1.5 + np.sin(9 * t)))
    limit = Curve("limit", t[[0, -1]], np.full(2, 1e-8), "limit", -1)
    bands = Band(0, 0.0, 1.5, "stick"), Band(0, 1.5, 2.5, "slip"), Band(0, 2.5, seconds, "open")
    both = Curve("x", t, x), Curve("y", t, y, hue=1)
    return [
        Panel("coordinates", "coordinates", "t [s]", "x, y [m]", both, marks=marks),
        Panel("certificate", "certificate", "t [s]", "residual", (small, limit), log=True),
        Panel("path", "path", "x [m]", "y [m]", (Curve("", x, y, t=t),), equal=True, over_time=False),
        Panel("contacts", "contacts", "t [s]", "", bands=bands, rows=("rim",)),
        Panel("outputs", "outputs", "", "", text="the model has no outputs"),
    ]
