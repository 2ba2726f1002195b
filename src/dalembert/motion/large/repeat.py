"""Stretches of a large motion integrated again from its own states, by another method: `motion.certificate.repeat`, one
state after the other, in linear time.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.certificate.consistency import quadratures
from dalembert.motion.certificate.drift import drifting, ends_only
from dalembert.motion.certificate.repeat import (
    FEW,
    MOST,
    PIECES,
    ROUNDED,
    STEPS_OF_PIECE,
    doubted_places,
    integrate_again,
)
from dalembert.motion.certificate.slopes import Slope
from dalembert.motion.large.forces import TOGETHER, EntriesOf
from dalembert.motion.large.state import LargeState

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# Where forces hold each other, accelerations are rounding of what each would make by itself, up to 1e-11 of it in a
# chain of a hundred links: velocities are measured against this share.
HELD = 1e-5
# So many of all coordinates at all outputs are added up at once, with some dozen arrays of as many.
NUMBERS = 1_000_000


class Sizes(NamedTuple):
    """Of places and velocities of all coordinates, times the roots of their masses `root` (n,): so none hides beside
    another that is written in a smaller unit.
    """

    root: Array
    place: float
    speed: float


def evenly(count: int, most: int) -> list[int]:
    return sorted({int(k) for k in np.linspace(0, count - 1, min(most, count)).round()})


def repeat_and_consistency(motion: Motion, at: LargeState, entries: EntriesOf, wanted: float) -> tuple[float, float]:
    """The measures of these names. What quadratures doubt does not count where the repetition finds it right."""
    if motion.t.size < 2 or not motion.t[-1] > motion.t[0]:
        return 0.0, 0.0
    sizes = _sizes(motion, at, entries, wanted)
    if not sizes.speed > 0:
        return 0.0, 0.0
    root = np.broadcast_to(sizes.root, motion.v.shape)
    apart, doubt = quadratures(motion, root)
    suspect, place = apart / sizes.speed, sizes.place or sizes.speed
    doubt = doubt + doubted_places(motion, root) * sizes.speed / place + 1e6 * apart
    # Half of those that are looked at whatever they look like, half that quadratures doubt most.
    some = (FEW if at.is_apart() else MOST) // 2
    chosen = {*evenly(doubt.size, some), *(int(k) for k in np.argsort(-doubt)[:some])}
    stretches = np.array(sorted(chosen))
    missed = _distances(motion, at, stretches, sizes, wanted)
    doubted = suspect[stretches] > wanted
    if doubted.any() and (missed[doubted] <= wanted).all():
        suspect = np.where(suspect > wanted, 0.0, suspect)
    drifts, unjudged = _drifts(motion, at, root, sizes._replace(place=place), wanted, some)
    return max(_largest(missed), drifts), max(float(suspect.max(initial=0.0)), unjudged)


def _largest(missed: Array) -> float:
    """Of those that are judged."""
    return float(missed[np.isfinite(missed)].max(initial=0.0))


def _sizes(motion: Motion, at: LargeState, entries: EntriesOf, wanted: float) -> Sizes:
    """At rest, velocities are rounding of what the forces would make of them, or, where these cancel, of what
    vibrations as quick as the steps resolve would make of places that are rounded.
    """
    span = float(motion.t[-1] - motion.t[0])
    at.solve(motion.q[0], motion.v[0], float(motion.t[0]))
    root = np.sqrt(at.masses())
    here = entries.at(motion.q[0], motion.v[0], float(motion.t[0]))
    held = here.A.T @ motion.multipliers[0]
    alone = root * here.accelerations_alone(np.abs(here.impressed) + np.abs(held))[: here.n]
    far = float(np.abs(root * motion.q).max())
    rounded = ROUNDED / wanted * max(motion.timing.steps, 1) * far / span
    speed = max(float(np.abs(root * motion.v).max()), HELD * span * float(alone.max(initial=0.0)), rounded)
    return Sizes(root, max(far, 1e-6 * span * speed), speed)


def _drifts(motion: Motion, at: LargeState, root: Array, sizes: Sizes, wanted: float, most: int) -> tuple[float, float]:
    """How far parts over which places or velocities drift end from the motion when repeated; and by how much one drifts
    that repetition cannot judge.
    """
    parts: list[tuple[int, int, float]] = []
    together = max(1, NUMBERS // motion.t.size)
    for first in range(0, at.n, together):
        some = slice(first, first + together)
        arrays = {name: getattr(motion, name)[:, some] for name in ("q", "v", "a")}
        columns = replace(motion, **arrays, certificate=None, warnings=())  # type: ignore[arg-type]
        parts += drifting(columns, root[:, some], None, sizes.place, sizes.speed, wanted)
    parts = sorted(set(parts), key=lambda part: -part[2])[:most]
    if not parts:
        return 0.0, 0.0
    missed = _distances(ends_only(motion, parts), at, 2 * np.arange(len(parts)) + 1, sizes, wanted)
    unjudged = np.array([off for *_, off in parts])[np.isnan(missed)]
    return _largest(missed), float(unjudged.max(initial=0.0))


def _distances(motion: Motion, at: LargeState, stretches: np.ndarray, sizes: Sizes, wanted: float) -> Array:
    """How far stretches that begin at these outputs end from the motion. They are integrated again in more pieces where
    that is elsewhere: what two of these agree on counts, if they looked as closely as the motion did. NaN where they do
    not converge.
    """
    together = max(1, TOGETHER // (2 * at.n))
    groups = [stretches[k : k + together] for k in range(0, stretches.size, together)]
    return np.concatenate([_distances_together(motion, at, group, sizes, wanted) for group in groups])


def _distances_together(motion: Motion, at: LargeState, stretches: np.ndarray, sizes: Sizes, wanted: float) -> Array:
    n, slope = at.n, partial(_slopes, at)
    size = np.concatenate([sizes.place / sizes.root, sizes.speed / sizes.root])
    y = np.concatenate([motion.q, motion.v], axis=1)[np.concatenate([stretches, stretches + 1])]
    start, there = y[: stretches.size], y[stretches.size :]
    lengths = motion.t[stretches + 1] - motion.t[stretches]
    steps = motion.timing.steps * lengths / float(motion.t[-1] - motion.t[0])
    missed, before = np.full(stretches.size, np.nan), np.full((stretches.size, 2 * n), np.nan)
    rest, pieces = np.arange(stretches.size), 1
    while rest.size and pieces <= PIECES:
        near = np.broadcast_to(0.1 * wanted * size, (rest.size, 2 * n))
        end, unsure, known = _in_pieces(slope, motion.t[stretches[rest]], start[rest], lengths[rest], near, pieces)
        off = (np.maximum(np.abs(end - there[rest]) - unsure, 0.0) / size).max(axis=1)
        agree = (np.abs(end - before[rest]) <= wanted * size).all(axis=1) & (steps[rest] <= STEPS_OF_PIECE * pieces)
        done = known & ((off <= wanted) | agree)
        missed[rest[done]] = off[done]
        before[rest] = np.where(known[:, None], end, np.nan)
        rest, pieces = rest[~done], 4 * pieces
    return missed


def _slopes(at: LargeState, t: Array, y: Array) -> Array:
    """d/dt of states (B, 2n) at times (B,)."""
    n, found = at.n, np.empty_like(y)
    found[:, :n] = y[:, n:]
    for one, rates, when in zip(y, found, t.tolist(), strict=True):
        rates[n:] = at.accelerations_at_hand(one[:n], one[n:], when)
    return found


def _in_pieces(
    slope: Slope, t: Array, y: Array, length: Array, wanted: Array, pieces: int
) -> tuple[Array, Array, np.ndarray]:
    """The ends of stretches from (t, y), repeated in equal pieces; how far they may be from right, and in which all
    pieces converged.
    """
    unsure, converged, piece = np.zeros(y.shape), np.ones(t.size, dtype=bool), length / pieces
    for k in range(pieces):
        y, left, known = integrate_again(slope, t + k * piece, y, piece, wanted)
        unsure, converged = unsure + left, converged & known
        if not converged.any():
            break
    return y, unsure, converged
