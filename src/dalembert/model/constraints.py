"""Constraints at their three levels: position φ(q,t)=0, velocity ψ(q,q̇,t)=0, acceleration h(q,q̇,q̈,t)=0."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import sympy as sp

from dalembert.model.language.contents import symbols_in
from dalembert.model.language.stand_ins import stood_in
from dalembert.model.language.symbols import Coordinate, Moving

LEVELS = ("position", "velocity", "acceleration")
#: What restitution is a ratio of: velocities, impulses, or (squared) works of the normal impulse.
IMPACT_LAWS = ("newton", "poisson", "stronge")
#: Contacts that meet at one instant strike in one blow, or one after the other. Or in an order of their names.
IMPACT_ORDERS = ("together", "sequence")
# Constant here, not there.
SIDED = (sp.sign, sp.Abs, sp.Min, sp.Max, sp.Heaviside, sp.Piecewise)


@dataclass(frozen=True)
class Constraint:
    """A constraint: `expression` is zero on every possible motion (an `Eq` is accepted too).

    `level` is read off the expression; where it is given as well, it is checked, not obeyed.

    `one_sided`: the expression may be positive as well, as the height above a floor; then the constraint only pushes
    (its multiplier is never negative) and lets go. `y >= 0` says the same. `restitution`: how much of the speed of an
    impact comes back, 0 (the default) to 1. `impact`: by which law, "newton" (of velocities, the default), "poisson"
    (of impulses) or "stronge" (of works). One-sided constraints are at position level.

    `by_friction`: made by friction that holds, in a mode of a system with contacts: its work is not ideal. `switch`: a
    parameter, 1 or 0, that the expression is multiplied by; at 0 the constraint does not act.

    >>> from dalembert.model.language.symbols import coordinates
    >>> x, y = coordinates("x y")
    >>> Constraint("knife edge", x.d - y.d)
    Constraint('knife edge', x' - y', level='velocity')
    >>> floor = Constraint("floor", y >= 0, restitution=0.5)
    >>> floor.one_sided, str(floor)
    (True, 'y >= 0')
    """

    name: str
    expression: sp.Expr
    level: str | None = None
    one_sided: bool = False
    restitution: Any = None  # an expression in parameters, once a `System` has read it
    by_friction: bool = False
    switch: sp.Symbol | None = None
    impact: str | None = None  # None: "newton"

    def __post_init__(self) -> None:
        expression = self.expression
        if isinstance(expression, sp.LessThan):
            expression = expression.reversed
        if isinstance(expression, sp.GreaterThan):
            object.__setattr__(self, "one_sided", True)
        if isinstance(expression, (sp.Equality, sp.GreaterThan)):
            object.__setattr__(self, "expression", expression.lhs - expression.rhs)
        if self.level is None and isinstance(self.expression, sp.Basic):
            object.__setattr__(self, "level", level_of(self.expression))

    def __repr__(self) -> str:
        """Without what it does not have."""
        more = [f"{f.name}={value!r}" for f in fields(self)[2:] if (value := getattr(self, f.name)) != f.default]
        return f"Constraint({', '.join([repr(self.name), str(self.expression), *more])})"

    def __str__(self) -> str:
        return f"{self.expression} {'>=' if self.one_sided else '='} 0"


def level_of(expression: sp.Expr) -> str | None:
    """The level of a constraint: the highest derivative it holds. None where it holds no coordinate, or definitions,
    whose own expressions decide.
    """
    moving = [symbol for symbol in symbols_in(expression) if isinstance(symbol, Moving)]
    if not all(isinstance(symbol, Coordinate) for symbol in moving):
        return None
    return LEVELS[max(symbol.order for symbol in moving)] if moving else None


def is_linear(expressions: Iterable[sp.Expr], symbols: Iterable[sp.Symbol]) -> bool:
    """Whether every expression is affine in the symbols."""
    symbols = list(symbols)
    among = set(symbols)
    for expression in expressions:
        if _plainly_linear(expression, among):
            continue
        for symbol in symbols:
            slope = sp.diff(expression, symbol)
            if slope.free_symbols.isdisjoint(symbols):
                continue
            if not sp.expand(slope).free_symbols.isdisjoint(symbols):
                return False
    return True


def _plainly_linear(expression: sp.Expr, symbols: set[sp.Symbol]) -> bool:
    """Whether an expression is linear as it stands: sums, and products with one such factor. False says nothing."""
    if expression.is_Symbol:
        return True
    if expression.is_Add:
        return all(_plainly_linear(term, symbols) for term in expression.args)
    if expression.is_Mul:
        holding = [factor for factor in expression.args if not factor.free_symbols.isdisjoint(symbols)]
        return not holding or (len(holding) == 1 and _plainly_linear(holding[0], symbols))
    return bool(expression.free_symbols.isdisjoint(symbols))


def is_constant(expression: sp.Expr) -> bool:
    """Whether an expression has the same value whatever the coordinates, as sin²x + cos²x − 1 has.

    Decided by its values, to 30 digits, at random points that differ in the coordinates only. Functions that have no
    value there are given the benefit of the doubt, and those with sides, of which all points may lie on one.
    """
    expression = stood_in(expression)
    if expression.has(*SIDED) and any(isinstance(symbol, Coordinate) for symbol in expression.free_symbols):
        return False
    variables = sorted((s for s in expression.free_symbols if isinstance(s, Coordinate)), key=str)
    others = sorted(expression.free_symbols - set(variables), key=str)
    # Terms without coordinates are the same everywhere: a large one must not hide how the others vary.
    varying = [term for term in sp.Add.make_args(expression) if term.free_symbols & set(variables)]
    rng = random.Random(7)
    fixed = {symbol: sp.Rational(rng.randint(100, 900), 1000) for symbol in others}
    values, size = [], sp.Float(0)
    for _ in range(3):
        point = {**fixed, **{symbol: sp.Rational(rng.randint(-900, 900), 1000) for symbol in variables}}
        terms = [term.xreplace(point).evalf(30) for term in varying]
        if not all(term.is_Number and term.is_finite for term in terms):
            return False
        values.append(sum(terms))
        size = max(size, sum(abs(term) for term in terms))
    return all(abs(value - values[0]) <= sp.Float("1e-20") * size for value in values[1:])
