"""A model with its time stopped, and which of its coordinates are angles."""

from __future__ import annotations

from dataclasses import replace

import sympy as sp

from dalembert.model.language.contents import replaced, symbols_in
from dalembert.model.language.symbols import Coordinate, t
from dalembert.model.system import System


def mentions_time(system: System) -> bool:
    return any(t in symbols_in(expression) for expression in _physics(system))


def frozen_at(system: System, time: float) -> System:
    """The model as it stands at a time: nothing in it moves by itself."""
    swap = {t: sp.Float(time)}

    def stop(expression: sp.Expr | None) -> sp.Expr | None:
        return None if expression is None else expression.xreplace(swap)

    return system.replace(
        kinetic=stop(system.kinetic),
        potential=stop(system.potential),
        lagrangian=stop(system.lagrangian),
        mass=None if system.mass is None else system.mass.xreplace(swap),
        forces={q: force.xreplace(swap) for q, force in system.forces.items()},
        constraints=[replace(c, expression=c.expression.xreplace(swap)) for c in system.constraints],
        nonideal=[law.map_expressions(lambda e: e.xreplace(swap)) for law in system.nonideal],
        events=(),
    )


def angles(system: System) -> list[bool]:
    """Of each coordinate, whether the model is the same after a whole turn of it."""
    expressions = [(e, symbols_in(e)) for e in _physics(system)]

    def turned(q: Coordinate) -> bool:
        holding = [e for e, symbols in expressions if q in symbols]
        known: dict[sp.Basic, sp.Basic] = {q: q + 2 * sp.pi}
        return bool(holding) and all(replaced(e, known) == e for e in holding)

    return [turned(q) for q in system.coordinates]


def _physics(system: System) -> list[sp.Expr]:
    """Every expression but those of events."""
    return system.replace(events=()).expressions() if system.events else system.expressions()
