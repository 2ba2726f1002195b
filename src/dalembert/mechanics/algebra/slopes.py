"""Values and derivatives of long expressions as numbers, at one point at a time, by the rules of differentiation.

A derivative that is only evaluated need not be written down: those of a chain of 64 links hold millions of terms, while
its energies have some thousand distinct parts. These are gone through once, forwards for derivatives along given
directions, and backwards for gradients (`Walk`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from scipy.sparse import csr_matrix

from dalembert.arrays import Array
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.model.language.contents import symbols_in
from dalembert.model.language.rates import partial


@dataclass(frozen=True)
class Group:
    """Parts of one kind that are computed together: `at` their places, `of` (parts × width) the places of what they are
    made of, `gather` from all parts to those, column by column of `of`; a sum has one column, of all its terms.
    """

    kind: str
    at: Array
    of: Array
    gather: tuple[csr_matrix, ...]
    rule: Callable[..., list[Any]] | None = None


class Walk:
    """Expressions as parts, in an order in which each comes after what it is made of.

    Parts at the same depth that are made in the same way, as those of the links of a chain, are one group.
    """

    def __init__(self, arguments: Sequence[sp.Symbol], expressions: Sequence[sp.Expr]) -> None:
        self.width = len(arguments)
        self._places: dict[sp.Basic, int] = {symbol: k for k, symbol in enumerate(arguments)}
        self._depth = [0] * self.width
        self._numbers: dict[int, float] = {}
        self._made: dict[tuple[int, str, int, Any], list[tuple[int, list[int]]]] = {}
        self.results = np.array([self._place(expression) for expression in expressions], dtype=int)
        self.count = len(self._depth)
        self.fixed = np.array(list(self._numbers), dtype=int), np.array(list(self._numbers.values()))
        self.groups = [self._group(*key[1:], made) for key, made in sorted(self._made.items(), key=lambda i: i[0][0])]
        del self._places, self._depth, self._numbers, self._made

    # -- from expressions to parts

    def _place(self, e: sp.Basic) -> int:
        """The place of an expression among the parts, which is made if there is none yet."""
        found = self._places.get(e)
        if found is None:
            found = self._places[e] = self._make(e)
        return found

    def _add(self, kind: str, of: list[int], rule: Callable[..., list[Any]] | None = None) -> int:
        place, depth = len(self._depth), 1 + max((self._depth[k] for k in of), default=0)
        self._depth.append(depth)
        if of:
            self._made.setdefault((depth, kind, 1 if kind == "sum" else len(of), rule), []).append((place, of))
        return place

    def _make(self, e: sp.Basic) -> int:
        if e.is_number:
            place = self._add("number", [])
            self._numbers[place] = float(_real([complex(e)])[0])
            return place
        if e.is_Add:
            return self._add("sum", [self._place(term) for term in e.args])
        if e.is_Mul:
            first, *rest = (self._place(factor) for factor in e.args)
            for factor in rest:
                first = self._add("product", [first, factor])
            return first
        if isinstance(e, (sp.Pow, sp.Function)) and all(isinstance(part, sp.Expr) for part in e.args):
            inner = list(dict.fromkeys(part for part in e.args if not part.is_number))
            letters = tuple(sp.Symbol(f"w{k}", real=True) for k in range(len(inner)))
            template = e.func(*(dict(zip(inner, letters, strict=True)).get(part, part) for part in e.args))
        else:  # conditions and the like: a function of the symbols in it
            inner = sorted(symbols_in(e), key=str)
            letters, template = tuple(inner), e
        return self._add("function", [self._place(part) for part in inner], _rule(template, letters))

    def _group(
        self, kind: str, width: int, rule: Callable[..., list[Any]] | None, made: list[tuple[int, list[int]]]
    ) -> Group:
        columns = [[of for _, of in made]] if kind == "sum" else [[[of[j]] for _, of in made] for j in range(width)]
        gather = []
        for column in columns:
            rows = np.repeat(np.arange(len(made)), [len(of) for of in column])
            taken = np.concatenate([np.array(of, dtype=int) for of in column])
            gather.append(csr_matrix((np.ones(len(rows)), (rows, taken)), shape=(len(made), self.count)))
        of = np.array([of for _, of in made] if kind != "sum" else [], dtype=int).reshape(-1, width)
        return Group(kind, np.array([place for place, _ in made], dtype=int), of, tuple(gather), rule)

    # -- numbers

    def along(self, x: Array, directions: Array, passing: Array) -> tuple[Array, Array, Array, Array]:
        """Of each expression: its value, its derivative along the vector `passing`, its derivatives along the columns
        of `directions`, and the derivatives of these along `passing`.
        """
        value, slope, rules = self._forward(x, np.column_stack([passing, directions]))
        second = np.zeros_like(slope)  # along `passing`, which is the first column, and each of the columns
        for k, group in enumerate(self.groups):
            at, of = group.at, group.of
            if group.kind == "sum":
                second[at] = group.gather[0] @ second
            elif group.kind == "product":
                a, b = of.T
                second[at] = value[a, None] * second[b] + second[a] * value[b, None]
                second[at] += slope[a, :1] * slope[b] + slope[b, :1] * slope[a]
            else:
                first, curved = rules[k]
                bend = np.einsum("pij,pj->pi", curved, slope[of, 0])
                second[at] = np.einsum("pi,pik->pk", first, second[of]) + np.einsum("pi,pik->pk", bend, slope[of])
        at = self.results
        return value[at], slope[at, 0], slope[at, 1:], second[at, 1:]

    def curvature(self, x: Array, directions: Array) -> tuple[float, Array, Array, Array]:
        """Of the sum of all expressions: its value, its gradient, the size of what each entry of the gradient is a sum
        of, and the derivatives of the gradient along the columns of `directions`.
        """
        value, slope, rules = self._forward(x, directions)
        weight, size, bent = np.zeros(self.count), np.zeros(self.count), np.zeros_like(slope)
        np.add.at(weight, self.results, 1.0)
        np.add.at(size, self.results, 1.0)
        for k in range(len(self.groups) - 1, -1, -1):
            group = self.groups[k]
            w, s, b = weight[group.at], size[group.at], bent[group.at]
            for j, gather in enumerate(group.gather):
                factor, more = np.ones(len(w)), np.zeros_like(b)
                if group.kind == "product":
                    other = group.of[:, 1 - j]
                    factor, more = value[other], w[:, None] * slope[other]
                elif group.kind == "function":
                    first, curved = rules[k]
                    factor = first[:, j]
                    more = w[:, None] * np.einsum("pi,pik->pk", curved[:, j], slope[group.of])
                weight += gather.T @ (w * factor)
                size += gather.T @ (s * np.abs(factor))
                bent += gather.T @ (b * factor[:, None] + more)
        n = self.width
        return float(value[self.results].sum()), weight[:n], size[:n], bent[:n]

    def _forward(self, x: Array, directions: Array) -> tuple[Array, Array, dict[int, tuple[Array, Array]]]:
        """Values of all parts, their derivatives along the directions, and the derivatives of functions by what they
        are functions of, first and second.
        """
        value, slope = np.zeros(self.count), np.zeros((self.count, directions.shape[1]))
        value[: self.width], slope[: self.width] = x, directions
        value[self.fixed[0]] = self.fixed[1]
        rules: dict[int, tuple[Array, Array]] = {}
        for k, group in enumerate(self.groups):
            at, of = group.at, group.of
            if group.kind == "sum":
                value[at], slope[at] = group.gather[0] @ value, group.gather[0] @ slope
            elif group.kind == "product":
                a, b = of.T
                value[at], slope[at] = value[a] * value[b], value[a, None] * slope[b] + slope[a] * value[b, None]
            else:
                assert group.rule is not None
                with np.errstate(all="ignore"):
                    entries = [np.broadcast_to(_real(e), len(at)) for e in group.rule(*value[of].T)]
                width = of.shape[1]
                first = np.stack(entries[1 : 1 + width], axis=1)
                rules[k] = first, np.stack(entries[1 + width :], axis=1).reshape(-1, width, width)
                value[at], slope[at] = entries[0], np.einsum("pi,pik->pk", first, slope[of])
        return value, slope, rules


@lru_cache(maxsize=4000)
def _rule(template: sp.Expr, letters: tuple[sp.Symbol, ...]) -> Callable[..., list[Any]]:
    """Value, first and second derivatives of a function of a few arguments."""
    slopes = [partial(template, w) for w in letters]
    return numeric_function(letters, [template, *slopes, *(partial(slope, w) for slope in slopes for w in letters)])


def _real(numbers: Any) -> Array:
    """NaN where a value is not real."""
    given = np.asarray(numbers)
    return np.asarray(np.where(np.isreal(given), given.real, np.nan), dtype=float)
