"""Reads the arguments of `System`: names matched, text parsed, every fault collected before one error is raised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import sympy as sp

from dalembert.collector import without_collecting
from dalembert.errors import ModelError
from dalembert.model.constraints import IMPACT_ORDERS
from dalembert.model.drawings.read_drawings import read_drawing
from dalembert.model.drawings.shapes import Drawing
from dalembert.model.events import Event, read_events
from dalembert.model.friction.frames import inertia_of
from dalembert.model.friction.law import Law
from dalembert.model.friction.read_laws import LawReader
from dalembert.model.language.contents import contents
from dalembert.model.language.facts import forget_facts
from dalembert.model.language.signatures import read_signatures
from dalembert.model.language.vocabulary import RESERVED_FOR_CALLS
from dalembert.model.outputs import reaction_faults, reactions_in_drawing, read_outputs
from dalembert.model.units import names_with_units, read_units
from dalembert.model.validate.check import derivatives_out_of_place, functions_at_odds, not_one_inertia
from dalembert.model.validate.constraints import ConstraintReader
from dalembert.model.validate.definitions import read_definitions, read_names
from dalembert.model.validate.expressions import ExpressionReader
from dalembert.model.validate.values import read_initial, read_parameters, read_settings

# Coordinates of a model for which it pays to go through it once more to make it smaller.
MANY = 500


@dataclass(frozen=True)
class Draft:
    """The arguments of `System` as given."""

    name: Any
    coordinates: Any
    kinetic: Any
    potential: Any
    lagrangian: Any
    mass: Any
    forces: Any
    constraints: Any
    nonideal: Any
    parameters: Any
    initial: Any
    settings: Any
    description: Any
    events: Any
    impacts: Any = None
    outputs: Any = None
    functions: Any = ()
    definitions: Any = None
    units: Any = None
    draw: Any = ()


@without_collecting
def build_parts(draft: Draft) -> dict[str, Any]:
    """The parts of a `System`, or `ModelError` with every fault found: names are read first, then numbers, expressions,
    and what is made of expressions; then all is checked together.
    """
    reader = ExpressionReader()
    title = draft.name if isinstance(draft.name, str) and draft.name.strip() else "system"
    if title != draft.name:
        reader.faults.append(f"the name of a system is a text, got {draft.name!r}")
    if not title.isprintable():
        reader.faults.append(f"the name of a system is one line of printable text, got {title!r}")

    coordinates, given = reader.read(draft.coordinates, draft.parameters)
    named = read_names(draft.definitions, reader) if draft.definitions else {}
    if not _is_empty(draft.functions):
        reader.functions = read_signatures(draft.functions, {*RESERVED_FOR_CALLS, *reader.table}, reader.faults)

    parameters = read_parameters(given, reader)
    initial = read_initial(draft.initial, coordinates, reader)
    settings = read_settings(draft.settings, reader)

    if named:
        reader.definitions = read_definitions(named, coordinates, reader)
    definitions = reader.definitions
    energies = {key: reader.expression(getattr(draft, key), key) for key in ("kinetic", "potential", "lagrangian")}
    mass = None if draft.mass is None else reader.mass(draft.mass, len(coordinates))
    forces = reader.by_coordinate(draft.forces, "forces")
    with_reactions = partial(reader.expression, reactions=True)
    outputs = read_outputs(draft.outputs or {}, coordinates, definitions.values, with_reactions, reader.faults)

    held = ConstraintReader(reader, parameters)
    constraints, names = held.read(draft.constraints)
    laws: tuple[Law, ...] = ()
    if not _is_empty(draft.nonideal):
        inertia = inertia_of(energies["kinetic"], energies["lagrangian"], mass)
        work = partial(reader.by_coordinate, where="work", reactions=True)
        laws = LawReader(
            coordinates, constraints, names, inertia, definitions, parameters, reader.expression, work, reader.faults
        ).read(draft.nonideal)
    events: tuple[Event, ...] = ()
    if not _is_empty(draft.events):
        switches = any(c.one_sided for c in constraints) or any(law.dry for law in laws)
        read = partial(reader.expression, equation=True)
        events = read_events(draft.events, read, reader.faults, switches, definitions)

    drawing = Drawing()
    if not _is_empty(draft.draw):
        drawing = read_drawing(draft.draw, coordinates, reader.table, reader.with_local_names, reader.faults)
        reader.faults += reactions_in_drawing(drawing, coordinates, names)

    parts: dict[str, Any] = {
        "name": title,
        "coordinates": coordinates,
        "definitions": definitions.values,
        **energies,
        "mass": mass,
        "forces": forces,
        "constraints": constraints,
        "nonideal": laws,
        "parameters": parameters,
        "initial": initial,
        "settings": settings,
        "description": str(draft.description),
        "events": events,
        "impacts": IMPACT_ORDERS[0] if draft.impacts is None else held.impacts(draft.impacts, constraints),
        "outputs": outputs,
        "units": {},
        "draw": drawing,
    }
    if draft.units:
        parts["units"] = read_units(draft.units, _names_with_units(parts), reader.faults)
    reader.faults += reaction_faults(outputs, coordinates, names)
    reader.faults += not_one_inertia(vars(draft))
    reader.faults += derivatives_out_of_place(parts, names, definitions)
    reader.faults += functions_at_odds(parts, reader.declared)
    if reader.faults:
        raise ModelError(title, reader.faults)
    if len(coordinates) >= MANY:
        forget_facts(_expressions(parts))
    return parts


def _names_with_units(parts: dict[str, Any]) -> list[str]:
    """The names of a model that may have a unit, those of parameters without a value among them."""
    used = contents(*_expressions(parts)).symbols
    return names_with_units(parts["coordinates"], parts["definitions"], {*parts["parameters"], *used}, parts["outputs"])


def _expressions(parts: dict[str, Any]) -> list[sp.Basic]:
    """All that a model is written with."""
    held, laws, events = parts["constraints"], parts["nonideal"], parts["events"]
    found = [parts[key] for key in ("kinetic", "potential", "lagrangian")] + [parts["mass"]]
    for key in ("forces", "initial", "outputs", "definitions"):
        found += parts[key].values()
    found += [e for constraint in held for e in (constraint.expression, constraint.restitution)]
    found += [e for law in laws for e in law.expressions()] + [event.expression for event in events]
    return [expression for expression in found if expression is not None]


def _is_empty(given: Any) -> bool:
    """Whether a list is given with nothing in it, as where it is left away."""
    return isinstance(given, (tuple, list, dict)) and not given
