"""One picture of a motion: the path or the coordinates, the constraint forces, the energy ledger, the
certificate; and, where asked for, what the constraints make of the free motion.
"""

from __future__ import annotations

import os

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dalembert.arrays import Array
from dalembert.motion.result.motion import WORKS, Motion
from dalembert.view.figures import Given, finish, panels, panels_with_one_below, printable

# Beyond this many curves a legend hides more than it tells.
MOST_CURVES = 10
PLANES = (("x", "y"), ("x", "z"), ("y", "z"), ("x1", "y1"))


def plot(
    motion: Motion,
    path: str | os.PathLike[str] | None = None,
    *,
    axes: Given = None,
    free: bool = False,
    outputs: bool = False,
) -> Figure:
    """Draw a motion; write it to `path` (png, pdf, svg) where that is given.

    axes: four panels to draw into, six with `free`: path, coordinates, (e,) forces, energy (, q̈ − a).
    free: two more panels, the extent e to which the free motion misses the constraints, and q̈ − a, what they make of
    it (Udwadia and Kalaba 1993).
    outputs: one more panel below the others, or the last of those given: the outputs of the system.
    """
    above, below = [_path_or_speeds, _coordinates], [_forces, _energy]
    if free:
        above, below = [*above, _extent], [*below, _deviation]
    size = (5.0 * len(above), 7.2)
    if outputs:
        figure, places, last = panels_with_one_below(axes, 2, len(above), size)
        _outputs(last, motion)
    else:
        figure, places = panels(axes, 2, len(above), size)
    for draw, place in zip([*above, *below], places, strict=True):
        draw(place, motion)
    if axes is None:
        verdict = "certificate holds" if motion.certificate.holds else "certificate DOES NOT HOLD"
        figure.suptitle(f"{printable(motion.system.name)}   ·   {verdict}", fontsize=12)
    return finish(figure, path)


def _path_or_speeds(axes: Axes, motion: Motion) -> None:
    names = [coordinate.name for coordinate in motion.system.coordinates]
    for first, second in PLANES:
        if first in names and second in names:
            x, y = (motion.q[:, names.index(name)] for name in (first, second))
            axes.plot(x, y, lw=1.2)
            axes.plot(x[0], y[0], "o", ms=5, label="start")
            axes.plot(x[-1], y[-1], "s", ms=5, label="end")
            axes.set(xlabel=first, ylabel=second, title="path")
            axes.set_aspect("equal", adjustable="datalim")
            axes.legend(fontsize=8)
            return
    for k, name in enumerate(names[:MOST_CURVES]):
        axes.plot(motion.t, motion.v[:, k], lw=1.2, label=name + "'")
    axes.set(xlabel="t", title="velocities")
    axes.legend(fontsize=8)


def _coordinates(axes: Axes, motion: Motion) -> None:
    names = [coordinate.name for coordinate in motion.system.coordinates]
    for k, name in enumerate(names[:MOST_CURVES]):
        axes.plot(motion.t, motion.q[:, k], lw=1.2, label=name)
    more = "" if len(names) <= MOST_CURVES else f" (first {MOST_CURVES} of {len(names)})"
    axes.set(xlabel="t", title="coordinates" + more)
    axes.legend(fontsize=8)


def _outputs(axes: Axes, motion: Motion) -> None:
    for name, values in [*motion.outputs.items()][:MOST_CURVES]:
        axes.plot(motion.t, values, lw=1.2, label=printable(name))
    count = len(motion.outputs)
    more = f" (first {MOST_CURVES} of {count})" if count > MOST_CURVES else ""
    axes.set(xlabel="t", title="outputs" + more if count else "outputs: none")
    if count:
        axes.legend(fontsize=8)


def _forces(axes: Axes, motion: Motion) -> None:
    """Ideal forces as full lines, nonideal ones dashed; what is zero throughout is left out."""
    names = [coordinate.name for coordinate in motion.system.coordinates]
    size = max(np.abs(motion.ideal).max(initial=0.0), np.abs(motion.nonideal).max(initial=0.0))
    drawn = 0
    for kind, style in (("ideal", "-"), ("nonideal", "--")):
        values = getattr(motion, kind)
        for k, name in enumerate(names):
            if drawn < MOST_CURVES and np.abs(values[:, k]).max() > 1e-9 * size:
                axes.plot(motion.t, values[:, k], style, lw=1.2, label=f"{kind} {name}")
                drawn += 1
    axes.set(xlabel="t", title="constraint forces" if drawn else "constraint forces: none")
    if drawn:
        axes.legend(fontsize=8)


def _extent(axes: Axes, motion: Motion) -> None:
    names = [constraint.name for constraint in motion.system.constraints]
    _curves(axes, motion, motion.e, names, "e = b − A a: what the free motion misses")


def _deviation(axes: Axes, motion: Motion) -> None:
    names = [f"{coordinate.name}''" for coordinate in motion.system.coordinates]
    _curves(axes, motion, motion.a - motion.unconstrained, names, "q̈ − a: what the constraints change")


def _curves(axes: Axes, motion: Motion, values: Array, names: list[str], title: str) -> None:
    """Curves by name; those that are zero throughout are left out."""
    if np.isnan(values).any():
        axes.set(xlabel="t", title="no free motion: M is singular")
        return
    size = np.abs(values).max(initial=0.0)
    drawn = [k for k in range(len(names)) if np.abs(values[:, k]).max() > 1e-9 * size][:MOST_CURVES]
    for k in drawn:
        axes.plot(motion.t, values[:, k], lw=1.2, label=printable(names[k]))
    axes.set(xlabel="t", title=title if drawn else f"{title}: zero")
    if drawn:
        axes.legend(fontsize=8)


def _energy(axes: Axes, motion: Motion) -> None:
    axes.plot(motion.t, motion.energy, lw=1.4, label="energy")
    size = max(np.abs(motion.energy).max(), np.abs(motion.work).max(initial=0.0))
    for k, kind in enumerate(WORKS):
        if np.abs(motion.work[:, k]).max() > 1e-6 * size:
            axes.plot(motion.t, motion.work[:, k], "--", lw=1.1, label=f"work, {kind} forces")
    # A conserved energy is a straight line, not a picture of its rounding errors.
    low, high = axes.get_ylim()
    if high - low < 1e-6 * size:
        axes.set_ylim(motion.energy[0] - 0.05 * size, motion.energy[0] + 0.05 * size)
    axes.set(xlabel="t", title="energy")
    axes.ticklabel_format(useOffset=False)
    axes.legend(fontsize=8)
