"""Frames of scenes as images: matplotlib's artists, changed from frame to frame, on a background drawn once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Polygon
from matplotlib.text import Text

from dalembert.arrays import Array
from dalembert.errors import OutputError
from dalembert.model.drawings.shapes import FORCES
from dalembert.view.animate.camera import Camera
from dalembert.view.animate.gif import Image
from dalembert.view.animate.look import CIRCLE, Look
from dalembert.view.animate.marks import Area, Faces, Label, Line, Mark
from dalembert.view.figures import printable
from dalembert.view.scene.bounds import corners_of
from dalembert.view.scene.build import ROLES
from dalembert.view.scene.scene import Scene, is_visible

DPI = 100
MARGIN = 0.06  # of the larger side, around a drawing
STILL = 0.1  # of the bounds of a scene: all that is seen of it is smaller
#: How a text stands beside its place: alignments, and by how many pixels it is moved.
_SIDES = {
    "beside": ("left", "bottom", (5.0, 4.0)),
    "below": ("center", "top", (0.0, -4.0)),
    "inside": ("center", "center", (-16.0, 0.0)),
}
FLASH_S = 0.25  # how long an event is seen
FLASHES = {"impact": "#d55e00", "event": "#e69f00", "stick": "#009e73", "slip": "#cc79a7"}
STYLES = {"light": ("#ffffff", "#1b1f24"), "dark": ("#14181d", "#e6e9ee")}  # paper, ink


@dataclass(frozen=True)
class Style:
    """width, height: of the whole picture in pixels; height None: as the drawing needs. theme: "light" or "dark".
    azimuth, elevation: where a drawing in space is seen from, in degrees.
    """

    width: int = 640
    height: int | None = None
    theme: str = "light"
    azimuth: float = -58.0
    elevation: float = 24.0

    def __post_init__(self) -> None:
        if self.theme not in STYLES:
            raise OutputError(f"the theme of an animation is 'light' or 'dark', got {self.theme!r}")
        for name, value in (("width", self.width), ("height", self.height)):
            if value is not None and not (isinstance(value, int) and 64 <= value <= 4096):
                raise OutputError(f"the {name} of an animation is 64 to 4096 pixels, got {value!r}")
        for name, angle in (("azimuth", self.azimuth), ("elevation", self.elevation)):
            if not (isinstance(angle, (int, float)) and np.isfinite(angle)):
                raise OutputError(f"the {name} of an animation is an angle in degrees, got {angle!r}")


def shorten(text: Text, room: float) -> None:
    """Cut a text so that it is not wider than so many pixels, with an ellipsis."""
    shown = text.get_text()
    while len(shown) > 1 and text.get_window_extent().width > room:
        shown = shown[: int(len(shown) * min(0.95, room / text.get_window_extent().width))]
        text.set_text(f"{shown.rstrip()}…")


class Painter:
    """Draws frame after frame of scenes side by side. speed: seconds of the motion in one of showing."""

    def __init__(self, scenes: Sequence[Scene], style: Style, speed: float = 1.0) -> None:
        self.style, self.speed = style, speed
        self.paper, self.ink = STYLES[style.theme]
        views = [_View(scene, style) for scene in scenes]
        height = style.height or _height(views, style)
        width, height = (side + side % 2 for side in (style.width, height))  # videos want even numbers
        self.figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor=self.paper)
        self.canvas = cast(Any, FigureCanvasAgg(self.figure))  # its methods have no types
        self.panels = [
            _Panel(self.figure, view, k, len(views), (width, height), self.paper, self.ink, speed)
            for k, view in enumerate(views)
        ]
        self.canvas.draw()
        self.background = self.canvas.copy_from_bbox(self.figure.bbox)

    @property
    def count(self) -> int:
        """How many frames there are: as many as the longest scene has."""
        return max(panel.scene.times.size for panel in self.panels)

    def image(self, frame: int) -> Image:
        """One frame, which the next one changes."""
        self.canvas.restore_region(self.background)
        for panel in self.panels:
            panel.draw(min(frame, panel.scene.times.size - 1))
        return np.asarray(self.canvas.buffer_rgba())

    def images(self) -> Iterator[Image]:
        return (self.image(frame) for frame in range(self.count))


class _View:
    """A scene as the camera sees it. frame (2, 2): least and largest right and up."""

    def __init__(self, scene: Scene, style: Style) -> None:
        self.scene = scene
        self.camera = Camera.of(scene.dimensions, style.azimuth, style.elevation)
        points = [corner for shape in scene.shapes for corner in corners_of(shape)]
        points += [shape["position"] + shape["vector"] for shape in scene.shapes if shape["kind"] == "arrow"]
        frame = self.camera.frame(np.concatenate(points or [scene.bounds]))
        around = self.camera.frame(scene.bounds)
        if np.max(frame[1] - frame[0]) < STILL * np.max(around[1] - around[0]):
            frame = around  # a single point that does not move
        room = MARGIN * float(np.max(frame[1] - frame[0])) or 1.0
        self.frame = np.array([frame[0] - room, frame[1] + room])

    @property
    def shape(self) -> Array:
        """Width and height."""
        return np.asarray(self.frame[1] - self.frame[0])


def _height(views: Sequence[_View], style: Style) -> int:
    """As high as the drawings need, from 0.45 to 1.25 of the width of one."""
    each = style.width / len(views)
    wanted = max(each * view.shape[1] / view.shape[0] for view in views)
    return round(min(max(wanted + 70, 0.45 * each), 1.25 * each))


def _is_still_ground(shape: Mapping[str, Any]) -> bool:
    return shape["kind"] == "plane" and len(shape["position"]) == len(shape["normal"]) == 1


class _Panel:
    """The place of one scene in the picture, and the artists that draw it."""

    def __init__(
        self, figure: Figure, view: _View, number: int, count: int, size: tuple[int, int], paper: str, ink: str,
        speed: float,
    ) -> None:  # fmt: skip
        self.scene, self.ink, self.speed = view.scene, ink, speed
        width, height = size[0] / count, size[1]
        top, bottom = 42, 28  # pixels for the title and the forces, and for the time
        self.axes: Axes = figure.add_axes((number / count, bottom / height, 1 / count, 1 - (top + bottom) / height))
        room = np.array([width, height - top - bottom])
        self.pixel = float(np.max(view.shape / room))
        middle, half = view.frame.mean(axis=0), room * self.pixel / 2
        self.axes.set_xlim(middle[0] - half[0], middle[0] + half[0])
        self.axes.set_ylim(middle[1] - half[1], middle[1] + half[1])
        self.axes.set_axis_off()
        self.look = Look(view.camera, view.scene.times, self.pixel, view.scene.dimensions == 2, ink, paper)
        self.areas: list[Polygon] = []
        self.meshes: list[PolyCollection] = []
        self.lines: list[Line2D] = []
        self.texts: list[Text] = []
        # Grounds that do not move are drawn once.
        self.moving = [shape for shape in self.scene.shapes if not _is_still_ground(shape)]
        for shape in self.scene.shapes:
            for mark in self.look.marks(shape, 0) if _is_still_ground(shape) else ():
                self._artist(mark)
        self.areas, self.lines, self.texts = [], [], []
        x, y = number / count, 1 - 18 / height
        title = figure.text(x + 10 / size[0], y, printable(view.scene.name), color=ink, fontsize=10.5, weight="bold")
        shorten(title, width - 20)
        self.clock = figure.text(x + 10 / size[0], 10 / height, "", color=ink, fontsize=9, animated=True)
        right = x + 1 / count - 10 / size[0]
        self.news = figure.text(right, 10 / height, "", color=ink, fontsize=9, ha="right", animated=True)
        self._legend(figure, x + 10 / size[0], 1 - 36 / height, size)

    def _legend(self, figure: Figure, x: float, y: float, size: tuple[int, int]) -> None:
        """The colours of forces and their scale, in a row."""
        roles = {shape["role"] for shape in self.scene.shapes if shape["kind"] == "arrow"} & ROLES.keys()
        words = [(role, self.look.bright(ROLES[role])) for role in FORCES if role in roles]
        for word, color in [("forces:", self.ink), *words, (self._scale(), self.ink)] if words else ():
            text = figure.text(x, y, word, color=color, fontsize=8.5)
            x += (text.get_window_extent().width + 9) / size[0]

    def draw(self, frame: int) -> None:
        marks = [mark for shape in self.moving if is_visible(shape, frame) for mark in self.look.marks(shape, frame)]
        marks += self._flashes(frame)
        marks.sort(key=lambda mark: mark.depth)
        used = {Area: 0, Faces: 0, Line: 0, Label: 0}
        for mark in marks:
            artist = self._artist(mark, used[type(mark)])
            used[type(mark)] += 1
            self.axes.draw_artist(artist)
        rate = "" if self.speed == 1 else f"   ×{self.speed:g}"
        self.clock.set_text(f"t = {self.time_text(float(self.scene.times[frame]))}{rate}")
        self.axes.draw_artist(self.clock)
        if self.news.get_text():
            self.axes.draw_artist(self.news)

    def time_text(self, time: float) -> str:
        """A time with as many digits as change while one looks; with a power of ten where it is far from seconds."""
        times = self.scene.times
        span, largest = float(times[-1] - times[0]), float(np.abs(times).max())
        if not span > 0 or not 1e-2 <= span <= largest < 1e6:
            return f"{time:.4g}"
        return f"{time:.{max(2, int(np.ceil(2 - np.log10(span)))) if span < 1e3 else 0}f}"

    def _scale(self) -> str:
        if not self.scene.force_scale:
            return ""
        bar = 60 * self.pixel / self.scene.force_scale
        force = float(f"{bar:.1g}")
        return f"({force:g} is {force * self.scene.force_scale:.2g} long)"

    def _flashes(self, frame: int) -> list[Mark]:
        """Rings that open where something has just happened, and what it was."""
        now = float(self.scene.times[frame])
        seen = FLASH_S * self.speed
        recent = [event for event in self.scene.events if 0 <= now - event["time"] < seen]
        self.news.set_text(printable(recent[-1]["name"]) if recent else "")
        found: list[Mark] = []
        for event in recent[-6:]:
            if event["position"] is not None:
                share = (now - event["time"]) / seen
                centre = self.look.camera.seen(np.asarray(event["position"]))[:2]
                ring = centre + (6 + 22 * share) * self.pixel * CIRCLE[:, :2]
                found.append(Line(ring, FLASHES[event["kind"]], 1e25, 2.5 * (1 - share) + 0.5, 1 - 0.8 * share))
        return found

    def _artist(self, mark: Mark, number: int = -1) -> Artist:
        """An artist that shows a mark: the one of this number among those there are, or a new one."""
        if isinstance(mark, Area):
            return self._area(mark, number)
        if isinstance(mark, Line):
            return self._line(mark, number)
        if isinstance(mark, Faces):
            return self._faces(mark, number)
        if 0 <= number < len(self.texts):
            text = self.texts[number]
        else:
            text = self.axes.text(0, 0, "", fontsize=9, animated=number >= 0)
            self.texts.append(text)
        across, along, shift = _SIDES[mark.side]
        text.set(ha=across, va=along, color=self.ink)
        text.set_position(tuple(mark.place + np.array(shift) * self.pixel))
        text.set_text(printable(mark.text))
        return text

    def _area(self, mark: Area, number: int) -> Polygon:
        if 0 <= number < len(self.areas):
            area = self.areas[number]
            area.set_xy(mark.points)
        else:
            area = Polygon(mark.points, closed=True, animated=number >= 0)
            self.axes.add_patch(area)
            self.areas.append(area)
        area.set(facecolor=mark.color, edgecolor=mark.edge or "none", linewidth=mark.width * 72 / DPI, alpha=mark.alpha)
        return area

    def _faces(self, mark: Faces, number: int) -> PolyCollection:
        if 0 <= number < len(self.meshes):
            many = self.meshes[number]
            many.set_verts(list(mark.points))
        else:
            many = PolyCollection(list(mark.points), linewidths=0.4, animated=number >= 0)
            self.axes.add_collection(many, autolim=False)
            self.meshes.append(many)
        many.set(facecolor=mark.colors, edgecolor=mark.colors)  # with edges, so that no paper shows between faces
        return many

    def _line(self, mark: Line, number: int) -> Line2D:
        if 0 <= number < len(self.lines):
            line = self.lines[number]
            line.set_data(mark.points[:, 0], mark.points[:, 1])
        else:
            line = Line2D(mark.points[:, 0], mark.points[:, 1], animated=number >= 0, solid_capstyle="round")
            self.axes.add_line(line)
            self.lines.append(line)
        line.set(color=mark.color, linewidth=mark.width * 72 / DPI, alpha=mark.alpha)
        return line
