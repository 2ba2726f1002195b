"""A system as instances of templates, where all of it can be had in that form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import sympy as sp

from dalembert.graph.structure.derive import Derivatives
from dalembert.graph.structure.partial_sums import PartialSums
from dalembert.graph.structure.steps import Structured
from dalembert.graph.structure.templates import GIVEN, QUANTITY, RATE, TIME, Instance, Templates
from dalembert.graph.structure.velocities import WIDEST, Names, Rates, WrittenOut, defined_rates
from dalembert.model.friction.legs import needs_legs
from dalembert.model.language.symbols import Definition, t
from dalembert.model.system import System

# What has a kink: its passages are located, and the motion is smooth in between.
KINKED = (sp.Abs, sp.sign, sp.Min, sp.Max, sp.Piecewise, sp.Heaviside, sp.floor, sp.ceiling)
# More patterns are no repetition.
MOST = 200


def structured_of(system: System) -> Structured | None:
    """The templates of a system; None where it has no such form."""
    if not _is_plain(system):
        return None
    known = system.defined
    placed = [name for name, order in known.orders.items() if order <= 0]
    names: Names = {t: (TIME, 0)}
    quantities = [*system.coordinates, *(Definition.named(name) for name in placed)]
    for k, quantity in enumerate(quantities):
        names[quantity], names[quantity.d] = (QUANTITY, k), (RATE, k)
    names |= {symbol: (GIVEN, k) for k, symbol in enumerate(system.parameter_symbols)}
    rates = defined_rates(known, names, len(quantities))
    templates, written = Templates(names), WrittenOut(known, names)

    def read(expressions: Iterable[sp.Expr]) -> list[Instance]:
        return [templates.read(expression) for expression in expressions]

    sums = PartialSums(Rates(names))
    kinetic = sums.replace_in(written.terms(system.kinetic))
    names |= {symbol: (RATE, len(quantities) + len(rates) + k) for k, symbol in enumerate(sums.defined)}
    places = {coordinate: k for k, coordinate in enumerate(system.coordinates)}
    forces = [(places[coordinate], force) for coordinate, force in system.forces.items() if force != 0]
    constraints = read(written(constraint.expression) for constraint in system.constraints)
    structured = Structured(
        coordinates=len(system.coordinates),
        definitions=[*read(known.values[name] for name in placed), *read(rates), *read(sums.defined.values())],
        kinetic=read(kinetic),
        potential=read(written.terms(system.potential) if system.potential is not None else []),
        forces=[(k, instance) for (k, _), instance in zip(forces, read(written(f) for _, f in forces), strict=True)],
        constraints=[(c.level == "velocity", row) for c, row in zip(system.constraints, constraints, strict=True)],
        parameters=len(system.parameter_symbols),
        derivatives=Derivatives(templates.examples),
        rates_only=len(rates) + len(sums.defined),
        timed=any(example.timed for example in templates.examples),
    )
    moving = any(templates.examples[instance.template].timed for instance in structured.definitions)
    structured = replace(structured, moving=moving)
    repeats = len(templates.examples) <= MOST and all(e.quantities <= WIDEST for e in templates.examples)
    kinked = any(example.expression.has(*KINKED) for example in templates.examples)
    return structured if repeats and not kinked else None


def _is_plain(system: System) -> bool:
    """Kinetic and potential energy, forces, ideal constraints on positions and velocities; nothing else."""
    if system.kinetic is None or system.works or needs_legs(system):
        return False
    return all(c.level != "acceleration" and not c.by_friction for c in system.constraints)
