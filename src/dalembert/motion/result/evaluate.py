"""Expressions along a motion: `motion.evaluate("m*x*y' + tip")`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import Definition, Parameter, symbol_table
from dalembert.model.outputs import unknown_reactions
from dalembert.model.system import System
from dalembert.model.validate.expressions import ExpressionReader
from dalembert.motion.state.outputs import values_of

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

WHERE = "evaluate"


def evaluate(motion: Motion, given: Any) -> Array:
    """An expression, text or SymPy's, at the output points, (T,)."""
    expression = read_expression(motion.system, given)
    points = (motion.t, motion.q, motion.v, motion.a, motion.ideal, motion.multipliers)
    return values_of(motion.system, {WHERE: expression}, *points)[WHERE]


def definition_names(system: System) -> list[str]:
    """The definitions and those rates of them that a model has symbols for, by name."""
    orders = system.defined.orders
    return [name + "'" * k for name, order in orders.items() for k in range(3 - max(order, 0))]


def read_expression(system: System, given: Any, offered: Iterable[str] = ()) -> sp.Expr:
    """The expression in the symbols of a system; `ModelError` where it cannot be read, or names what there is not.
    offered: what else a name that is unknown may have been meant to be.
    """
    reader = ExpressionReader()
    reader.definitions = system.defined
    moving = (*system.coordinates, *map(Definition.named, system.definitions))
    reader.table = symbol_table(moving, system.parameter_symbols)
    names = [*reader.table, *offered]
    expression = reader.expression(given, WHERE, reactions=True, offered=names, functions=False)
    if expression is None:
        raise ModelError(system.name, reader.faults or [f"{WHERE}: an expression is wanted, got {given!r}"])
    strange = {s.name for s in expression.free_symbols if isinstance(s, Parameter)} - set(reader.table)
    faults = [f"{WHERE}: unknown name {name!r}.{suggest(name, names)}" for name in sorted(strange)]
    constraints = [constraint.name for constraint in system.constraints]
    faults += unknown_reactions(WHERE, expression, system.coordinates, constraints)
    if reader.faults or faults:
        raise ModelError(system.name, reader.faults or faults)
    return expression
