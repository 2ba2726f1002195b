"""What a motion has over time: coordinates, velocities, outputs, forces of three kinds, multipliers, energy."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.result.motion import WORKS
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import forces_at
from dalembert.view.plots.along import Along
from dalembert.view.plots.labels import Names, names_of, phrase, with_unit
from dalembert.view.plots.panel import Curve, Panel
from dalembert.view.plots.panels.choose import choose_names, nothing

if TYPE_CHECKING:
    from dalembert.model.system import System

# A curve is left out that is smaller than this share of the largest beside it: rounding.
NOTHING = 1e-9
# Beyond this many curves a legend hides more than it tells.
MOST_CURVES = 10
# More symbols than these do not fit beside an axis.
MOST_SYMBOLS = 4
LONGEST = 40  # letters
KINDS = ("impressed", "ideal", "nonideal")
# Of the energies that are exchanged, work below this is rounding, and the energy conserved.
CONSERVED = 1e-6
# Of the energy itself, what counts as exchanged where nothing is: as the certificate has it.
AT_REST = 1e-7
# Of the energy by the place, a force that is rounding of others that cancel, and of what the motion makes of it: a mass
# hangs on its spring, and swings by 1e-13 of its place where products and sums are fused.
CANCELLED, NO_PLACE = 1e-12, 1e-6
# Errors below this are rounding; where one passes through zero its logarithm has no end.
LEAST_ERROR = 1e-17
PARTS_OF_ENERGY = ("balance", "error")
# Hues of E, T and V; works follow.
E, T, V = -1, 0, 1


def coordinates(along: Along, of: tuple[str, ...]) -> list[Panel]:
    names = choose_names("coordinates", of, along.coordinates, "coordinate") if of else along.coordinates
    values = along.points.q
    columns = {name: values[:, along.coordinates.index(name)] for name in names}
    return [over_time(along.points.t, columns, along.names, "coordinates", "q")]


def velocities(along: Along, of: tuple[str, ...]) -> list[Panel]:
    names = choose_names("velocities", of, along.coordinates, "coordinate") if of else along.coordinates
    values = along.points.v
    columns = {f"{name}'": values[:, along.coordinates.index(name)] for name in names}
    return [over_time(along.points.t, columns, along.names, "velocities", "q̇")]


def outputs(along: Along, of: tuple[str, ...]) -> list[Panel]:
    values = along.motion.outputs
    if not values:
        return nothing("outputs", "this system has no outputs")
    names = choose_names("outputs", of, list(values), "output") if of else list(values)
    return [over_time(along.motion.t, {name: values[name] for name in names}, along.names, "outputs", "outputs")]


def coordinates_of(system: System, t: Array, column: Callable[[str], Array]) -> Panel:
    """The coordinates of any way over its times. column: gives one by its name."""
    columns = {coordinate.name: column(coordinate.name) for coordinate in system.coordinates}
    return over_time(t, columns, names_of(system), "coordinates", "q")


def over_time(t: Array, columns: Mapping[str, Array], names: Names, title: str, otherwise: str) -> Panel:
    """The first of some columns, by their names. otherwise: stands at the axis where they are many."""
    shown = list(columns)[:MOST_CURVES]
    label, each = axis_label(shown, names, otherwise)
    curves = tuple(
        Curve(with_unit(names.shown[name], names.units.get(name, "") if each else ""), t, columns[name], hue=k)
        for k, name in enumerate(shown)
    )
    return Panel("", counted_title(title, len(shown), len(columns)), names.time, label, curves)


def axis_label(columns: Sequence[str], names: Names, otherwise: str) -> tuple[str, bool]:
    """What stands at an axis of several columns: their symbols, or `otherwise` where there are many, with the unit that
    all of them have. Whether their units differ, so that each must be told with its curve.
    """
    units = {names.units.get(name, "") for name in columns}
    text = ", ".join(names.shown[name] for name in columns)
    if len(columns) > MOST_SYMBOLS or (len(columns) > 1 and len(text) > LONGEST):
        text = otherwise
    return with_unit(text, next(iter(units)) if len(units) == 1 else ""), len(units) > 1


def counted_title(title: str, shown: int, of: int) -> str:
    """A title that says where not all is shown."""
    return title if shown == of else f"{title} ({shown} of {of})"


def forces(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """The split by coordinate; of a constraint its multiplier. What is zero throughout is left out."""
    if of and all(name in along.constraints for name in of):
        return multipliers(along, of)
    known = (*along.coordinates, *along.constraints)
    names = choose_names("forces", of, known, "coordinate or constraint") if of else along.coordinates
    found: list[tuple[str, str, Array]] = []
    for kind in KINDS:
        values = getattr(along.points, kind)
        own = [name for name in names if name in along.coordinates]
        found += [(kind, name, values[:, along.coordinates.index(name)]) for name in own]
    found = [each for each in found if not _cancels(along, each[1], each[2])]
    shown, there = worth_drawing([values for _, _, values in found])
    if not shown:
        return nothing("forces", "no forces act")
    drawn, names_of_units = [found[k] for k in shown], along.names.units
    units = {names_of_units.get(f"{kind} {name}", "") for kind, name, _ in drawn}
    common = units.pop() if len(units) == 1 else ""
    hues = {name: k for k, name in enumerate(dict.fromkeys(name for _, name, _ in drawn))}
    curves = []
    for kind, name, values in drawn:
        unit = "" if common else names_of_units.get(f"{kind} {name}", "")
        text = with_unit(f"{kind} {along.names.shown[name]}", unit)
        curves.append(Curve(text, along.points.t, values, kind, hues[name]))
    title = counted_title("forces", len(shown), there)
    return [Panel("", title, along.names.time, with_unit("generalised force", common), tuple(curves))]


def _cancels(along: Along, name: str, force: Array) -> bool:
    """Whether a generalised force is no more than rounding of the forces that it is a sum of. At a place that is itself
    rounding of zero, as on a floor, nothing is said.
    """
    places = np.abs(along.points.q).max(axis=0)
    place = places[along.coordinates.index(name)]
    work = np.nanmax(np.abs(force), initial=0.0) * place
    return bool(place > NO_PLACE * places.max() and work < CANCELLED * np.abs(along.points.energy).max())


def multipliers(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """λ of each constraint, M q̈ = Q + C + Aᵀλ."""
    names = choose_names("multipliers", of, along.constraints, "constraint")
    if not names:
        return nothing("multipliers", "this system has no constraints")
    values = along.points.multipliers
    columns = [values[:, along.constraints.index(name)] for name in names]
    shown, there = worth_drawing(columns)
    if not shown:
        return nothing("multipliers", "the constraints exert no forces")
    curves = tuple(Curve(phrase(names[k]), along.points.t, columns[k], hue=hue) for hue, k in enumerate(shown))
    title = counted_title("multipliers of the constraints", len(shown), there)
    return [Panel("", title, along.names.time, "λ", curves)]


def worth_drawing(values: Sequence[Array], share: float = NOTHING) -> tuple[list[int], int]:
    """Which of several columns are more than rounding beside the others, the largest of them where they are more than
    `MOST_CURVES`; and how many they are.
    """
    sizes = [float(np.nanmax(np.abs(column), initial=0.0)) if column.size else 0.0 for column in values]
    largest = max(sizes, default=0.0)
    found = [k for k, size in enumerate(sizes) if size > share * largest]
    return sorted(sorted(found, key=lambda k: -sizes[k])[:MOST_CURVES]), len(found)


def energy(along: Along, of: tuple[str, ...]) -> list[Panel]:
    """All of it, and its error; or, of "balance" or "error", one of the two."""
    asked = choose_names("energy", of, PARTS_OF_ENERGY, "part of the picture of the energy") if of else PARTS_OF_ENERGY
    t, whole, works = along.points.t, along.points.energy, along.points.work
    kinetic = kinetic_energy(along)
    parts, exchanged = [], float(np.ptp(whole))
    if kinetic is not None:
        rest = whole - kinetic
        exchanged = max(float(kinetic.max()), float(np.ptp(rest)))
        parts.append(Curve("T", t, kinetic, hue=T))
        parts += [Curve("V", t, rest, hue=V)] if rest.any() else []
    worked = np.abs(along.motion.work).max(axis=0)
    size = max(exchanged, float(worked.max())) or float(np.abs(whole).max()) or 1.0
    size = max(size, AT_REST * float(np.abs(whole).max()))
    worked = worked > CONSERVED * size
    label = with_unit("energy", along.names.units.get("energy", ""))
    curves = [*parts, Curve("E" if parts else "energy", t, whole, hue=E)]
    curves += [Curve(f"work, {kind} forces", t, works[:, k], kind, 2 + k) for k, kind in enumerate(WORKS) if worked[k]]
    curves += [
        Curve(phrase(f"heat of {name}"), along.motion.t, heat, "other", 5 + k)
        for k, (name, heat) in enumerate(along.motion.heat.items())
        if np.abs(heat).max() > CONSERVED * size
    ]
    found = [Panel("", "energy", along.names.time, label, tuple(curves))] if "balance" in asked else []
    error = np.abs(whole - whole[0] - works.sum(axis=1)) / size
    if "error" in asked and (of or (error.any() and not worked.any())):
        found += _error(along, t, error)
    return found


def _error(along: Along, t: Array, error: Array) -> list[Panel]:
    """|E − E₀ − work| as a share of what is exchanged, with what the certificate allows."""
    if not error.any():
        return nothing("error of the energy", "zero throughout")
    curves = [Curve("error", t, np.maximum(error, LEAST_ERROR), hue=0)]
    allowed = along.motion.certificate.thresholds.get("energy")
    if allowed:
        ends = np.array([t[0], t[-1]])
        curves.append(Curve("allowed", ends, np.full(2, allowed), "limit", -1))
    label = "|E − E₀ − work| / exchanged"
    return [Panel("", "error of the energy", along.names.time, label, tuple(curves), log=True)]


def kinetic_energy(along: Along) -> Array | None:
    """T at all points, where E = T + V: what E loses with the velocities. None of systems whose T has other parts, or
    of which that is not known.
    """
    if not along.system.has_plain_kinetic:
        return None
    points, evaluation = along.points, Evaluation(along.system)
    still = np.zeros_like(points.v)
    # The call that gave the forces gives the energy too, unless constraints have no direction at rest.
    forces = forces_at(evaluation, points.t, points.q, still)
    at_rest = evaluation.energetics_along(points.q, still, points.t)[0] if forces is None else forces.energy
    return np.asarray(points.energy - at_rest)
