"""Of many modes at a state, those that are not clearly wrong: where all combinations are looked through, most are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dalembert.arrays import Array
from dalembert.motion.contacts.decide.agreement import AGREES
from dalembert.motion.contacts.modes.many_modes import ManyModes, many_modes
from dalembert.motion.contacts.modes.modes import Mode

if TYPE_CHECKING:
    from dalembert.motion.contacts.decide.decide import Situation

# What is wrong by so many times what counts as agreement is wrong by any other algebra too.
CLEARLY = 100.0
# So many modes are solved at once; fewer than that one by one.
MOST, FEWEST = 256, 8


def not_clearly_wrong(here: Situation, modes: Iterable[Mode]) -> Iterator[Mode]:
    """Those that `objections` may have nothing against."""
    left = iter(modes)
    while some := list(islice(left, MOST)):
        found = many_modes(here.contacts, some, here.q, here.v, here.t) if len(some) >= FEWEST else None
        wrong = np.zeros(len(some), dtype=bool) if found is None else _clearly_wrong(here, found)
        yield from (mode for mode, is_wrong in zip(some, wrong.tolist(), strict=True) if not is_wrong)


def _clearly_wrong(here: Situation, of: ManyModes) -> NDArray[np.bool_]:
    """As `objections`, for all at once."""
    contacts, state = here.contacts, of.state
    stopped = _marked(here.stopped, of.sticks.shape[1])
    touching = _marked(here.touching, of.closed.shape[1])
    rows = list(contacts.one_sided)
    steep = contacts.steepness(here.q, here.v, here.t)
    held = np.abs(of.multipliers[:, contacts.m :])
    pulls = -of.multipliers[:, rows] * steep
    normal = np.abs(state.normal)
    friction = np.where(of.sticks, held, np.where(of.slips, state.mu * normal, 0.0))
    reactions = np.abs(of.multipliers[:, : contacts.m]) * _lengths(contacts.unconstrained(here.q, here.v, here.t)[2])
    force = _largest(normal, friction, reactions)[:, None]
    free = np.abs(contacts.free(here.q, here.v, here.t))
    rate = _largest(state.slide_rate, of.acceleration, np.tile(free, (of.served.size, 1)))[:, None]
    much, fast = CLEARLY * AGREES * force, CLEARLY * AGREES * rate
    cone = of.sticks & (held > state.mu_static * normal + much)
    way = of.slips & stopped & (of.ways * state.slide_rate < -fast)
    opens = of.closed & (pulls > much)
    closes = ~of.closed & touching & (state.gap_acceleration < -fast * steep)
    wrong = cone.any(axis=1) | way.any(axis=1) | opens.any(axis=1) | closes.any(axis=1)
    return np.asarray(wrong & of.served)


def _marked(some: frozenset[int], count: int) -> NDArray[np.bool_]:
    return np.isin(np.arange(count), list(some))


def _lengths(A: Array) -> Array:
    return np.asarray(np.linalg.norm(A, axis=1))


def _largest(*parts: Array) -> Array:
    return np.asarray(np.max([np.abs(part).max(axis=1, initial=0.0) for part in parts], axis=0))
