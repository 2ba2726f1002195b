"""How closely a stretch of time has to be looked at: forces that depend on time may act in a small part of it only.

The integrator looks ahead along time before it starts (`integrate.ahead`), and so sees pulses that lie between its
steps. What repeats a stretch has to look as closely; here it looks itself, at that stretch alone.
"""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.integrate.ahead import pace_between
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State

# A piece of this share of the time is none by itself.
SLIVER = 1e-9


def shares_of_stretch(evaluation: Evaluation, state: State, end: float, longest: float, most: int) -> Array | None:
    """Pieces of the time from a state to `end`, as shares of it that add up to one: none above `longest`, nor longer
    than explicit functions of time ask for; empty where that would be more than `most` of them. None where they ask for
    nothing.
    """
    pace = pace_between(evaluation, state, end)
    if pace is None:
        return None
    span, edges = end - state.t, [state.t]
    while edges[-1] < end:
        if len(edges) > most:
            return np.empty(0)
        now = edges[-1] + min(pace.longest(edges[-1]), longest * span)
        edges.append(now if now < end - SLIVER * span else end)
    found: Array = np.diff(edges) / span
    return found
