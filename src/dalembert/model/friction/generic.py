"""Expressions at a contact: shortened, and compared at some generic states."""

from __future__ import annotations

import random

import numpy as np
import sympy as sp

from dalembert.model.language.multiply_out import multiplied_out
from dalembert.model.language.stand_ins import stood_in

# A residual this small against its row is rounding: generic values are of their own size.
ZERO = 1e-9
# Beyond this many operations a simplification takes longer than the reader of a short formula would gain by it.
SIMPLIFIED = 120


class Unclear(Exception):
    """Why the geometry of a law cannot be told; the text completes a message of the model."""


def numbers_of(matrix: sp.Matrix) -> list[np.ndarray]:
    """A matrix at some generic states. Parameters are drawn too: the answer must not depend on their values."""
    matrix = matrix.applyfunc(stood_in)
    symbols = sorted(matrix.free_symbols, key=str)
    rng = random.Random(11)
    found: list[np.ndarray] = []
    for _ in range(20):
        place = {symbol: sp.Float(rng.uniform(0.2, 1.0)) for symbol in symbols}
        try:
            values = np.array([[complex(entry.xreplace(place).evalf()) for entry in row] for row in matrix.tolist()])
        except (TypeError, ValueError):
            continue
        if np.isfinite(values).all() and not np.any(values.imag):
            found.append(values.real.astype(float))
        if len(found) == 3:
            return found
    if not found:
        raise Unclear("the point or the constraint has no finite value at the states tried")
    return found


def vanishes(expression: sp.Expr) -> bool:
    """Whether an expression is zero, at some generic states."""
    expression = short(expression)
    return expression == 0 or all(abs(values[0, 0]) < ZERO for values in numbers_of(sp.Matrix([[expression]])))


def square(vector: sp.Matrix) -> sp.Expr:
    return short(sp.Add(*(entry**2 for entry in vector)))


def short(expression: sp.Expr) -> sp.Expr:
    """The expression multiplied out, with sin² + cos² and 1 + tan² taken together."""
    if expression.is_Atom or sp.count_ops(expression) > SIMPLIFIED:
        return expression
    expression = multiplied_out(expression)
    if expression.has(sp.tan):
        tangents = {sp.tan(angle) ** 2: 1 / sp.cos(angle) ** 2 - 1 for angle in _angles(expression, sp.tan)}
        expression = _shorter(expression, multiplied_out(expression.xreplace(tangents)))
    if expression.has(sp.sin):
        sines = {sp.sin(angle) ** 2: 1 - sp.cos(angle) ** 2 for angle in _angles(expression, sp.sin)}
        expression = _shorter(expression, multiplied_out(expression.xreplace(sines)))
    return expression


def _angles(expression: sp.Expr, function: type[sp.Function]) -> set[sp.Expr]:
    return {call.args[0] for call in expression.atoms(function)}


def _shorter(one: sp.Expr, other: sp.Expr) -> sp.Expr:
    return other if sp.count_ops(other) < sp.count_ops(one) else one
