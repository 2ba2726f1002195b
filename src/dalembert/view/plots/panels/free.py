"""The free motion beside the motion: what it misses of the constraints, and what they make of it
(Udwadia and Kalaba 1993).
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import phrase
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import choose_names, nothing
from dalembert.view.plots.panels.over_time import counted_title, worth_drawing

SINGULAR = "there is no free motion: M is singular"


def extent(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """e = b − A a, by constraint."""
    names = choose_names("extent", of, along.constraints, "constraint")
    if not names:
        return nothing("e = b − A a", "this system has no constraints")
    columns = {phrase(name): along.motion.e[:, along.constraints.index(name)] for name in names}
    return _panel(along, columns, "e = b − A a: what the free motion misses", "e")


def deviation(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """q̈ − a, by coordinate."""
    names = choose_names("deviation", of, along.coordinates, "coordinate")
    apart = along.motion.a - along.motion.unconstrained
    columns = {along.names.shown[f"{name}''"]: apart[:, along.coordinates.index(name)] for name in names}
    return _panel(along, columns, "q̈ − a: what the constraints change", "q̈ − a")


def _panel(along: Along, columns: dict[str, Array], title: str, label: str) -> list[Panel]:
    """Curves by name; those that are zero throughout are left out."""
    if any(np.isnan(values).any() for values in columns.values()):
        return nothing(title, SINGULAR)
    labels, values = list(columns), list(columns.values())
    shown, there = worth_drawing(values)
    if not shown:
        return nothing(title, "zero throughout")
    curves = tuple(Curve(labels[k], along.motion.t, values[k], hue=hue) for hue, k in enumerate(shown))
    return [Panel("", counted_title(title, len(shown), there), along.names.time, label, curves)]
