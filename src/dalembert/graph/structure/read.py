"""A system as instances of templates, where all of it can be had in that form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import casadi as ca
import sympy as sp

from dalembert.graph.convert import Converter
from dalembert.graph.structure.derive import Derivatives
from dalembert.graph.structure.partial_sums import PartialSums, is_rate_of_position
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
    all_placed = len(placed) == len(known.orders)
    names: dict[sp.Symbol, tuple[str, int]] = {t: (TIME, 0)}
    quantities = [*system.coordinates, *(Definition.named(name) for name in placed)]
    for k, quantity in enumerate(quantities):
        names[quantity], names[quantity.d] = (QUANTITY, k), (RATE, k)
    names |= {symbol: (GIVEN, k) for k, symbol in enumerate(system.parameter_symbols)}
    templates = Templates(names)

    def written(expressions: Iterable[sp.Expr]) -> Iterable[sp.Expr]:
        return expressions if all_placed else (_without(expression, known, names) for expression in expressions)

    def read(expressions: Iterable[sp.Expr]) -> list[Instance]:
        return [templates.read(expression) for expression in written(expressions)]

    sums = PartialSums(_Rates(names))
    kinetic = sums.replace_in(list(written(_terms(system.kinetic, known, names))))
    start = len(quantities)
    names |= {symbol: (RATE, start + k) for k, symbol in enumerate(sums.defined)}
    places = {coordinate: k for k, coordinate in enumerate(system.coordinates)}
    forces = [(places[coordinate], force) for coordinate, force in system.forces.items() if force != 0]
    constraints = read(constraint.expression for constraint in system.constraints)
    structured = Structured(
        coordinates=len(system.coordinates),
        definitions=[*read(known.values[name] for name in placed), *read(sums.defined.values())],
        kinetic=read(kinetic),
        potential=read(_terms(system.potential, known, names) if system.potential is not None else []),
        forces=[(k, instance) for (k, _), instance in zip(forces, read(f for _, f in forces), strict=True)],
        constraints=[(c.level == "velocity", row) for c, row in zip(system.constraints, constraints, strict=True)],
        parameters=len(system.parameter_symbols),
        derivatives=Derivatives(templates.examples),
        rates_only=len(sums.defined),
        timed=any(example.timed for example in templates.examples),
    )
    # Definitions that move by themselves are left out: E = q̇·∂L/∂q̇ − L is not the sum over their rates then.
    if any(templates.examples[instance.template].timed for instance in structured.definitions):
        return None
    repeats = len(templates.examples) <= MOST and all(e.quantities <= WIDEST for e in templates.examples)
    kinked = any(example.expression.has(*KINKED) for example in templates.examples)
    return structured if repeats and not kinked else None


class _Rates:
    """Whether expressions are rates of positions: decided once for all that are the same but for their names. Numbers
    decide too: 3 x² y′ + 6 x y x′ is one.
    """

    def __init__(self, names: Mapping[sp.Symbol, tuple[str, int]]) -> None:
        self.names, self.templates = names, Templates(names)
        self.decided: dict[tuple[float, ...], bool] = {}

    def __call__(self, expression: sp.Expr) -> bool:
        read = self.templates.read(expression)
        key = (read.template, *(value for value in read.given if isinstance(value, float)))
        if key not in self.decided:
            self.decided[key] = _is_rate(expression, self.names)
        return self.decided[key]


def _is_rate(expression: sp.Expr, names: Mapping[sp.Symbol, tuple[str, int]]) -> bool:
    """Whether an expression in quantities and rates is the rate of a position."""
    symbols = sorted(expression.free_symbols, key=lambda symbol: symbol.name)
    numbers = sorted({names[s][1] for s in symbols if names[s][0] in (QUANTITY, RATE)})
    if len(numbers) > WIDEST or any(names[s][0] == TIME for s in symbols):
        return False
    x, v = ca.SX.sym("x", len(numbers)), ca.SX.sym("v", len(numbers))
    stand = {QUANTITY: x, RATE: v}
    table = {}
    for symbol in symbols:
        kind, number = names[symbol]
        table[symbol] = stand[kind][numbers.index(number)] if kind in stand else ca.SX.sym(symbol.name)
    return is_rate_of_position(Converter(table)(expression), x, v)


def _is_plain(system: System) -> bool:
    """Kinetic and potential energy, forces, ideal constraints on positions and velocities; nothing else."""
    if system.kinetic is None or system.works:
        return False
    return all(
        constraint.level != "acceleration" and not constraint.one_sided and not constraint.by_friction
        for constraint in system.constraints
    )


def _terms(energy: sp.Expr, known: Definitions, names: Mapping[sp.Symbol, tuple[str, int]]) -> list[sp.Expr]:
    """The terms of an energy, and of definitions that are parts of it and hold velocities: "T = T1 + T2"."""
    found, stack = [], [energy]
    while stack:  # and no recursion: each part may go on from the one before it
        for term in terms_of(stack.pop()):
            if isinstance(term, Definition) and term not in names:
                stack.append(known.written(term))
            else:
                found.append(term)
    return found


def _without(expression: sp.Expr, known: Definitions, names: Mapping[sp.Symbol, tuple[str, int]]) -> sp.Expr:
    """The expression with definitions that hold velocities written out: they are no quantities with a rate here."""
    written = {}
    for symbol in expression.free_symbols:
        if isinstance(symbol, Definition) and symbol not in names:
            written[symbol] = _without(known.written(symbol), known, names)
    return expression.xreplace(written) if written else expression
