"""How well the states of a motion satisfy its constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dalembert.arrays import Array
from dalembert.kernel.limits import PROJECT_LEAST_SIZE
from dalembert.motion.certificate.algebra import Data
from dalembert.motion.state.evaluation import Evaluation

if TYPE_CHECKING:
    from dalembert.motion.result.motion import Motion


def constraint_residuals(motion: Motion, evaluation: Evaluation, data: Data, lengths: Array) -> dict[str, float]:
    """The largest of φ and of (φ̇, ψ) along the motion."""
    found = constraint_residuals_over_time(motion, evaluation, data, lengths)
    return {name: float(values.max()) for name, values in found.items()}


def constraint_residuals_over_time(
    motion: Motion, evaluation: Evaluation, data: Data, lengths: Array
) -> dict[str, Array]:
    """φ and (φ̇, ψ) along the motion (T,), each relative to the largest gradient times the largest size of the
    state. lengths (T, m): of the rows of A, which are these gradients.
    """
    found, graph = {}, evaluation.graph
    places, speeds = float(np.abs(motion.q).max(initial=0.0)), float(np.abs(motion.v).max(initial=0.0))
    for name, size, other in (("position", places, speeds), ("velocity", speeds, places)):
        rows = [*graph.position_rows, *(graph.velocity_rows if name == "velocity" else ())]
        if not rows:
            found[name] = np.zeros(motion.t.size)
            continue
        gradients = None
        value = data.position if name == "position" else data.velocity
        if value is None:
            value, slope = (
                evaluation.position_along(motion.q, motion.t)
                if name == "position"
                else evaluation.velocity_along(motion.q, motion.v, motion.t)
            )
            gradients = np.linalg.norm(slope, axis=2).max(axis=0)
        if motion.acting is not None:
            value = np.where(motion.acting[:, rows], value, 0.0)
        if gradients is None:
            gradients = lengths.max(axis=0)[rows]
        reach = gradients * max(size, 1e-3 * other, PROJECT_LEAST_SIZE)  # as `size_of`
        found[name] = (np.abs(value) / np.where(reach > 0, reach, 1.0)).max(axis=1)
    return found
