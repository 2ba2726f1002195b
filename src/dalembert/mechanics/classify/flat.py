"""Constraints whose gradient vanishes wherever they hold, as that of u² + w² = 0 does: they have no constraint force.

(58) of Flannery 2011, written as g₁² + g₂² = 0, is one; as ẋ² + ẏ² − R²ψ̇² = 0, which is the same on g₁ = 0 only, it is
none.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.sample import Sample, Sampler
from dalembert.mechanics.standard_form import slopes
from dalembert.model.constraints import Constraint

# States led onto the constraint by Newton's method, which halves the distance to u² = 0 with each step; there, a
# gradient this small against that at the beginning counts as zero.
TRIALS, STEPS, FLAT = 4, 40, 1e-4
# On the constraint to rounding: one that has a gradient is reached in a few steps.
REACHED = 1e-13


def flat_where_it_holds(sampler: Sampler, constraint: Constraint) -> bool:
    """Whether the gradient is zero on a constraint: it must vanish at all random states that are led onto it."""
    system = sampler.system
    symbols = {
        "position": system.coordinates, "velocity": system.velocities, "acceleration": system.accelerations,
    }[str(constraint.level)]  # fmt: skip
    entries = [constraint.expression, *slopes(constraint.expression, symbols)]
    evaluate = sampler.function(entries, system.accelerations)
    return all(_flat(evaluate, sampler, str(constraint.level)) for _ in range(TRIALS))


def _flat(evaluate: Callable[..., Array], sampler: Sampler, level: str) -> bool:
    state, a = sampler.start(), sampler.random.uniform(0.3, 1.5, len(sampler.system.coordinates))
    first = 0.0
    for _ in range(STEPS):
        value, *slope = evaluate(state, *a)
        steep = float(np.linalg.norm(slope))
        if not (np.isfinite(value) and np.isfinite(steep)):
            return False
        first = first or steep
        if steep == 0.0 or abs(value) <= REACHED * steep * np.linalg.norm(state.arguments):
            break
        step: Array = np.array(slope) * value / steep**2
        if level == "position":
            state = Sample(state.q - step, state.v, state.t, state.p)
        elif level == "velocity":
            state = Sample(state.q, state.v - step, state.t, state.p)
        else:
            a = a - step
    return first > 0 and steep <= FLAT * first
