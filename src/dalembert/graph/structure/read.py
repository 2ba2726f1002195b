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


def obstacle_of(system: System) -> str | None:
    """Why a system has no such form; None where it has one."""
    if system.kinetic is None:
        return "it is given by a Lagrangian or a mass matrix: give kinetic and potential energy"
    if system.works or any(constraint.by_friction for constraint in system.constraints):
        return "it has nonideal constraints"
    if any(constraint.level == "acceleration" for constraint in system.constraints):
        return "it has constraints on accelerations"
    if any(constraint.one_sided for constraint in system.constraints):
        return "it has one-sided constraints"
    if system.events:
        return "it has events"
    return None


def structured_of(system: System) -> Structured:
    """The templates of a system without obstacles."""
    known = Definitions(system.definitions)
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
    return Structured(
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


def _without(expression: sp.Expr, known: Definitions, names: dict[sp.Symbol, tuple[str, int]]) -> sp.Expr:
    """The expression with definitions that hold velocities written out: they are no quantities with a rate here."""
    written = {}
    for symbol in expression.free_symbols:
        if isinstance(symbol, Definition) and symbol not in names:
            written[symbol] = _without(known.written(symbol), known, names)
    return expression.xreplace(written) if written else expression
