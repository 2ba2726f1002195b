"""Singular configurations passed on the way: instants at which the constraints are dependent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import (
    SINGULAR_ALWAYS,
    SINGULAR_DIP,
    SINGULAR_NEAR,
    SINGULAR_PIVOT,
    SINGULAR_ROUNDING,
    SINGULAR_TIME,
)

State = tuple[float, Array, Array, Array, float]  # t, q, q̇, q̈ and the nearness there
GOLDEN = 0.3819660112501051


def singular_event(t: float, pivot: float) -> dict[str, Any]:
    return {"name": "singular configuration", "t": t, "pivot": pivot}


def nearness(M: Array, A: Array) -> float:
    """The smallest singular value of the constraint directions, scaled to length one in the metric of M; 1 of
    none.
    """
    columns = np.linalg.solve(np.linalg.cholesky(M), A.T)
    lengths = np.linalg.norm(columns, axis=0)
    if not lengths.size:
        return 1.0
    if not lengths.all():
        return 0.0
    return float(np.linalg.svd(columns / lengths, compute_uv=False)[-1])


class SingularWatch:
    """The search of runtime/watch/singular.h: s has the shape of a V where a configuration is passed; where it is least
    among three accepted states, it is followed to its minimum on the polynomials of degree 5 through q, q̇ and q̈ between
    them.
    """

    def __init__(self, near: Callable[[float, Array, Array], float]) -> None:
        self._near = near
        self._held: list[State] = []
        self.events: list[dict[str, Any]] = []

    def look(self, t: float, q: Array, v: Array, a: Array, end: bool) -> None:
        """At each accepted state, the first one included; `end` at the last."""
        self._held = [*self._held[-2:], (t, q, v, a, self._near(t, q, v))]
        s = [state[-1] for state in self._held]
        if len(s) == 3 and s[1] < SINGULAR_NEAR and s[0] >= s[1] < s[2]:
            self._between(self._held)
        if end and len(s) > 1 and s[-1] < SINGULAR_NEAR and s[-1] <= s[-2]:
            self._between(self._held[-2:])

    def _between(self, states: Sequence[State]) -> None:
        if max(state[-1] for state in states) ** 2 < SINGULAR_ALWAYS:
            return
        found = [self._least(one, two) for one, two in pairwise(states)]
        s, t = min(found)
        if s * s < SINGULAR_PIVOT:
            self.events.append(singular_event(t, s * s))

    def _least(self, one: State, two: State) -> tuple[float, float]:
        """The least s between two states and when."""
        start, h = one[0], two[0] - one[0]

        def at(x: float) -> float:
            return self._near(start + x * h, *_between(x, one, two)) ** 2

        low, high, at_low, at_high, moved = 0.0, 1.0, one[-1] ** 2, two[-1] ** 2, 1.0
        x = one[-1] / (one[-1] + two[-1] + 1e-300)
        here = at(x)
        # A straight line through zero would have its zero here: where s is not small, nothing is passed.
        if not here < SINGULAR_DIP**2 * max(at_low, at_high):
            return here**0.5, start + x * h
        # By parabolas through s², which is smooth, or by the golden section where they make no progress.
        while here > SINGULAR_ROUNDING and high - low > SINGULAR_TIME:
            left, right = (x - low) * (here - at_high), (x - high) * (here - at_low)
            vertex = x - ((x - low) * left - (x - high) * right) / (2 * (left - right)) if left != right else low
            other = x + GOLDEN * (high - x) if high - x > x - low else x - GOLDEN * (x - low)
            if low < vertex < high and abs(vertex - x) < moved / 2:
                if abs(vertex - x) < SINGULAR_TIME:
                    break
                other = vertex
            moved = abs(other - x)
            there = at(other)
            better = there < here
            if (other > x) == better:
                low, at_low = (x, here) if better else (other, there)
            else:
                high, at_high = (x, here) if better else (other, there)
            if better:
                x, here = other, there
        return here**0.5, start + x * h


def _between(x: float, one: State, two: State) -> tuple[Array, Array]:
    """q and q̇ at the share x of the way, on the polynomial that takes q, q̇ and q̈ from both ends."""
    h = two[0] - one[0]
    v0, v1, a0, a1 = h * one[2], h * two[2], h * h * one[3], h * h * two[3]
    d0, d1, d2 = two[1] - one[1] - v0 - a0 / 2, v1 - v0 - a0, a1 - a0
    c3, c4, c5 = 10 * d0 - 4 * d1 + d2 / 2, -15 * d0 + 7 * d1 - d2, 6 * d0 - 3 * d1 + d2 / 2
    q = one[1] + x * (v0 + x * (a0 / 2 + x * (c3 + x * (c4 + x * c5))))
    return q, (v0 + x * (a0 + x * (3 * c3 + x * (4 * c4 + x * 5 * c5)))) / h
