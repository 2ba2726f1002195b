"""A motion in a notebook: a small picture, the certificate in a line, and the rest folded."""

from __future__ import annotations

from dalembert.errors import counted
from dalembert.motion.result.motion import Motion
from dalembert.view.markup.elements import Html, element
from dalembert.view.markup.pictures import image
from dalembert.view.markup.tables import number
from dalembert.view.notebook.frame import folded, frame, verdict
from dalembert.view.report.sections.certificate import certificate_block
from dalembert.view.report.sections.events import events_block
from dalembert.view.report.sections.forces import energy_table, forces_at


def motion_page(motion: Motion) -> Html:
    certificate = motion.certificate
    ended = f", ended by “{motion.ended_by}”" if motion.ended_by is not None else ""
    span = f"t = {number(float(motion.t[0]))} … {number(float(motion.t[-1]))}{ended}, {counted(motion.t.size, 'point')}"
    judged = f"certificate {certificate.headline().removeprefix('that ')}"
    end = f"at the end, t = {number(float(motion.t[-1]))}"
    return frame(
        element("p", element("b", motion.system.name), f": {span} ", verdict(certificate.holds, judged)),
        image(motion.plot(), f"the motion of {motion.system.name}"),
        [element("p", f"warning: {warning}", class_="note") for warning in motion.warnings],
        folded("forces at the end, and energy", [forces_at(motion, -1, end), energy_table(motion)]),
        folded(counted(len(motion.events), "event"), events_block(motion)) if motion.events else None,
        folded("certificate in words", certificate_block(certificate, with_contacts=motion.C is not None)),
    )
