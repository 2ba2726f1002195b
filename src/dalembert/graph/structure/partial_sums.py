"""Velocities that are written as sums, each of which goes on where another ends: as if they had been defined.

A chain in angles, written plainly, has (l cos a₁ a₁′)², (l cos a₁ a₁′ + l cos a₂ a₂′)², … in its kinetic energy. With
u₁ = l cos a₁ a₁′, u₂ = u₁ + l cos a₂ a₂′, … it is a sum of squares of neighbours. The equations of Lagrange are
those of a defined position where what is added is the rate of some position: that is looked into, `is_rate`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from heapq import nlargest

import casadi as ca
import numpy as np
import sympy as sp

# Shorter sums are left as they are: they are no wider than other patterns.
SHORT = 3
# A sum is compared with those that brought in the latest few of its terms, of each the last few.
LATEST, LAST = 3, 2


class PartialSums:
    """Sums of several terms in expressions, replaced by symbols; `defined` says what these are, in order."""

    def __init__(self, is_rate: Callable[[sp.Expr], bool]) -> None:
        self.is_rate = is_rate
        self.defined: dict[sp.Symbol, sp.Expr] = {}
        self._known: dict[frozenset[sp.Expr], sp.Symbol] = {}
        self._holding: dict[sp.Expr, list[frozenset[sp.Expr]]] = {}
        self._entered: dict[sp.Expr, int] = {}  # how many terms were known before each
        self._found: dict[sp.Expr, list[sp.Expr]] = {}

    def replace_in(self, expressions: Sequence[sp.Expr]) -> list[sp.Expr]:
        """The expressions with squares and products of long sums of velocities written by symbols."""
        # In the order in which they come, so that those of links that are alike come alike.
        sums = dict.fromkeys(part for expression in expressions for part in self._long_sums(expression))
        if not sums:
            return list(expressions)
        table = {}
        for each in sorted(sums, key=lambda part: len(part.args)):
            symbol = self._symbol(frozenset(each.args))
            if symbol is not None:
                table[each] = symbol
        return [expression.xreplace(table) for expression in expressions]

    def _symbol(self, terms: frozenset[sp.Expr]) -> sp.Symbol | None:
        """A symbol for a sum of these terms, None where it is no rate of a position."""
        if terms in self._known:
            return self._known[terms]
        begun = max(self._sharing(terms), key=len, default=frozenset())
        if len(begun) == 1:
            begun = frozenset()
        start = self._symbol(begun) if begun else None
        rest = sp.Add(*(terms - begun)) if start is not None else sp.Add(*terms)
        if not self.is_rate(rest):
            return None
        symbol = sp.Dummy(f"u{len(self.defined)}", real=True)
        self.defined[symbol] = rest if start is None else rest + start
        self._known[terms] = symbol
        for term in terms - begun:
            self._entered.setdefault(term, len(self._entered))
            self._holding.setdefault(term, []).append(terms)
        return symbol

    def _sharing(self, terms: frozenset[sp.Expr]) -> list[frozenset[sp.Expr]]:
        """What sums met before have in common with this one: those that brought in the latest of its terms, since the
        link before it in a chain or tree is among them. A sum may end in a term of its own (half a link), so that the
        next goes on from a part of it.
        """
        latest = nlargest(LATEST, ((self._entered[term], term) for term in terms if term in self._entered), _first)
        candidates = {known for _, term in latest for known in self._holding[term][-LAST:]}
        return [common for known in candidates if (common := terms & known) != terms]

    def _long_sums(self, expression: sp.Expr) -> list[sp.Expr]:
        """Sums of more than a few terms that are squared or multiplied in a term of an energy."""
        known = self._found.get(expression)
        if known is not None:
            return known
        factors = expression.args if expression.is_Mul else (expression,)
        found = []
        for factor in factors:
            base = factor.base if factor.is_Pow and factor.exp == 2 else factor
            if base.is_Add and base is not expression:
                # A sum of squares is no sum of velocities: its own terms are looked into.
                nested = [part for term in base.args for part in self._long_sums(term)]
                found += nested if nested else [base] if len(base.args) > SHORT else []
        self._found[expression] = found
        return found


def _first(pair: tuple[int, sp.Expr]) -> int:
    return pair[0]


def is_rate_of_position(f: ca.SX, x: ca.SX, v: ca.SX, time: ca.SX | None = None) -> bool:
    """Whether f(x, v) is the rate of some function of x: linear in v, its slopes J(x) with ∂J_i/∂x_j = ∂J_j/∂x_i. With
    the time, which counts as one more x that has the rate one.

    Decided at a few random points: an identity fails at none of them, anything else at nearly all.
    """
    slopes = ca.gradient(f, v)
    if ca.depends_on(slopes, v):
        return False
    if time is not None:
        slopes = ca.vertcat(slopes, f - ca.dot(slopes, v))
        x, v = ca.vertcat(x, time), ca.vertcat(v, 1)
    rates = v[: x.numel() - (time is not None)]
    inputs = [s for s in ca.symvar(f) if not any(ca.is_equal(s, y) for y in (*ca.vertsplit(x), *ca.vertsplit(rates)))]
    turn = ca.jacobian(slopes, x)
    test = ca.Function("test", [x, rates, ca.vertcat(*inputs)], [turn - turn.T, turn, f - ca.dot(slopes, v)])
    rng = np.random.default_rng(5)
    for _ in range(3):
        skew, size, rest = (np.array(value) for value in test(*(rng.uniform(0.2, 1.7, n) for n in _lengths(test))))
        largest = max(float(np.abs(size).max(initial=0.0)), 1.0)
        if not (np.abs(skew).max(initial=0.0) <= 1e-12 * largest and np.abs(rest).max() <= 1e-12 * largest):
            return False
    return True


def _lengths(function: ca.Function) -> list[int]:
    return [function.numel_in(k) for k in range(function.n_in())]
