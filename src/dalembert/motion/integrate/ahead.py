"""A look ahead along time, before a motion is integrated: how fast the model itself changes, and how strongly.

A step size is chosen from the steps before. A force that is an explicit function of t gives them no sign of what it is
going to do, and a pulse between two steps, or between the stages of a long one, is never seen. But such a function can
be sampled in advance, at a state that stands for those of the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.timed import Timed, spread, timed_of
from dalembert.kernel.ready.many import many_of
from dalembert.motion.integrate.pace import Pace, pace_of
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.motion.state.state import State

# The duration is divided into so many parts at least, or finer, so that two lie between outputs, up to the other …
PARTS, MOST_PARTS = 4096, 32768
# … but not so many that the samples take longer than about a tenth of a second.
INSTRUCTIONS = 2e7
LEAST_PARTS = 512
# Bounds are kept for cells of so many parts.
CELL = 8
# Samples are foretold by those twice as far apart where they differ by less than this share of the change around them …
FORETOLD = 0.05
# … or of all change along the time, or of the values (rounding, of a difference of four).
NEGLIGIBLE, ROUNDING = 1e-6, 1e-12
# Accelerations are looked at, at so many times: from these the motion gets its size.
RATES = 64


def look_ahead(evaluation: Evaluation, settings: Settings, state: State) -> Settings:
    """The settings with the pace that explicit functions of time ask for, and the accelerations they may lead to."""
    q, v, timed = state.q, state.v, timed_of(evaluation.system)
    t0, span = float(settings.times[0]), float(settings.times[-1] - settings.times[0])
    if span == 0 or (timed is None and settings.max_step is None):
        return settings
    if timed is None:
        return replace(settings, pace=pace_of(t0, np.array([np.inf]), span, settings.max_step))
    times, samples = _samples(evaluation, timed, settings.times, q, v)
    pace = _pace(times, samples, settings.max_step)
    return replace(settings, pace=pace, rates=_rates(evaluation, times, samples, q, v))


def pace_between(evaluation: Evaluation, state: State, end: float) -> Pace | None:
    """The pace that explicit functions of time ask for from a state to another time; None where nothing is bounded."""
    timed = timed_of(evaluation.system)
    if timed is None or not end > state.t:
        return None
    times, samples = _samples(evaluation, timed, np.array([state.t, end]), state.q, state.v)
    return _pace(times, samples, None)


def _pace(times: Array, samples: list[Array], most: float | None) -> Pace | None:
    cells = np.full((times.size - 1) // CELL, np.inf)
    if samples:
        # An entry whose terms cancel at one state rounds as it does at the others: φ̇ is zero where a motion begins.
        rounded = ROUNDING * np.max([np.abs(found).max(axis=0) for found in samples], axis=0)
        noise = np.tile(rounded, len(samples))
        cells = step_bounds(np.concatenate(samples, axis=1), float(times[1] - times[0]), noise)
    return pace_of(float(times[0]), cells, float(times[-1] - times[0]) / cells.size, most)


def _samples(evaluation: Evaluation, timed: Timed, outputs: Array, q: Array, v: Array) -> tuple[Array, list[Array]]:
    """Times, a power of two and one of them, and the entries there at the start and at two other states (a factor
    may be zero at the first); not where they have no value.
    """
    wanted = min(max(PARTS, 2 * (outputs.size - 1)), MOST_PARTS)
    affordable = max(INSTRUCTIONS / (3 * max(timed.entries.n_instructions(), 1)), LEAST_PARTS)
    parts = 2 ** int(np.log2(min(wanted, affordable)))
    times = np.linspace(float(outputs[0]), float(outputs[-1]), parts + 1)
    n, run = evaluation.n, _evaluator(timed)
    found = []
    for seed in range(3 if timed.mixed else 1):
        about = [x + (seed > 0) * spread(n, seed + k) * np.maximum(np.abs(x), 1.0) for k, x in enumerate((q, v))]
        forces, multipliers = 1.0 + spread(n, seed), 1.0 + spread(timed.entries.numel_in(5), seed)
        values = run(times.size, *about, times, evaluation.p, forces, multipliers)[0]
        if np.isfinite(values).all():
            found.append(values)
    return times, found


def _evaluator(timed: Timed) -> Callable[..., list[Array]]:
    """Its entries at many times: by C where it is there, which takes a tenth of the time."""
    if "many" not in timed.kept:
        timed.kept["many"] = many_of(timed.entries, 3) or Evaluator(timed.entries).many
    found: Callable[..., list[Array]] = timed.kept["many"]
    return found


def step_bounds(values: Array, spacing: float, noise: Array | float = 0.0) -> Array:
    """How long steps may be in each cell, for samples (N + 1, E): twice the spacing at which cubic interpolation
    foretells the samples in between. noise: how far samples, or those of each entry, may be wrong besides rounding of
    their own.
    """
    values = np.ascontiguousarray(values.T)  # entries are few and samples many: sums along these are quick
    parts = values.shape[1] - 1
    limits = np.full(parts // CELL, np.inf)
    least = NEGLIGIBLE * np.ptp(values, axis=1) + ROUNDING * np.abs(values).max(axis=1) + noise
    step = parts // 8
    while step >= 1:
        nodes, between = values[:, :: 2 * step], values[:, step :: 2 * step]
        # One more at either end, by the cubic through the four next to it.
        first, last = (4 * e[:, 0] - 6 * e[:, 1] + 4 * e[:, 2] - e[:, 3] for e in (nodes[:, :4], nodes[:, :-5:-1]))
        nodes = np.concatenate([first[:, None], nodes, last[:, None]], axis=1)
        stencil = nodes[:, :-3], nodes[:, 1:-2], between, nodes[:, 2:-1], nodes[:, 3:]
        foretold = (9.0 * (stencil[1] + stencil[3]) - (stencil[0] + stencil[4])) / 16.0
        missed = np.abs(between - foretold)
        # Most are foretold by far: the change around them is looked at for the others only.
        some = np.flatnonzero((missed > least[:, None]).any(axis=0))
        if some.size:
            around = np.ptp(np.stack([row[:, some] for row in stencil]), axis=0)
            wrong = (missed[:, some] > np.maximum(FORETOLD * around, least[:, None])).any(axis=0)
            for k in some[wrong]:
                at = (2 * int(k) + 1) * step
                limits[max(at - 2 * step, 0) // CELL : (at + 2 * step - 1) // CELL + 1] = 2 * step * spacing
        step //= 2
    return limits


def _rates(evaluation: Evaluation, times: Array, samples: list[Array], q: Array, v: Array) -> Array | None:
    """The largest accelerations along the time at the state of the start, where they are cheap to have."""
    if evaluation.graph.nonlinear or evaluation.graph.uses_reactions or not samples:
        return None
    change = np.abs(samples[0] - samples[0][0])
    at = np.unique(
        np.concatenate([np.linspace(0, times.size - 1, RATES).round().astype(int), change.argmax(axis=0)[:RATES]])
    )
    t = times[at]
    try:
        found = evaluate_points(evaluation, t, np.tile(q, (t.size, 1)), np.tile(v, (t.size, 1))).solution.acceleration
    except DalembertError:
        return None  # the model has no value there at this state
    return np.nan_to_num(np.abs(found)).max(axis=0)
