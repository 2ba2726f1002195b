"""Whether places and velocities drift from what their rates say, too slowly to show between two outputs.

Of outputs much denser than steps, a wrong column that goes wrong evenly misses too little on each stretch. Over a step
or two what quadratures miss adds up: there, the motion is repeated.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.certificate.consistency import (
    ALLOWED,
    RESOLVED,
    even_stretches,
    longest_spacing_judged,
    quadratures_of,
)

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Sums are taken over about so many steps of the integration: more may miss more.
STEPS = 2.0
# Rounding, of the largest place or velocity.
NOISE = 1e-12


def drifting(
    motion: Motion, root: Array, smooth: np.ndarray | None, place: float, speed: float, wanted: float
) -> list[tuple[int, int, float]]:
    """Parts of a motion, from one output to another, over which it drifts by more than is wanted, and by how much,
    relative to the largest place or velocity.
    """
    inside, stencil = even_stretches(motion)
    if not inside.size:
        return []
    missed, doubt, clear = _sums_of(motion, root, inside, stencil, place, speed)
    if smooth is not None:
        clear &= smooth[inside]
    found, near = [], longest_spacing_judged(motion)
    first, at = 0, 0
    while at < inside.size:
        k = inside[at]
        if not clear[at]:
            first = at = at + 1
            continue
        here = slice(first, at + 1)
        off = float((np.abs(missed[here].sum(axis=0)) - doubt[here].sum(axis=0)).max())
        if off > wanted:
            found.append((int(inside[first]), int(k) + 1, off))
        long = (at + 1 - first) * (motion.t[k + 1] - motion.t[k]) >= STEPS * near
        at += 1
        if off > wanted or long or (at < inside.size and inside[at] != k + 1):
            first = at
    return found


def _sums_of(
    motion: Motion, root: Array, inside: np.ndarray, stencil: np.ndarray, place: float, speed: float
) -> tuple[Array, Array, np.ndarray]:
    """What places and velocities miss on each stretch, (B, 2n), what that may err by, and which can be judged."""
    missed, doubt, clear = [], [], np.ones(inside.size, dtype=bool)
    h = np.diff(motion.t)[inside, None]
    for values, rates, size in ((motion.q, motion.v, place), (motion.v, motion.a, speed)):
        six, four, two = quadratures_of(rates, inside, stencil, h)
        share = root[inside] / size
        finer, coarser = np.abs(six - four), np.abs(four - two)
        clear &= (share * finer <= share * RESOLVED * coarser + NOISE).all(axis=1)
        missed.append(share * (values[inside + 1] - values[inside] - six))
        doubt.append(share * ALLOWED * finer)
    return np.concatenate(missed, axis=1), np.concatenate(doubt, axis=1), clear


def ends_only(motion: Motion, parts: list[tuple[int, int, float]]) -> Motion:
    """The motion at its own ends and at those of these parts: part k lies between its outputs 2k + 1 and 2k + 2."""
    at = [0, *(end for first, last, _ in parts for end in (first, last)), motion.t.size - 1]
    arrays = {name: getattr(motion, name)[at] for name in ("t", "q", "v", "a", "rank")}
    return replace(motion, **arrays, certificate=None, warnings=())  # type: ignore[arg-type]
