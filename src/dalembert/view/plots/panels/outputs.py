"""The outputs of a system over time."""

from __future__ import annotations

from dalembert.view.plots.along import MOST_CURVES, Along, counted_title
from dalembert.view.plots.labels import axis_label, curve_labels, time_label
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import chosen, nothing


def outputs(along: Along, of: tuple[str, ...]) -> list[Panel]:
    values = along.motion.outputs
    names = chosen("outputs", of, list(values), "output")
    if not names:
        return nothing("outputs", "this system has no outputs")
    shown = names[:MOST_CURVES]
    label, each = axis_label(along.system, shown, "outputs")
    labels = curve_labels(along.system, shown, each)
    curves = tuple(
        Curve(text, along.motion.t, values[name], hue=k)
        for k, (name, text) in enumerate(zip(shown, labels, strict=True))
    )
    return [Panel("", counted_title("outputs", len(shown), len(names)), time_label(along.system), label, curves)]
