"""How far the interpolant of a method errs, by one more slope.

Error control watches the ends of steps. Where stability limits the steps, a vibration too small to matter at their ends
goes once round in each, and an interpolant may miss it by a thousand tolerances. Its defect shows that, its rate less
the slope at the state that it gives: at one share of the step it is in a fixed ratio to the largest error inside, from
short steps up to the limit of stability (8 to 9 with DOP853).
"""

from __future__ import annotations

import cmath
from dataclasses import dataclass
from functools import cache

from dalembert.methods.tableau import Row, Tableau

# The ratio is measured on an oscillation of which a step covers a third of a period, at these shares of the step: at
# its ends there is no defect, and next to the last one it shows the return to the constraints.
TURN = 2j
SHARES = tuple(k / 20 for k in range(4, 17))


@dataclass(frozen=True)
class Judge:
    """The largest error inside a step is about h (Σᵢ rate[i] kᵢ − weight f(t + x h, y + h Σᵢ state[i] kᵢ))."""

    x: float
    state: Row
    rate: Row
    weight: float


@cache
def judge_of(tableau: Tableau) -> Judge:
    """Where the defect shows most, and what part of it the largest error is."""
    slopes: list[complex] = []
    for row in tableau.matrix():
        slopes.append(1.0 + TURN * _sum(row, slopes))
    states = [1.0 + TURN * _sum(tableau.inside(x), slopes) for x in SHARES]
    rates = [_sum(tableau.rate_inside(x), slopes) for x in SHARES]
    errors = [abs(state - cmath.exp(TURN * x)) for x, state in zip(SHARES, states, strict=True)]
    defects = [abs(TURN * (rate - state)) for rate, state in zip(rates, states, strict=True)]
    most = max(range(len(SHARES)), key=lambda k: defects[k])
    x, weight = SHARES[most], max(errors) / defects[most]
    return Judge(x, tableau.inside(x), tuple(weight * rate for rate in tableau.rate_inside(x)), weight)


def _sum(weights: Row, slopes: list[complex]) -> complex:
    return sum((w * k for w, k in zip(weights, slopes, strict=False)), 0j)
