"""Constraints that are powers of others: (x' − y')² = 0 says x' − y' = 0, but has no gradient where it holds.

A constraint force is along the gradient of its constraint, so that a squared one has none: what it means is read off
its root. The same of a product in which only one factor holds coordinates at the level of the constraint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import sympy as sp
from sympy.polys.polyerrors import PolynomialError

from dalembert.mechanics.algebra.tidy import exact, has_huge_powers
from dalembert.mechanics.standard_form import is_long
from dalembert.model.constraints import Constraint, level_of
from dalembert.model.system import System

# Parts of an expression up to which it is factored; what is longer must be written as a power to be seen as one.
LARGEST = 80
VARIABLES = 8


@dataclass(frozen=True)
class Root:
    """A constraint is `expression` to the power `power`, times what does not vanish with it."""

    expression: sp.Expr
    power: sp.Expr


def root_of(constraint: Constraint) -> Root | None:
    """The root of a constraint that is a power, or None.

    >>> from dalembert.model.language.symbols import coordinates
    >>> x, y = coordinates("x y")
    >>> root_of(Constraint("squared", x.d**2 - 2*x.d*y.d + y.d**2))
    Root(expression=x' - y', power=2)
    """
    expression = constraint.expression
    found = [(f.base, f.exp) if f.is_Pow else (f, sp.S.One) for f in sp.Mul.make_args(expression)]
    if not any(power != 1 and _holds(base, constraint) for base, power in found):
        found = _factors(exact(expression))
    holding = [(base, power) for base, power in found if _holds(base, constraint)]
    if len(holding) != 1 or not holding[0][1].is_number or not holding[0][1] > 1:
        return None
    return Root(*holding[0])


def with_roots(system: System) -> tuple[System, dict[str, Root]]:
    """The system with the roots in place of the powers, and which those are."""
    roots = {c.name: root for c in system.constraints if not c.one_sided and (root := root_of(c)) is not None}
    if not roots:
        return system, {}
    constraints = [
        replace(c, expression=roots[c.name].expression) if c.name in roots else c for c in system.constraints
    ]
    return system.replace(constraints=constraints), roots


def _holds(factor: sp.Expr, constraint: Constraint) -> bool:
    return level_of(factor) == constraint.level


def _factors(expression: sp.Expr) -> list[tuple[sp.Expr, sp.Expr]]:
    """The factors of a polynomial with their powers; none where it is long, or no polynomial."""
    if is_long(expression, LARGEST) or len(expression.free_symbols) > VARIABLES or not expression.is_Add:
        return []
    if has_huge_powers(expression):
        return []
    try:
        _, factors = sp.sqf_list(expression)
    except PolynomialError:
        return []
    return [(base, sp.Integer(power)) for base, power in factors]
