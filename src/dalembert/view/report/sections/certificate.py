"""The certificate in words: what each measure says, its value, its limit, and whether it holds."""

from __future__ import annotations

from dalembert.motion.result.certificate import CONTACT_MEASURES, Certificate
from dalembert.motion.result.motion import Motion
from dalembert.view.markup.elements import Html, element, fragment
from dalembert.view.markup.tables import number, scrolling
from dalembert.view.report.section import Section

WORDS = {
    "position": "The positions satisfy the constraints on positions, φ(q, t) = 0.",
    "velocity": "The velocities satisfy the constraints on velocities, ψ(q, q̇, t) = 0, and do not leave those on "
    "positions, φ̇ = 0.",
    "acceleration": "The accelerations satisfy A q̈ = b, the constraints differentiated as far as needed.",
    "forces": "The forces add up: M q̈ is the sum of the impressed, inertial, ideal and nonideal forces.",
    "virtual_work": "Ideal constraint forces do no work on virtual displacements, and nonideal ones the work that the "
    "model prescribes.",
    "gauss": "Among all accelerations that the constraints allow, this one has the least constraint, as Gauss's "
    "principle demands.",
    "energy": "The energy changes by the work of the forces that are not potential, and by nothing else; friction "
    "makes as much heat as it takes.",
    "contact": "Friction keeps to its law, one-sided constraints only push, and nothing goes through them.",
    "impact": "Every blow keeps to the laws of impact: momentum, cones of friction, restitution, no gain of energy.",
    "repeat": "Stretches of the motion, integrated again by another method, end where the motion does.",
    "consistency": "Between neighbouring output points the velocity changes by the integral of the acceleration.",
}


def certificate_section(motion: Motion) -> Section:
    return Section(
        "certificate", "Certificate", certificate_block(motion.certificate, with_contacts=motion.C is not None)
    )


def certificate_block(certificate: Certificate, with_contacts: bool) -> Html:
    """Every measure as a row of a table, those that fail marked. with_contacts: whether those of contacts say
    something.
    """
    rows = []
    for name, limit in certificate.thresholds.items():
        if name in CONTACT_MEASURES and not with_contacts:
            continue
        value = getattr(certificate, name)
        rows.append(_row(WORDS.get(name, name), number(value, ".1e"), f"≤ {number(limit, '.0e')}", value <= limit))
    ranks = sorted({certificate.rank_min, certificate.rank_max})
    rank = " … ".join(map(str, ranks))
    rows.append(_row("The rank of A: how many constraints are independent.", rank, "", None))
    unique = "yes" if certificate.unique else "no"
    rows.append(_row("The model determines the accelerations uniquely.", unique, "yes", certificate.unique))
    if certificate.undetermined:
        names = ", ".join(certificate.undetermined)
        rows.append(_row(f"Reactions that it does not determine: {names}.", "", "", None))
    headings = ("what was measured on this motion", "largest", "allowed", "")
    head = element("thead", element("tr", [element("th", heading, scope="col") for heading in headings]))
    whole = element("table", head, element("tbody", rows), class_="certificate")
    return fragment(
        verdict_line(certificate),
        scrolling(whole),
        element("p", "Residuals are relative: divided by the size of what they are differences of.", class_="note"),
    )


def verdict_line(certificate: Certificate) -> Html:
    if certificate.holds:
        return element("p", "The certificate holds: all that was measured is within its limits.", class_="good")
    failed = ", ".join(name.replace("_", " ") for name in certificate.failures)
    return element("p", f"The certificate does not hold. Beyond their limits: {failed}.", class_="bad")


def failing_words(certificate: Certificate) -> list[str]:
    """What is not true of the motion, in words, with the numbers."""
    found = []
    for name in certificate.failures:
        if name == "unique":
            found.append("The model does not determine the accelerations uniquely.")
            continue
        value, limit = getattr(certificate, name), certificate.thresholds[name]
        found.append(
            f"Not so: “{WORDS.get(name, name)}” Measured {number(value, '.1e')}, allowed {number(limit, '.0e')}."
        )
    return found


def _row(words: str, value: str, limit: str, holds: bool | None) -> Html:
    verdict = {True: "holds", False: "fails", None: ""}[holds]
    cells = [element("th", words, scope="row"), element("td", value), element("td", limit), element("td", verdict)]
    return element("tr", cells, class_="bad" if holds is False else None)
