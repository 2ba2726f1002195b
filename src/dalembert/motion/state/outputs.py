"""The named outputs of a system in numbers: along a motion, or at one state."""

from __future__ import annotations

import numpy as np

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
    if not system.outputs:
        return {}
    coordinates = system.coordinates
    answers = [Reaction.of("ideal", c.name) for c in coordinates]
    answers += [Reaction.of("multiplier", c.name) for c in system.constraints]
    state = (*coordinates, *system.velocities, *system.accelerations)
    function = numeric_function([*state, t, *answers, *system.parameter_symbols], list(system.outputs.values()))
    columns = [*q.T, *v.T, *a.T, time, *ideal.T, *multipliers.T]
    with np.errstate(all="ignore"):
        values = function(*columns, *system.parameter_values())
    shaped = (np.broadcast_to(np.real_if_close(value), time.shape) for value in values)
    return {name: np.array(value, dtype=float) for name, value in zip(system.outputs, shaped, strict=True)}
