"""What is put on paper: areas, lines and texts, each with how near to the eye it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array

BACK = -1e30  # of what lies behind everything: grounds and traces


@dataclass(frozen=True, eq=False)
class Area:
    """A filled polygon (P, 2). edge: the colour of its outline; width in pixels."""

    points: Array
    color: str
    depth: float
    alpha: float = 1.0
    edge: str = ""
    width: float = 1.0


@dataclass(frozen=True, eq=False)
class Faces:
    """Many filled polygons of three corners, (K, 3, 2), in the order in which they are drawn, each with its colour."""

    points: Array
    colors: Array
    depth: float


@dataclass(frozen=True, eq=False)
class Line:
    """A polyline (P, 2) of a width in pixels."""

    points: Array
    color: str
    depth: float
    width: float = 1.5
    alpha: float = 1.0


@dataclass(frozen=True, eq=False)
class Label:
    """A text at a place (2,). side: "beside", "below" or "inside"."""

    place: Array
    text: str
    depth: float
    side: str = "beside"


Mark = Area | Faces | Line | Label


def mixed(color: str, other: str, share: float) -> str:
    """A colour with a share of another."""
    a, b = (np.array([int(c[k : k + 2], 16) for k in (1, 3, 5)]) for c in (color, other))
    return "#{:02x}{:02x}{:02x}".format(*np.clip(np.round(a + share * (b - a)), 0, 255).astype(int))


def shaded(color: str, brightness: float) -> str:
    """Darker below 1, lighter above."""
    return mixed(color, "#000000", 1 - brightness) if brightness < 1 else mixed(color, "#ffffff", brightness - 1)
