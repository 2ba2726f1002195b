"""The motion beside the vakonomic path of the same system: where both go, and how they part."""

from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
from matplotlib.figure import Figure

from dalembert.study.vakonomic import Parting
from dalembert.view.figures import Given, finish
from dalembert.view.plots.figure import draw_panels
from dalembert.view.plots.labels import names_of, phrase
from dalembert.view.plots.panel import Curve, Mark, Panel
from dalembert.view.plots.panels.over_time import MOST_CURVES, coordinates_of
from dalembert.view.plots.panels.paths import way_of

# Differences below this share of what counts as apart are not told from none.
LEAST = 1e-4


def plot_parting(
    parting: Parting, path: str | os.PathLike[str] | None = None, axes: Given = None, style: str = "light"
) -> Figure:
    """Four panels: both paths, their coordinates, how far they are apart, μ; written to `path` where that is given."""
    panels = [_paths(parting), _coordinates(parting), _distance(parting), _multipliers(parting)]
    title = f"{parting.path.system.name}   ·   the motion, and stationary action among paths that keep the constraints"
    return finish(draw_panels(panels, axes, style, title), path)


def _paths(parting: Parting) -> Panel:
    motion = way_of(parting.motion.system, parting.motion.__getitem__)
    other = way_of(parting.path.system, parting.path.__getitem__)
    own = [replace(c, label="the motion") if k == 0 else c for k, c in enumerate(motion.curves) if c.role != "end"]
    ghosts = [c for c in other.curves if c.role == "line"]
    ghosts = [replace(c, role="ghost", hue=1, label="vakonomic" if k == 0 else "") for k, c in enumerate(ghosts)]
    return replace(motion, title="paths", curves=(*own, *ghosts))


def _coordinates(parting: Parting) -> Panel:
    motion = coordinates_of(parting.motion.system, parting.motion.t, parting.motion.__getitem__)
    other = coordinates_of(parting.path.system, parting.path.t, parting.path.__getitem__)
    ghosts = tuple(replace(curve, label="", role="ghost") for curve in other.curves)
    return replace(motion, title="coordinates: motion full, vakonomic dashed", curves=(*motion.curves, *ghosts))


def _distance(parting: Parting) -> Panel:
    t, system = parting.path.t, parting.path.system
    names = names_of(system)
    shown = [names.shown[q.name] for q in system.coordinates[:MOST_CURVES]]
    least = LEAST * parting.tolerance
    curves = [
        Curve(name, t, np.maximum(parting.apart[:, k], least), hue=k)
        for k, name in enumerate(shown)
        if (parting.apart[:, k] > least).any()
    ]
    if not curves:
        return Panel("apart", "how far apart", "", "", over_time=False, text="the vakonomic path is the motion")
    ends = np.array([t[0], t[-1]])
    limit = Curve(f"apart by {parting.tolerance:g}", ends, np.full(2, parting.tolerance), "limit", -1)
    marks = () if parting.time is None else (Mark(parting.time, f"apart at t = {parting.time:.3g}", "event"),)
    label, title = "difference / extent", "how far apart, of the extent of each coordinate"
    return Panel("apart", title, names.time, label, (*curves, limit), marks=marks, log=True)


def _multipliers(parting: Parting) -> Panel:
    way, title = parting.path, "μ of the vakonomic path, a state variable"
    if not way.system.constraints:
        return Panel("multipliers", title, "", "", over_time=False, text="this system has no constraints")
    curves = tuple(
        Curve(phrase(constraint.name), way.t, way.multipliers[:, k], "ghost", k)
        for k, constraint in enumerate(way.system.constraints[:MOST_CURVES])
    )
    return Panel("multipliers", title, names_of(way.system).time, "μ", curves)
