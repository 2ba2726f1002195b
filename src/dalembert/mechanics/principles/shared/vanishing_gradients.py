"""States at which constraints say nothing of directions: a gradient that vanishes, a velocity that is rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.principles.shared.formulation import NotHere
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import diff

# A gradient is no direction if it changes by more than this share on Newton's step to φ = 0. For φ = ψ², whose gradient
# vanishes on the constraint, it changes by half; for others by what the state misses the constraint, 1e-9 or rounding.
CHANGES = 0.1
# A velocity that leaves the constraints by more than this share of itself is rounding: no model gives one so far off,
# and what rounding leaves of a velocity that the constraints make zero has any direction.
ASTRAY = 1e-3


def vanishing_gradients(sampler: Sampler) -> Callable[[Sample], None]:
    """A test for states: `NotHere`, with the name of the constraint, where a gradient vanishes to rounding."""
    system = sampler.system
    rows = [c for c in system.constraints if c.level == "position"]
    if not rows:
        return lambda state: None
    slopes = [diff(c.expression, q) for c in rows for q in system.coordinates]
    evaluate = sampler.function([*(c.expression for c in rows), *slopes])
    n, m = len(system.coordinates), len(rows)

    def parts(state: Sample) -> tuple[Array, Array]:
        values = evaluate(state)
        return values[:m], values[m:].reshape(m, n)

    def stays(state: Sample, k: int, miss: float, row: Array, units: Array) -> bool:
        """Whether the gradient hardly changes on Newton's step, which is shared out by these units."""
        length = float(np.linalg.norm(row * units))
        if not length > 0:
            return False
        step = units * (row * units / length) * (miss / length)
        after = parts(Sample(state.q - step, state.v, state.t, state.p))[1][k]
        return bool(np.linalg.norm((after - row) * units) <= CHANGES * length)

    def require(state: Sample) -> None:
        phi, gradients = parts(state)
        # Units do not matter to the sizes of coordinates; but a coordinate that is zero, or rounding, has none.
        scales = np.abs(state.q), np.ones(n)
        for k, (miss, row) in enumerate(zip(phi, gradients, strict=True)):
            if not any(stays(state, k, miss, row, units) for units in scales):
                raise NotHere(f"the gradient of {rows[k].name} vanishes here: the constraint has no normal")

    return require


def at_rest(M: Array, A: Array, v: Array) -> bool:
    """Whether there is no velocity, or what rounding leaves of none: it does not keep to A v = 0."""
    if not v @ M @ v > 0:
        return True
    mass = np.diag(M)
    unit = np.sqrt(np.where(mass > 0, mass, np.max(mass)))
    rows, speeds = A / unit, v * unit
    reach = np.linalg.norm(rows, axis=1) * np.linalg.norm(speeds)
    return bool(np.any(np.abs(rows @ speeds) > ASTRAY * reach))
