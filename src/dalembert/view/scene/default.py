"""A drawing for systems that have none: points where coordinates are Cartesian, dials for the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp

from dalembert.model.drawings.shapes import Point, Shape, Trace
from dalembert.model.places import CARTESIAN, angles_of, bodies_of
from dalembert.model.system import System
from dalembert.view.plots.labels import phrase, symbol
from dalembert.view.plots.panels.paths import output_points
from dalembert.view.plots.steady import steady_limits
from dalembert.view.scene.bounds import bounds_of
from dalembert.view.scene.build import head
from dalembert.view.scene.frames import Frames
from dalembert.view.scene.rotations import about

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
# A dial that is no angle turns by this much to either side of the top over all values that its coordinate takes.
SWEEP = 0.75 * np.pi
MOST_DIALS = 24
AXES = 0.16  # the length of arrows along the axes, as a share of the drawing
MOST_LABELS = 12


def default_drawing(system: System) -> tuple[Shape, ...]:
    """Points with their traces: those of the model, or else outputs that are the place of one."""
    places = points_of(system)
    if not places:
        told = output_points(list(system.outputs))
        places = {phrase(of): tuple(system.outputs[name] for name in axes.values()) for of, axes in told.items()}
    found: list[Shape] = []
    for k, (name, place) in enumerate(places.items()):
        at = place if len(place) > 1 else (*place, sp.S.Zero)
        color = COLOURS[k % len(COLOURS)]
        label = name if 1 < len(places) <= MOST_LABELS else ""
        found += [Trace(at=at, color=color, opacity=0.6), Point(at=at, color=color, label=label)]
    return tuple(found)


def points_of(system: System) -> dict[str, tuple[sp.Expr, ...]]:
    """Places by name: of particles, of coordinates that the inertia shows to be Cartesian, or of a single coordinate
    that is called so: a mass on a line, upright where it is y or z.
    """
    if system.particles is not None:
        return {symbol(particle.name): tuple(particle.position) for particle in system.particles.particles}
    bodies = bodies_of(system)
    (only, *more) = system.coordinates
    if not bodies and not more and CARTESIAN.fullmatch(only.name) and only not in angles_of(system):
        return {only.name: (only, sp.S.Zero) if only.name[0] in "xX" else (sp.S.Zero, only)}
    return {", ".join(symbol(q.name) for q in body): tuple(body) for body in bodies}


def axes_in_space(drawn: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Three arrows in a corner of the drawing: without them nobody could tell what is high and what is far."""
    bounds = bounds_of(drawn)
    length = AXES * float(np.max(bounds[1] - bounds[0]))
    return [
        {**head("arrow", axis, "gray"), "position": bounds[:1], "vector": length * np.eye(3)[k : k + 1]}
        for k, axis in enumerate("xyz")
    ]


def dials(system: System, frames: Frames, drawn: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A dial for each coordinate that no point shows, in rows below the drawing, or alone."""
    shown = {q for place in points_of(system).values() for e in place for q in e.free_symbols}
    shown = shown if system.particles is None else set(system.coordinates)
    left = [q for q in system.coordinates if q not in shown][:MOST_DIALS]
    if not left:
        return []
    bounds = bounds_of(drawn) if drawn else np.array([[0.0, 0.0, 0.0], [4.0, 0.0, 0.0]])
    width = float(np.max(bounds[1] - bounds[0]))
    columns = min(len(left), 6) if drawn else int(np.ceil(np.sqrt(len(left))))
    step = width / max(columns, 3)
    radius = 0.38 * step
    middle = (bounds[0] + bounds[1]) / 2
    angles = angles_of(system)
    found = []
    for k, q in enumerate(left):
        row, column = divmod(k, columns)
        x = middle[0] + (column - (min(columns, len(left)) - 1) / 2) * step
        y = bounds[0][1] - (0.75 + row * 1.25) * step
        value = frames.q[:, system.coordinates.index(q)]
        angle = value - np.pi / 2 if q in angles else _on_scale(value)
        found.append(
            {
                **head("dial", label=symbol(q.name)),
                "position": np.array([[x, y, 0.0]]),
                "rotation": about(np.array([[0.0, 0.0, 1.0]]) + np.zeros((value.size, 1)), angle),
                "radius": radius,
            }
        )
    return found


def _on_scale(value: np.ndarray) -> np.ndarray:
    """The angle of a hand: straight up in the middle of all values, clockwise to larger ones."""
    low, high = steady_limits(value) or (float(value.min()), float(value.max()))
    share = (value - (low + high) / 2) / ((high - low) / 2 or 1.0)
    return np.pi / 2 - SWEEP * share
