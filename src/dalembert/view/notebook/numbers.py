"""A certificate, and the forces at one instant, in a notebook."""

from __future__ import annotations

from dalembert.motion.instant import Instant
from dalembert.motion.result.certificate import CONTACT_MEASURES, Certificate
from dalembert.view.markup.elements import Content, Html, element
from dalembert.view.markup.tables import long_table, number
from dalembert.view.notebook.frame import frame
from dalembert.view.report.sections.certificate import certificate_block


def certificate_page(certificate: Certificate) -> Html:
    # Of a motion without contacts their measures are exactly zero.
    contacts = any(getattr(certificate, name) for name in CONTACT_MEASURES)
    return frame(certificate_block(certificate, with_contacts=contacts))


def instant_page(instant: Instant) -> Html:
    """The state, and the forces that make the acceleration."""
    kinds = ("impressed", "inertial", "ideal", "nonideal")
    columns = [instant.q, instant.v, instant.acceleration, instant.M @ instant.acceleration]
    columns += [getattr(instant, kind) for kind in kinds]
    names = [coordinate.name for coordinate in instant.system.coordinates]
    rows: list[list[Content]] = [[name, *(number(float(x[k])) for x in columns)] for k, name in enumerate(names)]
    multipliers: list[list[Content]] = [
        [constraint.name, number(float(value))]
        for constraint, value in zip(instant.system.constraints, instant.multipliers, strict=True)
    ]
    dependent = f", dependent: {', '.join(instant.dependent)}" if instant.dependent else ""
    return frame(
        element("p", element("b", instant.system.name), f" at t = {number(instant.t)}"),
        long_table(("", "q", "q̇", "q̈", "M q̈", *kinds), rows, "coordinates"),
        long_table(("constraint", "λ"), multipliers, "constraints") if multipliers else None,
        element("p", f"rank {instant.rank}{dependent}; energy {number(instant.energy)}"),
    )
