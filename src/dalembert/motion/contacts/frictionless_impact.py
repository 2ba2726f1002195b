"""The velocity after an impact."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from dalembert.mechanics.fundamental import Array
from dalembert.motion.contacts.contacts import Contacts
from dalembert.motion.contacts.decide import REST


def impact(contacts: Contacts, meeting: Mapping[int, float], t: float, q: Array, v: Array) -> Array:
    """The velocity after an impact. meeting: the one-sided constraints that touch and do not part, each with its e:
    it parts with at least e times the speed at which it closed, with just that where it pushes, and none pulls. All
    other constraints keep acting. Without friction.
    """
    M, _, A, _ = contacts.whole.dynamics(q, v, t)
    always = [k for k in range(contacts.m) if k not in contacts.one_sided]
    speeds = contacts.look(q, v, np.zeros(contacts.n), t, np.zeros(contacts.m))[6]
    best: tuple[float, Array] | None = None
    for pushing in _subsets(sorted(meeting)):
        rows = [*always, *(contacts.one_sided[k] for k in pushing)]
        R = A[rows]
        change = np.concatenate([np.zeros(len(always)), [-(1.0 + meeting[k]) * speeds[k] for k in pushing]])
        Y = np.linalg.solve(M, R.T)
        impulse = np.linalg.lstsq(R @ Y, change, rcond=1e-12)[0]
        after = v + Y @ impulse
        wrong = 0.0
        for k in meeting:
            steep = float(np.linalg.norm(A[contacts.one_sided[k]])) or 1.0
            parted = speeds[k] + float(A[contacts.one_sided[k]] @ (after - v)) + meeting[k] * speeds[k]
            wrong = max(wrong, -parted / steep)
        for k, push in zip(pushing, impulse[len(always) :], strict=True):
            # As the velocity that this impulse gives.
            wrong = max(wrong, -push * float(np.abs(Y[:, len(always) + pushing.index(k)]).max()))
        if best is None or wrong < best[0]:
            best = wrong, after
        if wrong <= REST * float(np.abs(v).max(initial=0.0)):
            break
    assert best is not None
    return best[1]


def _subsets(items: list[int]) -> Iterator[tuple[int, ...]]:
    """All of them first."""
    for size in range(len(items), -1, -1):
        yield from combinations(items, size)
