"""Stretches of a motion integrated again from its own states, by another method and from the model alone.

The other measures look at single points. Whether the integration in between used the forces that the model has there
shows only in where it went.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError
from dalembert.kernel.ready.again import extrapolate
from dalembert.kernel.ready.together import together_of
from dalembert.mechanics.solve.fundamental import is_positive
from dalembert.motion.certificate.algebra import AtPoints
from dalembert.motion.certificate.closely import shares_of_stretch
from dalembert.motion.certificate.consistency import quadratures, smooth_stretches
from dalembert.motion.certificate.drift import drifting, ends_only
from dalembert.motion.certificate.slopes import (
    TOLERANCES,
    Slope,
    all_slopes,
    errors_of_accelerations,
    errors_within,
    is_simple,
    slope_of_one,
)
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.state import State

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion

# So many stretches are looked at, half of them evenly, half where the acceleration says least of where the motion goes.
# Fewer where states must be solved one by one.
MOST, FEW = 12, 4
# What places miss in a stretch counts so much more than what velocities do, being corrected by accelerations.
PLACES_COUNT = 1e3
# Steps of the modified midpoint rule in a stretch: extrapolated, order 12 with 43 evaluations.
SEQUENCE = (2, 4, 6, 8, 10, 12)
# A stretch in which that does not converge, or ends elsewhere than the motion, is repeated in four times as many
# pieces, up to so many (fewer where states must be solved one by one), but not where the motion took more steps than
# this, or where it diverges: where it is unsure by so many times what is wanted.
PIECES, PIECES_ALONE, FORESEEN, DIVERGED = 16, 4, 100, 1e4
# A piece has as many evaluations as about so many steps of the motion: with fewer pieces a short pulse in time, which
# the motion was prepared for, may lie between them, twice.
STEPS_OF_PIECE = 4
# Where forces depend on time, pieces are as short as these ask for, up to so many for each of the most there may be.
PACED = 16
# What a stretch may err by is for so many steps of the motion, and grows with them.
GRANTED = 2.0
# Rounding of places, some of their last digits.
ROUNDED = 1e-15


def integrate_again(slope: Slope, t: Array, y: Array, length: Array, wanted: Array) -> tuple[Array, Array, Array]:
    """States a `length` (B,) after (t, y), how far each entry may be from right, and whether that is `wanted` (B, w).

    Gragg's modified midpoint rule with the steps of SEQUENCE, extrapolated to none by Aitken's and Neville's scheme
    (Hairer, Nørsett and Wanner 1993, section II.9), which nothing else here uses.
    """
    with np.errstate(all="ignore"):  # a stretch that leads beyond all bounds is not judged
        return _extrapolate(slope, t, y, length, wanted)


def _extrapolate(slope: Slope, t: Array, y: Array, length: Array, wanted: Array) -> tuple[Array, Array, Array]:
    first, H = slope(t, y), length[:, None]
    end, left = np.array(y), np.full(y.shape, np.inf)
    open_ = np.ones(t.size, dtype=bool)
    row: list[Array] = []
    for k, steps in enumerate(SEQUENCE):
        h = H / steps
        before, now = y, y + h * first
        for m in range(1, steps):
            before, now = now, before + 2 * h * slope(t + m * length / steps, now)
        new = [(now + before + h * slope(t + length, now)) / 2]
        for j in range(1, k + 1):
            ratio = (steps / SEQUENCE[k - j]) ** 2
            new.append(new[-1] + (new[-1] - row[j - 1]) / (ratio - 1))
        if k:
            error = np.where(np.isfinite(new[-1]), np.abs(new[-1] - new[-2]), np.inf)
            better = open_ & (error.max(axis=1) < left.max(axis=1))
            end[better], left[better] = new[-1][better], error[better]
            open_ &= ~(left <= wanted).all(axis=1)
            if not open_.any():
                break
        row = new
    return end, left, ~open_


def repeat_and_consistency(
    motion: Motion, evaluation: Evaluation, M: Array, points: AtPoints, wanted: float
) -> tuple[float, float]:
    """The measures `repeat` and `consistency` of a motion without contacts. M: along it.

    repeat: how far stretches from one output point to the next, integrated again, end from the motion, relative to its
    largest velocities and positions. consistency: how far Δq̇ is from ∫ q̈ dt between neighbouring points, relative to
    the largest velocity, beyond what the quadrature can err by; a stretch that is right when repeated is left out.
    """
    if motion.t.size < 2:
        return 0.0, 0.0
    root, span = points.scale, float(motion.t[-1] - motion.t[0])
    if not span > 0:
        return 0.0, 0.0
    # At rest, velocities are rounding of what the forces would make of them; where forces cancel, of what vibrations as
    # quick as the steps resolve would make of places that are rounded.
    far, steps = float(np.abs(root * motion.q).max()), max(motion.timing.steps, 1)
    rounded = ROUNDED / wanted * steps * far / span
    speed = max(float(np.abs(root * motion.v).max()), 1e-6 * span * points.pull**0.5, rounded)
    place = max(far, 1e-6 * span * speed)
    if not speed > 0:
        return 0.0, 0.0
    smooth = smooth_stretches(motion)
    apart, doubt = quadratures(motion, root)
    suspect = apart / speed if smooth is None else np.where(smooth, apart / speed, 0.0)
    at = np.flatnonzero(suspect > wanted)
    if at.size:
        unsure = (root[at] * errors_of_accelerations(motion, evaluation, at)).max(axis=1) * np.diff(motion.t)[at]
        suspect[at] = np.maximum(suspect[at] - unsure / speed, 0.0)
    independent = bool((motion.rank == evaluation.m).all())
    together = is_simple(evaluation) and independent and is_regular(M[0])
    doubt = doubt + doubted_places(motion, root) * speed / place
    stretches = _stretches(motion, smooth, doubt + 1e6 * apart, MOST if together else FEW)
    if not stretches.size:
        return 0.0, float(suspect.max(initial=0.0))
    sizes = np.concatenate([place / root[stretches], speed / root[stretches]], axis=1)
    missed, judged = ends_apart(motion, evaluation, stretches, sizes, wanted, PIECES if together else PIECES_ALONE)
    # A quadrature that doubts what the repetition finds right has judged more than it can.
    right = judged & (missed <= wanted)
    doubted = suspect[stretches] > wanted
    if doubted.any() and right[doubted].all():
        suspect = np.where(suspect > wanted, 0.0, suspect)
    drifts, drifts_unjudged = _drifts(motion, evaluation, root, smooth, (place, speed), wanted, together)
    repeat, off = float(missed[judged].max(initial=0.0)), float(suspect.max(initial=0.0))
    return max(repeat, drifts), max(off, drifts_unjudged)


def _drifts(
    motion: Motion,
    evaluation: Evaluation,
    root: Array,
    smooth: np.ndarray | None,
    sizes: tuple[float, float],
    wanted: float,
    together: bool,
) -> tuple[float, float]:
    """How far parts over which places or velocities drift end from the motion when repeated; and by how much one drifts
    that repetition cannot judge.
    """
    parts = sorted(drifting(motion, root, smooth, *sizes, wanted), key=lambda part: -part[2])
    parts = sorted(parts[: MOST if together else FEW])
    if not parts:
        return 0.0, 0.0
    at = np.array([first for first, *_ in parts])
    lengths = motion.t[[last for _, last, _ in parts]] - motion.t[at]
    unsure = (root[at] * errors_of_accelerations(motion, evaluation, at)).max(axis=1) * lengths / sizes[1]
    doubted = np.array([off for *_, off in parts]) - unsure
    ends = ends_only(motion, parts)
    scales = np.concatenate([sizes[0] / root[at], sizes[1] / root[at]], axis=1)
    places = 2 * np.arange(at.size) + 1
    missed, judged = ends_apart(ends, evaluation, places, scales, wanted, PIECES if together else PIECES_ALONE)
    return float(missed[judged].max(initial=0.0)), float(doubted[~judged & (doubted > wanted)].max(initial=0.0))


def doubted_places(motion: Motion, root: Array) -> Array:
    """How far places change over each stretch otherwise than the velocities at its ends say, (T − 1,)."""
    h = np.diff(motion.t)[:, None]
    moved = np.diff(motion.q, axis=0) - h / 2 * (motion.v[1:] + motion.v[:-1])
    return PLACES_COUNT * (root[:-1] * np.abs(moved + h**2 / 12 * np.diff(motion.a, axis=0))).max(axis=1)


def ends_apart(
    motion: Motion, evaluation: Evaluation, at: np.ndarray, sizes: Array, wanted: float, most: int
) -> tuple[Array, np.ndarray]:
    """How far the stretches that begin at these points end from the motion, repeated, relative to `sizes`; and which
    are judged.

    Extrapolation from few steps may seem to converge where it does not, at a place that is passed quickly. So what
    contradicts the motion counts when two repetitions, one in a quarter of the pieces of the other, agree on it, which
    looked as closely as the motion did, and as forces that depend on time ask for; and less what errors within the
    tolerance may have grown to.
    """
    there = np.concatenate([motion.q, motion.v], axis=1)[at + 1]
    gaps = motion.t[at + 1] - motion.t[at]
    # Where outputs are far apart, the errors of several steps add up in a stretch.
    steps = np.maximum(motion.timing.steps * gaps / float(motion.t[-1] - motion.t[0]), 1.0)
    granted = np.maximum(steps / GRANTED, 1.0)
    missed, judged = np.zeros(at.size), np.zeros(at.size, dtype=bool)
    before = np.full(sizes.shape, np.nan)
    rest, pieces = np.arange(at.size), 1
    while rest.size and pieces <= most:
        some = at[rest]
        shares = np.full(pieces, 1 / pieces)
        end, unsure, known = _all_again(motion, evaluation, some, 0.1 * wanted * sizes[rest], shares)
        apart = np.maximum(np.abs(end - there[rest]) - unsure, 0.0)
        off = (apart / sizes[rest]).max(axis=1) / granted[rest]
        right = known & (off <= wanted)
        if pieces == 1 and right.all():
            return off, right
        wrong = known & ~right & (np.abs(end - before[rest]) <= wanted * sizes[rest]).all(axis=1)
        wrong &= steps[rest] <= STEPS_OF_PIECE * pieces
        sure = np.ones(rest.size, dtype=bool)
        if wrong.any():
            bounds = _Bounds(there[rest], sizes[rest], steps[rest], wanted)
            off[wrong] = _beyond_errors(
                motion, evaluation, some[wrong], end[wrong], unsure[wrong], bounds.of(wrong), shares
            )
            for i in np.flatnonzero(wrong & (off > wanted * granted[rest])):
                one = slice(int(i), int(i) + 1)
                closer = _closer(motion, evaluation, some[one], bounds.of(one), pieces, PACED * most)
                if closer is not None:
                    off[i], sure[i] = closer
            off[wrong] /= granted[rest][wrong]
        done = right | wrong
        missed[rest[done]], judged[rest[done]] = off[done], sure[done]
        before[rest] = np.where(known[:, None], end, np.nan)
        hopeful = (unsure <= 0.1 * DIVERGED * wanted * sizes[rest]).all(axis=1) & (steps[rest] <= FORESEEN)
        rest = rest[~done & hopeful]
        pieces *= 4
    return missed, judged


class _Bounds(NamedTuple):
    """Of stretches: where they should end (B, w), relative to which sizes (B, w), in how many steps the motion went
    there (B,), and how near is wanted.
    """

    there: Array
    sizes: Array
    steps: Array
    wanted: float

    def of(self, which: np.ndarray | slice) -> _Bounds:
        return _Bounds(self.there[which], self.sizes[which], self.steps[which], self.wanted)


def _closer(
    motion: Motion, evaluation: Evaluation, at: np.ndarray, bounds: _Bounds, pieces: int, most: int
) -> tuple[float, bool] | None:
    """How far one stretch ends from the motion, beyond errors, in pieces as short as forces that depend on time ask
    for; and whether pieces half as long agree on that. None where no force asks for shorter ones.
    """
    k = int(at[0])
    state = State(motion.q[k], motion.v[k], float(motion.t[k]))
    shares = shares_of_stretch(evaluation, state, float(motion.t[k + 1]), 1 / pieces, most)
    if shares is None:
        return None
    if not shares.size:
        return 0.0, False
    near = bounds.wanted * bounds.sizes
    once, _, _ = _all_again(motion, evaluation, at, 0.1 * near, shares)
    shares = np.repeat(shares / 2, 2)
    end, unsure, known = _all_again(motion, evaluation, at, 0.1 * near, shares)
    if not (known.all() and (np.abs(end - once) <= near).all()):
        return 0.0, False
    found = _beyond_errors(motion, evaluation, at, end, unsure, bounds, shares)
    return float(found[0]), True


def _beyond_errors(
    motion: Motion, evaluation: Evaluation, at: np.ndarray, end: Array, unsure: Array, bounds: _Bounds, shares: Array
) -> Array:
    """How far stretches end from the motion, beyond what errors within the tolerance may have grown to, relative to
    their sizes.
    """
    grown = _growth_of_errors(motion, evaluation, at, end, bounds.wanted * bounds.sizes, shares)
    apart = np.maximum(np.abs(end - bounds.there) - unsure, 0.0)
    beyond: Array = np.maximum(apart - TOLERANCES * bounds.steps[:, None] * grown, 0.0) / bounds.sizes
    return np.asarray(beyond.max(axis=1))


def _growth_of_errors(
    motion: Motion, evaluation: Evaluation, at: np.ndarray, end: Array, wanted: Array, shares: Array
) -> Array:
    """What an error of one tolerance at the beginning of these stretches is at their end; not finite where unknown."""
    found = np.zeros(end.shape)
    for change in errors_within(motion, at):
        other, _, known = _all_again(motion, evaluation, at, wanted, shares, change)
        found = np.maximum(found, np.where(known[:, None], np.abs(other - end), np.inf))
    return found


def _stretches(motion: Motion, smooth: np.ndarray | None, doubt: Array, most: int) -> np.ndarray:
    """Where the stretches begin that are looked at: those in doubt, and others evenly."""
    steady = motion.rank[1:] == motion.rank[:-1]
    usable = np.flatnonzero(steady if smooth is None else smooth & steady)
    if usable.size <= most:
        return usable
    evenly = usable[np.linspace(0, usable.size - 1, most // 2).round().astype(int)]
    strong = usable[np.argsort(doubt[usable])[::-1][: most - evenly.size]]
    return np.array(sorted({int(k) for k in (*evenly, *strong)}))


def _all_again(
    motion: Motion, evaluation: Evaluation, at: np.ndarray, wanted: Array, shares: Array, change: Array | float = 0.0
) -> tuple[Array, Array, np.ndarray]:
    """The stretches that begin at these points, at states changed by so much, integrated again in pieces, these shares
    of each: all at once where the model allows it.
    """
    t, length = motion.t[at], motion.t[at + 1] - motion.t[at]
    y = np.concatenate([motion.q[at], motion.v[at]], axis=1) + change
    if is_simple(evaluation) and bool((motion.rank[at] == evaluation.m).all()):
        found = _in_pieces_by_c(evaluation, t, y, length, wanted, shares)
        if found is not None:
            return found
        try:
            return _in_pieces(all_slopes(evaluation), t, y, length, wanted, shares)
        except (DalembertError, np.linalg.LinAlgError):
            pass  # at one of them; which one shows below
    end, left, judged = y.copy(), np.full(y.shape, np.inf), np.zeros(at.size, dtype=bool)
    for i, k in enumerate(at):
        one = slice(i, i + 1)
        try:
            end[one], left[one], judged[one] = _in_pieces(
                slope_of_one(motion, evaluation, int(k)), t[one], y[one], length[one], wanted[one], shares
            )
        except (DalembertError, np.linalg.LinAlgError):
            continue  # a trial state without a value
    return end, left, judged


def _in_pieces(
    slope: Slope, t: Array, y: Array, length: Array, wanted: Array, shares: Array
) -> tuple[Array, Array, np.ndarray]:
    """As `integrate_again`, one piece after the other, these shares of the length."""
    left, judged = np.zeros(y.shape), np.ones(t.size, dtype=bool)
    for share, before in zip(shares, np.cumsum(shares) - shares, strict=True):
        y, more, known = integrate_again(slope, t + before * length, y, share * length, wanted / shares.size)
        left, judged = left + more, judged & known
        if not judged.any():
            break
    return y, left, judged


def _in_pieces_by_c(
    evaluation: Evaluation, t: Array, y: Array, length: Array, wanted: Array, shares: Array
) -> tuple[Array, Array, np.ndarray] | None:
    """As `_in_pieces`, with the same formulas in C; None where they do not do."""
    together = together_of(evaluation.graph)
    if together is None or together.pattern is not None:
        return None
    left, judged = np.zeros(y.shape), np.ones(t.size, dtype=bool)
    for share, before in zip(shares, np.cumsum(shares) - shares, strict=True):
        some, part = share * length, wanted / shares.size
        found = extrapolate(together, evaluation.p, t + before * length, y, some, part, SEQUENCE)
        if found is None:
            return None
        y, left, judged = found[0], left + found[1], judged & found[2]
        if not judged.any():
            break
    return y, left, judged


def is_regular(M: Array) -> bool:
    """Whether a mass matrix is positive definite; plain where it is diagonal."""
    diagonal = np.diagonal(M)
    if np.count_nonzero(M) == np.count_nonzero(diagonal):
        return bool((diagonal > 0).all())
    return is_positive(M)
