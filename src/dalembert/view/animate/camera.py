"""From places in space to places in a picture: parallel projection, so that lengths keep one scale."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalembert.arrays import Array

AZIMUTH, ELEVATION = -58.0, 24.0  # degrees: where the eye stands, from the x axis, and above the ground
LIGHT = np.array([-0.35, 0.55, 0.75])  # to the light: from the left, above, in front; in the axes of the picture


@dataclass(frozen=True, eq=False)
class Camera:
    """axes (3, 3): rows to the right, upwards, and towards the eye."""

    axes: Array

    @staticmethod
    def of(dimensions: int, azimuth: float = AZIMUTH, elevation: float = ELEVATION) -> Camera:
        """Straight on for a plane."""
        if dimensions == 2:
            return Camera(np.eye(3))
        a, e = np.radians(azimuth), np.radians(elevation)
        to_eye = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
        right = np.array([-np.sin(a), np.cos(a), 0.0])
        return Camera(np.array([right, np.cross(to_eye, right), to_eye]))

    def seen(self, points: Array) -> Array:
        """(…, 3): right, up, and how near to the eye."""
        return np.asarray(points @ self.axes.T)

    def shade(self, normal: Array) -> float:
        """How bright a face is, 0.55 … 1.15."""
        bright = float(self.axes @ normal @ LIGHT / np.linalg.norm(LIGHT))
        return 0.85 + 0.3 * bright

    def frame(self, corners: Array) -> Array:
        """Least and largest right and up of points, (2, 2)."""
        seen = self.seen(corners)[:, :2]
        return np.array([seen.min(axis=0), seen.max(axis=0)])
