"""Expressions made short enough to read, at a cost known beforehand.

General simplifiers take unbounded time. Here each entry tries a few rewritings, the expensive ones only while it is small and
while the budget of the whole derivation lasts, and the one with the fewest operations is kept.
"""

from __future__ import annotations

import sympy as sp
from sympy.polys.polyerrors import PolynomialError

# Sizes in operations (sympy.count_ops) up to which a rewriting is tried. On one core, an entry at the limit takes about 0.1 s
# (trigsimp, factor) or 0.05 s (cancel); above the last limit an entry is only freed of common factors.
TRIGSIMP = 60
FACTOR = 250
CANCEL = 600


class Budget:
    """Operations that expensive rewritings may still look at in one derivation.

    The papers' examples use a few hundred. At the default, the whole derivation stays within seconds whatever the model.
    """

    def __init__(self, operations: int = 8000) -> None:
        self.left = operations

    def spend(self, operations: int) -> bool:
        self.left -= operations
        return self.left >= 0


def tidy(expression: sp.Expr, budget: Budget | None = None) -> sp.Expr:
    """An equal expression with no more operations, usually far fewer.

    >>> from sympy.abc import x
    >>> tidy(sp.tan(x)/(1 + sp.tan(x)**2))
    sin(x)*cos(x)
    """
    budget = budget or Budget()
    if expression.is_Atom:
        return expression
    expression = _inner(expression, budget)
    size = sp.count_ops(expression)
    if size > CANCEL or not budget.spend(size):
        return min((expression, sp.factor_terms(expression)), key=sp.count_ops)
    known = _angles(expression)
    found = [expression]
    start = expression
    if start.has(sp.tan):
        start = start.replace(sp.tan, lambda u: sp.sin(u) / sp.cos(u))
    rational = _rational(start)
    found.append(rational)
    if rational.has(sp.sin, sp.cos):
        rational = _pythagoras(rational)
        found.append(rational)
    found += [_factored(rational), sp.factor_terms(rational)]
    best = min(found, key=lambda e: _cost(e, known))
    if sp.count_ops(best) <= TRIGSIMP and _sums_of_angles(best):
        best = min((best, sp.trigsimp(best)), key=lambda e: _cost(e, known))
    return best


def tidy_matrix(matrix: sp.Matrix, budget: Budget | None = None) -> sp.ImmutableMatrix:
    """`tidy` on every entry."""
    budget = budget or Budget()
    return sp.ImmutableMatrix(matrix.rows, matrix.cols, [tidy(entry, budget) for entry in matrix])


def exact(expression: sp.Expr) -> sp.Expr:
    """Decimal numbers as the fractions they were written as: 0.5 is 1/2. Polynomial algebra needs it."""
    return expression.xreplace({number: sp.Rational(str(number)) for number in expression.atoms(sp.Float)})


def _cost(expression: sp.Expr, known: frozenset[sp.Expr]) -> tuple[int, str]:
    # An angle that was not in the model, such as 2θ, hides the geometry; it must save more than this to be worth it.
    return sp.count_ops(expression) + 6 * len(_angles(expression) - known), str(expression)


def _angles(expression: sp.Expr) -> frozenset[sp.Expr]:
    return frozenset(f.args[0] for f in expression.atoms(sp.sin, sp.cos, sp.tan))


def _sums_of_angles(expression: sp.Expr) -> bool:
    """Whether sin(a ± b) or cos(a ± b) may be hidden in it: only then does trigsimp find more than `_pythagoras`."""
    both = [angle for angle in _angles(expression) if expression.has(sp.sin(angle)) and expression.has(sp.cos(angle))]
    return len(both) > 1


def _inner(expression: sp.Expr, budget: Budget) -> sp.Expr:
    """What stands under roots and in functions, tidied first: √(a²cos²θ + a²sin²θ) becomes |a|."""
    inside = [
        e
        for e in expression.atoms(sp.Pow, sp.Function)
        if not (e.is_Pow and e.exp.is_Integer) and not all(argument.is_Atom for argument in e.args)
    ]
    swap = {}
    for e in sorted(inside, key=sp.count_ops):
        arguments = [tidy(argument, budget) if argument != expression else argument for argument in e.args]
        if tuple(arguments) != e.args:
            swap[e] = e.func(*arguments)
    return expression.xreplace(swap) if swap else expression


def _guarded(function: sp.FunctionClass, expression: sp.Expr) -> sp.Expr:
    try:
        return function(expression)
    except (PolynomialError, NotImplementedError, ValueError):
        return expression


def _factored(expression: sp.Expr) -> sp.Expr:
    return _guarded(sp.factor, expression) if sp.count_ops(expression) <= FACTOR else expression


def _rational(expression: sp.Expr) -> sp.Expr:
    return _guarded(sp.cancel, _guarded(sp.together, expression))


def _pythagoras(expression: sp.Expr) -> sp.Expr:
    """sin² + cos² = 1 used in numerator and denominator, angle by angle, whichever way is shorter."""
    top, bottom = sp.fraction(expression)
    for angle in sorted(_angles(expression), key=str):
        top, bottom = (_reduce(part, angle) for part in (top, bottom))
    return _rational(top / bottom)


def _reduce(expression: sp.Expr, angle: sp.Expr) -> sp.Expr:
    s, c = sp.sin(angle), sp.cos(angle)
    if not expression.has(s, c):
        return expression
    try:
        terms = sp.Poly(sp.expand(expression), s, c).terms()
    except PolynomialError:
        return expression
    without_s = sp.expand(sp.Add(*(k * s ** (i % 2) * c**j * (1 - c**2) ** (i // 2) for (i, j), k in terms)))
    without_c = sp.expand(sp.Add(*(k * s**i * c ** (j % 2) * (1 - s**2) ** (j // 2) for (i, j), k in terms)))
    # Which way is shorter shows only after factoring: x' − x' sin² + y' sin cos is (x' cos + y' sin) cos.
    return min((_factored(e) for e in (expression, without_s, without_c)), key=sp.count_ops)
