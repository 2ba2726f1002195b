"""The state of a motion at any time: `motion(t)`.

Between two outputs q is interpolated by the polynomial of degree 5 that takes q, q̇ and q̈ from both ends, and q̇ by its
derivative, or by that of degree 3 that takes q̇ and q̈: the one rounds the states at the outputs off less, the other
needs them closer to each other. How far they are from the motion is measured. With h between the outputs and r the
largest difference between their q̈ and the one of the equations of motion, at points between, an error c (s (s − h))³ is
at most h²|r|/24 in q and 0.15 h|r| in q̇, and an error c (s (s − h))² in q̇ at most 0.33 h|r|. Where that is more than
the tolerance of the motion, and wherever contacts or kinks may lie between, the motion is integrated again from the
output before.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dalembert.arrays import Array
from dalembert.errors import DalembertError, ModelError, MotionFailed
from dalembert.model.friction.legs import needs_legs
from dalembert.model.kinks import switched_kinks
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.motion.state.project import project
from dalembert.results import state_columns

if TYPE_CHECKING:
    from dalembert.model.system import System
    from dalembert.motion.result.motion import Motion

# Where between two outputs accelerations are compared, and how many times the error that they show must fit into the
# tolerance: the leading term of the error is not all of it. (Halfway, the derivative of degree 2 shows no error.)
PLACES, MARGIN = (0.2, 0.5, 0.8), 2.0
# A time this close to an end, as a share of it, is the end: sums of steps are rounded.
ROUNDED = 1e-12
# Of more coordinates, the equations as a whole take longer to make than a stretch takes to be integrated again.
MANY = 64
# Of the largest coordinate or velocity, what counts as the size of one that hardly moves.
SMALL = 1e-3
# Tolerances that an integration takes; that of a variational motion is measured, and may be any.
LEAST_RTOL, LARGEST_RTOL = 1e-13, 0.1


def states_at(motion: Motion, times: ArrayLike, rtol: float | None = None) -> tuple[Array, Array]:
    """q and v (K, n) at times (K,) within a motion, to its tolerance: rtol of the size that each coordinate and each
    velocity has along it; or to a coarser one, which takes less time.
    """
    try:
        t = np.asarray(times, dtype=float).ravel()
    except (TypeError, ValueError):
        raise ModelError(motion.system.name, [f"motion(t): t is a time or several, got {times!r}"]) from None
    low, high = float(motion.t[0]), float(motion.t[-1])
    near = ROUNDED * max(abs(low), abs(high))
    outside = t[~((t >= low - near) & (t <= high + near))]
    if outside.size:
        raise ModelError(
            motion.system.name,
            [f"t = {outside[0]:.15g} is not within the motion, which is from t = {low:.15g} to {high:.15g}"],
        )
    t = np.clip(t, low, high)
    at = np.searchsorted(motion.t, t)
    q, v = motion.q[at], motion.v[at]  # right where a time is an output
    between = np.flatnonzero(motion.t[at] != t)
    if between.size:
        path = _Between(motion, rtol)
        close = path.close(np.unique(at[between]) - 1)
        for k in between:
            if at[k] - 1 in close:
                q[k], v[k] = path.interpolated(int(at[k]) - 1, float(t[k]), close[at[k] - 1])
        for first in np.unique(at[between]) - 1:
            if first not in close:
                here = between[at[between] - 1 == first]
                moments, places = np.unique(t[here], return_inverse=True)
                found = path.integrated(int(first), moments)
                q[here], v[here] = found[0][places], found[1][places]
    return q, v


def state_columns_at(motion: Motion, t: ArrayLike) -> dict[str, Array]:
    """The same as columns; numbers where t is one."""
    q, v = states_at(motion, t)
    found = state_columns(motion.system.coordinates, np.asarray(t, dtype=float).ravel(), q, v)
    shape = np.shape(t)
    return {name: np.reshape(column, shape) if shape else column[0].item() for name, column in found.items()}


class _Between:
    """States between outputs of one motion; k is the output before."""

    def __init__(self, motion: Motion, rtol: float | None = None) -> None:
        self.motion = motion
        self.rtol = motion.rtol if rtol is None else rtol
        self.smooth = (
            len(motion.system.coordinates) < MANY
            and not needs_legs(motion.system)
            and switched_kinks(motion.system) is None
        )

    @cached_property
    def evaluation(self) -> Evaluation:
        return Evaluation(self.motion.system)

    def close(self, ks: NDArray[np.int_]) -> dict[int, bool]:
        """Those outputs after which interpolation is within the tolerance, and whether q̇ has a polynomial of its own
        there.
        """
        motion, n = self.motion, self.motion.q.shape[1]
        if not self.smooth:
            return {}
        h = np.diff(motion.t)[ks, None]
        of_five, of_three = np.zeros((ks.size, n)), np.zeros((ks.size, n))
        try:
            for share in PLACES:
                q, (v, _), (a, slope) = self._path(ks, np.full(ks.size, share))
                t = motion.t[ks] + share * h[:, 0]
                guesses = motion.a[ks + round(share)] if self.evaluation.graph.nonlinear else None
                right = evaluate_points(self.evaluation, t, q, v, guesses).solution.acceleration
                of_five = np.maximum(of_five, MARGIN * np.abs(right - a))
                of_three = np.maximum(of_three, MARGIN * np.abs(right - slope))
        except DalembertError:
            return {}  # somewhere between, the model may have no value
        of_q, of_v = (self.rtol * _sizes(values) for values in (motion.q, motion.v))
        errors = (h**2 / 24 * of_five, of_q), (0.15 * h * of_five, of_v), (0.33 * h * of_three, of_v)
        near, first, second = (np.all(error <= fits, axis=1).tolist() for error, fits in errors)
        found = zip(ks.tolist(), near, first, second, strict=True)
        return {k: not one for k, good, one, other in found if good and (one or other)}

    def interpolated(self, k: int, t: float, own: bool) -> tuple[Array, Array]:
        """The state on the constraints next to the interpolated one. own: by q̇'s own polynomial."""
        span = self.motion.t[k + 1] - self.motion.t[k]
        q, v, _ = self._path(np.array([k]), np.array([(t - self.motion.t[k]) / span]))
        return project(self.evaluation, q[0], v[int(own)][0], t)[:2]

    def _path(self, ks: NDArray[np.int_], s: Array) -> tuple[Array, tuple[Array, Array], tuple[Array, Array]]:
        """q, q̇ in both ways, q̈ in both ways (K, n) at shares s of the ways from the outputs ks to the next."""
        motion, s = self.motion, s[:, None]
        h = np.diff(motion.t)[ks, None]
        (q0, v0, a0), (q1, v1, a1) = (
            (motion.q[at], h * motion.v[at], h**2 * motion.a[at]) for at in (ks, ks + 1)
        )  # all of them lengths
        D, E, F = q1 - q0 - v0 - a0 / 2, v1 - v0 - a0, a1 - a0
        c3, c4, c5 = 10 * D - 4 * E + F / 2, -15 * D + 7 * E - F, 6 * D - 3 * E + F / 2
        q = q0 + s * (v0 + s * (a0 / 2 + s * (c3 + s * (c4 + s * c5))))
        v = v0 + s * (a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))
        a = a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))
        b2, b3 = 3 * E - F, F - 2 * E
        own = v0 + s * (a0 + s * (b2 + s * b3))
        slope = a0 + s * (2 * b2 + s * 3 * b3)
        return q, (v / h, own / h), (a / h**2, slope / h**2)

    @cached_property
    def without_events(self) -> System:
        """The system without events, which might end it, and without what its document would choose."""
        return self.motion.system.replace(events=(), settings=None)

    def integrated(self, k: int, t: Array) -> tuple[Array, Array]:
        """By the method of the motion, from the output before."""
        motion, system = self.motion, self.motion.system
        q, v, t0 = motion.q[k], motion.v[k], float(motion.t[k])
        if self.smooth:
            q, v, _ = project(self.evaluation, q, v, t0)  # a motion may show its drift
        symbols = (*system.coordinates, *system.velocities)
        initial = dict(zip((s.name for s in symbols), [*q.tolist(), *v.tolist()], strict=True))
        from_here = self.without_events.replace(initial={**initial, "t": t0})
        method = "auto" if motion.method == "variational" else motion.method  # whose steps have one length
        run = from_here.prepare(times=t, rtol=min(max(motion.rtol, LEAST_RTOL), LARGEST_RTOL), method=method).run()
        if run.failure is not None:
            raise MotionFailed(run.failure)
        first = int(run.t.size - t.size)
        return run.q[first:], run.v[first:]


def _sizes(values: Array) -> Array:
    sizes = np.abs(values).max(axis=0)
    return np.asarray(np.maximum(sizes, SMALL * sizes.max(initial=0.0)))
