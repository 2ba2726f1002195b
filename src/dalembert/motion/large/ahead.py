"""A look ahead along time for a large system: `integrate.ahead` by samples of its accelerations.

The graph of a large system as a whole is never made, so that the entries which depend on time are not at hand. What
they make of the accelerations is, at a fixed state, in linear time.
"""

from __future__ import annotations

import time as clock
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.timed import spread
from dalembert.motion.integrate.ahead import CELL, LEAST_PARTS, MOST_PARTS, PARTS, ROUNDING, step_bounds
from dalembert.motion.integrate.pace import pace_of
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.large.state import LargeState
from dalembert.motion.state.state import State

# Samples may take about so many seconds, but there are LEAST_PARTS of them in any case.
SECONDS = 0.3
# Of more coordinates than this, sums of so many groups are sampled: a pulse on one of them is seen in the sum.
COLUMNS = 256
STATES = 3


def look_ahead(at: LargeState, settings: Settings, state: State) -> Settings:
    """The settings with the pace that explicit functions of time ask for, and the accelerations they may lead to."""
    t0, span = float(settings.times[0]), float(settings.times[-1] - settings.times[0])
    cells, rates = np.array([np.inf]), None
    if span == 0:
        return settings
    if at.model.timed:
        times = np.linspace(t0, t0 + span, _parts(at, settings, state) + 1)
        cells = np.full((times.size - 1) // CELL, np.inf)
        for seed in range(STATES):  # a factor may be zero at the first
            q, v = (_place_nearby(x, seed + k) if seed else x for k, x in enumerate((state.q, state.v)))
            values, largest = _samples(at, q, v, times)
            rates = largest if seed == 0 and np.isfinite(largest).all() else rates
            if np.isfinite(values).all():
                # They are solved for together, and rounding in the largest is in all of them.
                noise = ROUNDING * float(np.abs(values).max())
                cells = np.minimum(cells, step_bounds(values, span / (times.size - 1), noise))
    return replace(settings, pace=pace_of(t0, cells, span / cells.size, settings.max_step), rates=rates)


def _place_nearby(x: Array, seed: int) -> Array:
    """Another place: away by about its own size, or by one unit."""
    return x + spread(x.size, seed) * np.maximum(np.abs(x), 1.0)


def _parts(at: LargeState, settings: Settings, state: State) -> int:
    """So many parts of the duration are looked at: a power of two."""
    started = clock.perf_counter()
    for _ in range(4):
        at.solve(state.q, state.v, state.t)
    affordable = SECONDS / STATES * 4 / max(clock.perf_counter() - started, 1e-9)
    wanted = min(max(PARTS, 2 * (settings.times.size - 1)), MOST_PARTS)
    return 2 ** int(np.log2(min(wanted, max(affordable, LEAST_PARTS))))


def _samples(at: LargeState, q: Array, v: Array, times: Array) -> tuple[Array, Array]:
    """Accelerations at a state along the time, or sums of them (N + 1, E), and the largest of each coordinate (n)."""
    starts = np.linspace(0, at.n, min(at.n, COLUMNS), endpoint=False).astype(int)
    signs = np.where(spread(at.n, 0) > 0, 1.0, -1.0)  # equal pulses of opposite signs would leave no sum
    values, largest = np.empty((times.size, starts.size)), np.zeros(at.n)
    with np.errstate(all="ignore"):
        for k, t in enumerate(times):
            a = at.solve(q, v, float(t))[0][: at.n]
            values[k] = np.add.reduceat(signs * a, starts)
            largest = np.maximum(largest, np.abs(a))
    return values, largest
