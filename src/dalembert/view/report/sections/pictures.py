"""The plots of a motion, drawn so that they follow the colours of the page."""

from __future__ import annotations

from dalembert.motion.result.motion import Motion
from dalembert.view.figures import as_bytes
from dalembert.view.markup.elements import Html, element
from dalembert.view.report.section import Section


def pictures_section(motion: Motion) -> list[Section]:
    svg = as_bytes(motion.plot(), "svg").decode()
    return [Section("plots", "Plots", element("figure", Html(svg[svg.index("<svg") :])))]
