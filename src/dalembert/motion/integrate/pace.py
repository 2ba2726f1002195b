"""How long steps may be, and where: what forces that depend on time ask for, and what the user asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dalembert.arrays import Array


@dataclass(frozen=True)
class Pace:
    """From starts[k] to the next start no step is longer than bounds[k]; as da_pace in runtime/run/pace.h."""

    starts: Array
    bounds: Array

    @cached_property
    def _pairs(self) -> list[tuple[float, float]]:
        return [(float(start), float(bound)) for start, bound in zip(self.starts, self.bounds, strict=True)]

    def longest(self, t: float) -> float:
        """The longest step from t. One that would enter a part with a shorter bound ends where that begins."""
        pairs, longest = self._pairs, float("inf")
        k = max(int(np.searchsorted(self.starts, t, side="right")) - 1, 0)
        for start, bound in pairs[k:]:
            if start - t >= longest:
                break
            longest = min(longest, max(start - t, bound))
        return longest


def no_longer(pace: Pace | None, t: float, span: float) -> Pace:
    """A pace, or none, with no step longer than `span` until as long after t."""
    if pace is None:
        return Pace(np.array([t, t + span]), np.array([span, np.inf]))
    starts = np.unique(np.concatenate([pace.starts, [t, t + span]]))
    part = pace.starts.searchsorted(starts, side="right") - 1
    bounds = np.where(part < 0, np.inf, pace.bounds[part])
    return Pace(starts, np.where((starts >= t) & (starts < t + span), np.minimum(bounds, span), bounds))


def pace_of(start: float, cells: Array, width: float, most: float | None) -> Pace | None:
    """Bounds of cells of one width, equal neighbours joined; none above `most`. None where nothing is bounded."""
    bounds = np.minimum(cells, np.inf if most is None else most)
    if np.isinf(bounds).all():
        return None
    begins = np.flatnonzero(np.concatenate([[True], bounds[1:] != bounds[:-1]]))
    return Pace(np.asarray(start + width * begins, dtype=float), bounds[begins])
