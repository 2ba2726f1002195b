"""Observables at the output points of members, and what they are reduced to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.ensemble.ask.wanted import Reduction
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.functions import graph_of
from dalembert.graph.outputs import output_function
from dalembert.kernel.ready.many import many_of
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.together import together_of

if TYPE_CHECKING:
    from dalembert.model.system import System

# Points are evaluated so many at a time: what they need stays in the caches of a processor.
POINTS = 4096


class Observables:
    """Named expressions as one function of states. forces: some need accelerations or constraint forces."""

    def __init__(self, system: System, expressions: Mapping[str, sp.Expr | None]) -> None:
        self.names, graph = tuple(expressions), graph_of(system)
        self._together = together_of(graph)
        plain = output_function(system, [sp.Integer(0) if e is None else e for e in expressions.values()])
        inputs = plain.sx_in()
        q, v, _, t, p, *_ = inputs
        column = ca.SX(plain(*inputs))
        for k, expression in enumerate(expressions.values()):
            if expression is None:
                column[k] = graph.energy(q, v, t, p)[0]
        whole = ca.Function("observables", inputs, [ca.densify(column)])
        self.forces = any(whole.jac_sparsity(0, k).nnz() for k in (2, 5, 6))
        if not self.forces:
            whole = ca.Function("observables", [q, v, t, p], [ca.densify(column)])
        self._run: Callable[..., list[Array]] = many_of(whole, -1) or Evaluator(whole).many

    def at(self, q: Array, v: Array, t: Array, p: Array) -> Array:
        """(N, names) at N states, each with parameters of its own."""
        found = np.empty((t.size, len(self.names)))
        for first in range(0, t.size, POINTS):
            part = slice(first, first + POINTS)
            found[part] = self._part(*(np.ascontiguousarray(x[part]) for x in (q, v, t, p)))
        return found

    def _part(self, q: Array, v: Array, t: Array, p: Array) -> Array:
        if not self.forces:
            return self._run(t.size, q, v, t, p)[0]
        assert self._together is not None  # or the sweep would have been refused
        many = self._together.members
        M, Q, A, b, C, *_ = many.parts(t.size, many.block(t.size, (q, v, t, p))[0])
        n, m = self._together.n, self._together.m
        solved = solve_points(
            M.reshape(-1, n, n),
            Q,
            A.reshape(t.size, m, n),
            b.reshape(t.size, m),
            C.reshape(-1, n),
            self._together.pattern,
        )
        return self._run(t.size, q, v, solved.acceleration, t, p, solved.ideal, solved.multipliers)[0]

    def along(self, states: Array, times: Array, points: np.ndarray, p: Array) -> Array:
        """(K, T, names) of K members at the points that each reached; NaN beyond. states: (K, T, 2n)."""
        count, length, width = states.shape
        there = np.arange(length) < points[:, None]
        member, _ = np.nonzero(there)
        rows = states[there]
        found = np.full((count, length, len(self.names)), np.nan)
        found[there] = self.at(rows[:, : width // 2], rows[:, width // 2 :], times[there], p[member])
        return found


def reduce_along(reduction: Reduction, values: Array, times: Array) -> Array:
    """One number for each of K members, from values (K, T) at times (K, T), both NaN where a member has no more."""
    kind = reduction.kind
    known = np.isfinite(times)
    if kind == "final":
        return np.take_along_axis(values, np.maximum(known.sum(axis=1) - 1, 0)[:, None], axis=1)[:, 0]
    if kind in ("min", "max", "range"):
        least = np.where(known, values, np.inf).min(axis=1)
        greatest = np.where(known, values, -np.inf).max(axis=1)
        return {"min": least, "max": greatest, "range": greatest - least}[kind]
    values = values**2 if kind == "rms" else values
    spans = np.diff(times, axis=1)
    whole = np.where(np.isfinite(spans), spans, 0.0)
    areas = np.where(np.isfinite(spans), (values[:, 1:] + values[:, :-1]) / 2.0, 0.0) * whole
    total = whole.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.where(total > 0, areas.sum(axis=1) / total, values[:, 0])
    return np.sqrt(mean) if kind == "rms" else mean
