"""The numbers of a drawing: all its expressions over all frames in one call."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.errors import ModelError
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.model.drawings.shapes import Curve, Shape
from dalembert.model.language.symbols import Parameter
from dalembert.model.system import System
from dalembert.motion.state.outputs import values_of
from dalembert.view.scene.frames import Frames

POINTS = 181  # of a curve that is given by expressions


class Values:
    """Values of expressions at frames."""

    def __init__(self, frames: Frames, expressions: Iterable[sp.Expr]) -> None:
        wanted = list(dict.fromkeys(expressions))
        _require_known(frames.system, wanted)
        points = (frames.t, frames.q, frames.v, frames.a, frames.ideal, frames.multipliers)
        found = values_of(frames.system, {str(k): e for k, e in enumerate(wanted)}, *points)
        self.count = frames.t.size
        self.known: dict[sp.Expr, Array] = {e: found[str(k)] for k, e in enumerate(wanted)}

    def one(self, expression: sp.Expr) -> Array:
        """(F,)"""
        return self.known[expression]

    def number(self, expression: sp.Expr | None) -> float | None:
        """Of a size, which has one value: that of the first frame."""
        return None if expression is None else float(self.known[expression][0])

    def rows(self, expressions: Sequence[sp.Expr]) -> Array:
        """(F, 3), with zeros where components are left out."""
        found = np.zeros((self.count, max(3, len(expressions))))
        for k, expression in enumerate(expressions):
            found[:, k] = self.known[expression]
        return found


def expressions_of(shape: Shape) -> list[sp.Expr]:
    """What is to be evaluated over frames: all of a shape but the points of a curve, which are fixed."""
    if not isinstance(shape, Curve):
        return shape.expressions()
    inside = {e for row in shape.points for e in row} | set(shape.over[1:] if shape.over else ())
    return [e for e in shape.expressions() if e not in inside]


def curve_points(curve: Curve, system: System) -> Array:
    """The points of a curve (P, 3) in its own axes."""
    symbols, numbers = system.parameter_symbols, system.parameter_values()
    rows = list(curve.points)
    _require_known(system, [e for row in rows for e in row], curve.over[0] if curve.over else "")
    if curve.over is None:
        found = np.zeros((len(rows), 3))
        for k, row in enumerate(rows):
            found[k, : len(row)] = numeric_function(symbols, list(row))(*numbers)
        return found
    name, *limits = curve.over
    low, high = numeric_function(symbols, limits)(*numbers)
    s = np.linspace(float(low), float(high), POINTS)
    values = numeric_function([Parameter.named(name), *symbols], list(rows[0]))(s, *numbers)
    found = np.zeros((POINTS, 3))
    for k, value in enumerate(values):
        found[:, k] = value
    return found


def _require_known(system: System, expressions: Iterable[sp.Expr], local: str = "") -> None:
    known = {symbol.name for symbol in system.parameter_symbols} | {local}
    used = {s.name for e in expressions for s in sp.sympify(e).free_symbols if isinstance(s, Parameter)}
    if used - known:
        names = ", ".join(sorted(used - known))
        raise ModelError(system.name, [f"draw: no value for parameter {names}: give parameters={{…}}"])
