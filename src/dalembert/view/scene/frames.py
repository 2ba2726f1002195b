"""A motion at the frames of an animation: states and forces there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dalembert.arrays import Array
from dalembert.errors import DalembertError, OutputError
from dalembert.model.friction.legs import needs_legs
from dalembert.model.kinks import switched_kinks
from dalembert.model.system import System
from dalembert.motion.result.between_outputs import states_at
from dalembert.motion.result.motion import Motion
from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.points import evaluate_points
from dalembert.study.vakonomic import VakonomicMotion

MOST_FRAMES = 20_000
# Far finer than a pixel, and than the six digits that scenes are written with.
PICTURE_RTOL = 1e-7
# Seconds: what lasts from one to the other is watched as it is, and all else in about the third.
SHORT_S, LONG_S, WATCHED_S = 0.3, 300.0, 10.0


@dataclass(frozen=True, eq=False)
class Frames:
    """At F frames: t (F,), q, v, a and the forces (F, n), multipliers (F, m)."""

    system: System
    t: Array
    q: Array
    v: Array
    a: Array
    impressed: Array
    ideal: Array
    nonideal: Array
    multipliers: Array


def frame_times(motion: Motion | VakonomicMotion, frames: Any = None, fps: float = 30.0, speed: float = 1.0) -> Array:
    """Times of frames: `fps` of them for each second of showing, in which `speed` seconds of the motion pass; or those
    given; or as many as given; or "outputs", those of the motion.
    """
    first, last = float(motion.t[0]), float(motion.t[-1])
    if isinstance(frames, str) and frames == "outputs":
        return np.asarray(motion.t)
    if frames is None:
        for name, value in (("fps", fps), ("speed", speed)):
            if not (isinstance(value, (int, float)) and np.isfinite(value) and value > 0):
                raise OutputError(f"{name} is a positive number, got {value!r}")
        count = int(np.floor((last - first) * fps / speed * (1 + 1e-12))) + 1
        _require_few(count, last - first)
        return np.minimum(first + np.arange(count) * (speed / fps), last)
    if isinstance(frames, (int, np.integer)) and not isinstance(frames, bool):
        _require_few(int(frames), last - first)
        return np.linspace(first, last, int(frames)) if frames > 1 else np.array([last])
    try:
        times = np.asarray(frames, dtype=float).ravel()
    except (TypeError, ValueError):
        raise OutputError(f"frames: a number of them or their times are wanted, got {frames!r}") from None
    if not times.size or not np.all((times >= first) & (times <= last)) or np.any(np.diff(times) < 0):
        raise OutputError(f"frames: times in order within the motion, t = {first:g} … {last:g}, are wanted")
    return times


def _require_few(count: int, span: float) -> None:
    if not 1 <= count <= MOST_FRAMES:
        raise OutputError(
            f"this animation would have {count} frames; 1 to {MOST_FRAMES} are possible: change fps, speed "
            f"({watchable_speed(span):g} would do) or duration"
        )


def watchable_speed(span: float) -> float:
    """Seconds of a motion in one of showing: real time, unless it would be over at once or take too long to watch."""
    return 1.0 if SHORT_S <= span <= LONG_S or not span > 0 else float(f"{span / WATCHED_S:.1g}")


def frames_of(motion: Motion | VakonomicMotion, times: Array) -> Frames:
    """The motion at these times within it."""
    system = motion.system.as_written
    if isinstance(motion, VakonomicMotion):
        return _of_path(motion, system, times)
    times = _on_outputs(times, motion.t)
    at = np.searchsorted(motion.t, times)
    if np.array_equal(motion.t[at], times):
        return _at_outputs(motion, system, times, motion.q[at], motion.v[at], at)
    q, v = states_at(motion, times, max(motion.rtol, PICTURE_RTOL))
    smooth = not needs_legs(system) and switched_kinks(system) is None
    return (_with_forces(motion, system, times, q, v) if smooth else None) or _with_nearest(motion, system, times, q, v)


def _on_outputs(times: Array, outputs: Array) -> Array:
    """Times that differ from an output by rounding only are that output: there is nothing to integrate between."""
    after = np.clip(np.searchsorted(outputs, times), 1, max(outputs.size - 1, 1))
    if outputs.size < 2:
        return np.full_like(times, outputs[0])
    nearest = np.where(times - outputs[after - 1] < outputs[after] - times, outputs[after - 1], outputs[after])
    return np.where(np.abs(times - nearest) <= 1e-12 * max(abs(outputs[0]), abs(outputs[-1])), nearest, times)


def _with_forces(motion: Motion, system: System, t: Array, q: Array, v: Array) -> Frames | None:
    """With forces computed at the states; None where the model has no value."""
    evaluation = Evaluation(motion.system)
    near = np.clip(np.searchsorted(motion.t, t), 0, motion.t.size - 1)
    guesses = np.concatenate([motion.a[near]] * 2, axis=1) if evaluation.graph.nonlinear else None
    try:
        points = evaluate_points(evaluation, t, q, v, guesses)
    except DalembertError:
        return None
    found = points.solution
    return Frames(
        system, t, q, v, found.acceleration, found.Q - points.inertial, found.ideal, found.nonideal,
        found.multipliers,
    )  # fmt: skip


def _with_nearest(motion: Motion, system: System, t: Array, q: Array, v: Array) -> Frames:
    """With the forces of the nearest output that no contact has changed since: friction has no value of the state."""
    changes = np.array(sorted({float(event["t"]) for event in motion.events if "contact" in event}))
    after = np.clip(np.searchsorted(motion.t, t), 1, motion.t.size - 1)
    before = after - 1
    stretch = np.searchsorted(changes, t)
    nearer = np.where(t - motion.t[before] <= motion.t[after] - t, before, after)
    other = before + after - nearer
    same = np.searchsorted(changes, motion.t[nearer]) == stretch
    other_same = np.searchsorted(changes, motion.t[other]) == stretch
    at = np.where(same | ~other_same, nearer, other)
    return _at_outputs(motion, system, t, q, v, at)


def _at_outputs(motion: Motion, system: System, t: Array, q: Array, v: Array, at: np.ndarray) -> Frames:
    """With the forces that the motion has at its outputs of these numbers."""
    forces = (motion.impressed[at], motion.ideal[at], motion.nonideal[at], motion.multipliers[at])
    return Frames(system, t, q, v, motion.a[at], *forces)


def _of_path(path: VakonomicMotion, system: System, t: Array) -> Frames:
    """Of a vakonomic path, by cubics through its points; it has no forces."""
    k = np.clip(np.searchsorted(path.t, t) - 1, 0, path.t.size - 2)
    h = np.diff(path.t)[k, None]
    s = (t - path.t[k])[:, None] / h
    q0, q1, v0, v1 = path.q[k], path.q[k + 1], h * path.v[k], h * path.v[k + 1]
    c2, c3 = 3 * (q1 - q0) - 2 * v0 - v1, 2 * (q0 - q1) + v0 + v1
    q, v = q0 + s * (v0 + s * (c2 + s * c3)), (v0 + s * (2 * c2 + s * 3 * c3)) / h
    none = np.full_like(q, np.nan)
    return Frames(system, t, q, v, none, none, none, none, np.full((t.size, len(system.constraints)), np.nan))
