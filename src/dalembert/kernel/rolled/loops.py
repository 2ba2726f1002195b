"""Steps that repeat, found: stretches of a list in which a few codes come again and again."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

# Codes that repeat after more steps than this are not looked for, nor is a loop of fewer rounds made.
LONGEST, FEWEST = 24, 4


@dataclass(frozen=True)
class Stretch:
    """`rounds` times `period` steps from `start` on."""

    start: int
    period: int
    rounds: int


def stretches(codes: np.ndarray) -> list[Stretch]:
    """The whole list cut into stretches, those that repeat most first where they overlap."""
    size = len(codes)
    # For each period, the places where a code is another than a period later: from any place it goes on to the next.
    breaks = []
    for period in range(1, min(LONGEST, size - 1) + 1):
        others = np.flatnonzero(codes[period:] != codes[:-period])
        breaks.append(array("q", np.append(others, size - period).tobytes()))
    found, at, alone = [], 0, 0
    while at < size:
        best = None
        for period, ends in enumerate(breaks, 1):
            if at >= size - period:
                break
            rounds = (ends[bisect_left(ends, at)] - at) // period + 1
            if rounds >= FEWEST and (best is None or rounds * period > best.rounds * best.period + period):
                best = Stretch(at, period, rounds)
        if best is None:
            at, alone = at + 1, alone + 1
            continue
        if alone:
            found.append(Stretch(at - alone, alone, 1))
            alone = 0
        found.append(best)
        at += best.period * best.rounds
    if alone:
        found.append(Stretch(at - alone, alone, 1))
    return found
