"""Every combination of what contacts could do at a state."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from dalembert.motion.contacts.modes.modes import OPEN, SLIP, STICK, Mode

if TYPE_CHECKING:
    from dalembert.motion.contacts.decide.decide import Situation

Option = tuple[str, int, int]  # state, direction, push


def every_mode(here: Situation) -> Iterator[Mode]:
    for closed in product(*_gates(here)):
        for choice in product(*_options(here, closed)):
            states, directions, pushes = (tuple(c[i] for c in choice) for i in range(3))
            yield Mode(states, directions, pushes, tuple(closed), here.frames)  # type: ignore[arg-type]


def count_options(here: Situation) -> int:
    """At most so many, counted as if all that may close were closed."""
    closed = tuple(options[0] for options in _gates(here))
    return prod(map(len, _gates(here))) * prod(map(len, _options(here, closed)))


def _gates(here: Situation) -> list[list[bool]]:
    numbers = range(len(here.contacts.one_sided))
    return [[False] if j not in here.touching or j in here.rest.opening else [True, False] for j in numbers]


def _options(here: Situation, closed: tuple[bool, ...]) -> list[list[Option]]:
    found = []
    for k, contact in enumerate(here.contacts.contacts):
        carrier, at = here.contacts.carrier[k], here.contacts.components[k]
        if carrier is not None and not closed[carrier]:
            found.append([(OPEN, 1, 1)])
            continue
        pushes = (1,) if carrier is not None or not contact.signed else (1, -1)
        pushes = (here.rest.pushes[k],) if k in here.rest.pushes else pushes
        line = at.stop - at.start == 1
        if k in here.stopped:
            ways = (1, -1) if line else (0,)
            slips = [(SLIP, way, push) for way in ways for push in pushes]
            found.append(slips if k in here.rest.leaving else [(STICK, 1, 1), *slips])
        else:
            way = int(np.sign(here.slide[at][0])) if line else 0
            found.append([(SLIP, way, push) for push in pushes])
    return found
