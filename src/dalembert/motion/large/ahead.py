"""A look ahead along time for a large system: `integrate.ahead` by samples of the entries of its equations.

The graph of a large system as a whole is never made, so that it is not known which entries depend on time; all of them
are at hand at a fixed state, in linear time. They are not solved: where constraints depend on each other, accelerations
away from the constraints are rounding.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.graph.structure.equations import NONE
from dalembert.graph.timed import spread
from dalembert.motion.integrate.ahead import CELL, LEAST_PARTS, MOST_PARTS, PARTS, ROUNDING, STATES, step_bounds
from dalembert.motion.integrate.pace import pace_of
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.large.state import LargeState
from dalembert.motion.state.state import State

# Samples may take about so many seconds, of which each takes so many, and so many more for each of its numbers; but
# there are LEAST_PARTS of them in any case.
SECONDS, SAMPLE, NUMBER = 0.3, 3e-5, 4e-9
# Of more entries than this, sums of so many groups are sampled: a pulse on one of them is seen in the sum.
COLUMNS = 256
# Accelerations are looked at, at so many times.
RATES = 64


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
            values = _samples(at, q, v, times)
            if np.isfinite(values).all():
                # Some are sums of many, and rounding in the largest is in all of them.
                noise = ROUNDING * float(np.abs(values).max())
                cells = np.minimum(cells, step_bounds(values, span / (times.size - 1), noise))
        rates = _rates(at, state, times)
    return replace(settings, pace=pace_of(t0, cells, span / cells.size, settings.max_step), rates=rates)


def _place_nearby(x: Array, seed: int) -> Array:
    """Another place: away by about its own size, or by one unit."""
    return x + spread(x.size, seed) * np.maximum(np.abs(x), 1.0)


def _parts(at: LargeState, settings: Settings, state: State) -> int:
    """So many parts of the duration are looked at: a power of two, whatever else the machine does."""
    size = at.run("entries", state.q, state.v, state.t).size
    affordable = SECONDS / (STATES * (SAMPLE + NUMBER * size))
    wanted = min(max(PARTS, 2 * (settings.times.size - 1)), MOST_PARTS)
    return 2 ** int(np.log2(min(wanted, max(affordable, LEAST_PARTS))))


def _samples(at: LargeState, q: Array, v: Array, times: Array) -> Array:
    """Entries at a state along the time, or sums of them, (N + 1, E)."""
    where = at.model.entries
    sides = (where.right.at, where.pulled.at, where.bias.at, where.places, where.slope.at)
    groups = [_Groups(np.unique(side[side != NONE])) for side in sides]
    found = np.empty((times.size, sum(group.size for group in groups)))
    with np.errstate(all="ignore"):
        for k, t in enumerate(times):
            w = at.run("entries", q, v, float(t))
            np.concatenate([group.sums(w) for group in groups], out=found[k])
    return found


class _Groups:
    """Sums of numbers at some places, of neighbours, with signs: equal pulses of opposite signs would leave no sum."""

    def __init__(self, places: np.ndarray) -> None:
        self.places, self.size = places, min(places.size, COLUMNS)
        self._starts = np.linspace(0, places.size, self.size, endpoint=False).astype(int)
        self._signs = np.where(spread(places.size, 0) > 0, 1.0, -1.0)

    def sums(self, w: Array) -> Array:
        found = w[self.places]
        return found if self.size == found.size else np.asarray(np.add.reduceat(self._signs * found, self._starts))


def _rates(at: LargeState, state: State, times: Array) -> Array | None:
    """The largest accelerations along the time at the state of the start."""
    some = times[np.linspace(0, times.size - 1, min(RATES, times.size)).round().astype(int)]
    with np.errstate(all="ignore"):
        found = np.max([np.abs(at.solve(state.q, state.v, float(t))[0][: at.n]) for t in some], axis=0)
    return found if np.isfinite(found).all() else None
