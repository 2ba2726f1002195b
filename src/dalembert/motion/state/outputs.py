"""The named outputs of a system, and other expressions, in numbers: along a motion, or at one state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp

from dalembert.arrays import Array
from dalembert.mechanics.algebra.compiled import numeric_function
from dalembert.model.language.symbols import Reaction, t
from dalembert.model.system import System


def outputs_of(
    system: System, time: Array, q: Array, v: Array, a: Array, ideal: Array, multipliers: Array
) -> dict[str, Array]:
    """Each output (T,) from t (T,), q, q̇, q̈ and ideal forces (T, n) and multipliers (T, m); NaN or infinite where it
    has no value.
    """
    return values_of(system, system.outputs, time, q, v, a, ideal, multipliers)


def values_of(
    system: System,
    expressions: Mapping[str, sp.Expr],
    time: Array,
    q: Array,
    v: Array,
    a: Array,
    ideal: Array,
    multipliers: Array,
) -> dict[str, Array]:
    """Expressions in coordinates and their derivatives, definitions and theirs, t, parameters, ideal forces and
    multipliers, each (T,). Definitions are computed once for all of them.
    """
    if not expressions:
        return {}
    coordinates, wanted = system.coordinates, list(expressions.values())
    answers = [Reaction.of("ideal", c.name) for c in coordinates]
    answers += [Reaction.of("multiplier", c.name) for c in system.constraints]
    state = (*coordinates, *system.velocities, *system.accelerations)
    parts = [(symbol, system.defined.written(symbol)) for symbol in system.defined.needed(wanted)]
    function = numeric_function([*state, t, *answers, *system.parameter_symbols], wanted, parts)
    columns = [*q.T, *v.T, *a.T, time, *ideal.T, *multipliers.T]
    with np.errstate(all="ignore"):
        values = function(*columns, *system.parameter_values())
    shaped = (np.broadcast_to(np.real_if_close(value), time.shape) for value in values)
    return {name: np.array(value, dtype=float) for name, value in zip(expressions, shaped, strict=True)}
