"""Whether the events of a system are passed where a motion tells them: the function of each vanishes at its state, and
that state is where the motion leads at its time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from dalembert.arrays import Array
from dalembert.mechanics.solve.mass_scale import mass_scale
from dalembert.model.friction.legs import needs_legs
from dalembert.motion.certificate.consistency import smooth_stretches
from dalembert.motion.certificate.repeat import FEW, PIECES, PIECES_ALONE, ends_apart
from dalembert.motion.certificate.slopes import is_simple
from dalembert.motion.certificate.stretches import rounding_of_times
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Of many passages so many are looked at, spread over the motion, the last one among them; and of these so many are led
# to from the output before, fewer where states must be solved one by one.
MOST, LED_TO = 64, 12
# A coordinate that hardly moves is measured by this share of the one that moves most.
SMALL = 1e-3


def told_events_off(motion: Motion, evaluation: Evaluation, wanted: float) -> float:
    """How far events are told from where they are, relative to the sizes of the state; infinite where what is told of
    them contradicts itself. Contacts have events of other kinds. wanted: how near they must be.
    """
    numbers = {event.name: k for k, event in enumerate(motion.system.events)}
    told = [event for event in motion.events if event["name"] in numbers and "contact" not in event]
    if not _is_ended_as_told(motion, told):
        return float("inf")
    if not told:
        return 0.0
    some = [told[k] for k in _spread(len(told), MOST)]
    names = [coordinate.name + mark for mark in ("", "'") for coordinate in motion.system.coordinates]
    t = np.array([event["t"] for event in some])
    y = np.array([[event["state"][name] for name in names] for event in some])
    if not ((t >= motion.t[0]) & (t <= motion.t[-1])).all() or not np.isfinite(y).all():
        return float("inf")
    off = _off_the_motion(motion, evaluation, t, y, wanted)
    if evaluation.graph.events_use_multipliers:
        return off
    # A velocity may jump over zero in a blow.
    near, blows = rounding_of_times(motion.t), np.array([blow.t for blow in motion.blows])
    sizes = np.concatenate([_sizes(motion.q), _sizes(motion.v)])
    for event, at, state in zip(some, t.tolist(), y, strict=True):
        if not (np.abs(blows - at) <= near).any():
            g, scale = evaluation.events(state, at, sizes)
            k = numbers[event["name"]]
            missed = abs(float(g[k])) / float(scale[k]) if scale[k] > 0.0 else 0.0
            if not (missed > wanted and _jumps_over_zero(motion, evaluation, k, at, state, wanted * sizes)):
                off = max(off, missed)
    return off


def _jumps_over_zero(motion: Motion, evaluation: Evaluation, k: int, t: float, y: Array, near: Array) -> bool:
    """Whether the function of event k changes its sign within so near a state: it may have no zero there, as an angle
    that jumps from π to −π.
    """
    n = motion.q.shape[1]
    output = min(int(motion.t.searchsorted(t)), motion.t.size - 1)
    rate = np.concatenate([y[n:], motion.a[output]])
    with np.errstate(divide="ignore", invalid="ignore"):
        h = float(np.nanmin(near / np.abs(rate), initial=np.inf))
    if not np.isfinite(h):
        return False
    before, after = (float(evaluation.events(y + part * rate, t + part, near)[0][k]) for part in (-h, h))
    return before * after < 0.0


def _is_ended_as_told(motion: Motion, told: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a motion that is said to be ended by an event has that event at its end, and only such a motion has
    passed one as often as it may.
    """
    counts = Counter(event["name"] for event in told)
    spent = {e.name for e in motion.system.events if e.terminal and counts[e.name] >= e.terminal}
    if motion.ended_by is None:
        return not spent
    at_end = any(event["name"] == motion.ended_by and event["t"] == motion.t[-1] for event in told)
    return at_end and motion.ended_by in spent


def _spread(count: int, most: int) -> list[int]:
    return sorted({*np.linspace(0, count - 1, min(count, most)).round().astype(int).tolist()})


def _sizes(along: Array) -> Array:
    own = np.abs(along).max(axis=0)
    return np.asarray(np.maximum(own, SMALL * own.max(initial=0.0)))


def _off_the_motion(motion: Motion, evaluation: Evaluation, t: Array, y: Array, wanted: float) -> float:
    """How far states (P, 2n) at times within the motion are from it: from an output at that time, or from where the
    output before leads, as stretches are repeated. Not asked where something happens between that is not smooth.
    """
    n = motion.q.shape[1]
    root = mass_scale(evaluation.dynamics(motion.q[0], motion.v[0], float(motion.t[0]))[0][None])[0]
    place, speed = (float(np.abs(root * along).max()) for along in (motion.q, motion.v))
    if not (place > 0.0 and speed > 0.0):
        return 0.0
    sizes = np.concatenate([place / root, speed / root])
    k = np.clip(motion.t.searchsorted(t, side="right") - 1, 0, motion.t.size - 1)
    states = np.concatenate([motion.q, motion.v], axis=1)
    here = motion.t[k] == t
    struck = np.isin(t, [blow.t for blow in motion.blows])  # told just before, or just after
    off = float((np.abs(states[k] - y)[here & ~struck] / sizes).max(initial=0.0))
    if needs_legs(motion.system):
        return off
    smooth = smooth_stretches(motion)
    asked = np.flatnonzero(~here if smooth is None else ~here & smooth[np.minimum(k, motion.t.size - 2)])
    together = is_simple(evaluation) and bool((motion.rank == evaluation.m).all())
    asked = asked[_spread(asked.size, LED_TO if together else FEW)] if asked.size else asked
    if not asked.size:
        return off
    # A motion whose outputs are, after its own first one, each output before an event, and the event; then its own end.
    order = np.stack([k[asked], asked], axis=1).reshape(-1)
    led = np.arange(order.size) % 2 == 1

    def of(outputs: Array, events: Array) -> Array:
        own = outputs[np.where(led, 0, order)]
        own[led] = events[order[led]]
        return np.concatenate([outputs[:1], own, outputs[-1:]])

    ends = replace(
        motion,
        t=of(motion.t, t), q=of(motion.q, y[:, :n]), v=of(motion.v, y[:, n:]), a=of(motion.a, motion.a[k]),
        rank=of(motion.rank, motion.rank[k]), certificate=None, warnings=(),  # type: ignore[arg-type]
    )  # fmt: skip
    scales = np.tile(sizes, (asked.size, 1))
    places = 2 * np.arange(asked.size) + 1
    missed, judged = ends_apart(ends, evaluation, places, scales, wanted, PIECES if together else PIECES_ALONE)
    return max(off, float(missed[judged].max(initial=0.0)))
