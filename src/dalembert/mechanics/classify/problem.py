"""Pfaffian forms on a manifold, as a question; and the parts of it that share no variables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import sympy as sp


@dataclass(frozen=True)
class Problem:
    """Forms (rows over `variables`) on the manifold where all `conditions` vanish; `asked` are further rows, of
    which the only question is whether they lie in the integrable part. `values` of the parameters.

    The first `contact` forms are dq_j − q̇_j dt, where velocities are variables too: they say what the others mean, and
    membership is decided up to combinations of them.
    """

    variables: tuple[sp.Symbol, ...]
    conditions: tuple[sp.Expr, ...]
    forms: tuple[tuple[sp.Expr, ...], ...]
    asked: tuple[tuple[sp.Expr, ...], ...]
    values: Mapping[sp.Symbol, sp.Expr]
    contact: int = 0


def apart(problem: Problem) -> list[tuple[Problem, list[int], list[int]]]:
    """Problems that share no variables, each with the places of its forms and rows; rows of zeros, which lie in
    everything, are in none. Contact forms, which say what all others mean and share the time, leave one.
    """
    if problem.contact:
        return [(problem, [], [])]
    groups: list[tuple[set[sp.Symbol], list[list[int]]]] = []
    in_conditions = [e.free_symbols & {*problem.variables} for e in problem.conditions]
    lists = (in_conditions, _held(problem, problem.forms), _held(problem, problem.asked))
    for kind, held in enumerate(lists):
        for place, symbols in enumerate(held):
            if kind and not symbols:
                continue
            places: list[list[int]] = [[], [], []]
            places[kind] = [place]
            for group in [group for group in groups if not group[0].isdisjoint(symbols)]:
                groups.remove(group)
                symbols = symbols | group[0]
                places = [old + new for old, new in zip(group[1], places, strict=True)]
            groups.append((symbols, places))
    found = []
    for symbols, (conditions, forms, asked) in groups:
        columns = [k for k, z in enumerate(problem.variables) if z in symbols]
        part = replace(
            problem,
            variables=tuple(problem.variables[k] for k in columns),
            conditions=tuple(problem.conditions[k] for k in conditions),
            forms=tuple(tuple(problem.forms[k][c] for c in columns) for k in forms),
            asked=tuple(tuple(problem.asked[k][c] for c in columns) for k in asked),
        )
        found.append((part, forms, asked))
    return found


def _held(problem: Problem, rows: Sequence[Sequence[sp.Expr]]) -> list[set[sp.Symbol]]:
    """The variables of each row: those of its coefficients, and those whose coefficients are not zero."""
    found = []
    for row in rows:
        standing = set().union(*(a.free_symbols for a in row)) & {*problem.variables}
        found.append(standing | {z for a, z in zip(row, problem.variables, strict=True) if a != 0})
    return found
