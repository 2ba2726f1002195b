"""The force split: what is impressed, what the constraints add, ideal and not, at both ends; and the energy."""

from __future__ import annotations

import numpy as np

from dalembert.motion.result.motion import Motion
from dalembert.view.markup.elements import Content, Html, element, fragment
from dalembert.view.markup.tables import long_table, number, table
from dalembert.view.report.section import Section

WORKS = {
    "impressed": "work of impressed forces that are not potential",
    "ideal": "work of ideal constraint forces",
    "nonideal": "work of nonideal constraint forces",
}
COLUMNS = "motion.columns() has them all."


def forces_section(motion: Motion) -> Section:
    body = fragment(
        element(
            "p",
            "M q̈ = impressed + inertial + ideal + nonideal: what acts along each coordinate, as generalized forces.",
        ),
        forces_at(motion, 0, f"At the start, t = {number(float(motion.t[0]))}"),
        forces_at(motion, -1, f"At the end, t = {number(float(motion.t[-1]))}"),
        _multipliers(motion),
        element("h3", "Energy"),
        energy_table(motion),
    )
    return Section("forces", "Forces", body)


def forces_at(motion: Motion, k: int, title: str) -> Html:
    """State, acceleration and forces of every coordinate at one output point."""
    kinds = ("impressed", *(["inertial"] if motion.inertial.any() else []), "ideal", "nonideal")
    vectors = (motion.q, motion.v, motion.a, *(getattr(motion, kind) for kind in kinds))
    names = [coordinate.name for coordinate in motion.system.coordinates]
    rows: list[list[Content]] = [[name, *(number(v[k, i]) for v in vectors)] for i, name in enumerate(names)]
    return fragment(element("h3", title), long_table(("", "q", "q̇", "q̈", *kinds), rows, "coordinates", where=COLUMNS))


def _multipliers(motion: Motion) -> Html | None:
    constraints = motion.system.constraints
    if not constraints:
        return None
    rows: list[list[Content]] = []
    for k, constraint in enumerate(constraints):
        values = motion.multipliers[:, k]
        ends = (values[0], values[-1], np.nanmin(values), np.nanmax(values))
        rows.append([constraint.name, *map(number, map(float, ends))])
    shown = long_table(("constraint", "start", "end", "least", "greatest"), rows, "constraints", where=COLUMNS)
    return fragment(element("h3", "Multipliers λ"), shown)


def energy_table(motion: Motion) -> Html:
    """The ledger: what the energy was and is, and what changed it."""
    ledger = motion.ledger
    rows: list[list[Content]] = [["energy at the start", number(ledger["start"])]]
    rows += [[WORKS[kind], number(work)] for kind, work in ledger["work"].items()]
    rows.append(["energy at the end", number(ledger["end"])])
    rows += [[f"heat of friction at “{name}”", number(heat)] for name, heat in ledger["heat"].items()]
    if "impact_loss" in ledger:
        rows.append(["lost in impacts", number(ledger["impact_loss"])])
    return table((), rows)
