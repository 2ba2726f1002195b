"""Steps that repeat, found: stretches of a list in which a few codes come again and again."""

from __future__ import annotations

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
    ends = []
    for period in range(1, LONGEST + 1):
        if period >= size:
            break
        same = codes[period:] == codes[:-period]
        # For each place, how far from it codes go on to equal those a period later.
        breaks = np.flatnonzero(~same)
        following = np.searchsorted(breaks, np.arange(size - period))
        ends.append(np.append(breaks, size - period)[following])
    found, at, alone = [], 0, 0
    while at < size:
        best = None
        for period, end in enumerate(ends, 1):
            if at >= len(end):
                continue
            rounds = int(end[at] - at) // period + 1
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
