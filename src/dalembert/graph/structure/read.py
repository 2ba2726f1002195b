"""A system as instances of templates, where all of it can be had in that form."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

import sympy as sp

from dalembert.graph.structure.derive import Derivatives
from dalembert.graph.structure.partial_sums import PartialSums
from dalembert.graph.structure.steps import Structured
from dalembert.graph.structure.templates import GIVEN, QUANTITY, RATE, TIME, Instance, Templates, terms_of
from dalembert.graph.structure.velocities import WIDEST, Names, Rates, WrittenOut, defined_rates
from dalembert.graph.structure.wide_sums import WideSums
from dalembert.model.friction.legs import needs_legs
from dalembert.model.language.symbols import Definition, Moving, t
from dalembert.model.system import System

# What has a kink: its passages are located, and the motion is smooth in between.
KINKED = (sp.Abs, sp.sign, sp.Min, sp.Max, sp.Piecewise, sp.Heaviside, sp.floor, sp.ceiling)
# More patterns are no repetition.
MOST = 200


def structured_of(system: System) -> Structured | None:
    """The templates of a system; None where it has no such form."""
    energies = _energies(system) if _is_plain(system) else None
    if energies is None:
        return None
    known = system.defined
    names: Names = {t: (TIME, 0)}
    values: dict[sp.Symbol, sp.Expr] = {}  # of definitions of positions, the user's and those of wide sums
    for k, coordinate in enumerate(system.coordinates):
        names[coordinate], names[coordinate.d] = (QUANTITY, k), (RATE, k)
    names |= {symbol: (GIVEN, k) for k, symbol in enumerate(system.parameter_symbols)}

    def place(symbol: sp.Symbol, value: sp.Expr) -> sp.Symbol:
        names[symbol] = QUANTITY, len(system.coordinates) + len(values)
        values[symbol] = value
        return symbol

    wide = WideSums(names, lambda value: place(sp.Dummy(f"s{len(values)}", real=True), value))
    for name, order in known.orders.items():
        if order <= 0:
            defined = Definition.named(name)
            place(defined, wide.of_positions(known.values[name]))
            names[defined.d] = RATE, names[defined][1]
    potential = [wide.of_positions(term) for term in terms_of(energies.potential)]
    forces = {q: wide.of_positions(force) for q, force in system.forces.items() if force != 0}
    constraints = [wide.of_positions(constraint.expression) for constraint in system.constraints]
    quantities = len(system.coordinates) + len(values)
    rates = defined_rates(known, names, quantities)
    templates, written, is_rate = Templates(names), WrittenOut(known, names), Rates(names)

    def rate(value: sp.Expr) -> sp.Symbol:
        symbol = sp.Dummy(f"r{len(rates)}", real=True)
        names[symbol] = RATE, quantities + len(rates)
        rates.append(value)
        return symbol

    wide_rates = WideSums(names, rate)
    forces = {q: wide_rates.of_rates(written(force), is_rate) for q, force in forces.items()}
    constraints = [wide_rates.of_rates(written(constraint), is_rate) for constraint in constraints]

    def read(expressions: Iterable[sp.Expr]) -> list[Instance]:
        return [templates.read(expression) for expression in expressions]

    sums = PartialSums(is_rate)
    kinetic = sums.replace_in(written.terms(energies.kinetic))
    names |= {symbol: (RATE, quantities + len(rates) + k) for k, symbol in enumerate(sums.defined)}
    places = {coordinate: k for k, coordinate in enumerate(system.coordinates)}
    rows = read(constraints)
    structured = Structured(
        coordinates=len(system.coordinates),
        definitions=[*read(values.values()), *read(rates), *read(sums.defined.values())],
        kinetic=read(kinetic),
        potential=read(part for term in potential for part in written.terms(term)),
        forces=[(places[q], instance) for q, instance in zip(forces, read(forces.values()), strict=True)],
        constraints=[(c.level == "velocity", row) for c, row in zip(system.constraints, rows, strict=True)],
        parameters=len(system.parameter_symbols),
        derivatives=Derivatives(templates.examples),
        rates_only=len(rates) + len(sums.defined),
        timed=any(example.timed for example in templates.examples),
        placed={symbol.name: names[symbol][1] for symbol in values if isinstance(symbol, Definition)},
    )
    moving = any(templates.examples[instance.template].timed for instance in structured.definitions)
    if moving and system.lagrangian is not None:
        return None  # what moves by itself does so where coordinates rest
    structured = replace(structured, moving=moving)
    repeats = len(templates.examples) <= MOST and all(e.quantities <= WIDEST for e in templates.examples)
    kinked = any(example.expression.has(*KINKED) for example in templates.examples)
    return structured if repeats and not kinked else None


class _Energies(NamedTuple):
    kinetic: sp.Expr
    potential: sp.Expr


def _energies(system: System) -> _Energies | None:
    """T and V. Of a Lagrangian, −V is what it is at rest and T all the rest, so that forces count as impressed and
    inertial as they do in `graph.graph`. None where that is not seen term by term.
    """
    if system.lagrangian is None:
        return None if system.kinetic is None else _Energies(system.kinetic, system.potential or sp.S.Zero)
    orders, kinetic, potential = system.defined.orders, [], []
    for term in terms_of(system.lagrangian):
        symbols = [symbol for symbol in term.free_symbols if isinstance(symbol, Moving)]
        if any(orders.get(symbol.base, 0) > 0 for symbol in symbols if isinstance(symbol, Definition)):
            return None  # a definition that holds velocities
        rates = [symbol for symbol in symbols if symbol.order]
        at_rest = term.xreplace(dict.fromkeys(rates, sp.S.Zero))
        if rates:
            kinetic += [term, -at_rest]
        potential.append(-at_rest)
    found = _Energies(sp.Add(*kinetic), sp.Add(*potential))
    return None if found.potential.has(sp.nan, sp.zoo, sp.oo) else found


def _is_plain(system: System) -> bool:
    """Energies, forces, ideal constraints on positions and velocities; nothing else."""
    if system.mass is not None or system.works or needs_legs(system):
        return False
    return all(c.level != "acceleration" and not c.by_friction for c in system.constraints)
