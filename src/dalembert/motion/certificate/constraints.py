"""How well the states of a motion satisfy its constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.motion.state.evaluation import Evaluation
from dalembert.motion.state.project import size_of

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def constraint_residuals(motion: Motion, evaluation: Evaluation) -> dict[str, float]:
    """φ and (φ̇, ψ) along the motion, each relative to the largest gradient times the largest size of the
    state.
    """
    found = {}
    for name, states, others in (("position", motion.q, motion.v), ("velocity", motion.v, motion.q)):
        value, slope = (
            evaluation.position_along(motion.q, motion.t)
            if name == "position"
            else evaluation.velocity_along(motion.q, motion.v, motion.t)
        )
        if not value.size:
            found[name] = 0.0
            continue
        if motion.acting is not None:
            graph = evaluation.graph
            rows = [*graph.position_rows, *(graph.velocity_rows if name == "velocity" else ())]
            value = np.where(motion.acting[:, rows], value, 0.0)
        gradients = np.linalg.norm(slope, axis=2)
        size = np.max(gradients, axis=0) * size_of(states, others)
        found[name] = float(np.max(np.abs(value) / np.where(size > 0, size, 1.0)))
    return found
