"""The plots of a motion."""

from __future__ import annotations

from dalembert.motion.large.size import is_large
from dalembert.motion.result.motion import Motion
from dalembert.view.markup.chart import chart
from dalembert.view.markup.elements import element, fragment
from dalembert.view.plots.panel import panels_of
from dalembert.view.report.section import Section, note

PANELS = (
    "paths", "phase", "coordinates", "velocities", "forces", "multipliers", "energy", "contacts", "outputs",
    "certificate",
)  # fmt: skip
# Large systems have no residuals over time, and no phase portraits that could be read.
OF_LARGE = ("coordinates", "velocities", "energy", "outputs")
# A page with more would be too long to look through.
MOST = 14


def pictures_section(motion: Motion) -> Section:
    names = OF_LARGE if is_large(motion.system) else PANELS
    panels = [panel for panel in panels_of(motion, names) if not panel.text and not panel.is_empty]
    if any(panel.name == "paths" for panel in panels):
        panels = [panel for panel in panels if panel.name != "phase"]
    shown = element("div", map(chart, panels[:MOST]), class_="figures")
    more = note(f"The first {MOST} of {len(panels)} pictures; motion.plot(panels=…) draws the others.")
    return Section("plots", "Plots", fragment(shown, more if len(panels) > MOST else None))
