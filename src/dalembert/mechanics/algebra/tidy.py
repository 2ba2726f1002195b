"""Expressions made short enough to read, at a cost known beforehand.

General simplifiers take unbounded time. Here each entry tries a few rewritings, the expensive ones only while
it is small and while the budget of the whole derivation lasts, and the one with the fewest operations is
kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

import sympy as sp
from sympy.core.random import rng, seed
from sympy.polys.polyerrors import PolynomialError

from dalembert.mechanics.standard_form import is_long
from dalembert.model.language.symbols import Coordinate

# Sizes in operations (sympy.count_ops) up to which a rewriting is tried. On one core, an entry at the limit
# takes about 0.1 s (trigsimp, factor) or 0.05 s (cancel); above the last limit an entry is only freed of
# common factors. Polynomial algebra slows down exponentially with the number of variables, so that is limited
# too.
TRIGSIMP = 60
FACTOR = 150
CANCEL = 300
VARIABLES = 14
# Powers above this are left alone: polynomials are written out up to their degree.
DEGREE = 1000
# Beyond this an entry is left as it is: nobody reads it, and even common factors take seconds to find.
LARGEST = 1500
# An expression has at most about so many parts for each of its operations.
PARTS = 6
# So many results of each rewriting are kept, a few kilobytes each: forms of one system have many entries in common, and
# within one the same entry comes back in another candidate.
KEPT = 1000


class Budget:
    """Operations that expensive rewritings may still look at in one derivation.

    The papers' examples use a few hundred. At the default, the whole derivation stays within seconds whatever
    the model.
    """

    def __init__(self, operations: int = 8000, largest: int = LARGEST) -> None:
        self.left = operations
        self.largest = largest  # a longer entry is left as it is
        self.seen: dict[sp.Expr, sp.Expr] = {}  # the same entry often comes back: a force and its multiplier

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
    if not expression.has(sp.Add, sp.tan):
        return expression  # SymPy keeps products in order by itself
    if expression not in budget.seen:
        budget.seen[expression] = _shortest(expression, budget)
    return budget.seen[expression]


def _shortest(expression: sp.Expr, budget: Budget) -> sp.Expr:
    if is_long(expression, PARTS * budget.largest):
        return expression  # without counting the operations of what has a million parts, which takes minutes
    if is_long(expression, 2 * budget.largest) and sp.count_ops(expression) > budget.largest:
        return expression
    expression = _inner(expression, budget)
    size = sp.count_ops(expression)
    if size > CANCEL or _variables(expression) > VARIABLES or not budget.spend(size):
        return min((expression, _factor_terms(expression)), key=sp.count_ops)
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
    found += [_factored(rational), _factor_terms(rational), _by_velocities(rational)]
    best = _least(found, known)
    # Multiplied out it may be longer, while a symbol only seems to be in it: (m g − m z/r)/m.
    if (plain := _factor_terms(best)).free_symbols < best.free_symbols:
        best = plain
    if sp.count_ops(best) <= TRIGSIMP and _sums_of_angles(best):
        best = _least((best, _trigsimp(best)), known)
    return best


def tidy_matrix(matrix: sp.Matrix, budget: Budget | None = None) -> sp.ImmutableMatrix:
    """`tidy` on every entry."""
    budget = budget or Budget()
    return sp.ImmutableMatrix(matrix.rows, matrix.cols, [tidy(entry, budget) for entry in matrix])


def exact(expression: sp.Expr) -> sp.Expr:
    """Decimal numbers as the fractions they were written as: 0.5 is 1/2. Polynomial algebra needs it."""
    return expression.xreplace({number: sp.Rational(str(number)) for number in expression.atoms(sp.Float)})


def _least(candidates: Iterable[sp.Expr], known: frozenset[sp.Expr]) -> sp.Expr:
    """The one of least cost. Only among equals does the text decide: to write it takes longer than to count it."""
    costs = {expression: _cost(expression, known) for expression in dict.fromkeys(candidates)}
    least = min(costs.values())
    equal = [expression for expression, cost in costs.items() if cost == least]
    return equal[0] if len(equal) == 1 else min(equal, key=str)


def _cost(expression: sp.Expr, known: frozenset[sp.Expr]) -> int:
    # θ₁ − θ₂ is an angle one can draw; 2θ, where the model has only θ, hides the geometry and must save more
    # to be worth it.
    new = _angles(expression) - known
    multiple = sum(any(abs(c) != 1 for c in angle.as_coefficients_dict().values()) for angle in new)
    return int(sp.count_ops(expression)) + len(new) + 6 * multiple


def _variables(expression: sp.Expr) -> int:
    return len(expression.free_symbols) + len(expression.atoms(sp.Function))


def _angles(expression: sp.Expr) -> frozenset[sp.Expr]:
    return frozenset(f.args[0] for f in expression.atoms(sp.sin, sp.cos, sp.tan))


def _sums_of_angles(expression: sp.Expr) -> bool:
    """Whether sin(a ± b) or cos(a ± b) may be hidden in it: only then does trigsimp find more than
    `_pythagoras`.
    """
    both = [angle for angle in _angles(expression) if expression.has(sp.sin(angle)) and expression.has(sp.cos(angle))]
    return len(both) > 1


def _inner(expression: sp.Expr, budget: Budget) -> sp.Expr:
    """What stands under roots and in functions, tidied first: √(a²cos²θ + a²sin²θ) becomes |a|."""
    inside = [
        e
        for e in expression.atoms(sp.Pow, sp.Function)
        if not (e.is_Pow and e.exp.is_Integer)
        and not all(argument.is_Atom for argument in e.args)
        # Cases are pairs with conditions, which are no expressions; what stands in the pairs comes by itself.
        and not isinstance(e, sp.Piecewise)
    ]
    swap = {}
    for e in sorted(inside, key=sp.count_ops):
        arguments = [tidy(argument, budget) if argument != expression else argument for argument in e.args]
        if tuple(arguments) != e.args:
            swap[e] = e.func(*arguments)
    return expression.xreplace(swap) if swap else expression


def has_huge_powers(expression: sp.Expr) -> bool:
    """Whether polynomial algebra would not end: e^(−62500 t²) is e^(t²) to the power −62500 to SymPy, which writes out
    every lower one.
    """
    for part in expression.atoms(sp.exp, sp.Pow):
        for term in sp.Add.make_args(sp.expand(part.exp)):
            number, _ = term.as_coeff_Mul()
            if number.is_Rational and max(abs(number.p), number.q) > DEGREE:
                return True
    return False


def _guarded(function: sp.FunctionClass, expression: sp.Expr) -> sp.Expr:
    if has_huge_powers(expression):
        return expression
    # SymPy factors polynomials in several variables with numbers drawn at random, and an unlucky draw takes minutes
    # where others take a tenth of a second. So the draws are the same each time, and what was fast stays fast.
    before = rng.getstate()
    seed(0)
    try:
        return function(expression)
    except (PolynomialError, NotImplementedError, ValueError):
        return expression
    finally:
        rng.setstate(before)


@lru_cache(KEPT)
def _factored(expression: sp.Expr) -> sp.Expr:
    return _guarded(sp.factor, expression) if sp.count_ops(expression) <= FACTOR else expression


@lru_cache(KEPT)
def _rational(expression: sp.Expr) -> sp.Expr:
    return _guarded(sp.cancel, _guarded(sp.together, expression))


@lru_cache(KEPT)
def _factor_terms(expression: sp.Expr) -> sp.Expr:
    return sp.factor_terms(expression)


@lru_cache(KEPT)
def _trigsimp(expression: sp.Expr) -> sp.Expr:
    return sp.trigsimp(expression)


def _is_power(expression: sp.Expr) -> bool:
    return bool(expression.is_Pow and expression.exp.is_Integer and expression.exp > 0)


@lru_cache(KEPT)
def _by_velocities(expression: sp.Expr) -> sp.Expr:
    """A sum over the products of velocities in it, each with its own factored coefficient, as one writes it
    by hand.
    """
    top, bottom = sp.fraction(expression)
    rates = sorted((s for s in top.free_symbols if isinstance(s, Coordinate) and s.order == 1), key=str)
    if not rates or sp.count_ops(top) > FACTOR or not bottom.free_symbols.isdisjoint(rates):
        return expression
    try:
        terms = sp.Poly(sp.expand(top), *rates).terms()
    except PolynomialError:
        return expression
    if len(terms) < 2:
        return expression
    products = [sp.Mul(*(rate**power for rate, power in zip(rates, powers, strict=True))) for powers, _ in terms]
    return sp.Add(*(_factored(_pythagoras(k / bottom)) * p for p, (_, k) in zip(products, terms, strict=True)))


def _pythagoras(expression: sp.Expr) -> sp.Expr:
    """sin² + cos² = 1 used in numerator and denominator, angle by angle, whichever way is shorter."""
    top, bottom = sp.fraction(expression)
    for angle in sorted(_angles(expression), key=str):
        top, bottom = (_reduce(part, angle) for part in (top, bottom))
    return _rational(top / bottom)


@lru_cache(KEPT)
def _reduce(expression: sp.Expr, angle: sp.Expr) -> sp.Expr:
    s, c = sp.sin(angle), sp.cos(angle)
    if not expression.has(s, c):
        return expression
    # Roots and moduli of the same angle are left alone; hidden behind a symbol they do not disturb the
    # polynomial.
    masks = {e: sp.Dummy() for e in expression.atoms(sp.Function, sp.Pow) if e not in (s, c) and not _is_power(e)}
    try:
        terms = sp.Poly(sp.expand(expression.xreplace(masks)), s, c).terms()
    except PolynomialError:
        return expression
    if all(i < 2 and j < 2 for (i, j), _ in terms):
        return expression
    back = {mask: e for e, mask in masks.items()}
    terms = [(powers, k.xreplace(back)) for powers, k in terms]
    without_s = sp.expand(sp.Add(*(k * s ** (i % 2) * c**j * (1 - c**2) ** (i // 2) for (i, j), k in terms)))
    without_c = sp.expand(sp.Add(*(k * s**i * c ** (j % 2) * (1 - s**2) ** (j // 2) for (i, j), k in terms)))
    # Which way is shorter shows only after factoring: x' − x' sin² + y' sin cos is (x' cos + y' sin) cos.
    return min((_factored(e) for e in (expression, without_s, without_c)), key=sp.count_ops)
