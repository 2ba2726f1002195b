"""A picture of two mechanics: the motion, and the vakonomic path from the same state."""

from __future__ import annotations

import os

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.study.vakonomic import Parting
from dalembert.view.figures import Given, finish, panels, printable
from dalembert.view.plot import MOST_CURVES, PLANES

MOTION, OTHER = "C0", "C3"


def plot_parting(parting: Parting, path: str | os.PathLike[str] | None = None, axes: Given = None) -> Figure:
    """Draw both; write it to `path` (png, pdf, svg) where that is given."""
    figure, places = panels(axes, 2, 2, (11, 7.2))
    for draw, place in zip((_paths, _coordinates, _draw_distance, _multipliers), places, strict=True):
        draw(place, parting)
    if axes is None:
        what = "the motion, and stationary action among paths that keep the constraints"
        figure.suptitle(f"{printable(parting.path.system.name)}   ·   {what}", fontsize=12)
    return finish(figure, path)


def _paths(axes: Axes, parting: Parting) -> None:
    names = [q.name for q in parting.path.system.coordinates]
    plane = next(((a, b) for a, b in PLANES if a in names and b in names), None)
    for found, color, style, label in (
        (parting.motion, MOTION, "-", "the motion"),
        (parting.path, OTHER, "--", "vakonomic"),
    ):
        if plane is not None:
            axes.plot(found[plane[0]], found[plane[1]], style, color=color, lw=1.4, label=label)
        else:
            axes.plot(found.t, found.q[:, 0], style, color=color, lw=1.4, label=label)
    if plane is not None:
        axes.plot(parting.motion[plane[0]][0], parting.motion[plane[1]][0], "ko", ms=5, label="start")
        axes.set(xlabel=plane[0], ylabel=plane[1], title="paths")
        axes.set_aspect("equal", adjustable="datalim")
    else:
        axes.set(xlabel="t", title=names[0])
    axes.legend(fontsize=8)


def _coordinates(axes: Axes, parting: Parting) -> None:
    for k, q in enumerate(parting.path.system.coordinates[:MOST_CURVES]):
        axes.plot(parting.motion.t, parting.motion.q[:, k], "-", color=f"C{k}", lw=1.3, label=q.name)
        axes.plot(parting.path.t, parting.path.q[:, k], "--", color=f"C{k}", lw=1.3)
    axes.set(xlabel="t", title="coordinates: motion full, vakonomic dashed")
    axes.legend(fontsize=8)


def _draw_distance(axes: Axes, parting: Parting) -> None:
    t = parting.path.t
    for k, q in enumerate(parting.path.system.coordinates[:MOST_CURVES]):
        shown = np.where(parting.apart[:, k] > 0, parting.apart[:, k], np.nan)
        if np.isfinite(shown).any():
            axes.semilogy(t, shown, color=f"C{k}", lw=1.3, label=q.name)
    axes.axhline(parting.tolerance, color="0.6", lw=0.8, ls=":")
    if parting.time is not None:
        axes.axvline(parting.time, color="0.3", lw=0.8)
        axes.annotate(
            f"apart by {parting.tolerance:g} at t = {parting.time:.3g}",
            (parting.time, 0.05),
            (6, 0),
            xycoords=("data", "axes fraction"),
            textcoords="offset points",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
        )
    seen = parting.apart[parting.apart > 0]
    axes.set_ylim(bottom=max(1e-12, 0.3 * float(seen.min(initial=1.0))), top=3.0)
    axes.set(xlabel="t", title="how far apart, relative to the extent of each coordinate")
    axes.legend(*axes.get_legend_handles_labels(), fontsize=8)


def _multipliers(axes: Axes, parting: Parting) -> None:
    for k, constraint in enumerate(parting.path.system.constraints[:MOST_CURVES]):
        axes.plot(parting.path.t, parting.path.multipliers[:, k], "--", color=f"C{k}", lw=1.3, label=constraint.name)
    axes.set(xlabel="t", title="μ of the vakonomic path, a state variable")
    if parting.path.system.constraints:
        axes.legend(fontsize=8)
