"""Ranges of equilibria: for which values of a coordinate or parameter forces exist that hold the system.

The margin, how deep inside the cones of friction the best forces lie, is a continuous function of the value; its zeros
are the limits. It is sampled, its extremes between samples are sought out where they may cross zero, and the zeros are
located by Brent's method (Brent 1973).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import brentq, minimize_scalar

from dalembert.arrays import Array
from dalembert.errors import DoesNotApply, ModelError
from dalembert.model.friction.legs import needs_legs
from dalembert.model.language.suggest import suggest
from dalembert.model.language.symbols import name_of
from dalembert.statics.cones import LIMIT
from dalembert.statics.result import Range
from dalembert.statics.statics import Statics

SAMPLES = 65
# Limits are located to this share of the interval searched.
LOCATED = 1e-12
# Outwards from the present value, in steps that double, this often: to 1e9 times the first.
OUTWARDS = 30
SEARCHED = "end of search"
BETWEEN = "Give two values (between=(LOW, HIGH), --between LOW HIGH)."


@dataclass(frozen=True)
class Question:
    """safety(statics, q, kept): how safely the system rests near q with the coordinates `kept` as they are, and what
    gives way where it does not. turns: which coordinates are angles.
    """

    safety: Callable[[Statics, Array, tuple[int, ...]], tuple[float, str]]
    turns: list[bool]


def range_of_equilibria(
    statics: Statics, q: Array, of: Any, between: tuple[float, float] | None, question: Question
) -> Range:
    system, name = statics.system, name_of(of)
    if not needs_legs(system):
        raise DoesNotApply(
            f"{system.name}: without dry friction or one-sided constraints equilibria do not fill a range; "
            "several starts (starts=…, --starts …) list them"
        )
    coordinates = [c.name for c in system.coordinates]
    parameters = [p.name for p in system.parameter_symbols]
    if name not in (*coordinates, *parameters):
        raise ModelError(
            system.name,
            [f"range_of: {name!r} is no coordinate or parameter.{suggest(name, [*coordinates, *parameters])}"],
        )
    if name in coordinates:
        k = coordinates.index(name)
        safety, angle = _by_coordinate(statics, q, k, question), question.turns[k]
        present, size = float(q[k]), float(statics.sizes[k])
    else:
        safety, angle = _by_parameter(statics, name, question), False
        present = size = float(statics.p[parameters.index(name)])
    between = _interval(system.name, name, between, angle, name in parameters)
    if between is None:
        return _around(system.name, name, safety, present, size)
    return _within(name, safety, *between)


def _interval(where: str, name: str, between: Any, angle: bool, is_parameter: bool) -> tuple[float, float] | None:
    if between is None:
        if is_parameter:
            raise ModelError(where, [f"range_of: between which values of the parameter {name}? {BETWEEN}"])
        return (-np.pi, np.pi) if angle else None
    try:
        low, high = (float(value) for value in between)
    except (TypeError, ValueError):
        raise ModelError(where, [f"between: two numbers are wanted, got {between!r}"]) from None
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ModelError(where, [f"between: a lower and a higher finite number are wanted, got {between!r}"])
    return low, high


Safety = Callable[[float], tuple[float, str]]


def _by_coordinate(statics: Statics, q: Array, k: int, question: Question) -> Safety:
    def safety(value: float) -> tuple[float, str]:
        place = q.copy()
        place[k] = value
        return question.safety(statics, place, (k,))

    return safety


def _by_parameter(statics: Statics, name: str, question: Question) -> Safety:
    """The guess follows the parameter where the initial state depends on it."""
    system = statics.system
    symbols = system.parameter_symbols
    place = next(k for k, s in enumerate(symbols) if s.name == name)
    first = sp.lambdify(list(symbols), [sp.sympify(system.initial[c]) for c in system.coordinates], modules="numpy")

    def safety(value: float) -> tuple[float, str]:
        p = statics.p.copy()
        p[place] = value
        return question.safety(statics.with_parameters(p), np.array(first(*p), dtype=float), ())

    return safety


def _around(where: str, name: str, safety: Safety, present: float, size: float) -> Range:
    """The interval around a value that is held."""
    if safety(present)[0] < -LIMIT:
        raise DoesNotApply(f"{where}: it is not at rest at {name} = {present:.6g}. To search elsewhere: {BETWEEN}")
    limits, ends = [], []
    for way in (-1.0, 1.0):
        inside, step, limit, end = present, 1e-3 * size, way * np.inf, "no limit found"
        for _ in range(OUTWARDS):
            outside = present + way * step
            margin, weak = safety(outside)
            if margin < -LIMIT:
                limit, end = _zero(safety, inside, outside), weak
                break
            inside, step = outside, 2 * step
        limits.append(float(limit))
        ends.append(end)
    low, high = limits
    return Range(name, (low, high), ((low, high),), ((ends[0], ends[1]),))


def _within(name: str, safety: Safety, low: float, high: float) -> Range:
    """All intervals between two values."""
    x = [float(value) for value in np.linspace(low, high, SAMPLES)]
    points = {value: safety(value) for value in x}
    y = [points[value][0] + LIMIT for value in x]
    for k in range(1, SAMPLES - 1):
        # A peak below zero or a valley above it may reach across between the samples.
        way = -1.0 if y[k] < 0 else 1.0
        if way * y[k] < min(way * y[k - 1], way * y[k + 1]):
            value = _extreme(safety, way, x[k - 1], x[k + 1])
            points[value] = safety(value)
    x = sorted(points)
    holds = {value: points[value][0] >= -LIMIT for value in x}
    edges, ends = ([x[0]], [SEARCHED]) if holds[x[0]] else ([], [])
    for a, b in pairwise(x):
        if holds[a] != holds[b]:
            edges.append(_zero(safety, a if holds[a] else b, b if holds[a] else a))
            ends.append(points[b if holds[a] else a][1])
    if holds[x[-1]]:
        edges.append(x[-1])
        ends.append(SEARCHED)
    pairs = tuple(zip(edges[::2], edges[1::2], strict=True))
    return Range(name, (low, high), pairs, tuple(zip(ends[::2], ends[1::2], strict=True)))


def _extreme(safety: Safety, way: float, low: float, high: float) -> float:
    return float(minimize_scalar(lambda x: way * safety(x)[0], bounds=(low, high), method="bounded").x)


def _zero(safety: Safety, inside: float, outside: float) -> float:
    """The limit. Where forces inside are at their limit throughout, it is where they are beyond it by rounding."""
    slack = 0.0 if safety(inside)[0] > LIMIT else LIMIT
    size = max(abs(inside - outside), abs(inside), abs(outside))
    return float(brentq(lambda x: safety(x)[0] + slack, inside, outside, xtol=LOCATED * size, rtol=1e-14))
