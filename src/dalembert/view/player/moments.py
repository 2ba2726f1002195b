"""The moments of a motion that a page holds; the browser interpolates between them."""

from __future__ import annotations

import numpy as np

from dalembert.arrays import Array
from dalembert.motion.result.motion import Motion
from dalembert.study.vakonomic import VakonomicMotion
from dalembert.view.scene.frames import MOST_FRAMES, frame_times

#: Of these, the first are moments of their own: a ball may bounce without end.
MOST_EVENTS = 500


def moments(motion: Motion | VakonomicMotion, fps: float = 30.0, speed: float = 1.0, most: int = MOST_FRAMES) -> Array:
    """`fps` for each second of showing, fewer where a long motion would have too many; the outputs of the motion where
    these are more, since whoever asked for them found it that fast; and those of events, so that the way of what
    bounces has its corners. most: of all but events.
    """
    events = [float(event["t"]) for event in motion.events if "t" in event] if isinstance(motion, Motion) else []
    first, last = float(motion.t[0]), float(motion.t[-1])
    enough = (most - 2) * speed / (last - first) if last > first and speed > 0 else fps
    chosen = frame_times(motion, None, min(fps, enough), speed)
    if motion.t.size > chosen.size:
        chosen = motion.t[:: -(-motion.t.size // most)]
    own = [time for time in events[:MOST_EVENTS] if first <= time <= last]
    return np.unique(np.concatenate([chosen, own, [last]]))
