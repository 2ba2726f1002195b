"""The forces: impressed, ideal and nonideal, by coordinate; and what each constraint pulls."""

from __future__ import annotations

from dalembert.arrays import Array
from dalembert.model.units import unit_of
from dalembert.view.plots.along import Along, counted_title, worth_drawing
from dalembert.view.plots.labels import phrase, symbol, time_label, with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import chosen, nothing

KINDS = ("impressed", "ideal", "nonideal")


def forces(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """The split by coordinate; of a constraint its multiplier. What is zero throughout is left out."""
    if of and all(name in along.constraints for name in of):
        return multipliers(along, of)
    names = chosen("forces", of, [*along.coordinates, *along.constraints], "coordinate or constraint")
    names = [name for name in names if name in along.coordinates]
    found: list[tuple[str, str, Array]] = []
    for kind in KINDS:
        values = along.points[kind]
        found += [(kind, name, values[:, along.coordinates.index(name)]) for name in names]
    shown, there = worth_drawing([values for _, _, values in found])
    if not shown:
        return nothing("forces", "no forces act")
    drawn = [found[k][:2] for k in shown]
    units = {unit_of(along.system, f"{kind} {name}") for kind, name in drawn}
    common = units.pop() if len(units) == 1 else ""
    hues = {name: k for k, name in enumerate(dict.fromkeys(name for _, name in drawn))}
    curves = tuple(
        Curve(
            with_unit(f"{kind} {symbol(name)}", "" if common else unit_of(along.system, f"{kind} {name}")),
            along.t,
            values,
            kind,
            hues[name],
        )
        for kind, name, values in (found[k] for k in shown)
    )
    title = counted_title("forces", len(shown), there)
    return [Panel("", title, time_label(along.system), with_unit("generalised force", common), curves)]


def multipliers(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """λ of each constraint, M q̈ = Q + C + Aᵀλ."""
    names = chosen("multipliers", of, along.constraints, "constraint")
    if not names:
        return nothing("multipliers", "this system has no constraints")
    values = along.points["multipliers"]
    columns = [values[:, along.constraints.index(name)] for name in names]
    shown, there = worth_drawing(columns)
    if not shown:
        return nothing("multipliers", "the constraints exert no forces")
    curves = tuple(Curve(phrase(names[k]), along.t, columns[k], hue=hue) for hue, k in enumerate(shown))
    title = counted_title("multipliers of the constraints", len(shown), there)
    return [Panel("", title, time_label(along.system), "λ", curves)]
