"""A system as instances of templates, where all of it can be had in that form."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from dalembert.graph.structure.derive import Derivatives
from dalembert.graph.structure.steps import Structured
from dalembert.graph.structure.templates import GIVEN, QUANTITY, RATE, TIME, Instance, Templates, terms_of
from dalembert.model.definitions import Definitions
from dalembert.model.language.symbols import Definition, t
from dalembert.model.system import System

# What has a kink: its passages are located, and the motion is smooth in between.
KINKED = (sp.Abs, sp.sign, sp.Min, sp.Max, sp.Piecewise, sp.Heaviside, sp.floor, sp.ceiling)
# A pattern with more quantities, or more patterns, is no repetition: sums over all coordinates, say.
WIDEST, MOST = 24, 200


def structured_of(system: System) -> Structured | None:
    """The templates of a system; None where it has no such form."""
    if not _is_plain(system):
        return None
    known = system.defined
    placed = [name for name, order in known.orders.items() if order <= 0]
    names: dict[sp.Symbol, tuple[str, int]] = {t: (TIME, 0)}
    quantities = [*system.coordinates, *(Definition.named(name) for name in placed)]
    for k, quantity in enumerate(quantities):
        names[quantity], names[quantity.d] = (QUANTITY, k), (RATE, k)
    names |= {symbol: (GIVEN, k) for k, symbol in enumerate(system.parameter_symbols)}
    templates = Templates(names)

    def read(expressions: Iterable[sp.Expr]) -> list[Instance]:
        return [templates.read(_without(expression, known, names)) for expression in expressions]

    def terms(expression: sp.Expr | None) -> list[Instance]:
        return [] if expression is None else read(terms_of(expression))

    places = {coordinate: k for k, coordinate in enumerate(system.coordinates)}
    forces = [(places[coordinate], force) for coordinate, force in system.forces.items() if force != 0]
    structured = Structured(
        coordinates=len(system.coordinates),
        definitions=read(known.values[name] for name in placed),
        kinetic=terms(system.kinetic),
        potential=terms(system.potential),
        forces=[(k, instance) for (k, _), instance in zip(forces, read(f for _, f in forces), strict=True)],
        constraints=[
            (constraint.level == "velocity", instance)
            for constraint, instance in zip(
                system.constraints, read(constraint.expression for constraint in system.constraints), strict=True
            )
        ],
        parameters=len(system.parameter_symbols),
        derivatives=Derivatives(templates),
    )
    repeats = len(templates.examples) <= MOST and all(e.quantities <= WIDEST for e in templates.examples)
    kinked = any(example.expression.has(*KINKED) for example in templates.examples)
    return structured if repeats and not kinked else None


def _is_plain(system: System) -> bool:
    """Kinetic and potential energy, forces, ideal constraints on positions and velocities; nothing else."""
    if system.kinetic is None or system.works or system.events:
        return False
    return all(
        constraint.level != "acceleration" and not constraint.one_sided and not constraint.by_friction
        for constraint in system.constraints
    )


def _without(expression: sp.Expr, known: Definitions, names: dict[sp.Symbol, tuple[str, int]]) -> sp.Expr:
    """The expression with definitions that hold velocities written out: they are no quantities with a rate here."""
    written = {}
    for symbol in expression.free_symbols:
        if isinstance(symbol, Definition) and symbol not in names:
            written[symbol] = _without(known.written(symbol), known, names)
    return expression.xreplace(written) if written else expression
