"""The picture of Gauss's principle: circles of equal G, the accelerations that the constraints allow, and the foot of
the perpendicular, which is the motion.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from dalembert.arrays import Array
from dalembert.study.gauss_picture import GaussPicture
from dalembert.view.figures import Given, finish, panels, printable
from dalembert.view.plots.figure import paint
from dalembert.view.plots.style import LIGHT, Style, style_named

# Hues of a style: of the motion, of what is allowed, of work.
MOTION, ALLOWED, WORK = 1, 0, 4


def draw(
    data: GaussPicture, path: str | os.PathLike[str] | None = None, given: Given = None, style: str = "light"
) -> Figure:
    """Draw the plane; write it to `path` (png, pdf, svg) where that is given."""
    look = style_named(style)
    figure, (axes,) = panels(given, 1, 1, (7.2, 6.4))
    if given is None:
        figure.set_facecolor(look.paper)
    paint(axes, look, painted=given is None or look is not LIGHT)
    axes.grid(visible=False)
    low, high, size = _window(data)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    _circles(axes, data, size, look)
    _draw_allowed(axes, data, low, high, size, look)
    _points(axes, data, size, look)
    axes.set(xlabel=data.labels[0], ylabel=data.labels[1])
    least = f"least $G$ = {data.residual**2:.4g}"
    apart = f", of which {data.off_plane**2:.3g} across the plane" if data.off_plane > 1e-9 * data.residual else ""
    axes.set_title(f"{printable(data.name)}: least constraint\n{least}{apart}", fontsize=11, color=look.ink)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, fontsize=9, frameon=False, labelcolor=look.ink)
    return finish(figure, path)


def _window(data: GaussPicture) -> tuple[Array, Array, float]:
    """Lower and upper corners of a square around all points, and its half side."""
    points = np.array([data.unconstrained, data.free, data.projection])
    middle = (points.max(axis=0) + points.min(axis=0)) / 2
    reach = float(np.max(np.ptp(points, axis=0))) / 2
    touching = float(np.linalg.norm(data.projection - data.free))
    apart = max(reach, touching) > 1e-12 * float(np.max(np.abs(points)))
    # Where all points fall together there is no scale but that of the acceleration itself.
    size = max(1.7 * reach, 1.25 * touching) if apart else float(np.linalg.norm(middle)) or 1.0
    return middle - size, middle + size, size


def _circles(axes: Axes, data: GaussPicture, size: float, look: Style) -> None:
    """Contours of G, evenly spaced in √G; the one through the motion is drawn heavier. They carry their values of G."""
    touching = float(np.linalg.norm(data.projection - data.free))
    step = touching / 3 if touching > 0.15 * size else size / 6
    count = int(4 * size / step) + 1
    for k in range(count, 0, -1):
        tone = _mixed(look.paper, look.hues[0], 0.03 + 0.22 * max(0.0, 1 - k * step / (2 * size)))
        axes.add_patch(_circle(data.free, k * step, facecolor=tone, edgecolor=look.paper, lw=1.2))
    spoke = _empty_side(data)
    for k in range(1, count + 1):
        spot = data.free + k * step * spoke
        box = {"boxstyle": "round,pad=0.15", "fc": look.paper, "ec": "none", "alpha": 0.7}
        style: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 7, "color": look.muted, "bbox": box}
        axes.text(spot[0], spot[1], f"{data.gauss(spot):.3g}", clip_on=True, **style)
    if touching > 1e-9 * size:
        axes.add_patch(_circle(data.free, touching, fill=False, edgecolor=look.hues[MOTION], lw=1.3, ls=(0, (5, 3))))
        axes.plot([], [], color=look.hues[MOTION], lw=1.3, ls=(0, (5, 3)), label="circle of the least $G$ allowed")


def _empty_side(data: GaussPicture) -> Array:
    """A unit vector from the centre to where values of G are in nobody's way: back from the motion, aside from a."""
    away = data.free - data.projection
    if not np.any(away):
        away = np.array([0.0, -1.0])
    sides = [np.array([away[0] - s * away[1], s * away[0] + away[1]]) for s in (1, -1)]
    side = min(sides, key=lambda v: (float(v @ (data.unconstrained - data.free)), -float(v[0])))
    return np.asarray(side / np.linalg.norm(side))


def _circle(centre: Array, radius: float, **style: Any) -> Circle:
    return Circle((float(centre[0]), float(centre[1])), radius, zorder=0.5, **style)


def _draw_allowed(axes: Axes, data: GaussPicture, low: Array, high: Array, size: float, look: Style) -> None:
    """The set that the constraints allow: a curve, a line, a point, or all of the plane."""
    text = r"allowed: $A\ddot{q} = b$"
    if data.violation is not None:
        grid = [np.linspace(low[k], high[k], 401) for k in range(2)]
        x, y = np.meshgrid(*grid)
        values = data.violation(np.stack([x, y], axis=-1))
        for k in range(values.shape[-1]):
            axes.contour(x, y, values[..., k], levels=[0.0], colors=look.hues[ALLOWED], linewidths=2.0)
        axes.plot([], [], color=look.hues[ALLOWED], lw=2.0, label="allowed by constraints nonlinear in $\\ddot{q}$")
    elif data.allowed.shape[1] == 1:
        direction = data.allowed[:, 0]
        ends = data.projection + np.outer([-4 * size, 4 * size], direction)
        axes.plot(ends[:, 0], ends[:, 1], color=look.hues[ALLOWED], lw=2.0, label=text, scalex=False, scaley=False)
    if data.violation is None and data.allowed.shape[1] == 2:
        axes.plot([], [], " ", label="allowed: all of this plane")
    if data.allowed.shape[1] == 1:
        _right_angle(axes, data, size, look)


def _right_angle(axes: Axes, data: GaussPicture, size: float, look: Style) -> None:
    """The mark at the foot of the perpendicular."""
    back = data.free - data.projection
    length = float(np.linalg.norm(back))
    if length < 0.02 * size:
        return
    side = min(0.09 * size, 0.3 * length)
    up, along = back / length * side, data.allowed[:, 0] * side
    if along @ (data.unconstrained - data.projection) > 0:
        along = -along  # away from a, where there is room
    corner = np.array([data.projection + along, data.projection + along + up, data.projection + up])
    axes.plot(corner[:, 0], corner[:, 1], color=look.ink, lw=1.0, scalex=False, scaley=False)


def _points(axes: Axes, data: GaussPicture, size: float, look: Style) -> None:
    a, free, motion = data.unconstrained, data.free, data.projection
    works = float(np.linalg.norm(free - a)) > 1e-9 * size
    if works:
        _arrow(axes, a, free, look.hues[WORK])
        axes.plot([], [], color=look.hues[WORK], lw=1.6, label=r"work of the constraints, $M^{-1}C$")
    if np.linalg.norm(motion - free) > 1e-9 * size:
        _arrow(axes, free, motion, look.hues[MOTION])
        axes.plot([], [], color=look.hues[MOTION], lw=1.6, label=r"pull of the constraints, $M^{-1}A^T\lambda$")
    marks = [(a, look.muted, "$a$", r"$a = M^{-1}Q$, without constraints")]
    marks += [(free, look.hues[WORK], "$a + M^{-1}C$", r"$a + M^{-1}C$, the centre of $G$")] if works else []
    marks += [(motion, look.hues[MOTION], r"$\ddot{q}$", r"$\ddot{q}$, the motion: the nearest that is allowed")]
    middle = (a + free + motion) / 3
    for point, colour, name, label in marks:
        axes.plot(*point, "o", ms=8, color=colour, mec=look.paper, mew=1.0, zorder=5, label=label)
        if name == "$a$" and np.linalg.norm(a - motion) < 0.05 * size:
            continue  # it would stand in the name of the motion
        # names stand on the outer side of their points
        side = np.where(point - middle >= 0, 1, -1)
        style: dict[str, Any] = {"ha": "left" if side[0] > 0 else "right", "va": "bottom" if side[1] > 0 else "top"}
        style |= {"textcoords": "offset points", "fontsize": 12, "color": colour}
        axes.annotate(name, (point[0], point[1]), (7 * side[0], 7 * side[1]), **style)


def _arrow(axes: Axes, start: Array, end: Array, colour: str) -> None:
    style: dict[str, Any] = {"arrowstyle": "-|>", "color": colour, "lw": 1.6, "mutation_scale": 14}
    style |= {"shrinkA": 4, "shrinkB": 4}
    axes.annotate("", (end[0], end[1]), (start[0], start[1]), arrowprops=style, zorder=4)


def _mixed(one: str, other: str, share: float) -> tuple[float, ...]:
    """A colour between two, nearer to the other the greater its share."""
    return tuple((1 - share) * a + share * b for a, b in zip(to_rgb(one), to_rgb(other), strict=True))
