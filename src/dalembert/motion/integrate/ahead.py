"""A look ahead along time, before a motion is integrated: how fast the model itself changes, and how strongly.

A step size is chosen from the steps before. A force that is an explicit function of t gives them no sign of what it is
going to do, and a pulse between two steps, or between the stages of a long one, is never seen. But such a function can
be sampled in advance: by itself, where it is a factor or a term, so that it does not matter where the motion will be;
else at states that stand for those of the motion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.graph.evaluate import Evaluator
from dalembert.graph.timed import Timed, spread, timed_of
from dalembert.kernel.ready.many import many_of
from dalembert.kernel.ready.step_bounds import Bounding, bound_steps
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
# What depends on the state as well is sampled at so many states.
STATES = 3
# Accelerations are looked at, at so many times evenly, and at so many more: from these the motion gets its size.
RATES, MOST_RATES = 16, 64


@dataclass(frozen=True)
class Look:
    """The pace that explicit functions of time ask for, and times at which accelerations tell how strong they are."""

    pace: Pace | None
    moments: Array


def look_ahead(evaluation: Evaluation, settings: Settings, state: State) -> Settings:
    """The settings with the pace that explicit functions of time ask for, and the accelerations they may lead to."""
    timed = timed_of(evaluation.system)
    t0, span = float(settings.times[0]), float(settings.times[-1] - settings.times[0])
    if span == 0 or (timed is None and settings.max_step is None):
        return settings
    if timed is None:
        return replace(settings, pace=pace_of(t0, np.array([np.inf]), span, settings.max_step))
    look = look_from(timed, evaluation.p, settings.times, state.q, state.v, settings.max_step)
    return replace(settings, pace=look.pace, rates=rates_at(evaluation, look.moments, state.q, state.v))


def pace_between(evaluation: Evaluation, state: State, end: float) -> Pace | None:
    """The pace that explicit functions of time ask for from a state to another time; None where nothing is bounded."""
    timed = timed_of(evaluation.system)
    if timed is None or not end > state.t:
        return None
    return look_from(timed, evaluation.p, np.array([state.t, end]), state.q, state.v, None).pace


def look_from(timed: Timed, p: Array, outputs: Array, q: Array, v: Array, most: float | None) -> Look:
    """What functions of time say from the first of these times to the last, about a motion from a state on."""
    times = np.linspace(float(outputs[0]), float(outputs[-1]), _parts(timed, outputs.size) + 1)
    alone, sizes = _evaluator(timed, "alone", 1)(times.size, times, p)
    samples, noise = [alone], [ROUNDING * sizes.max(axis=0)]
    if timed.is_joined:
        found = list(_joined(timed, p, times, q, v))
        samples += found
        # One whose terms cancel at one state rounds as it does at the others: φ̇ is zero where a motion begins.
        sizes = np.array([np.abs(values).max(axis=0) for values in found])
        noise += [ROUNDING * np.where(np.isfinite(sizes), sizes, 0.0).max(axis=0)] * STATES
    values = np.concatenate(samples, axis=1)
    cells = step_bounds(values, float(times[1] - times[0]), np.concatenate(noise))
    pace = pace_of(float(times[0]), cells, float(times[-1] - times[0]) / cells.size, most)
    return Look(pace, times[_moments(values[:, : alone.shape[1] + timed.joined.numel_out(0)])])


def _parts(timed: Timed, outputs: int) -> int:
    """Into how many parts the time is divided: a power of two."""
    wanted = min(max(PARTS, 2 * (outputs - 1)), MOST_PARTS)
    length = timed.alone.n_instructions() + timed.is_joined * STATES * timed.joined.n_instructions()
    return 2 ** int(np.log2(min(wanted, max(INSTRUCTIONS / length, LEAST_PARTS))))


def _joined(timed: Timed, p: Array, times: Array, q: Array, v: Array) -> Iterator[Array]:
    """What time and state do together, at the start and at two other states: a factor may be zero at the first."""
    n, run = q.size, _evaluator(timed, "joined", 3)
    for seed in range(STATES):
        about = [x + (seed > 0) * spread(n, seed + k) * np.maximum(np.abs(x), 1.0) for k, x in enumerate((q, v))]
        forces, multipliers = 1.0 + spread(n, seed), 1.0 + spread(timed.joined.numel_in(5), seed)
        yield run(times.size, *about, times, p, forces, multipliers)[0]


def _evaluator(timed: Timed, name: str, parameters: int) -> Callable[..., list[Array]]:
    """A function of it at many times: by C where it is there, which takes a tenth of the time."""
    if name not in timed.kept:
        function = getattr(timed, name)
        timed.kept[name] = many_of(function, parameters) or Evaluator(function).many
    found: Callable[..., list[Array]] = timed.kept[name]
    return found


def step_bounds(values: Array, spacing: float, noise: Array | float = 0.0) -> Array:
    """How long steps may be in each cell, for samples (N + 1, E): twice the spacing at which cubic interpolation
    foretells the samples in between. noise: how far samples, or those of each entry, may be wrong besides rounding of
    their own. An entry that has no value somewhere says nothing.
    """
    noise = np.broadcast_to(noise, values.shape[1:])
    asked = Bounding(FORETOLD, NEGLIGIBLE, ROUNDING, spacing, len(values) - 1, CELL)
    found = bound_steps(asked, values, noise)
    return _bounds_without_library(values, spacing, noise) if found is None else found


def _bounds_without_library(values: Array, spacing: float, noise: Array) -> Array:
    """What c/step_bounds.h does, by NumPy."""
    known = np.isfinite(values).all(axis=0)
    # Entries are few and samples many: sums along these are quick.
    values, noise = np.ascontiguousarray(values[:, known].T), noise[known]
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


def _moments(values: Array) -> np.ndarray:
    """At which of the samples (N + 1, E) accelerations are looked at: evenly, and where entries differ most from what
    they are at first.
    """
    change = np.abs(values - values[0])
    evenly = np.linspace(0, len(values) - 1, RATES).round().astype(int)
    return np.unique(np.concatenate([evenly, change.argmax(axis=0)[:MOST_RATES]]))


def rates_at(evaluation: Evaluation, t: Array, q: Array, v: Array) -> Array | None:
    """The largest accelerations at these times at the state of the start, where they are cheap to have."""
    if evaluation.graph.nonlinear or evaluation.graph.uses_reactions:
        return None
    try:
        found = evaluate_points(evaluation, t, np.tile(q, (t.size, 1)), np.tile(v, (t.size, 1))).solution.acceleration
    except DalembertError:
        return None  # the model has no value there at this state
    return np.nan_to_num(np.abs(found)).max(axis=0)
