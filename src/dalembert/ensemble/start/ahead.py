"""What a look ahead along time says of the members of a block: `look_ahead` of motion/integrate/ahead.py for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.ensemble.start.block import Block
from dalembert.errors import DalembertError
from dalembert.graph.timed import Timed, timed_of
from dalembert.kernel.ready.solve import solve_points
from dalembert.kernel.ready.together import Together
from dalembert.motion.integrate.ahead import Look, look_from, rates_at
from dalembert.motion.integrate.pace import Pace, pace_of
from dalembert.motion.integrate.settings import Settings
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.model.system import System

# Accelerations of so many members and times are computed in one call.
POINTS = 8192


@dataclass(frozen=True)
class Ahead:
    """paces: one for all members, or one for each. rates (K, n): accelerations that each may come to; None where those
    at its start tell enough.
    """

    paces: list[Pace | None]
    rates: Array | None


def look_ahead_of_members(system: System, settings: Settings, together: Together, block: Block) -> Ahead:
    """Members for which functions of time are the same share a look: it takes as long as many a motion."""
    timed, span = timed_of(system), float(settings.times[-1] - settings.times[0])
    if timed is None or span == 0:
        return Ahead([pace_of(float(settings.times[0]), np.array([np.inf]), span, settings.max_step)], None)
    found: dict[bytes, Look] = {}
    looks = []
    for k, row in enumerate(_what_decides(timed, block)):
        key = row.tobytes()
        if key not in found:
            outputs = settings.times + (block.t[k] - settings.times[0])
            found[key] = look_from(timed, block.p[k], outputs, block.q[k], block.v[k], settings.max_step)
        looks.append(found[key])
    rates = None if settings.atol is not None else _rates(system, together, block, looks)
    return Ahead([look.pace for look in (looks if len(found) > 1 else looks[:1])], rates)


def _what_decides(timed: Timed, block: Block) -> Array:
    """What a look depends on besides the model, (K, …)."""
    places, speeds = timed.places
    found = [block.t[:, None], block.p[:, timed.parameters], block.q[:, places], block.v[:, speeds]]
    return np.ascontiguousarray(np.concatenate(found, axis=1)) + 0.0  # −0 and 0 are one number


def _rates(system: System, together: Together, block: Block, looks: Sequence[Look]) -> Array:
    """The largest accelerations of members at the times of their looks, at the states of their starts, (K, n)."""
    ends = np.cumsum([0, *(look.moments.size for look in looks)])
    found, first = np.zeros_like(block.q), 0
    while first < block.count:
        last = max(int(np.searchsorted(ends, ends[first] + POINTS, side="right")) - 1, first + 1)
        found[first:last] = _rates_of_some(system, together, block.at(np.arange(first, last)), looks[first:last])
        first = last
    return found


def _rates_of_some(system: System, together: Together, block: Block, looks: Sequence[Look]) -> Array:
    counts = np.array([look.moments.size for look in looks])
    t, n, m = np.concatenate([look.moments for look in looks]), together.n, together.m
    q, v, p = (np.repeat(x, counts, axis=0) for x in (block.q, block.v, block.p))
    base, finite = together.members.block(t.size, (q, v, t, p))
    if finite:
        M, Q, A, b, C, *_ = together.members.parts(t.size, base)
        try:
            a = solve_points(M.reshape(t.size, n, n), Q, A.reshape(t.size, m, n), b, C, together.pattern).acceleration
            return np.asarray(np.maximum.reduceat(np.nan_to_num(np.abs(a)), np.cumsum(counts) - counts))
        except DalembertError:
            pass  # of one of them at least
    found = np.zeros_like(block.q)
    for k in range(block.count):
        own = rates_at(Evaluation(system, block.p[k]), looks[k].moments, block.q[k], block.v[k])
        found[k] = 0.0 if own is None else own
    return found
